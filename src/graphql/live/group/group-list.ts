/*
 * One list of a group: one kind in one cluster, with a condition. In one tick it selects its rows and begins to listen to
 * all kinds that decide or write these rows (`begin`). Changes of these kinds are only marked, until a flush takes them
 * (`take`), and the content of the group (`GroupContent`) writes them. Changes are marked in two ways:
 *
 * - `gather`: the kinds that rows are written from. Marks the rows of changed objects, and the rows that were written from
 *   a changed object (`RowDependencies`).
 * - `decide`: the kinds that the condition reads. Marks the rows that may start or stop matching.
 *
 * A change that may affect any row marks the list as a whole (`WideChanges`). That costs as much as a snapshot, so it
 * waits for the group's share of time, while other changes go on. A position is reached only with the last mark that
 * precedes it: once a kind has a wide change that waits, its later positions wait with it.
 */

import type { ClusterCache } from '../../../cache/cluster-cache.ts'
import type { HeldObject } from '../../../informer/codec/object-codec.ts'
import type { Listener, ListenerBatch } from '../../../informer/delivery/listener.ts'
import type { SharedInformer } from '../../../informer/shared-informer.ts'
import type { Change } from '../../../informer/store/change.ts'
import { UnknownIndexError } from '../../../informer/store/store-errors.ts'
import type { StoreView } from '../../../informer/store/store-view.ts'
import { type KubernetesObject, splitObjectKey } from '../../../kubernetes/object.ts'
import {
  isBefore,
  latestResourceVersion,
  type ResourceVersion,
  resourceVersion,
} from '../../../kubernetes/resource-version.ts'
import { WorkBudget } from '../../../query/condition/work-budget.ts'
import { ClientError, unlessRefused } from '../../errors/client-error.ts'
import { type ClusterKind, isReachable, type KindView } from '../../prepare/kind-view.ts'
import { maxRounds } from '../../prepare/preparation.ts'
import { identifiedIn } from '../../reads/object-read.ts'
import { type PlaceRead, unreachableCluster } from '../../reads/places.ts'
import type { FollowedRelation } from '../../reads/read-run.ts'
import type { Positions } from '../../reads/resume-token.ts'
import { requireUsages } from '../../reads/usage-read.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import {
  affectedRows,
  type FollowedList,
  maxAffectedRows,
  maxWaitingChanges,
  viewIn,
} from '../followed-list.ts'
import type { FramePlan, PageState, SentChange } from '../frame-plan.ts'
import type { ListAccess } from './group-access.ts'
import type { GroupReading, GroupRun } from './group-reading.ts'

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
  /** The UIDs of objects whose deletion was concluded from a relist. */
  readonly unseen?: ReadonlySet<string>
  /** The objects before their changes, by UID, if frames show them and they are known. */
  readonly previous?: ReadonlyMap<string, HeldObject | undefined>
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
   * Whether the content is read again as a whole after any change. Changes are then not gathered by key, and each list has
   * one row, with the key `''`.
   */
  readonly isWhole: boolean
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
  /** The connections of clusters may have changed. */
  stateChanged?(): void
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

/** What the next flush takes. */
interface PendingChanges {
  /** The keys of rows to write. */
  readonly keys: Set<string>
  /** The keys of rows that may start or stop matching although their objects have not changed. */
  readonly affected: Set<string>
  /** See {@link RowKeys}. */
  readonly unseen: Set<string>
  readonly previous: Map<string, HeldObject | undefined>
  readonly positions: Record<string, string>
}

function nothingPending(): PendingChanges {
  return {
    keys: new Set(),
    affected: new Set(),
    unseen: new Set(),
    previous: new Map(),
    positions: {},
  }
}

/** Changes that may affect any row. */
interface WideChanges {
  /** Whether all rows that were sent are to be written again. */
  rewrites: boolean
  /** Whether it is to be decided again which rows match. */
  decides: boolean
  /** The positions after that. */
  readonly positions: Record<string, string>
}

function nothingWide(): WideChanges {
  return { rewrites: false, decides: false, positions: {} }
}

export interface TakenChanges extends RowKeys {
  readonly positions: Positions
}

/** A kind that a list listens to. */
interface ListListener {
  readonly at: ClusterKind
  readonly listener: Listener
  /** Set if the condition reads the kind: the name of its position in tokens. */
  readonly filtering?: string
}

export class GroupList {
  readonly list: FollowedList
  readonly plan: FramePlan
  readonly cache: ClusterCache | undefined
  readonly access: ListAccess
  readonly reading: GroupReading
  readonly dependencies: RowDependencies = new RowDependencies()
  readonly #content: GroupContent
  readonly #served: ServedSchema
  #listeners: readonly ListListener[] = []
  /** The stores that decide the condition, by type, if it reads related objects. */
  #deciding: ReadonlyMap<string, StoreView> = new Map()
  #unsubscribe: (() => void)[] = []
  #isFollowing = false
  #failure: ClientError | undefined
  #incarnation: string
  #pending = nothingPending()
  #wide = nothingWide()
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

  /** Whether it has begun, and the members have its rows. Until then, it is the gap that it was. */
  get isShown(): boolean {
    return this.#isFollowing && this.#failure === undefined
  }

  /** Why the list is not followed, if that is known. */
  get failure(): ClientError | undefined {
    return this.#failure
  }

  /** The members have the rows of a list that has begun. */
  shown(): void {
    if (this.#isFollowing) this.#failure = undefined
  }

  /** The history of its cluster that its positions belong to. */
  get incarnation(): string {
    return this.#incarnation
  }

  /** Whether {@link incarnation} is known to be the history of what the caches of its cluster hold. */
  get isVerified(): boolean {
    const { cache } = this
    return cache === undefined || (cache.isVerified && cache.incarnation === this.#incarnation)
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
    if (this.isShown && !isAway) {
      const isWhole = this.cache?.hasPartial === false
      return isWhole ? at : (unlessRefused(() => this.reading.followed()) ?? at)
    }
    if (!this.isServed) return undefined
    const isHeld = this.#isFollowing || this.#content.keys(this).length > 0
    if (isAway && !isHeld) throw unreachableCluster(this.#served, at, false)
    if (!isAway && this.#failure !== undefined) throw this.#failure
    return at
  }

  /** The errors of ids whose objects are gone, where others were made in their place. */
  madeAnew(): readonly ClientError[] {
    const { named = [] } = this.list
    const part = named.length === 0 ? undefined : unlessRefused(() => this.reading.followed())
    if (part === undefined) return []
    const budget = new WorkBudget()
    return named.flatMap((one) => {
      const found = identifiedIn(this.#served, part, budget, one)
      return found instanceof ClientError ? [found] : []
    })
  }

  /** Whether a change that may affect any row waits. */
  get isWide(): boolean {
    return this.#wide.rewrites || this.#wide.decides
  }

  /** Whether there is something to take. `takesWide`: whether it is time for changes that may affect any row. */
  isDue(takesWide: boolean): boolean {
    return this.#isFollowing && (!this.#isEmpty || (takesWide && this.isWide))
  }

  get #isEmpty(): boolean {
    const { keys, affected, positions } = this.#pending
    return keys.size === 0 && affected.size === 0 && Object.keys(positions).length === 0
  }

  /** Whether no change waits: everything up to the present is written. */
  get isDrained(): boolean {
    if (!this.#isFollowing || !this.#isEmpty || this.isWide) return false
    return this.#listeners.every(({ listener }) => listener.isDrained)
  }

  /** The present positions. Call if the rows have reached them. */
  reachPresent(): Positions {
    const positions: Record<string, string> = { ...this.reading.positions() }
    for (const { filtering, at } of this.#listeners) {
      const store = this.#deciding.get(at.kind.typeName)
      if (filtering !== undefined && store !== undefined) {
        positions[filtering] = store.resourceVersion
      }
    }
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
      const snapshot = await this.reading.snapshot()
      const run = this.reading.run(snapshot)
      try {
        const part = this.reading.followed(snapshot)
        const { measured, within } = this.list
        if (measured !== undefined) requireUsages(run, part, measured, within)
        const keys = this.#content.matching(this, { part, run })
        this.close()
        const own = this.reading.readable(snapshot).map((at): ListListener => {
          return { at, listener: this.reading.listen(snapshot, at) }
        })
        const byType = new Map(own.map(({ at, listener }) => [at.kind.typeName, listener] as const))
        this.dependencies.listen((type) => byType.get(type)?.hasWaiting === true)
        const deciding = filter === undefined ? [] : [this.at, ...this.list.needs]
        // The list can do without an optional kind, such as one of those in a namespace.
        const informerOf = (at: ClusterKind): SharedInformer | undefined => {
          const read = (): SharedInformer => snapshot.informer(at, { watch: true })
          return at === this.at || at.isOptional !== true ? read() : unlessRefused(read)
        }
        this.#deciding = new Map(
          deciding.flatMap((at) => {
            const store = informerOf(at)?.store
            return store === undefined ? [] : [[at.kind.typeName, store] as const]
          }),
        )
        const filtering = (filter?.kinds ?? []).flatMap(({ at, position }): ListListener[] => {
          // Every change counts, because any state in between may have decided a row.
          const listener = informerOf(at)?.listen({
            bufferLimit: maxWaitingChanges,
            overflow: 'reset',
            replay: false,
            readsStore: true,
          })
          return listener === undefined ? [] : [{ at, listener, filtering: position }]
        })
        this.#listeners = [...own, ...filtering]
        const unsubscribe = this.cache?.onSynced(synced)
        if (unsubscribe !== undefined) this.#unsubscribe.push(unsubscribe)
        this.#pending = nothingPending()
        this.#wide = nothingWide()
        this.#isFollowing = true
        this.#incarnation = this.cache?.incarnation ?? ''
        return { list: this, keys, positions: this.reachPresent() }
      } catch (error) {
        if (!(error instanceof UnknownIndexError) || round === maxRounds) throw error
        snapshot.missed(error)
        await run.more()
      }
    }
  }

  /** The kinds that it listens to. The caller passes their changes to {@link gather} or, if `filtering`, to {@link decide}. */
  get listeners(): readonly ListListener[] {
    return this.#listeners
  }

  /** False if the list has ended, or begun anew with other listeners. */
  isListening(listener: Listener): boolean {
    return this.#listeners.some((one) => one.listener === listener)
  }

  /** Whether more kinds can be read than the rows were written from. */
  get isOutdated(): boolean {
    const own = this.#listeners.filter(({ filtering }) => filtering === undefined)
    return this.reading.readable().length > own.length
  }

  markWide(): void {
    this.#wide.rewrites = true
  }

  /** Stops following. The rows stay as they are until the list begins again. `failure`: why it cannot be followed. */
  close(failure?: ClientError): void {
    this.#isFollowing = false
    this.#failure = failure
    const listeners = this.#listeners
    this.#listeners = []
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
    for (const { listener } of listeners) listener.close()
  }

  /** Marks rows to write. Writing them reaches these positions. */
  mark(keys: Iterable<string>, positions: Positions = {}): void {
    for (const key of keys) this.#pending.keys.add(key)
    Object.assign(this.#pending.positions, positions)
  }

  /** Marks what changes of a kind affect that the rows are written from. */
  gather(type: string, { changes, position }: ListenerBatch): void {
    const { plan, dependencies } = this
    const { isWhole } = this.#content
    const { keys, unseen, previous } = this.#pending
    if (type === this.at.kind.typeName && !isWhole) {
      const keepsPrevious = plan.previous.length > 0
      for (const { key, uid, type: what, finalStateKnown, previousHeld } of changes) {
        keys.add(key)
        if (keepsPrevious && !previous.has(uid)) previous.set(uid, previousHeld)
        if (what === 'DELETED' && !finalStateKnown) unseen.add(uid)
      }
    }
    if (isWhole || dependencies.isWide(type)) this.#wide.rewrites = true
    else {
      for (const change of changes) {
        for (const row of dependencies.affectedBy(type, change)) keys.add(row)
      }
      for (const row of dependencies.takeDoubtful(type)) keys.add(row)
    }
    this.#passed(type, position, isWhole || dependencies.isWide(type))
  }

  /** Marks the rows that changes of a kind may add or remove that the condition reads. */
  decide({ at, filtering = '' }: ListListener, { changes, position, reset }: ListenerBatch): void {
    const { filter } = this.list
    if (filter === undefined) return
    const { affected } = this.#pending
    let isWide = this.#wide.decides
    if (!isWide) {
      const viewOf = (type: string): StoreView => viewIn(this.#deciding, type)
      const rows = reset ? undefined : affectedRows(filter, at.kind.typeName, changes, viewOf)
      if (this.#content.isWhole) {
        isWide = rows === undefined || rows.size > 0
        this.#wide.rewrites ||= isWide
      } else {
        isWide = rows === undefined || affected.size + rows.size > maxAffectedRows
        this.#wide.decides ||= isWide
        if (!isWide) for (const row of rows ?? []) affected.add(row)
      }
    }
    this.#passed(filtering, position, isWide)
  }

  /** Notes that all changes up to a position are marked. */
  #passed(name: string, position: string, isWide: boolean): void {
    const { positions } = isWide || name in this.#wide.positions ? this.#wide : this.#pending
    positions[name] = position
  }

  /**
   * Takes the marked changes, which the caller writes now. `takesWide`: also those that may affect any row. `decide` finds
   * the rows among all that start or stop matching.
   */
  async take(
    takesWide: boolean,
    decide: (list: GroupList) => Promise<readonly string[]>,
  ): Promise<TakenChanges> {
    const { keys, affected: marked, unseen, previous, positions } = this.#pending
    const wide = takesWide ? this.#wide : nothingWide()
    this.#pending = nothingPending()
    if (takesWide) this.#wide = nothingWide()
    Object.assign(positions, wide.positions)
    if (wide.rewrites) for (const key of this.#content.keys(this)) keys.add(key)
    const decided: Iterable<string> = wide.decides ? await decide(this) : marked
    const affected = new Set([...decided].filter((key) => !keys.has(key)))
    return {
      list: this,
      keys: affected.size === 0 ? [...keys] : [...keys, ...affected],
      affected,
      unseen,
      previous,
      positions,
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

/** The approximate memory of one dependency: an anchor, a row in its set, and the reverse entry. */
const dependencyBytes = 430

/**
 * The objects that each row of a list was written from, and so the rows that a change of an object affects. A row depends
 * on the objects that it names, by their keys, even if they do not exist yet, and on owned objects, by their owner. For
 * any other relation only the kinds are known: a change of any object of these kinds affects all rows.
 */
class RowDependencies {
  /** By type name, then by {@link anchorOfKey} or {@link anchorOfOwner}: the keys of the rows. */
  readonly #rowsOf = new Map<string, Map<string, Set<string>>>()
  readonly #ofRow = new Map<string, (readonly [type: string, anchor: string])[]>()
  readonly #wide = new Set<string>()
  /** The types on whose owned objects rows depend. */
  readonly #owned = new Set<string>()
  /** By type: rows written while changes waited. A listener merges changes, which may hide an owner in between. */
  readonly #doubtful = new Map<string, Set<string>>()
  #size = 0
  #hasWaiting: (type: string) => boolean = () => false

  /** `hasWaiting`: whether changes of a type wait in its listener. */
  listen(hasWaiting: (type: string) => boolean): void {
    this.#hasWaiting = hasWaiting
  }

  get bytes(): number {
    return this.#size * dependencyBytes
  }

  /** Removes a row that is about to be rewritten, or was removed. */
  forget(row: string): void {
    const dependencies = this.#ofRow.get(row) ?? []
    this.#size -= dependencies.length
    for (const [type, anchor] of dependencies) {
      const rows = this.#rowsOf.get(type)?.get(anchor)
      rows?.delete(row)
      if (rows?.size === 0) this.#rowsOf.get(type)?.delete(anchor)
    }
    this.#ofRow.delete(row)
  }

  /** Records a relation that was followed for a row. */
  add(row: string, { reads, condition, isSaid, owner, namespace }: FollowedRelation): void {
    const [only] = reads
    if (namespace !== undefined) {
      for (const { typeName: type } of reads) this.#add(row, type, anchorOfNamespace(namespace))
      return
    }
    const isOne = isSaid && reads.length === 1
    if (condition.form === 'nothing' && (isOne || owner !== undefined)) return
    if (owner !== undefined) {
      for (const { typeName: type } of reads) {
        this.#owned.add(type)
        this.#add(row, type, anchorOfOwner(owner))
        if (!this.#hasWaiting(type)) continue
        const rows = this.#doubtful.get(type)
        if (rows === undefined) this.#doubtful.set(type, new Set([row]))
        else rows.add(row)
      }
      return
    }
    if (!isOne || only === undefined || condition.form !== 'keys') {
      for (const { typeName } of reads) this.#wide.add(typeName)
      return
    }
    for (const key of condition.keys) this.#add(row, only.typeName, anchorOfKey(key))
  }

  /** Whether a change of an object of this type may affect any row. */
  isWide(type: string): boolean {
    return this.#wide.has(type)
  }

  /** The rows that depend on an object as it was before a change, or as it is now. */
  affectedBy(type: string, change: Change): ReadonlySet<string> {
    const rowsOf = this.#rowsOf.get(type)
    if (rowsOf === undefined) return noRows
    const rows = rowsOf.get(anchorOfKey(change.key)) ?? noRows
    const { namespace } = splitObjectKey(change.key)
    const around = rowsOf.get(anchorOfNamespace(namespace)) ?? noRows
    if (!this.#owned.has(type) && (rows.size === 0 || around.size === 0))
      return rows.size === 0 ? around : rows
    const all = new Set([...rows, ...around])
    const add = (anchor: string): void => {
      for (const row of rowsOf.get(anchor) ?? noRows) all.add(row)
    }
    if (change.type === 'MODIFIED' && change.previousHeld === undefined) {
      // The owners before the change are unknown.
      for (const anchor of rowsOf.keys()) if (anchor.startsWith(ownerAnchor)) add(anchor)
    } else {
      for (const uid of [...ownersOf(change.object), ...ownersOf(change.previous)]) {
        add(anchorOfOwner(uid))
      }
    }
    return all
  }

  /** Takes the rows to rewrite with the next changes of a type. */
  takeDoubtful(type: string): Iterable<string> {
    const rows = this.#doubtful.get(type) ?? noRows
    this.#doubtful.delete(type)
    return rows
  }

  #add(row: string, type: string, anchor: string): void {
    let rowsOf = this.#rowsOf.get(type)
    if (rowsOf === undefined) this.#rowsOf.set(type, (rowsOf = new Map()))
    let ofRow = this.#ofRow.get(row)
    if (ofRow === undefined) this.#ofRow.set(row, (ofRow = []))
    const rows = rowsOf.get(anchor)
    if (rows === undefined) rowsOf.set(anchor, new Set([row]))
    else rows.add(row)
    ofRow.push([type, anchor])
    this.#size += 1
  }
}

const noRows: ReadonlySet<string> = new Set()

function anchorOfKey(key: string): string {
  return `key ${key}`
}

function anchorOfNamespace(namespace: string): string {
  return `in ${namespace}`
}

const ownerAnchor = 'owner '

function anchorOfOwner(uid: string): string {
  return ownerAnchor + uid
}

function ownersOf(object: KubernetesObject | undefined): readonly string[] {
  return object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? []
}
