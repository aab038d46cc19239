/**
 * Decides which namespaces one resource is cached for. All, by one list and one watch, if the account may and the
 * configuration does not limit it. A list that is refused leads to one list for each namespace where the account may;
 * from then on the namespaces follow the account's rights.
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
  /** The namespaces are others now. */
  readonly changed: (coverage: Coverage | undefined) => void
  /** The gateway's account may list the resource nowhere. */
  readonly forbidden: (error: Error) => void
}

export class ResourceNamespaces {
  readonly #options: ResourceNamespacesOptions
  readonly #wanted: readonly string[] | undefined
  readonly #excluded: ReadonlySet<string>
  /** Whether the resource is listed by namespaces. */
  #isNarrow: boolean
  /** Namespaces that were refused although the rules allow them, until another attempt. */
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

  /** What the informer starts with. */
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

  /** Why the resource is cached for no namespace at all. */
  get refusal(): Error | undefined {
    return this.#refusal
  }

  /** Whether a list was refused, and the rights of the account are being looked into. */
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
   * A list or watch has failed, in a namespace if one is named. Returns whether the namespaces change because of it, so
   * that it is no failure.
   */
  refused(error: Error, namespace: string | undefined, signal: AbortSignal): boolean {
    const isRefusal = error instanceof ApiStatusError && error.httpStatus === 403
    if (!isRefusal || !this.#options.resource.namespaced) return false
    const isAllowed = namespace !== undefined && this.#isAllowed(namespace)
    void this.#decide(signal, { error, namespace, isAllowed })
    return true
  }

  /** The store has advanced. */
  advanced(isList: boolean, at: NamespaceStep | undefined): void {
    const isOther = at === undefined ? isList : at.isFirst || at.resourceVersion === undefined
    if (isOther) this.#renew()
  }

  /** The rights of the account have changed. */
  follow(): void {
    if (this.#isNarrow) this.#apply(undefined)
  }

  /** The account is another one now: what was refused to it may be allowed. */
  renewed(): void {
    for (const timer of this.#denied.values()) clearTimeout(timer)
    this.#denied.clear()
    this.follow()
  }

  async #decide(signal: AbortSignal, refusal?: Refusal): Promise<void> {
    this.#deciding += 1
    try {
      // A refusal within a namespace contradicts what was known.
      const isAgain = refusal?.namespace !== undefined
      await this.#options.account.follow(this.#options.resource, signal, isAgain)
    } finally {
      this.#deciding -= 1
    }
    if (this.#isEnded || signal.aborted) return
    if (refusal?.namespace !== undefined && refusal.isAllowed) this.#deny(refusal.namespace)
    this.#apply(refusal?.error)
  }

  /** Leaves out a namespace for a while: another authorizer than the one that tells the rules refuses it. */
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

  /** `refusal`: the reason for it, if there is one. */
  #apply(refusal: Error | undefined): void {
    const { account, resource, informer, forbidden } = this.#options
    if (this.#isEnded) return
    if (!account.isKnown) {
      // The account may not ask for its rights, or the cluster is away: the refusal stands.
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
      // The rules allow the list that was refused: that may pass, and the cache keeps what it has.
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
  /** Whether the rules, as they were known before, allow it. */
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
