/*
 * Verifies JWTs of an OpenID Connect issuer by the issuer's keys. It maps claims to a user as API servers do (`--oidc-*`),
 * so that the gateway and the clusters see the same user.
 */

import {
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose'
import { authenticatedGroup, type Viewer } from '../viewer.ts'
import {
  type Authenticator,
  IdentityUnavailableError,
  UnauthenticatedError,
} from './authenticator.ts'
import { BearerAuthenticator, type BearerOptions, refusedToken } from './bearer-token.ts'
import type { IssuerKeys } from './issuer.ts'

/** The mapping of claims to a viewer, with the meaning of the API server's `--oidc-…` flags. */
interface ClaimMapping {
  /** `sub`, or `email`, which must be verified if the token has `email_verified`. */
  readonly usernameClaim: string
  /** The prefix of user names. Absent: `ISSUER#`, or nothing for `email`. `-`: nothing. */
  readonly usernamePrefix?: string | undefined
  /** The claim with the groups, a text or a list of texts; absent: no groups. */
  readonly groupsClaim?: string | undefined
  readonly groupsPrefix: string
  readonly uidClaim?: string | undefined
  /** Claims for `extra`, by key. Keys contain a domain: `example.com/tenant`. */
  readonly extraClaims: Readonly<Record<string, string>>
  /** Required values of claims. */
  readonly requiredClaims: Readonly<Record<string, string>>
}

export interface OidcOptions extends ClaimMapping {
  /** The value of `iss`, and the location of the discovery document. */
  readonly issuer: string
  /** The accepted signature algorithms: never `none`, and none with a shared secret. */
  readonly algorithms: readonly string[]
}

/** Authenticates callers by JWTs of an OpenID Connect issuer for one of the audiences (`aud`). */
export function oidcAuthenticator(
  options: BearerOptions,
  oidc: OidcOptions,
  keys: IssuerKeys,
): Authenticator {
  const { audiences, observer, systemIdentityClusters } = options
  const { issuer, algorithms } = oidc
  const expected: JWTVerifyOptions = {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    requiredClaims: ['exp'],
  }
  return new BearerAuthenticator(options, async (token) => {
    try {
      const claims = await verifiedClaims(token, await keys.find(), expected)
      const { exp = 0 } = claims
      const viewer = { ...viewerOfClaims(claims, issuer, oidc), systemIdentityClusters }
      return { viewer, expiresAtMs: exp * 1_000 }
    } catch (error) {
      if (error instanceof UnauthenticatedError) throw error
      if (error instanceof errors.JOSEError && !aboutKeys.has(error.code)) throw refusedToken()
      observer?.unavailable(error)
      throw new IdentityUnavailableError(error)
    }
  })
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

/** The errors that concern the keys, not the token. */
const aboutKeys: ReadonlySet<string> = new Set([
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
  errors.JOSEError.code,
])

type Claims = Readonly<Record<string, unknown>>

/**
 * The viewer of a verified token. Throws `UnauthenticatedError` if claims are missing or do not have their required
 * values.
 */
function viewerOfClaims(claims: Claims, issuer: string, mapping: ClaimMapping): Viewer {
  const { groupsClaim, uidClaim, extraClaims, requiredClaims } = mapping
  for (const [name, value] of Object.entries(requiredClaims)) {
    if (claims[name] !== value) throw refusedToken()
  }
  const groups = groupsClaim === undefined ? [] : textsOf(claims, groupsClaim)
  const extra = Object.entries(extraClaims).map(([key, claim]) => [key, textsOf(claims, claim)])
  const { usernameClaim, usernamePrefix } = mapping
  const isEmail = usernameClaim === 'email'
  if (isEmail && 'email_verified' in claims && claims['email_verified'] !== true) {
    throw refusedToken()
  }
  const name = textOf(claims, usernameClaim)
  if (name === '') throw refusedToken()
  const prefix = usernamePrefix ?? (isEmail ? '' : `${issuer}#`)
  return {
    username: prefix === '-' ? name : prefix + name,
    uid: uidClaim === undefined ? '' : textOf(claims, uidClaim),
    groups: [
      ...new Set([...groups.map((group) => mapping.groupsPrefix + group), authenticatedGroup]),
    ],
    extra: Object.fromEntries(extra) as Viewer['extra'],
  }
}

function textOf(claims: Claims, name: string): string {
  const value = claims[name] ?? ''
  if (typeof value === 'string') return value
  throw refusedToken()
}

function textsOf(claims: Claims, name: string): readonly string[] {
  const value = claims[name] ?? []
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (all.every((one) => typeof one === 'string')) return all
  throw refusedToken()
}
