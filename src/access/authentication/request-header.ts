import { authenticatedGroup, type Viewer } from '../viewer.ts'
import {
  type Authenticated,
  type Authenticator,
  type ClientCertificate,
  type Credentials,
  UnauthenticatedError,
} from './authenticator.ts'

/** Which proxies are believed who a caller is, and in which headers they say so (as an aggregated API server's `--requestheader-…`). */
export interface RequestHeaderOptions {
  /** Common names of their certificates; empty: any that the CA of clients has signed. */
  readonly allowedNames: readonly string[]
  /** Headers with the name of the user; the first that is not empty counts. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  /** Headers whose every value is a group. */
  readonly groupHeaders: readonly string[]
  /** Headers that begin like this have `extra`; what follows is its key, percent-encoded. */
  readonly extraHeaderPrefixes: readonly string[]
}

type Headers = ReturnType<Credentials['headers']>

const howTo = 'ask through the proxy that signs users in'

/** Callers as a trusted front proxy names them, which shows a client certificate. Whoever has none is nobody, whatever the headers say. */
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
    const { notAfterMs } = this.#trusted(clientCertificate)
    const all = headers()
    const username = this.#first(all, this.#options.usernameHeaders)
    if (username === '') {
      throw new UnauthenticatedError('none', 'the proxy does not say who asks', howTo)
    }
    const groups = this.#options.groupHeaders.flatMap((name) => all[name] ?? [])
    const viewer: Viewer = {
      username,
      uid: this.#first(all, this.#options.uidHeaders),
      groups: [...new Set([...groups.filter((group) => group !== ''), authenticatedGroup])],
      extra: this.#extra(all),
      systemIdentityClusters: this.#systemIdentityClusters,
    }
    return { viewer, expiresAtMs: notAfterMs }
  }

  #trusted(certificate: ClientCertificate | undefined): ClientCertificate {
    const { allowedNames } = this.#options
    if (certificate === undefined) {
      throw new UnauthenticatedError('none', 'there is no client certificate to trust', howTo)
    }
    const { commonName, notAfterMs } = certificate
    const isAllowed = allowedNames.length === 0 || allowedNames.includes(commonName)
    if (!isAllowed || notAfterMs <= Date.now()) {
      throw new UnauthenticatedError('refused', 'this client certificate is not trusted', howTo)
    }
    return certificate
  }

  #first(headers: Headers, names: readonly string[]): string {
    return names.flatMap((name) => headers[name] ?? []).find((value) => value !== '') ?? ''
  }

  #extra(headers: Headers): Viewer['extra'] {
    const extra = new Map<string, readonly string[]>()
    for (const prefix of this.#options.extraHeaderPrefixes) {
      for (const [name, values = []] of Object.entries(headers)) {
        if (!name.startsWith(prefix)) continue
        const key = decoded(name.slice(prefix.length))
        extra.set(key, [...(extra.get(key) ?? []), ...values])
      }
    }
    return Object.fromEntries(extra)
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
