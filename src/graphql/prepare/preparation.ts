/*
 * The rounds of an operation, and what one round reads. The operation prepares its kinds and runs over a snapshot, within
 * one tick: for each kind its store and the viewer's access to it, or the error of the fields that read it. The first read
 * of a kind settles it for the run. A read that lacks something that only data name (a kind that is not loaded, an index,
 * a permission, a direct read) notes it and fails. The operation then prepares everything noted, and runs again over a new
 * snapshot. The rounds are bounded: three for kinds and indexes, a deadline for permissions, and the bounds of direct
 * reads.
 */

import type { Lane } from '../../lib/event-loop.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { ClusterKind, IncompleteKind, KindView, ListReading } from './kind-view.ts'
import { KindLeases, ByKind, type IndexAt, isIndexed } from './kind-leases.ts'
import { type OperationTrace, type PartDetails, within as traced } from './operation-trace.ts'
import { turns } from './user-shares.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { type ViewerAccess, isNowhere, type KindNeed } from './viewer-access.ts'
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
import {
  incompleteKind,
  namespacesOfKeys,
  requireCovered,
  unreadableKind,
} from './read-failures.ts'
import type { Kind } from '../model/kind.ts'

/** The number of runs that may find missing kinds or indexes. */
export const maxRounds = 3

/** How to run an operation after the preparation. */
export interface RunOptions<T> {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  /** Absent: the viewer may see everything. */
  readonly access: ViewerAccess | undefined
  /** The direct reads, once a run has any. */
  readonly direct: () => DirectFetch | undefined
  /** The lane where each run waits for its turn. */
  readonly lane: Lane
  readonly trace?: OperationTrace | undefined
  readonly run: (snapshot: ReadSnapshot) => T | Promise<T>
}

/**
 * Prepares kinds and runs an operation, again while a run lacks something. After three runs for kinds and indexes, a
 * missing one is an error of its field. Permissions are asked until the sync deadline, since they may be dropped at any
 * moment. {@link DirectFetch} counts its own rounds. Releases all leases at the end. Returns a promise only if there is
 * something to wait for.
 */
export function prepareAndRun<T>(
  kinds: readonly ClusterKind[],
  options: RunOptions<T>,
): T | Promise<T> {
  const { served, access, limits, trace } = options
  const { syncDeadlineMs, silenceMs } = limits
  const prepared = new KindLeases({ served, syncDeadlineMs, silenceMs, access, trace })
  const release = (): void => prepared[Symbol.dispose]()
  let result: T | Promise<T> | undefined
  try {
    const rounds = new Rounds(prepared, options)
    const run = (): T | Promise<T> => {
      access?.begin()
      return rounds.run()
    }
    const wait = prepared.prepareNamed(kinds)
    result = wait === undefined ? run() : wait.then(run)
    return result instanceof Promise ? result.finally(release) : result
  } finally {
    if (!(result instanceof Promise)) release()
  }
}

const noDetails: PartDetails = {}

class Rounds<T> {
  readonly #prepared: KindLeases
  readonly #options: RunOptions<T>
  readonly #permissions: PermissionWait
  #round = 1
  #further: FurtherRuns = 'any'

  constructor(prepared: KindLeases, options: RunOptions<T>) {
    this.#prepared = prepared
    this.#options = options
    this.#permissions = new PermissionWait(options.limits.syncDeadlineMs)
  }

  run(): T | Promise<T> {
    const turn = turns.enter(this.#options.lane)
    return turn === undefined ? this.#runNow() : turn.then(() => this.#runNow())
  }

  #runNow(): T | Promise<T> {
    const { run, direct, lane, trace } = this.#options
    const snapshot = new ReadSnapshot(this.#prepared, { further: this.#further, direct })
    const result = turns.run(() => traced(trace, 'run', noDetails, () => run(snapshot)), lane)
    return result instanceof Promise
      ? result.then((one) => this.#ended(snapshot, one))
      : this.#ended(snapshot, result)
  }

  #ended(snapshot: ReadSnapshot, result: T): T | Promise<T> {
    if (!snapshot.isLacking) return result
    const read = this.#options.direct()?.fetch()
    const wait = joined([read, this.#prepare(snapshot)])
    return wait === undefined ? this.run() : wait.then(() => this.run())
  }

  /** Prepares the kinds, indexes and permissions that a run lacked; `undefined` if there is nothing to wait for. */
  #prepare(snapshot: ReadSnapshot): Promise<unknown> | undefined {
    if (!snapshot.isLackingKinds) return undefined
    const { needed, neededIndexes } = snapshot
    const isPermission =
      neededIndexes.length === 0 && needed.every((need) => this.#prepared.isExpected(need))
    if (isPermission && this.#permissions.isOver()) {
      this.#further = 'none'
      return undefined
    }
    const wait = joined([
      this.#prepared.prepare(needed),
      neededIndexes.length === 0 ? undefined : this.#prepared.makeIndexes(neededIndexes),
      this.#prepared.ask(snapshot),
    ])
    // A round without a wait counts: another one like it would not help.
    if (!isPermission || wait === undefined) this.#round += 1
    if (this.#round >= maxRounds) this.#further = this.#round > maxRounds ? 'none' : 'permissions'
    return wait
  }
}

/**
 * How long an operation asks again for the viewer's access. Known permissions may be dropped at any moment, even while
 * the server asks for others, so one round may not be enough. The wait has the same bound as the wait for a kind.
 */
export class PermissionWait {
  readonly #deadlineMs: number
  #endMs: number | undefined

  /** `deadlineMs`: counted from the first call of {@link isOver}. */
  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
  }

  /** Whether the wait is over. Call it before each further round. */
  isOver(): boolean {
    const nowMs = performance.now()
    this.#endMs ??= nowMs + this.#deadlineMs
    return nowMs >= this.#endMs
  }
}

function joined(waits: readonly (Promise<unknown> | undefined)[]): Promise<unknown> | undefined {
  const [first, ...others] = waits.filter((wait) => wait !== undefined)
  return others.length === 0 ? first : Promise.all([first, ...others])
}

/** The kinds that one execution or one frame reads. Valid within one tick. */
export interface ReadParts {
  /**
   * The part of a kind to list, count, filter or follow. Throws the `ClientError` of the field if the kind cannot be
   * read: FORBIDDEN if the viewer may list nothing of it. Notes a kind that is not prepared, for the next round.
   */
  part(at: ClusterKind, reading?: ListReading): KindView
  /**
   * The part of a kind for look-ups of single objects, by their keys if they are known. `undefined` if the viewer may
   * look up none of them: for the viewer, they do not exist. Throws as {@link part} does if the kind cannot be read.
   */
  forLookup(at: ClusterKind, keys?: readonly string[]): KindView | undefined
  /** The part of a kind if its store is synced and the viewer may list something of it. Does not load the kind. */
  cachedPart(at: ClusterKind, reading?: ListReading): KindView | undefined
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

export interface SnapshotOptions {
  /** Default: `any`. */
  readonly further?: FurtherRuns
  /** The direct reads of the run, once it has any. */
  readonly direct?: () => DirectFetch | undefined
}

type Outcome = KindView | ClientError

export class ReadSnapshot implements ReadParts {
  /** The permissions that fields asked for, by cluster. */
  readonly questions: Map<string, AccessQuestion[]> = new Map()
  /** The kinds whose list permission a field asked for. */
  readonly listings: KindNeed[] = []
  readonly #source: KindLeases
  readonly #further: FurtherRuns
  readonly #direct: SnapshotOptions['direct']
  readonly #views = new ByKind<StoreView | ClientError>()
  readonly #parts = new ByKind<Map<string, Outcome>>()
  readonly #named = new ByKind<KindView>()
  /** The kinds that were read only because they are in memory, while some cache is stale. */
  readonly #seen: ClusterKind[] = []
  readonly #needed: KindNeed[] = []
  readonly #hasPartial: boolean
  readonly #incomplete = new Map<string, IncompleteKind>()
  readonly #neededIndexes: IndexAt[] = []

  constructor(source: KindLeases, { further = 'any', direct }: SnapshotOptions = {}) {
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
    return this.isLackingKinds || this.#direct?.()?.isLacking === true
  }

  /** Whether kinds, indexes or permissions are missing. */
  get isLackingKinds(): boolean {
    const permissions = this.questions.size + this.listings.length
    return this.#needed.length + this.#neededIndexes.length + permissions > 0
  }

  asks(cluster: string, question: AccessQuestion): void {
    this.#requireAsking(cluster)
    getOrInsert(this.questions, cluster, () => []).push(question)
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
    this.#requireAsking(need.cluster)
    this.listings.push(need)
  }

  #requireAsking(cluster: string): void {
    const refusal = this.#source.refusal(cluster)
    if (refusal !== undefined) throw refusal
    if (this.#further !== 'none') return
    const message = 'permissions change faster than they can be reviewed'
    throw new ClientError('CLUSTER_UNREACHABLE', message, { cluster, retryAfterMs: 1_000 })
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
    const outcomes = getOrInsert(this.#parts, at, () => new Map<string, Outcome>())
    const place =
      within === undefined && !watch ? '*' : `${watch ? 'watch' : ''} ${within?.join() ?? '*'}`
    const outcome = getOrInsert(outcomes, place, () =>
      this.#list(at, { within, watch }, reading.prepares !== false),
    )
    if (outcome instanceof ClientError) throw outcome
    // The next round waits for lazy indexes.
    if (!isIndexed(outcome.view, at.indexes))
      throw this.#missing({ ...at, list: { within, watch } })
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
    const part = getOrInsert(this.#named, at, () =>
      this.#namedPart(at, keys, isAll ? undefined : access),
    )
    if (!isIndexed(part.view, at.indexes)) throw this.#missing({ ...at, keys })
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

/** The error of a kind that is not in memory yet. */
export function notLoaded({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  return new ClientError('NOT_SYNCED', `${typeName} is not loaded yet`, {
    cluster,
    type: typeName,
    hint: 'try again in a moment, or ask for fewer nested relations',
    retryAfterMs: 1000,
  })
}
