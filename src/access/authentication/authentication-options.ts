import { z } from 'zod'
import type { OidcOptions } from './oidc.ts'
import type { RequestHeaderOptions } from './request-header.ts'

/** How callers are asked who they are. */
export interface AuthenticationOptions {
  /**
   * `none`: nobody is asked, so only this machine may ask. `token-review`: bearer tokens, which an API server knows. `oidc`: JWTs of an
   * OpenID Connect issuer, verified here. `request-header`: headers of a trusted proxy, which shows a client certificate.
   */
  readonly mode: 'none' | 'token-review' | 'oidc' | 'request-header'
  /** What tokens have to be for, one of these; empty: for the API server itself, which `oidc` does not allow. */
  readonly audiences: readonly string[]
  /** The cluster that tokens belong to: whose API server reviews them, and is asked with them for what Secrets hold; the default one unless given. */
  readonly cluster?: string | undefined
  /** The clusters in which `system:` users and groups of callers (ServiceAccounts, nodes, `system:masters`) mean something; `*`: all. Absent: `auth.cluster` alone. */
  readonly systemIdentityClusters?: readonly string[] | undefined
  /** How long a token is known without asking again. */
  readonly knownMs: number
  /** How long it may take to find out whose a token is. */
  readonly deadlineMs: number
  /** For `oidc`. */
  readonly oidc?: (OidcOptions & { readonly caFile?: string | undefined }) | undefined
  /** For `request-header`; everything in it has a default. */
  readonly requestHeader: RequestHeaderOptions
}

/** Names of headers are tokens of HTTP. */
const headerNames = (byDefault: string): z.ZodType<readonly string[]> =>
  z.array(z.string().regex(/^[a-z0-9!#$%&'*+.^_`|~-]+$/i)).default([byDefault])

const requestHeader: z.ZodType<RequestHeaderOptions> = z.strictObject({
  allowedNames: z.array(z.string().min(1)).default([]),
  usernameHeaders: headerNames('X-Remote-User'),
  uidHeaders: headerNames('X-Remote-Uid'),
  groupHeaders: headerNames('X-Remote-Group'),
  extraHeaderPrefixes: headerNames('X-Remote-Extra-'),
})

/** With public keys only: with a shared secret, whoever verifies could also sign. */
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

/** As it stands in tokens; in the clear only from this machine itself. */
const issuer = z.url({ protocol: /^https?$/ }).refine(
  (text) => {
    const { protocol, hostname } = new URL(text)
    return protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  },
  { error: 'an issuer is reached by https' },
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

/** Checks {@link AuthenticationOptions}, and holds every default of them. */
export const authenticationOptionsSchema: z.ZodType<AuthenticationOptions> = z.strictObject({
  mode: z.enum(['none', 'token-review', 'oidc', 'request-header']).default('none'),
  audiences: z.array(z.string().min(1)).default([]),
  cluster: z.string().min(1).optional(),
  systemIdentityClusters: z.array(z.string().min(1)).optional(),
  knownMs: z.int().min(1_000).max(30_000).default(20_000),
  deadlineMs: z.int().min(100).max(60_000).default(5_000),
  oidc: oidc.optional(),
  requestHeader: requestHeader.prefault({} as RequestHeaderOptions),
})

/** {@link AuthenticationOptions} with every default. */
export function defaultAuthenticationOptions(): AuthenticationOptions {
  return authenticationOptionsSchema.parse({})
}
