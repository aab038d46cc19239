/*
 * Authenticates callers by the headers of a proxy that signs users in, as aggregated API servers do. The proxy proves itself
 * by a client certificate. Without a trusted one, the headers mean nothing, and the caller is refused.
 */

import { authenticatedGroup, type Viewer } from '../viewer.ts'
import { type Authenticator, UnauthenticatedError } from './authenticator.ts'

/**
 * The trusted proxies, and the headers in which they name callers (`--requestheader-…` of an aggregated API server).
 */
export interface RequestHeaderOptions {
  /** The common names of the proxies' certificates; empty: any certificate of the client CA. */
  readonly allowedNames: readonly string[]
  /** Headers with the user name; the first non-empty value counts. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  /** Headers with groups. Each value is one group. */
  readonly groupHeaders: readonly string[]
  /** Prefixes of headers with `extra`. The rest of the name is the key, percent-encoded. */
  readonly extraHeaderPrefixes: readonly string[]
}

const howTo = 'send the request through the proxy that signs users in'

/**
 * Authenticates callers by the headers of a trusted proxy, which presents a client certificate. Without a trusted
 * certificate it ignores the headers and refuses the caller.
 */
export function requestHeaderAuthenticator(
  { allowedNames, ...options }: RequestHeaderOptions,
  systemIdentityClusters?: readonly string[],
): Authenticator {
  const [usernames = [], uids = [], groupNames = [], extraPrefixes = []] = [
    options.usernameHeaders,
    options.uidHeaders,
    options.groupHeaders,
    options.extraHeaderPrefixes,
  ].map((names) => names.map((name) => name.toLowerCase()))
  return {
    authenticate({ headers, clientCertificate }) {
      if (clientCertificate === undefined) {
        throw new UnauthenticatedError('none', 'there is no trusted client certificate', howTo)
      }
      const { commonName, notAfterMs } = clientCertificate
      const isAllowed = allowedNames.length === 0 || allowedNames.includes(commonName)
      if (!isAllowed || notAfterMs <= Date.now()) {
        throw new UnauthenticatedError('refused', 'this client certificate is not trusted', howTo)
      }
      const all = headers()
      const valuesOf = (names: readonly string[]): readonly string[] =>
        names.flatMap((name) => all[name] ?? []).filter((value) => value !== '')
      const [username] = valuesOf(usernames)
      if (username === undefined) {
        throw new UnauthenticatedError('none', 'the proxy sent no user name', howTo)
      }
      const extra = new Map<string, readonly string[]>()
      for (const prefix of extraPrefixes) {
        for (const [name, values = []] of Object.entries(all)) {
          if (!name.startsWith(prefix)) continue
          const key = decoded(name.slice(prefix.length))
          extra.set(key, [...(extra.get(key) ?? []), ...values])
        }
      }
      const viewer: Viewer = {
        username,
        uid: valuesOf(uids)[0] ?? '',
        groups: [...new Set([...valuesOf(groupNames), authenticatedGroup])],
        extra: Object.fromEntries(extra),
        systemIdentityClusters,
      }
      return { viewer, expiresAtMs: notAfterMs }
    },
  }
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
