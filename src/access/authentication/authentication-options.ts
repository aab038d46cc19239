/*
 * The options of authentication, their checks and defaults. The interfaces describe the meaning of each option, the
 * schemas its valid values.
 */

import type { OidcOptions } from './oidc.ts'
import type { RequestHeaderOptions } from './request-header.ts'
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
  error: 'a scope cannot contain spaces or quotes',
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

/** Checks {@link SignInOptions} and sets their defaults. */
export const signInOptionsSchema: z.ZodType<SignInOptions> = z.strictObject({
  clientId: z.string().min(1),
  clientSecretFile: z.string().min(1).optional(),
  scopes: z
    .array(scopeToken)
    .refine((scopes) => scopes.includes('openid'), { error: 'the scopes must include openid' })
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

/** Options of authentication. */
export interface AuthenticationOptions {
  /**
   * `none`: no authentication, so only this machine may connect. `token-review`: bearer tokens, reviewed by an API
   * server. `oidc`: JWTs of an OpenID Connect issuer, verified by the gateway. `request-header`: headers of a trusted
   * proxy, which presents a client certificate. `oidc-login`: browsers sign in at the issuer and get a session; bearer
   * tokens and trusted proxies are accepted beside it.
   */
  readonly mode: 'none' | 'token-review' | 'oidc' | 'oidc-login' | 'request-header'
  /**
   * The accepted audiences of tokens. Empty: that of the API server itself, which `oidc` does not allow, or the client of
   * `auth.login`.
   */
  readonly audiences: readonly string[]
  /**
   * The cluster of the tokens. Its API server reviews them, and gets the callers' writes, and their reads of Secrets,
   * with them. Absent: the default cluster.
   */
  readonly cluster?: string | undefined
  /**
   * Further clusters whose API servers accept the callers' tokens; `*` for all in `clusters`. Only clusters of the
   * configuration ever get a token.
   */
  readonly tokenClusters?: readonly string[] | undefined
  /**
   * The clusters in which the callers' `system:` users and groups (ServiceAccounts, nodes, `system:masters`) are valid;
   * `*` for all. Absent: `auth.cluster` alone.
   */
  readonly systemIdentityClusters?: readonly string[] | undefined
  /** How long a verified token is trusted before it is verified again. */
  readonly knownMs: number
  /** The deadline for verifying a token. */
  readonly deadlineMs: number
  /** For `oidc` and `oidc-login`. */
  readonly oidc?: (OidcOptions & { readonly caFile?: string | undefined }) | undefined
  /** For `oidc-login`. */
  readonly login?: SignInOptions | undefined
  /** For `request-header`; all its options have defaults. */
  readonly requestHeader: RequestHeaderOptions
}

/** Header names are HTTP tokens. */
const headerNames = (byDefault: string): z.ZodType<readonly string[]> =>
  z.array(z.string().regex(/^[a-z0-9!#$%&'*+.^_`|~-]+$/i)).default([byDefault])

const requestHeader: z.ZodType<RequestHeaderOptions> = z.strictObject({
  allowedNames: z.array(z.string().min(1)).default([]),
  usernameHeaders: headerNames('X-Remote-User'),
  uidHeaders: headerNames('X-Remote-Uid'),
  groupHeaders: headerNames('X-Remote-Group'),
  extraHeaderPrefixes: headerNames('X-Remote-Extra-'),
})

/** Algorithms with public keys only: with a shared secret, every verifier could also sign. */
const algorithm = z.enum([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
])

/** The issuer in the tokens. Plain HTTP is allowed on loopback only. */
const issuer = z.url({ protocol: /^https?$/, abort: true }).refine(
  (text) => {
    const { protocol, hostname } = new URL(text)
    return protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  },
  { error: 'an issuer must use https' },
)

const oidc = z.strictObject({
  issuer,
  algorithms: z.array(algorithm).min(1).default(['RS256']),
  caFile: z.string().min(1).optional(),
  usernameClaim: z.string().min(1).default('sub'),
  usernamePrefix: z.string().optional(),
  groupsClaim: z.string().min(1).optional(),
  groupsPrefix: z.string().default(''),
  uidClaim: z.string().min(1).optional(),
  extraClaims: z.record(z.string().min(1), z.string().min(1)).default({}),
  requiredClaims: z.record(z.string().min(1), z.string()).default({}),
})

/** Checks {@link AuthenticationOptions} and sets their defaults. */
export const authenticationOptionsSchema: z.ZodType<AuthenticationOptions> = z.strictObject({
  mode: z.enum(['none', 'token-review', 'oidc', 'oidc-login', 'request-header']).default('none'),
  audiences: z.array(z.string().min(1)).default([]),
  cluster: z.string().min(1).optional(),
  tokenClusters: z.array(z.string().min(1)).optional(),
  systemIdentityClusters: z.array(z.string().min(1)).optional(),
  knownMs: z.int().min(1_000).max(30_000).default(20_000),
  deadlineMs: z.int().min(100).max(60_000).default(5_000),
  oidc: oidc.optional(),
  login: signInOptionsSchema.optional(),
  requestHeader: requestHeader.prefault({} as RequestHeaderOptions),
})

/** The defaults of {@link AuthenticationOptions}. */
export function defaultAuthenticationOptions(): AuthenticationOptions {
  return authenticationOptionsSchema.parse({})
}
