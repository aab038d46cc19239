/*
 * One list of a group: one kind in one cluster, with a condition. In one tick it selects its rows and begins to listen to
 * all kinds that these rows are written from (`GroupList.begin`). It marks the changes of these kinds (`gather`): the
 * rows of changed objects, and the rows that depend on them (`RowDependencies`). If the condition reads related objects,
 * their changes decide which rows start or stop matching (`GroupFilter`). A flush takes the marked rows (`take`), and the
 * content of the group (`GroupContent`) writes them.
 */

import type { ClusterCache } from '../../../cache/cluster-cache.ts'
import type { HeldObject } from '../../../informer/codec/object-codec.ts'
import type { Listener, ListenerBatch } from '../../../informer/delivery/listener.ts'
import type { Change } from '../../../informer/store/change.ts'
import { UnknownIndexError } from '../../../informer/store/store-errors.ts'
import type { StoreView } from '../../../informer/store/store-view.ts'
import {
  isBefore,
  latestResourceVersion,
  type ResourceVersion,
  resourceVersion,
} from '../../../kubernetes/resource-version.ts'
import { TimeShare } from '../../../lib/event-loop.ts'
import { unrestricted } from '../../../query/condition/scope.ts'
import { QueryTooCostlyError, WorkBudget } from '../../../query/condition/work-budget.ts'
import { type ClientError, unlessRefused } from '../../errors/client-error.ts'
import { type ClusterKind, type KindView, isReachable } from '../../prepare/kind-view.ts'
import { runLive } from '../../prepare/user-shares.ts'
import { maxRounds, type ReadSnapshot } from '../../prepare/preparation.ts'
import { type PlaceRead, unreachableCluster } from '../../reads/places.ts'
import type { Positions } from '../../reads/resume-token.ts'
import { requireUsages } from '../../reads/usage-read.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { FollowedList, ListFilter } from '../followed-list.ts'
import type { FramePlan, PageState, SentChange } from '../frame-plan.ts'
import type { ListAccess } from './group-access.ts'
import type { GroupReading, GroupRun } from './group-reading.ts'
import { RowDependencies } from './row-dependencies.ts'

/** Facts about objects that their changes tell and their current state does not. */
export interface SeenChanges {
  /** False if a deletion was concluded from a relist. */
  readonly isFinalStateKnown: (uid: string) => boolean
  /** The object before its changes, if frames show it and it is known. */
  readonly previousOf: (uid: string) => HeldObject | undefined
}

export const nothingSeen: SeenChanges = {
  isFinalStateKnown: () => true,
  previousOf: () => undefined,
}

export interface ListRead {
  readonly part: KindView
  readonly run: GroupRun
}

/** The keys of rows of a list that may have changed. */
export interface RowKeys {
  readonly list: GroupList
  readonly keys: readonly string[]
  /** The keys of rows whose own object has not changed: they start or stop matching because related objects changed. */
  readonly affected?: ReadonlySet<string>
  readonly seen?: SeenChanges
}

/** What the rows of all lists are written from, within one tick. */
export interface ListReads {
  of(list: GroupList): ListRead
  /** Call after the last read. Throws `MissingKindError` and `LackingError`. */
  check(): void
}

/**
 * The rows that the members of a group hold: all objects of its lists, or a page of them. Reading throws
 * `QueryTooCostlyError`.
 */
export interface GroupContent {
  /**
   * Set if the content is read again as a whole after any change: its share of time. Changes are then not gathered by
   * key, and each list has one row, with the key `''`.
   */
  readonly whole?: TimeShare
  readonly page: PageState | undefined
  readonly bytes: number
  /** The least memory of each object in the first rows. */
  readonly bytesPerObject: number
  /** The keys of all matching objects of a list. */
  matching(list: GroupList, read: ListRead): readonly string[]
  /** The keys whose match has changed because of other objects, among `keys` or among all. */
  changedMatches(list: GroupList, read: ListRead, keys?: readonly string[]): readonly string[]
  /**
   * The changes to send for rows that may have changed. Omits rows with the same text as before. If it throws, or
   * `reads.check` throws, nothing counts as sent.
   */
  changes(rows: readonly RowKeys[], reads: ListReads): readonly SentChange[]
  rewrite?(): void
  /** The lists of the group, in their order, after some have joined. */
  follow(lists: readonly GroupList[]): void
  /** Removes the rows of lists that are gone. Returns changes to send before the next ones. */
  drop(lists: readonly GroupList[]): readonly SentChange[]
  /** The keys of all rows of a list that were sent. */
  keys(list: GroupList): readonly string[]
  /** The keys of all matching objects of a list as of the last changes, sent or not. */
  matched(list: GroupList): Iterable<string>
  /** The changes that lead from nothing to the rows that were sent. */
  all(): readonly SentChange[]
  /** The changes that were sent last, as fewer changes that lead to the same rows. */
  merged(changes: readonly SentChange[]): readonly SentChange[]
}

export interface GroupListOptions {
  readonly content: GroupContent
  readonly served: ServedSchema
  readonly list: FollowedList
  readonly plan: FramePlan
  readonly cache: ClusterCache | undefined
  readonly access: ListAccess
  readonly reading: GroupReading
}

interface PendingChanges {
  readonly keys: Set<string>
  /** The UIDs of objects whose deletion was concluded. */
  readonly unseen: Set<string>
  /** The objects before their changes, by UID, if frames show them. */
  readonly previous: Map<string, HeldObject | undefined>
  readonly positions: Record<string, string>
}

function nothingPending(): PendingChanges {
  return { keys: new Set(), unseen: new Set(), previous: new Map(), positions: {} }
}

export interface TakenChanges extends RowKeys {
  readonly positions: Positions
  readonly done: () => void
}

const noRows: ReadonlySet<string> = new Set()

export class GroupList {
  readonly list: FollowedList
  readonly plan: FramePlan
  readonly cache: ClusterCache | undefined
  readonly access: ListAccess
  readonly reading: GroupReading
  readonly dependencies: RowDependencies = new RowDependencies()
  readonly #content: GroupContent
  readonly #served: ServedSchema
  #filter: GroupFilter | undefined
  #listeners: readonly { readonly at: ClusterKind; readonly listener: Listener }[] = []
  #unsubscribe: (() => void)[] = []
  #isFollowing = false
  #failure: ClientError | undefined
  #incarnation: string
  #pending = nothingPending()
  /** Whether any row may have changed. */
  #isWide = false
  /** The positions after rewriting all rows. */
  #widePositions: Record<string, string> = {}
  /** Limits the time for rewriting all rows, after a change of an object that any row may read. */
  readonly #ownShare = new TimeShare(1 / 20)
  /** The newest version of the followed kind that some rows show. Other rows show the version in the positions. */
  #latest: ResourceVersion = latestResourceVersion

  constructor(options: GroupListOptions) {
    this.#content = options.content
    this.#served = options.served
    this.#incarnation = options.cache?.incarnation ?? ''
    this.list = options.list
    this.plan = options.plan
    this.cache = options.cache
    this.access = options.access
    this.reading = options.reading
  }

  get at(): ClusterKind {
    return this.list.at
  }

  /** Whether the list has begun and its changes are gathered. */
  get isFollowing(): boolean {
    return this.#isFollowing
  }

  /** The history of its cluster that its positions belong to. */
  get incarnation(): string {
    return this.#incarnation
  }

  /** Whether its cluster serves the kind, as far as is known. */
  get isServed(): boolean {
    const { cache } = this
    return cache?.connection.state !== 'connected' || cache.serves(this.at.kind.resource)
  }

  /**
   * The list as a place that members hold: followed, or held from before and perhaps out of date. `undefined`: its
   * cluster does not serve the kind. Throws the `ClientError` that prevents reading it.
   */
  place(): PlaceRead | undefined {
    const { at } = this
    const isAway = !isReachable(this.#served, at.cluster)
    if (this.#isFollowing && !isAway) {
      const isWhole = this.cache?.hasPartial === false
      return isWhole ? at : (unlessRefused(() => this.reading.followed()) ?? at)
    }
    if (!this.isServed) return undefined
    const isHeld = this.#isFollowing || this.#content.keys(this).length > 0
    if (isAway && !isHeld) throw unreachableCluster(this.#served, at, false)
    if (!isAway && this.#failure !== undefined) throw this.#failure
    return at
  }

  get #wide(): TimeShare {
    return this.#content.whole ?? this.#ownShare
  }

  get isDue(): boolean {
    return this.#isFollowing && (!this.#isEmpty || this.#filter?.isDue === true)
  }

  get #isEmpty(): boolean {
    const { keys, positions } = this.#pending
    return keys.size === 0 && Object.keys(positions).length === 0 && !this.#isWide
  }

  /** Whether no change waits: everything up to the present is written. */
  get isDrained(): boolean {
    if (!this.#isFollowing || !this.#isEmpty || this.#filter?.isDrained === false) return false
    return this.#listeners.every(({ listener }) => listener.isDrained)
  }

  /** The present positions. Call if the rows have reached them. */
  reachPresent(): Positions {
    const positions = { ...this.reading.positions(), ...this.#filter?.positions }
    this.#latest = this.#versionAt(positions)
    return positions
  }

  /**
   * Selects the matching rows, and gathers every change from then on. Returns their keys, for the group to write, and
   * the positions after writing them. `synced` is called when a kind of its cluster has synced. Rejects with the error
   * that prevents this.
   */
  async begin(synced: () => void): Promise<RowKeys & { readonly positions: Positions }> {
    const { filter } = this.list
    for (let round = 1; ; round += 1) {
      // oxlint-disable-next-line no-await-in-loop -- an index may have to be made first
      const snapshot = await this.reading.snapshot()
      const run = this.reading.run(snapshot)
      try {
        const part = this.reading.followed(snapshot)
        const { measured, within } = this.list
        if (measured !== undefined) requireUsages(run, part, measured, within)
        const keys = this.#content.matching(this, { part, run })
        this.close()
        this.#listeners = this.reading.readable(snapshot).map((at) => {
          return { at, listener: this.reading.listen(snapshot, at) }
        })
        const byType = new Map(
          this.#listeners.map(({ at, listener }) => [at.kind.typeName, listener] as const),
        )
        this.dependencies.listen((type) => byType.get(type)?.hasWaiting === true)
        if (filter !== undefined) this.#filter = new GroupFilter(this.list, filter, snapshot)
        const unsubscribe = this.cache?.onSynced(synced)
        if (unsubscribe !== undefined) this.#unsubscribe.push(unsubscribe)
        this.#pending = nothingPending()
        this.#isFollowing = true
        this.#failure = undefined
        this.#incarnation = this.cache?.incarnation ?? ''
        return { list: this, keys, positions: this.reachPresent() }
      } catch (error) {
        if (!(error instanceof UnknownIndexError) || round === maxRounds) throw error
        snapshot.missed(error)
        // oxlint-disable-next-line no-await-in-loop -- as above
        await run.more()
      }
    }
  }

  /** Its listeners by kind. The caller passes their changes to {@link gather}. */
  get listeners(): readonly { readonly at: ClusterKind; readonly listener: Listener }[] {
    return this.#listeners
  }

  /** Finds the rows that match or stop matching because of related objects, if the list's filter reads any. */
  get filter(): GroupFilter | undefined {
    return this.#filter
  }

  /** False if the list has ended, or begun anew with other listeners. */
  isListening(listener: Listener): boolean {
    return this.#listeners.some((one) => one.listener === listener)
  }

  /** Whether more kinds can be read than the rows were written from. */
  get isOutdated(): boolean {
    return this.reading.readable().length > this.#listeners.length
  }

  markWide(): void {
    this.#isWide = true
  }

  /** Stops following. The rows stay as they are until the list begins again. `failure`: why it cannot be followed. */
  close(failure?: ClientError): void {
    this.#isFollowing = false
    this.#failure = failure
    const listeners = this.#listeners
    const filter = this.#filter
    this.#listeners = []
    this.#filter = undefined
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
    for (const { listener } of listeners) listener.close()
    filter?.close()
  }

  /** Marks rows to write. Writing them reaches these positions. */
  mark(keys: Iterable<string>, positions: Positions = {}): void {
    for (const key of keys) this.#pending.keys.add(key)
    Object.assign(this.#pending.positions, positions)
  }

  gather(type: string, { changes, position }: ListenerBatch): void {
    const { plan, dependencies } = this
    const isWhole = this.#content.whole !== undefined
    const { keys, unseen, previous, positions } = this.#pending
    if (type === this.at.kind.typeName && !isWhole) {
      const keepsPrevious = plan.previous.length > 0
      for (const { key, uid, type: what, finalStateKnown, previousHeld } of changes) {
        keys.add(key)
        if (keepsPrevious && !previous.has(uid)) previous.set(uid, previousHeld)
        if (what === 'DELETED' && !finalStateKnown) unseen.add(uid)
      }
    }
    if (isWhole || dependencies.isWide(type)) {
      this.#isWide = true
      this.#widePositions[type] = position
      return
    }
    for (const change of changes) {
      for (const row of dependencies.affectedBy(type, change)) keys.add(row)
    }
    for (const row of dependencies.takeDoubtful(type)) keys.add(row)
    positions[type] = position
  }

  /**
   * Takes the gathered changes, which the caller writes now. `enter` waits for the group's turn. A change that may affect
   * any row is taken only when its share of time allows; until then, the list plans a call of `again`.
   */
  async take(
    enter: () => Promise<void> | undefined,
    again: () => void,
    leaving: AbortSignal,
  ): Promise<TakenChanges> {
    const startMs = performance.now()
    const { keys: all, unseen, previous, positions } = this.#pending
    this.#pending = nothingPending()
    const filter = this.#filter?.take()
    const isWhole = this.#content.whole !== undefined
    if (isWhole && filter !== undefined && (filter.isAll || filter.rows.size > 0)) {
      this.#isWide = true
    }
    const isWideDue = this.#isWide && this.#wide.isDue
    if (isWideDue) {
      for (const key of this.#content.keys(this)) all.add(key)
      Object.assign(positions, this.#widePositions)
      this.#isWide = false
      this.#widePositions = {}
    } else if (this.#isWide) this.#wide.plan(again, leaving)
    let affected = noRows
    if (filter !== undefined) {
      if (!isWhole) {
        let others: Iterable<string> = filter.rows
        if (filter.isAll) {
          await enter()
          const snapshot = await this.reading.snapshot()
          const allMs = performance.now()
          others = runLive(() =>
            this.#content.changedMatches(this, {
              part: this.reading.followed(snapshot),
              run: this.reading.run(snapshot),
            }),
          )
          this.#filter?.decidedAll(allMs)
        }
        affected = new Set([...others].filter((key) => !all.has(key)))
      }
      Object.assign(positions, filter.positions)
    }
    return {
      list: this,
      keys: affected.size === 0 ? [...all] : [...all, ...affected],
      affected,
      positions,
      seen: {
        isFinalStateKnown: (uid) => !unseen.has(uid),
        previousOf: (uid) => previous.get(uid),
      },
      done: () => {
        if (isWideDue) this.#wide.done(startMs)
      },
    }
  }

  #versionAt(positions: Positions): ResourceVersion {
    return resourceVersion(positions[this.at.kind.typeName] ?? '')
  }

  #isAheadOf(version: ResourceVersion): boolean {
    if (this.#latest === version) return false
    // Versions without an order count as ahead.
    return !isBefore(this.#latest, version)
  }

  /** Whether some rows would be newer than positions of the list. */
  isAheadOf(positions: Positions): boolean {
    return this.#isFollowing && this.#isAheadOf(this.#versionAt(positions))
  }

  /** Records that rows were written. Rows that have not changed since show the positions `after`. */
  wrote(keys: readonly string[], { view }: KindView, after: Positions): void {
    const version = this.#versionAt(after)
    const written = this.reading.haveChanged(keys, version) ? view.resourceVersion : version
    if (!this.#isAheadOf(written)) this.#latest = written
  }
}

interface FilterChanges {
  /** The keys of rows that may have started or stopped matching. */
  readonly rows: ReadonlySet<string>
  /** Whether any other row may have started or stopped matching. */
  readonly isAll: boolean
  /** The positions after deciding them. */
  readonly positions: Readonly<Record<string, string>>
}

/** The rows to decide one by one. Beyond this, the group decides all rows, which costs as much as a snapshot. */
const maxAffectedRows = 10_000
/** The changes that may wait. Beyond this, the group decides all rows again. */
const maxWaitingChanges = 10_000
/** The share of time for deciding all rows again. */
const allShare = 1 / 20

interface FilterListener {
  readonly type: string
  readonly position: string
  readonly listener: Listener
}

/**
 * The objects that a filter on related objects reads, and the rows that their changes affect. Every change counts, because
 * any state in between may have decided a row. With too many waiting changes, too many affected rows or too much work to
 * find them, the group decides all rows again, in at most a twentieth of the time.
 */
class GroupFilter {
  readonly #filter: ListFilter
  readonly listeners: readonly FilterListener[]
  readonly #views: ReadonlyMap<string, StoreView>
  #rows = new Set<string>()
  #isAll = false
  readonly #all = new TimeShare(allShare)
  #positions: Record<string, string> = {}

  /** Call it in the tick that first decides the rows. Throws if a kind cannot be read. */
  constructor({ at: own, needs }: FollowedList, filter: ListFilter, snapshot: ReadSnapshot) {
    this.#filter = filter
    this.#views = new Map(
      [own, ...needs].map((at) => [at.kind.typeName, snapshot.informer(at, { watch: true }).store]),
    )
    this.listeners = filter.kinds.map(({ position, at }) => {
      const listener = snapshot.informer(at, { watch: true }).listen({
        bufferLimit: maxWaitingChanges,
        overflow: 'reset',
        replay: false,
        readsStore: true,
      })
      return { type: at.kind.typeName, position, listener }
    })
  }

  get isDrained(): boolean {
    const isEmpty = !this.#isAll && Object.keys(this.#positions).length === 0
    return isEmpty && this.listeners.every(({ listener }) => listener.isDrained)
  }

  /** Whether there are rows or positions to take now. */
  get isDue(): boolean {
    if (this.#isAll) return this.#all.isDue
    return Object.keys(this.#positions).length > 0
  }

  get positions(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.listeners.map(({ type, position }) => [position, this.#viewOf(type).resourceVersion]),
    )
  }

  /** Finds the rows that changes affect. Calls `due` when the caller should take them. */
  find(
    { type, position }: FilterListener,
    batch: ListenerBatch,
    due: () => void,
    leaving: AbortSignal,
  ): void {
    this.#positions[position] = batch.position
    if (!this.#isAll) {
      const viewOf = (name: string): StoreView => this.#viewOf(name)
      const keys = batch.reset ? undefined : affectedRows(this.#filter, type, batch.changes, viewOf)
      for (const key of keys ?? []) this.#rows.add(key)
      if (keys === undefined || this.#rows.size > maxAffectedRows) {
        this.#isAll = true
        this.#rows = new Set()
      }
    }
    if (this.isDue) due()
    else this.#all.plan(due, leaving)
  }

  /** Takes the rows to decide. Returns none while all rows are to be decided and their time has not come. */
  take(): FilterChanges {
    if (this.#isAll && !this.isDue) return { rows: new Set(), isAll: false, positions: {} }
    const taken = { rows: this.#rows, isAll: this.#isAll, positions: this.#positions }
    this.#rows = new Set()
    this.#isAll = false
    this.#positions = {}
    return taken
  }

  /** Records that deciding all rows began at `startMs`, in `performance.now()` time, and is done. */
  decidedAll(startMs: number): void {
    this.#all.done(startMs)
  }

  close(): void {
    for (const { listener } of this.listeners) listener.close()
  }

  #viewOf(type: string): StoreView {
    const view = this.#views.get(type)
    if (view === undefined) throw new TypeError(`${type} is not followed`)
    return view
  }
}

/** The rows that changes of a type may add to a list or remove; `undefined` if they are too many or too costly to find. */
export function affectedRows(
  { affected }: ListFilter,
  type: string,
  changes: readonly Change[],
  viewOf: (type: string) => StoreView,
  budget: WorkBudget = new WorkBudget(),
): ReadonlySet<string> | undefined {
  try {
    return affected.of(type, changes, {
      part: (name) => ({ view: viewOf(name), scope: unrestricted }),
      budget,
      maxRows: maxAffectedRows,
    })
  } catch (error) {
    if (error instanceof QueryTooCostlyError) return undefined
    throw error
  }
}
