import { authenticatedGroup, type Viewer } from '../viewer.ts'
import { refusedToken } from './bearer-token.ts'

/** Maps the claims of a token to a viewer, as the API server's `--oidc-…` flags do, so that both use the same names. */
export interface ClaimMapping {
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

type Claims = Readonly<Record<string, unknown>>

/**
 * The viewer of a verified token. Throws `UnauthenticatedError` if claims are missing or do not have their required
 * values.
 */
export function viewerOfClaims(claims: Claims, issuer: string, mapping: ClaimMapping): Viewer {
  const { groupsClaim, uidClaim, extraClaims, requiredClaims } = mapping
  for (const [name, value] of Object.entries(requiredClaims)) {
    if (claims[name] !== value) throw refusedToken()
  }
  const groups = groupsClaim === undefined ? [] : textsOf(claims, groupsClaim)
  const extra = Object.entries(extraClaims).map(([key, claim]) => [key, textsOf(claims, claim)])
  return {
    username: usernameOf(claims, issuer, mapping),
    uid: uidClaim === undefined ? '' : textOf(claims, uidClaim),
    groups: [
      ...new Set([...groups.map((name) => mapping.groupsPrefix + name), authenticatedGroup]),
    ],
    extra: Object.fromEntries(extra) as Viewer['extra'],
  }
}

function usernameOf(
  claims: Claims,
  issuer: string,
  { usernameClaim, usernamePrefix }: ClaimMapping,
): string {
  const isEmail = usernameClaim === 'email'
  if (isEmail && 'email_verified' in claims && claims['email_verified'] !== true) {
    throw refusedToken()
  }
  const name = textOf(claims, usernameClaim)
  if (name === '') throw refusedToken()
  const prefix = usernamePrefix ?? (isEmail ? '' : `${issuer}#`)
  return prefix === '-' ? name : prefix + name
}

function textOf(claims: Claims, name: string): string {
  const value = claims[name] ?? ''
  if (typeof value === 'string') return value
  throw refusedToken()
}

/** The texts of a claim: none, one or many. */
function textsOf(claims: Claims, name: string): readonly string[] {
  const value = claims[name] ?? []
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (all.every((one) => typeof one === 'string')) return all
  throw refusedToken()
}
