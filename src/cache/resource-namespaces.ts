/*
 * Decides for which namespaces one resource is cached. If the account may list all namespaces and the configuration does
 * not limit them, one list and one watch cover all. If the API server refuses that list, the cache lists each namespace
 * where the account may. From then on the namespaces follow the account's rights.
 */

import type { SharedInformer, SharedInformerOptions } from '../informer/shared-informer.ts'
import type { NamespaceStep } from '../informer/informer-observer.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import type { AccountNamespaces, CachedNamespaces } from './account-namespaces.ts'
import type { Coverage } from './coverage.ts'

export interface ResourceNamespacesOptions {
  readonly resource: ApiResource
  readonly wanted: CachedNamespaces
  readonly account: AccountNamespaces
  readonly informer: () => Pick<SharedInformer, 'namespaces' | 'setNamespaces'>
  /** Called when the covered namespaces have changed. */
  readonly changed: (coverage: Coverage | undefined) => void
  /** Called when the gateway's account may list the resource in no namespace. */
  readonly forbidden: (error: Error) => void
}

export class ResourceNamespaces {
  readonly #options: ResourceNamespacesOptions
  readonly #wanted: readonly string[] | undefined
  readonly #excluded: ReadonlySet<string>
  /** Whether each namespace has its own list. */
  #isNarrow: boolean
  /** Namespaces that the API server refused although the rules allow them, each with the timer of the next attempt. */
  readonly #denied = new Map<string, NodeJS.Timeout>()
  #deciding = 0
  #isEnded = false
  #coverage: Coverage | undefined
  #refusal: Error | undefined

  constructor(options: ResourceNamespacesOptions) {
    this.#options = options
    const { resource, wanted } = options
    const { namespaces, excludeNamespaces = [] } = resource.namespaced ? wanted : nothing
    this.#excluded = new Set(excludeNamespaces)
    this.#wanted = namespaces?.filter((name) => !this.#excluded.has(name))
    this.#isNarrow = this.#wanted !== undefined
  }

  /** The informer's first options. */
  get initial(): Pick<SharedInformerOptions, 'namespaces' | 'fieldSelector'> {
    if (this.#wanted !== undefined) return { namespaces: this.#wanted }
    if (this.#excluded.size === 0) return {}
    const fields = Array.from(this.#excluded, (name) => `metadata.namespace!=${name}`)
    return { fieldSelector: fields.join() }
  }

  /** The namespaces that are covered; `undefined`: all. */
  get coverage(): Coverage | undefined {
    return this.#coverage
  }

  /** The error if the resource is cached for no namespace at all. */
  get refusal(): Error | undefined {
    return this.#refusal
  }

  /** Whether a list was refused and the rights of the account are not known yet. */
  get isDeciding(): boolean {
    return this.#deciding > 0
  }

  /** Call when the informer has started, with the signal that ends the cluster's caches. */
  start(signal: AbortSignal): void {
    this.#renew()
    if (this.#isNarrow) void this.#decide(signal)
  }

  end(): void {
    this.#isEnded = true
    for (const timer of this.#denied.values()) clearTimeout(timer)
    this.#options.account.forget(this.#options.resource)
  }

  /**
   * Reports that a list or watch has failed, in all namespaces or in one. Returns true if the namespaces change because of
   * it, so that it is no failure.
   */
  refused(error: Error, namespace: string | undefined, signal: AbortSignal): boolean {
    const isRefusal = error instanceof ApiStatusError && error.httpStatus === 403
    if (!isRefusal || !this.#options.resource.namespaced) return false
    const isAllowed = namespace !== undefined && this.#isAllowed(namespace)
    void this.#decide(signal, { error, namespace, isAllowed })
    return true
  }

  /** Limits the cache to the namespaces of the account before anything is listed, unless it may list all, or none. */
  async expectNarrow(signal: AbortSignal): Promise<void> {
    const { account, resource } = this.#options
    if (this.#isNarrow || (await account.mayListAll(resource, signal)) !== false) return
    await this.#rightsKnown(signal, false)
    if (!this.#isEnded && !signal.aborted && account.of(resource).length > 0) this.#apply(undefined)
  }

  advanced(isList: boolean, at: NamespaceStep | undefined): void {
    const isOther = at === undefined ? isList : at.isFirst || at.resourceVersion === undefined
    if (isOther) this.#renew()
  }

  /** Adapts the namespaces after a change of the account's rights. */
  follow(): void {
    if (this.#isNarrow) this.#apply(undefined)
  }

  /** Forgets all refusals, since the account has changed. */
  renewed(): void {
    for (const timer of this.#denied.values()) clearTimeout(timer)
    this.#denied.clear()
    this.follow()
  }

  async #decide(signal: AbortSignal, refusal?: Refusal): Promise<void> {
    // A refusal within a namespace contradicts the known rules.
    await this.#rightsKnown(signal, refusal?.namespace !== undefined)
    if (this.#isEnded || signal.aborted) return
    if (refusal?.namespace !== undefined && refusal.isAllowed) this.#deny(refusal.namespace)
    this.#apply(refusal?.error)
  }

  async #rightsKnown(signal: AbortSignal, isAgain: boolean): Promise<void> {
    this.#deciding += 1
    try {
      await this.#options.account.follow(this.#options.resource, signal, isAgain)
    } finally {
      this.#deciding -= 1
    }
  }

  /** Leaves out a namespace for a while: an authorizer that does not report its rules refuses it. */
  #deny(namespace: string): void {
    if (this.#denied.has(namespace) || !this.#isAllowed(namespace)) return
    const again = (): void => {
      this.#denied.delete(namespace)
      this.#apply(undefined)
    }
    this.#denied.set(namespace, setTimeout(again, deniedMs).unref())
  }

  #isAllowed(namespace: string): boolean {
    const { account, resource } = this.#options
    return account.of(resource).includes(namespace)
  }

  /** `refusal`: the failed list or watch that is the reason, if any. */
  #apply(refusal: Error | undefined): void {
    const { account, resource, informer, forbidden } = this.#options
    if (this.#isEnded) return
    if (!account.isKnown) {
      // The account may not read its rights, or the cluster is unreachable. The refusal stands.
      if (refusal !== undefined) forbidden(refusal)
      return
    }
    if (this.#wanted === undefined && this.#isNarrow && account.isWide(resource)) {
      this.#isNarrow = false
      account.forget(resource)
      informer().setNamespaces(undefined)
      return
    }
    if (this.#wanted === undefined && !this.#isNarrow && account.isWide(resource)) {
      // The rules allow the refused list. The contradiction may pass, and the cache keeps its objects.
      if (refusal !== undefined) forbidden(refusal)
      return
    }
    const allowed = account.of(resource).filter((name) => !this.#denied.has(name))
    const next = this.#wanted?.filter((name) => allowed.includes(name)) ?? allowed
    this.#isNarrow = true
    this.#refusal = next.length === 0 ? (refusal ?? this.#refusal) : undefined
    const now = informer().namespaces
    const isSame = now?.size === next.length && next.every((name) => now.has(name))
    if (!isSame) {
      informer().setNamespaces(next)
      this.#renew()
    }
    if (next.length === 0 && refusal !== undefined) forbidden(refusal)
  }

  #renew(): void {
    const before = this.#coverage
    const now = this.#coverageNow()
    if (isSameCoverage(before, now)) return
    this.#coverage = now
    this.#options.changed(now)
  }

  #coverageNow(): Coverage | undefined {
    const excluded = this.#excluded
    const common = { excluded, loading: none, refused: none }
    const states = this.#options.informer().namespaces
    if (states === undefined) {
      if (excluded.size === 0) return undefined
      return { ...common, cause: 'excluded', namespaces: undefined }
    }
    const namespaces = new Set(states.keys())
    const loading = new Set([...states].flatMap(([name, { isListed }]) => (isListed ? [] : [name])))
    const wanted = this.#wanted
    return {
      ...common,
      cause: wanted === undefined ? 'account' : 'configured',
      namespaces,
      loading,
      refused: new Set(wanted?.filter((name) => !namespaces.has(name))),
    }
  }
}

interface Refusal {
  readonly error: Error
  readonly namespace: string | undefined
  /** Whether the rules known before the refusal allow the request. */
  readonly isAllowed: boolean
}

const deniedMs = 30_000

const nothing: CachedNamespaces = {}
const none: ReadonlySet<string> = new Set()

function isSameCoverage(a: Coverage | undefined, b: Coverage | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return textOf(a) === textOf(b)
}

function textOf({ cause, namespaces, loading, refused }: Coverage): string {
  const sets = [namespaces, loading, refused].map((set) => set && [...set].toSorted())
  return JSON.stringify([cause, ...sets])
}
