import { z } from 'zod'

/** Options of browser sign-in, for `auth.mode: oidc-login`. */
export interface SignInOptions {
  /** The client that the provider knows the gateway as. */
  readonly clientId: string
  /** The file of the client's secret. Absent: a public client, which PKCE alone protects. */
  readonly clientSecretFile?: string | undefined
  /** The scopes to ask for. `openid` is among them. Some providers give a refresh token for `offline_access` only. */
  readonly scopes: readonly string[]
  /** Further parameters of the authorization request: `{ access_type: offline }` for Google. */
  readonly authorizationParameters: Readonly<Record<string, string>>
  /**
   * The token that says who the user is, and that API servers get: `id`, or `access`, which then has to be a JWT for one
   * of `auth.audiences`.
   */
  readonly apiServerToken: 'id' | 'access'
  /**
   * The file of the secrets that encrypt sessions, one a line, each of 32 characters or more. The first one encrypts, all
   * decrypt. Absent: a random secret, so that sessions end with the process and no other replica takes them.
   */
  readonly sessionSecretFile?: string | undefined
  /** How long a session may last, however often it is renewed. */
  readonly sessionMaxMs: number
  /**
   * Who verifies the bearer tokens of callers without a session: `oidc`, the gateway by the keys of `auth.oidc.issuer`;
   * `token-review`, an API server.
   */
  readonly bearerTokens: 'oidc' | 'token-review'
  /**
   * Whether callers without credentials are refused. Otherwise they are served as with `auth.mode: none`: everything, by
   * the gateway's account, so that only this machine may connect.
   */
  readonly required: boolean
}

const scopeToken = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, {
  error: 'a scope has no spaces and no quotes',
})

/** Parameters that the flow sets itself. */
const ownParameters: ReadonlySet<string> = new Set([
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
])

/** Checks {@link SignInOptions}, and holds their defaults. */
export const signInOptionsSchema: z.ZodType<SignInOptions> = z.strictObject({
  clientId: z.string().min(1),
  clientSecretFile: z.string().min(1).optional(),
  scopes: z
    .array(scopeToken)
    .refine((scopes) => scopes.includes('openid'), { error: 'openid has to be among the scopes' })
    .default(['openid', 'profile', 'email']),
  authorizationParameters: z
    .record(
      z.string().refine((name) => !ownParameters.has(name), {
        error: 'the gateway sets this parameter itself',
      }),
      z.string(),
    )
    .default({}),
  apiServerToken: z.enum(['id', 'access']).default('id'),
  sessionSecretFile: z.string().min(1).optional(),
  sessionMaxMs: z.int().min(60_000).max(2_592_000_000).default(43_200_000),
  bearerTokens: z.enum(['oidc', 'token-review']).default('oidc'),
  required: z.boolean().default(true),
})
