import { authenticatedGroup, type Viewer } from '../viewer.ts'
import { refusedToken } from './bearer-token.ts'

/** How the claims of a token become a viewer: as with the API server's `--oidc-…` flags, so that both call everybody the same. */
export interface ClaimMapping {
  /** `sub`, or `email`, which has to be verified where the token says whether it is. */
  readonly usernameClaim: string
  /** Before every name; absent: `ISSUER#`, but nothing for `email`. `-`: nothing. */
  readonly usernamePrefix?: string | undefined
  /** A claim that is a text or a list of texts; absent: no groups. */
  readonly groupsClaim?: string | undefined
  readonly groupsPrefix: string
  readonly uidClaim?: string | undefined
  /** Claims that become `extra`, by its keys, which have a domain in them: `example.com/tenant`. */
  readonly extraClaims: Readonly<Record<string, string>>
  /** What claims have to be. */
  readonly requiredClaims: Readonly<Record<string, string>>
}

type Claims = Readonly<Record<string, unknown>>

/** Who a verified token is about. Throws `UnauthenticatedError` where its claims do not say so, or are not as they have to be. */
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

/** None, one or many. */
function textsOf(claims: Claims, name: string): readonly string[] {
  const value = claims[name] ?? []
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (all.every((one) => typeof one === 'string')) return all
  throw refusedToken()
}
