import { authenticatedGroup, type Viewer } from '../viewer.ts'
import {
  type Authenticated,
  type Authenticator,
  type Credentials,
  UnauthenticatedError,
} from './authenticator.ts'

/**
 * The trusted proxies, and the headers in which they name callers (as an aggregated API server's `--requestheader-…`).
 */
export interface RequestHeaderOptions {
  /** The common names of their certificates; empty: any certificate of the client CA. */
  readonly allowedNames: readonly string[]
  /** Headers with the user name; the first non-empty value counts. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  /** Headers with groups, one per value. */
  readonly groupHeaders: readonly string[]
  /** Prefixes of headers with `extra`. The rest of the name is the key, percent-encoded. */
  readonly extraHeaderPrefixes: readonly string[]
}

type Headers = ReturnType<Credentials['headers']>

const howTo = 'ask through the proxy that signs users in'

/**
 * Authenticates callers by the headers of a trusted proxy, which presents a client certificate. Without a trusted
 * certificate the headers are ignored and the caller is refused.
 */
export class RequestHeaderAuthenticator implements Authenticator {
  readonly #options: RequestHeaderOptions
  readonly #systemIdentityClusters: readonly string[] | undefined

  constructor(options: RequestHeaderOptions, systemIdentityClusters?: readonly string[]) {
    this.#systemIdentityClusters = systemIdentityClusters
    this.#options = {
      allowedNames: options.allowedNames,
      usernameHeaders: lower(options.usernameHeaders),
      uidHeaders: lower(options.uidHeaders),
      groupHeaders: lower(options.groupHeaders),
      extraHeaderPrefixes: lower(options.extraHeaderPrefixes),
    }
  }

  authenticate({ headers, clientCertificate }: Credentials): Authenticated {
    const { allowedNames } = this.#options
    if (clientCertificate === undefined) {
      throw new UnauthenticatedError('none', 'there is no trusted client certificate', howTo)
    }
    const { commonName, notAfterMs } = clientCertificate
    const isAllowed = allowedNames.length === 0 || allowedNames.includes(commonName)
    if (!isAllowed || notAfterMs <= Date.now()) {
      throw new UnauthenticatedError('refused', 'this client certificate is not trusted', howTo)
    }
    const all = headers()
    const username = this.#first(all, this.#options.usernameHeaders)
    if (username === '') {
      throw new UnauthenticatedError('none', 'the proxy names no user', howTo)
    }
    const groups = this.#options.groupHeaders.flatMap((name) => all[name] ?? [])
    const extra = new Map<string, readonly string[]>()
    for (const prefix of this.#options.extraHeaderPrefixes) {
      for (const [name, values = []] of Object.entries(all)) {
        if (!name.startsWith(prefix)) continue
        const key = decoded(name.slice(prefix.length))
        extra.set(key, [...(extra.get(key) ?? []), ...values])
      }
    }
    const viewer: Viewer = {
      username,
      uid: this.#first(all, this.#options.uidHeaders),
      groups: [...new Set([...groups.filter((group) => group !== ''), authenticatedGroup])],
      extra: Object.fromEntries(extra),
      systemIdentityClusters: this.#systemIdentityClusters,
    }
    return { viewer, expiresAtMs: notAfterMs }
  }

  #first(headers: Headers, names: readonly string[]): string {
    return names.flatMap((name) => headers[name] ?? []).find((value) => value !== '') ?? ''
  }
}

function lower(names: readonly string[]): readonly string[] {
  return names.map((name) => name.toLowerCase())
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
