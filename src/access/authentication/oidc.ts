import {
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose'
import {
  type Authenticated,
  type Authenticator,
  IdentityUnavailableError,
  UnauthenticatedError,
} from './authenticator.ts'
import type { AuthenticationObserver } from './authentication-observer.ts'
import { bearerAuthenticator } from './bearer-authenticator.ts'
import { refusedToken } from './bearer-token.ts'
import { type ClaimMapping, viewerOfClaims } from './claim-mapping.ts'
import { IssuerKeys } from './issuer-keys.ts'

/** Whose tokens are believed, and how they are read. */
export interface OidcOptions extends ClaimMapping {
  /** As it stands in `iss`, and where its discovery document is. */
  readonly issuer: string
  /** Algorithms that tokens may be signed with; never `none`, and none with a shared secret. */
  readonly algorithms: readonly string[]
}

export interface OidcAuthenticatorOptions {
  /** The cluster that tokens are for, besides the gateway; absent: the default one. */
  readonly cluster?: string | undefined
  /** As `Viewer` has them. */
  readonly systemIdentityClusters?: readonly string[] | undefined
  readonly oidc: OidcOptions
  /** One of these has to be in `aud`. */
  readonly audiences: readonly string[]
  /** PEM of the certificates that the issuer is trusted by. */
  readonly ca?: string | undefined
  readonly knownMs: number
  readonly deadlineMs: number
  readonly observer?: AuthenticationObserver | undefined
}

/** JWTs of an OpenID Connect issuer, verified here. */
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

/** Where a token does not say by which key it is signed, each that it may be is tried. */
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

/** What is wrong with the keys rather than with the token. */
const aboutKeys: ReadonlySet<string> = new Set([
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
  errors.JOSEError.code,
])

function isAboutToken(error: unknown): boolean {
  return error instanceof errors.JOSEError && !aboutKeys.has(error.code)
}
