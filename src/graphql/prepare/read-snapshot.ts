/*
 * The reads of one run, within one tick: for each kind its store and the viewer's access to it, or the error of the
 * fields that read it. The first read of a kind settles it for the run. A read that lacks something (a kind that is not
 * loaded, an index, a permission) notes it and fails. The operation then prepares everything noted, and runs again over a
 * new snapshot.
 */

import type { AccessQuestion } from '../../access/access-question.ts'
import type { ResourceHistory } from '../../cache/recent-changes.ts'
import { UnreadableResourceError } from '../../cache/cache-errors.ts'
import { type Coverage, coveredScope } from '../../cache/coverage.ts'
import type { Lease } from '../../cache/cached-resource.ts'
import { createObjectCodec } from '../../informer/codec/object-codec.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import { IndexedStore } from '../../informer/store/indexed-store.ts'
import type { UnknownIndexError } from '../../informer/store/store-errors.ts'
import type { IndexView, StoreView } from '../../informer/store/store-view.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { nothingVisible, type Scope, unrestricted } from '../../query/condition/scope.ts'
import { ClientError, unlessRefused } from '../errors/client-error.ts'
import { incompleteKind, namespacesOfKeys, requireCovered } from './covered-parts.ts'
import {
  ByKind,
  type CachedParts,
  type ClusterKind,
  type IncompleteKind,
  type KindView,
  type ListReading,
} from './kind-view.ts'
import type { Kind } from '../model/kind.ts'
import { unreadableKind } from './read-failures.ts'
import { isNowhere, type KindNeed, type ViewerAccess } from './viewer-access.ts'

export interface IndexAt {
  readonly at: ClusterKind
  readonly index: string
}

export interface ReadParts extends CachedParts {
  /** `undefined`: the viewer may see everything. */
  readonly access: ViewerAccess | undefined
  /** Whether the viewer may see everything. */
  readonly isOpen: boolean
  /** Whether another run follows, because a field needs something that must be prepared first. */
  readonly isLacking: boolean
  /** Set by subscriptions. Called before a field that depends on the viewer. Throws if viewers share the rows. */
  readonly dependsOnViewer?: () => void
  /** Set by subscriptions. Called before a field that reads all kinds in memory, even if it finds none. */
  readonly looksAround?: () => void
  /** Notes an index that a field lacked, so that it is built before the next run. */
  missed(error: UnknownIndexError): void
  /** Notes a permission to ask for before the next run. Throws if the server could not ask for it. */
  asks(cluster: string, question: AccessQuestion): void
  /** What the viewer may list of a kind, without reading it. `undefined`: noted, and asked before the next run. */
  listed(at: ClusterKind): Scope | 'nothing' | undefined
  /**
   * Whether the viewer may list any objects of a kind, everywhere or in one of these namespaces. `undefined`: noted, and
   * asked before the next run.
   */
  listsAny(at: ClusterKind, within: readonly string[]): boolean | undefined
  /** Notes to ask what the viewer may list before the next run. Throws if the server could not ask. */
  asksList(need: KindNeed): void
}

/** Reads from the API server for one operation. */
export interface DirectFetch {
  /** Whether there are noted reads for {@link fetch}. */
  readonly isLacking: boolean
  /** Does the noted reads; `undefined` if there are none. Never rejects. */
  fetch(): Promise<unknown> | undefined
}

/** What the server may still prepare for another run. Anything else that is missing fails its field. */
export type FurtherRuns = 'any' | 'permissions' | 'none'

/** Where {@link ReadSnapshot} finds prepared kinds and permissions. */
export interface KindSource {
  readonly access: ViewerAccess | undefined
  /** Whether a viewer sees the errors, which then withhold details. */
  readonly isViewed: boolean
  /** Whether only a permission can be missing. */
  isExpected(need: KindNeed): boolean
  /** The reason why the server could not ask for `can` permissions or for what may be listed. */
  refusal(cluster: string): unknown
  /** The reason why the access of the viewer is not known. */
  failure(cluster: string): unknown
  lease(at: ClusterKind): Lease | UnreadableResourceError | undefined
  synced(at: ClusterKind): StoreView | undefined
  /** Whether any cache may be out of date. */
  readonly hasStale: boolean
  /** Whether any cache covers some namespaces only. */
  readonly hasPartial: boolean
  /** The namespaces that a cache covers; `undefined`: all. */
  coverage(at: ClusterKind): Coverage | undefined
  incarnation(cluster: string): string
}

export interface SnapshotOptions {
  /** Default: `any`. */
  readonly further?: FurtherRuns
  /** The direct reads of the run, if it has any. */
  readonly direct?: DirectFetch
}

type Outcome = KindView | ClientError

export class ReadSnapshot implements ReadParts {
  /** The permissions that fields asked for, by cluster. */
  readonly questions: Map<string, AccessQuestion[]> = new Map()
  /** The kinds whose list permission a field asked for. */
  readonly listings: KindNeed[] = []
  readonly #source: KindSource
  readonly #further: FurtherRuns
  readonly #direct: DirectFetch | undefined
  readonly #views = new ByKind<StoreView | ClientError>()
  readonly #parts = new ByKind<Map<string, Outcome>>()
  readonly #named = new ByKind<KindView>()
  /** The kinds that were read only because they are in memory, while some cache is stale. */
  readonly #seen: ClusterKind[] = []
  readonly #needed: KindNeed[] = []
  readonly #hasPartial: boolean
  readonly #incomplete = new Map<string, IncompleteKind>()
  readonly #neededIndexes: IndexAt[] = []

  constructor(source: KindSource, { further = 'any', direct }: SnapshotOptions = {}) {
    this.#source = source
    this.#further = further
    this.#direct = direct
    this.#hasPartial = source.hasPartial
  }

  get access(): ViewerAccess | undefined {
    return this.#source.access
  }

  /** False also if some cache is partial: rows share their reads only if namespaces make no difference. */
  get isOpen(): boolean {
    return this.#source.access === undefined && !this.#hasPartial
  }

  /** The kinds that were read without a namespace, from caches that cover some namespaces only. */
  get incomplete(): readonly IncompleteKind[] {
    return [...this.#incomplete.values()]
  }

  coverage(at: ClusterKind): Coverage | undefined {
    return this.#hasPartial ? this.#source.coverage(at) : undefined
  }

  get isLacking(): boolean {
    return this.isLackingKinds || this.#direct?.isLacking === true
  }

  /** Whether kinds, indexes or permissions are missing. */
  get isLackingKinds(): boolean {
    const permissions = this.questions.size + this.listings.length
    return this.#needed.length + this.#neededIndexes.length + permissions > 0
  }

  asks(cluster: string, question: AccessQuestion): void {
    const refusal = this.#source.refusal(cluster)
    if (refusal !== undefined) throw refusal
    if (this.#further === 'none') throw notKnownYet(cluster)
    const known = this.questions.get(cluster)
    if (known === undefined) this.questions.set(cluster, [question])
    else known.push(question)
  }

  listed(at: ClusterKind): Scope | 'nothing' | undefined {
    const { access } = this.#source
    if (access === undefined) return unrestricted
    const listed = access.list(at)
    if (listed instanceof ClientError || listed === 'unloaded') return 'nothing'
    if (listed !== 'unknown') return listed
    return this.#asksToShow({ ...at, list: { watch: false } }) ? undefined : 'nothing'
  }

  listsAny(at: ClusterKind, within: readonly string[]): boolean | undefined {
    const need = needOfAny(at, within)
    const admission = this.#source.access?.admission(need) ?? 'admitted'
    if (admission !== 'unknown') return admission === 'admitted'
    return this.#asksToShow(need) ? undefined : false
  }

  /** Notes a list permission that decides whether a field shows something. Returns whether the next run will know it. */
  #asksToShow(need: KindNeed): boolean {
    if (this.#further === 'none') return false
    const reason = this.#source.refusal(need.cluster)
    // If asking takes too many reviews, the field shows only what is known to be allowed.
    if (reason instanceof ClientError && reason.code === 'RBAC_BUDGET_EXCEEDED') return false
    if (reason !== undefined) throw reason
    this.listings.push(need)
    return true
  }

  get hasStale(): boolean {
    return this.#source.hasStale
  }

  /** The kinds read so far, without those whose reads have failed. */
  *read(): Generator<ClusterKind, void, void> {
    yield* this.#seen
    for (const at of this.#views.kinds()) {
      if (!(this.#views.get(at) instanceof ClientError)) yield at
    }
  }

  asksList(need: KindNeed): void {
    const refusal = this.#source.refusal(need.cluster)
    if (refusal !== undefined) throw refusal
    if (this.#further === 'none') throw notKnownYet(need.cluster)
    this.listings.push(need)
  }

  /** The kinds to prepare for the next run. */
  get needed(): readonly KindNeed[] {
    return this.#needed
  }

  /** The lazy or new indexes to build for the next run. */
  get neededIndexes(): readonly IndexAt[] {
    return this.#neededIndexes
  }

  missed({ resource, index }: UnknownIndexError): void {
    if (this.#further !== 'any') return
    for (const at of this.#views.kinds()) {
      const { kind } = at
      if (groupResourceOf(kind.resource) !== resource) continue
      if (kind.indexes.some(({ name }) => name === index)) this.#neededIndexes.push({ at, index })
    }
  }

  part(at: ClusterKind, reading: ListReading = {}): KindView {
    const isLimited = this.#source.access !== undefined || this.coverage(at) !== undefined
    const within = isLimited ? reading.within?.() : undefined
    const watch = reading.watch === true
    let outcomes = this.#parts.get(at)
    if (outcomes === undefined) this.#parts.set(at, (outcomes = new Map<string, Outcome>()))
    const place =
      within === undefined && !watch ? '*' : `${watch ? 'watch' : ''} ${within?.join() ?? '*'}`
    let outcome = outcomes.get(place)
    if (outcome === undefined) {
      outcome = this.#list(at, { within, watch }, reading.prepares !== false)
      outcomes.set(place, outcome)
    }
    if (outcome instanceof ClientError) throw outcome
    // The next round waits for lazy indexes.
    if (!isIndexed(at, outcome)) throw this.#missing({ ...at, list: { within, watch } })
    return outcome
  }

  forLookup(at: ClusterKind, keys: readonly string[] = []): KindView | undefined {
    const { access } = this.#source
    if (access === undefined && this.coverage(at) === undefined) return this.part(at)
    const isAll = access === undefined || access.looks(at) === true
    if (!isAll) {
      const looks = keys.map((key) => this.#looks(at, key))
      if (keys.length === 0 ? !this.#isInReach(at, access) : !looks.includes(true)) return undefined
    }
    let part = this.#named.get(at)
    if (part === undefined) {
      part = this.#namedPart(at, keys, isAll ? undefined : access)
      this.#named.set(at, part)
    }
    if (!isIndexed(at, part)) throw this.#missing({ ...at, keys })
    // The cache must cover the namespaces of those keys that the viewer may look up.
    const { coverage, byName } = part
    if (coverage !== undefined) {
      const shown = byName === undefined ? keys : keys.filter((key) => byName.allows(key))
      requireCovered(part, namespacesOfKeys(shown))
    }
    return part
  }

  cachedPart(at: ClusterKind, reading?: ListReading): KindView | undefined {
    const view = this.#source.synced(at)
    if (view === undefined) return undefined
    if (this.#source.access === undefined) {
      if (this.hasStale) this.#seen.push(at)
      return this.#partOf(at, view, unrestricted)
    }
    return unlessRefused(() => this.part(at, reading))
  }

  /** The informer whose changes a subscriber follows. Throws as {@link part} does. */
  informer(at: ClusterKind, reading?: ListReading): SharedInformer {
    return this.#leaseOf(at, reading).informer
  }

  /** The recent changes of a kind. Throws as {@link part} does. */
  history(at: ClusterKind, reading?: ListReading): ResourceHistory {
    return this.#leaseOf(at, reading).history
  }

  #leaseOf(at: ClusterKind, reading?: ListReading): Lease {
    this.part(at, reading)
    const lease = this.#source.lease(at)
    if (lease === undefined || lease instanceof UnreadableResourceError) {
      throw new TypeError(`${at.kind.typeName} has been read without a lease`)
    }
    return lease
  }

  #list(at: ClusterKind, list: NonNullable<KindNeed['list']>, prepares: boolean): Outcome {
    const listed = this.#source.access?.list(at, list) ?? unrestricted
    if (listed instanceof ClientError) return listed
    const need = { ...at, list }
    if (isNowhere(need)) return this.#partOf(at, new EmptyStore(at.kind), nothingVisible)
    if (!prepares && (listed === 'unknown' || this.#source.lease(at) === undefined))
      return notLoaded(at)
    if (listed === 'unknown') return this.#missing(need)
    const view = this.#view(at, need)
    if (view instanceof ClientError) return view
    if (listed === 'unloaded') return notLoaded(at)
    const part = this.#partOf(at, view, listed)
    return part.coverage === undefined ? part : this.#limited(part, listed, list.within)
  }

  /** The part of a kind whose cache covers some namespaces. Notes the gap of a list of all namespaces. */
  #limited(part: KindView, viewed: Scope, within: readonly string[] | undefined): Outcome {
    if (within === undefined) {
      const lacking = incompleteKind(part, viewed)
      if (lacking === undefined) return part
      this.#incomplete.set(`${lacking.cluster}/${lacking.type}`, lacking)
      return { ...part, lacking }
    }
    try {
      requireCovered(part, within, viewed)
      return part
    } catch (error) {
      if (error instanceof ClientError) return error
      throw error
    }
  }

  /** The part for look-ups by name. Without `access`, it allows every object. */
  #namedPart(at: ClusterKind, keys: readonly string[], access: ViewerAccess | undefined): KindView {
    const view = this.#view(at, { ...at, keys })
    if (view instanceof ClientError) throw view
    if (access === undefined) return this.#partOf(at, view, unrestricted)
    const allows = (key: string): boolean => this.#looks(at, key)
    const byName = { identity: access.identity, allows }
    return { ...this.#partOf(at, view, nothingVisible), byName }
  }

  #partOf(at: ClusterKind, view: StoreView, viewed: Scope): KindView {
    const { cluster, kind } = at
    const incarnation = this.#source.incarnation(cluster)
    const coverage = this.coverage(at)
    if (coverage === undefined) return { cluster, kind, view, scope: viewed, incarnation }
    const scope = coveredScope(viewed, coverage)
    return { cluster, kind, view, scope, incarnation, coverage }
  }

  /** Whether an object of unknown key can be found: its kind is in memory, or the viewer may read the kind. */
  #isInReach(at: ClusterKind, access: ViewerAccess): boolean {
    if (this.#source.synced(at) !== undefined) return true
    const need = { ...at, keys: [] }
    const admission = access.admission(need)
    if (admission === 'unknown') throw this.#missing(need)
    return admission === 'admitted'
  }

  #looks(at: ClusterKind, key: string): boolean {
    const known = this.#source.access?.looks(at, splitObjectKey(key))
    if (known !== undefined) return known
    const missing = this.#missing({ ...at, keys: [key] })
    // Goes on before the last round: further missing permissions may turn up, and one round then asks for all.
    if (this.#further !== 'any' || missing.code !== 'NOT_SYNCED') throw missing
    return false
  }

  #view(at: ClusterKind, need: KindNeed): StoreView | ClientError {
    const known = this.#views.get(at)
    if (known !== undefined) return known
    const { isViewed } = this.#source
    const lease = this.#source.lease(at)
    let view: StoreView | ClientError
    if (lease === undefined) view = this.#missing(need)
    else if (lease instanceof UnreadableResourceError) view = unreadableKind(at, lease, isViewed)
    else {
      const failure = lease.unreadable()
      view = failure === undefined ? lease.informer.store : unreadableKind(at, failure, isViewed)
    }
    this.#views.set(at, view)
    return view
  }

  /** Notes a need for the next round. Returns the error for the field in this round. */
  #missing(need: KindNeed): ClientError {
    const failure = this.#source.failure(need.cluster)
    if (failure instanceof ClientError) return failure
    if (failure instanceof Error) throw failure
    const further = this.#further
    const isAsked = further === 'permissions' ? this.#source.isExpected(need) : further === 'any'
    if (isAsked) this.#needed.push(need)
    return notLoaded(need)
  }
}

/** The permission to list any objects of a kind; without namespaces, the permission to list all. */
export function needOfAny(at: ClusterKind, within: readonly string[]): KindNeed {
  return within.length === 0 ? at : { ...at, list: { watch: false, within, isAny: true } }
}

/** The store of a list within no namespace, for which no informer starts. It has all indexes, without entries. */
class EmptyStore extends IndexedStore {
  constructor({ resource, metadataOnly }: Kind) {
    super({ resource, codec: createObjectCodec({ resource, metadataOnly }) })
  }

  override index(): IndexView {
    return super.index('namespace')
  }

  override hasIndex(): boolean {
    return true
  }
}

const none: readonly string[] = []

function isIndexed({ indexes }: ClusterKind, { view }: KindView): boolean {
  for (const name of indexes?.needed ?? none) if (!view.hasIndex(name)) return false
  return true
}

function notKnownYet(cluster: string): ClientError {
  const message = 'permissions change faster than they can be reviewed'
  return new ClientError('CLUSTER_UNREACHABLE', message, { cluster, retryAfterMs: 1_000 })
}

/** The error of a kind that is not in memory yet. */
export function notLoaded({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  return new ClientError('NOT_SYNCED', `${typeName} is not loaded yet`, {
    cluster,
    type: typeName,
    hint: 'try again in a moment, or ask for fewer nested relations',
    retryAfterMs: 1000,
  })
}
