import {
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose'
import {
  type Authenticated,
  type AuthenticationObserver,
  type Authenticator,
  IdentityUnavailableError,
  UnauthenticatedError,
} from './authenticator.ts'
import { bearerAuthenticator, refusedToken } from './bearer-token.ts'
import { type ClaimMapping, viewerOfClaims } from './claim-mapping.ts'
import { IssuerKeys } from './issuer-keys.ts'

/** The trusted issuer, and the mapping of its claims. */
export interface OidcOptions extends ClaimMapping {
  /** The value of `iss`, and the location of the discovery document. */
  readonly issuer: string
  /** The accepted signature algorithms: never `none`, and none with a shared secret. */
  readonly algorithms: readonly string[]
}

export interface OidcAuthenticatorOptions {
  /** The cluster that also accepts the tokens; absent: the default cluster. */
  readonly cluster?: string | undefined
  /** See `Viewer`. */
  readonly systemIdentityClusters?: readonly string[] | undefined
  readonly oidc: OidcOptions
  /** The accepted values of `aud`. */
  readonly audiences: readonly string[]
  /** The trusted certificates of the issuer, PEM. */
  readonly ca?: string | undefined
  readonly knownMs: number
  readonly deadlineMs: number
  readonly observer?: AuthenticationObserver | undefined
}

/** Authenticates callers by JWTs of an OpenID Connect issuer. */
export function oidcAuthenticator(options: OidcAuthenticatorOptions): Authenticator {
  const { oidc, audiences, ca, deadlineMs, knownMs, observer, cluster } = options
  const { issuer, algorithms } = oidc
  const { systemIdentityClusters } = options
  const keys = new IssuerKeys({ issuer, ca, deadlineMs })
  const expected: JWTVerifyOptions = {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    requiredClaims: ['exp'],
  }
  const verify = async (token: string): Promise<Authenticated> => {
    try {
      const claims = await verifiedClaims(token, await keys.find(), expected)
      const { exp = 0 } = claims
      const viewer = { ...viewerOfClaims(claims, issuer, oidc), systemIdentityClusters }
      return { viewer, expiresAtMs: exp * 1_000 }
    } catch (error) {
      if (error instanceof UnauthenticatedError) throw error
      if (isAboutToken(error)) throw refusedToken()
      observer?.unavailable(error)
      throw new IdentityUnavailableError(error)
    }
  }
  return bearerAuthenticator({ verify, audiences, knownMs, observer, cluster })
}

/** Tries each matching key if a token does not name its key. */
async function verifiedClaims(
  token: string,
  keys: JWTVerifyGetKey,
  expected: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, expected)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, expected)).payload
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other
      }
    }
    throw refusedToken()
  }
}

/** Errors about the keys instead of the token. */
const aboutKeys: ReadonlySet<string> = new Set([
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
  errors.JOSEError.code,
])

function isAboutToken(error: unknown): boolean {
  return error instanceof errors.JOSEError && !aboutKeys.has(error.code)
}
