/*
 * When the certificates in the TLS Secrets of a cluster end. The caches hold no data of Secrets, so the dates come of a list of
 * its own, with the account of the gateway: only Secrets of the type `kubernetes.io/tls`, in pages. Of each, `tls.crt` is
 * parsed, which is public, and its dates, its names and its issuer stay, for this version of this Secret. Everything else goes
 * with its page. The list is read when the dates are first asked for, and again when they are asked for and have become old.
 */

import { X509Certificate } from 'node:crypto'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { fieldsOf, textOf } from '../kubernetes/fields.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { ClusterCache } from './cluster-cache.ts'

/** The dates of a certificate, in milliseconds, what it says of itself, and the version of its Secret. */
export interface CertificateEnd {
  readonly resourceVersion: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** Its first names: `shop.example.com`, `10.0.0.1`. */
  readonly names: readonly string[]
  /** The common name of its issuer, or else its whole name. */
  readonly issuer: string
}

const maxNames = 20

/** A page is parsed in one turn. */
const pageSize = 100
/** Further Secrets are left out. */
const maxPages = 100
const deadlineMs = 30_000
/** How long the dates are believed, and how long if Secrets have come or gone since, or the list could not be read. */
const [oldMs, changedMs] = [600_000, 30_000]

const known = new WeakMap<ClusterCache, CertificateEnds>()

export function certificateEndsOf(cache: ClusterCache): CertificateEnds {
  return getOrInsert(known, cache, () => new CertificateEnds(cache))
}

export class CertificateEnds {
  readonly #cache: ClusterCache
  #ends: ReadonlyMap<string, CertificateEnd> = new Map()
  #readAtMs = Number.NEGATIVE_INFINITY
  #state: number | undefined
  #resource: ApiResource | undefined
  #reading: Promise<void> | undefined
  #failure: Error | undefined
  /** Changes with the dates. */
  revision = 0

  constructor(cache: ClusterCache) {
    this.#cache = cache
  }

  /** By the UID of the Secret. */
  get byUid(): ReadonlyMap<string, CertificateEnd> {
    return this.#ends
  }

  /** Whether the list was read. */
  get isKnown(): boolean {
    return this.revision > 0
  }

  /** Why the list could not be read when it was last tried; `undefined` if it was. The dates are those of before. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Whether to read the list. `state`: differs when Secrets have come or gone. */
  isOld(state: number | undefined = this.#state): boolean {
    const ageMs = performance.now() - this.#readAtMs
    const isAsBefore = state === this.#state && this.#failure === undefined
    return ageMs > (isAsBefore ? oldMs : changedMs)
  }

  /** Reads the list again if it was read, and has become old. */
  refresh(): void {
    if (this.#resource !== undefined && this.isOld()) void this.read(this.#resource, this.#state)
  }

  /** Reads the list, once for all who ask meanwhile. Never rejects: what cannot be read stays as it was. */
  read(resource: ApiResource, state: number | undefined): Promise<void> {
    this.#resource = resource
    this.#reading ??= this.#read(resource)
      .then(
        () => undefined,
        (error: Error) => error,
      )
      .then((failure) => {
        this.#failure = failure
        this.#readAtMs = performance.now()
        this.#state = state
        this.#reading = undefined
      })
    return this.#reading
  }

  async #read(resource: ApiResource): Promise<void> {
    const direct = this.#cache.direct(resource)
    const signal = AbortSignal.timeout(deadlineMs)
    const ends = new Map<string, CertificateEnd>()
    const request = { fieldSelector: 'type=kubernetes.io/tls', limit: pageSize }
    let next: string | undefined
    for (let page = 0; page < maxPages; page += 1) {
      const list = await direct.list(
        { resource, metadataOnly: false },
        { ...request, continue: next },
        signal,
      )
      for (const secret of list.objects) {
        const { uid = '', resourceVersion = '' } = secret.metadata
        const before = this.#ends.get(uid)
        const isSame = before?.resourceVersion === resourceVersion
        const end = isSame ? before : endOf(secret, resourceVersion)
        if (end !== undefined) ends.set(uid, end)
      }
      next = list.continue
      if (next === undefined) break
    }
    this.#ends = ends
    this.revision += 1
  }
}

/** The dates of the first certificate of a chain; `undefined` without one, and for Secrets whose Certificate tells them. */
function endOf(secret: KubernetesObject, resourceVersion: string): CertificateEnd | undefined {
  if (secret.metadata.annotations?.['cert-manager.io/certificate-name'] !== undefined)
    return undefined
  const text = textOf(fieldsOf((secret as { readonly data?: unknown }).data)['tls.crt'])
  if (text === undefined) return undefined
  try {
    const certificate = new X509Certificate(Buffer.from(text, 'base64'))
    const { validFrom, validTo } = certificate
    const [notBeforeMs, notAfterMs] = [Date.parse(validFrom), Date.parse(validTo)]
    // A user may write any dates into a Secret.
    if (Number.isNaN(notBeforeMs) || Number.isNaN(notAfterMs)) return undefined
    const names = namesOf(certificate)
    const issuer = issuerOf(certificate)
    return { resourceVersion, notBeforeMs, notAfterMs, names, issuer }
  } catch {
    return undefined
  }
}

/** What Node leaves out if a certificate does not say it, whatever its types. */
interface Described {
  readonly subject?: string
  readonly issuer?: string
  readonly subjectAltName?: string | undefined
}

/** The alternative names of a certificate, which Node writes as `DNS:a, IP Address:b`; without any, the common name. */
function namesOf({ subjectAltName, subject = '' }: Described): readonly string[] {
  const name = commonName(subject)
  const names = subjectAltName?.split(', ').map((one) => one.replace(/^[A-Za-z ]+:/, ''))
  return (names ?? (name === undefined ? [] : [name])).slice(0, maxNames)
}

function issuerOf({ issuer = '' }: Described): string {
  return commonName(issuer) ?? issuer
}

/** A name of X.509 has a line for each part. */
function commonName(name: string): string | undefined {
  return /^CN=(.*)$/m.exec(name)?.[1]
}
