import { sleep } from '../../lib/backoff.ts'
import { TimeShare } from '../../lib/event-loop.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { Listener, ListenerBatch } from '../../informer/delivery/listener.ts'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import {
  isBefore,
  latestResourceVersion,
  type ResourceVersion,
  resourceVersion,
} from '../../kubernetes/resource-version.ts'
import type { Kind } from '../model/kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { runLive } from '../prepare/operation-turns.ts'
import { maxRounds } from '../prepare/preparation.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { Positions } from '../reads/resume-token.ts'
import type { FollowedList } from './followed-list.ts'
import type { FramePlan, SentChange } from './frame-plan.ts'
import type { FrameWriter } from './frame-writer.ts'
import { type GroupContent, nothingSeen, type SeenChanges } from './group-content.ts'
import { type FilterChanges, GroupFilter } from './group-filter.ts'
import type { GroupFrames } from './group-frames.ts'
import { type GroupReading, type GroupRun, LackingError } from './group-reading.ts'
import type { GroupMemberships } from './viewer-membership.ts'

/** The parts of a group that take part in a change. */
export interface ChangingGroup {
  readonly plan: FramePlan
  readonly list: FollowedList
  readonly cache: ClusterCache | undefined
  readonly coalesceMs: number
  readonly maxFrameObjects: number
  readonly content: GroupContent
  readonly reading: GroupReading
  readonly writer: FrameWriter
  readonly frames: GroupFrames
  readonly memberships: GroupMemberships
  /** Aborted when the group is over, which stops all following and writing. */
  readonly leaving: AbortSignal
  enter(): Promise<void> | undefined
  announce(): void
  /** Called after writing some rows, which may change the memory that the group holds. */
  written(): void
  stopped(kind: Kind): void
  /** Called when the informer of a kind that the list's filter reads has stopped. */
  filterStopped(): void
  /** Called if another group must take the members: the cluster was replaced, or another kind can be read now. */
  outdated(): void
  failed(error: unknown): void
}

/** The changes to write next. */
interface PendingChanges {
  readonly keys: Set<string>
  /** The UIDs of objects whose deletion was concluded. */
  readonly unseen: Set<string>
  /** The objects before their changes, by UID, if frames show them. */
  readonly previous: Map<string, HeldObject | undefined>
  /** The positions after these changes. */
  readonly positions: Record<string, string>
}

function nothingPending(): PendingChanges {
  return { keys: new Set(), unseen: new Set(), previous: new Map(), positions: {} }
}

const noRows: ReadonlySet<string> = new Set()

function isAnyRow({ rows, isAll }: FilterChanges): boolean {
  return isAll || rows.size > 0
}

/** Each round may reveal lacking indexes or permissions one level deeper. */
const maxLackingRounds = 10

/**
 * Follows the objects that a group reads, with one listener per kind. Gathers their changes and writes them into the
 * ring: one flush at a time, each in turns of some rows.
 */
export class GroupChanges {
  readonly #group: ChangingGroup
  /** Finds the rows that match or stop matching because of related objects, if the list's filter reads any. */
  readonly #filter: GroupFilter | undefined
  #listeners: readonly { readonly kind: Kind; readonly listener: Listener }[] = []
  readonly #unsubscribe: (() => void)[] = []
  #pending = nothingPending()
  /** Whether any row may have changed. */
  #isWide = false
  /** The positions after rewriting all rows. */
  #widePositions: Record<string, string> = {}
  /** Limits the time for rewriting all rows, after a change of an object that any row may read. */
  readonly #wide = new TimeShare(1 / 20)
  #positions: Positions = {}
  /** The newest version of the followed kind that some rows show. Other rows show the version in the positions. */
  #latest: ResourceVersion = latestResourceVersion
  #flushing: Promise<void> | undefined
  #staleSince: string | null = null

  constructor(group: ChangingGroup) {
    this.#group = group
    const { filter } = group.list
    if (filter !== undefined) this.#filter = new GroupFilter(group.list, filter)
  }

  /** The positions of a member that has read every frame. */
  get positions(): Positions {
    // If no change waits, the group has sent everything up to the present.
    if (!this.#group.leaving.aborted && this.#isDrained) this.#reachPresent()
    return this.#positions
  }

  /** Whether some rows were written in a state newer than the positions. */
  get isAhead(): boolean {
    return this.#isAheadOf(this.#versionAt(this.#positions))
  }

  /**
   * Since when the rows may be out of date, by RFC 3339; `null` while their caches are in step. The ring has a frame for
   * each beginning and each end.
   */
  get staleSince(): string | null {
    return this.#staleSince
  }

  /** Writes the matching rows, then follows changes. Rejects with the error that prevents this. */
  async start(): Promise<void> {
    const { cache, leaving, reading } = this.#group
    if (reading.isNowhere) return
    const renewed = cache?.onRenewed(() => {
      if (!leaving.aborted) this.#group.outdated()
    })
    if (renewed !== undefined) this.#unsubscribe.push(renewed)
    const keys = await this.#matching()
    await this.#inChunks(keys, this.#positions, () => this.#group.written())
    this.#followStaleness()
    for (const { kind, listener } of this.#listeners) {
      void this.#follow(kind, listener).catch(this.#failed)
    }
    void this.flush().catch(this.#failed)
    if (this.#filter !== undefined) void this.#followFilter(this.#filter).catch(this.#failed)
  }

  /** Rewrites all rows. Rejects as {@link flush} does. */
  async rewrite(): Promise<void> {
    for (const key of this.#group.content.keys()) this.#pending.keys.add(key)
    await this.flush()
  }

  /** Writes the gathered changes that are due. Rejects with the error that prevents this. */
  async flush(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- one at a time
    while (this.#flushing !== undefined) await this.#flushing
    const isDue = !this.#isEmpty || this.#filter?.isDue === true
    if (!isDue || this.#group.leaving.aborted) return
    this.#flushing = this.#flushOnce().finally(() => {
      this.#flushing = undefined
    })
    await this.#flushing
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const { listener } of this.#listeners) listener.close()
    this.#filter?.close()
  }

  #followStaleness(): void {
    const { cache, plan, reading } = this.#group
    if (!plan.tellsStaleness || cache === undefined) return
    this.#staleSince = reading.staleSince()
    this.#unsubscribe.push(cache.onStaleness(() => this.#stalenessChanged()))
  }

  /** Sends a frame without changes when the first cache becomes stale, and when all are in step again. */
  #stalenessChanged(): void {
    const group = this.#group
    const before = this.#staleSince
    const since = group.reading.staleSince()
    this.#staleSince = since
    if (group.leaving.aborted || (since === null) === (before === null)) return
    // Rows may be written while a flush is under way.
    const at = { before: this.#positions, positions: this.#positions, isAhead: true }
    const frames = group.writer.frames([], { ...at, reset: false, page: group.content.page })
    for (const frame of frames) group.frames.push(frame)
    group.announce()
    group.written()
  }

  get #isEmpty(): boolean {
    const { keys, positions } = this.#pending
    return keys.size === 0 && Object.keys(positions).length === 0 && !this.#isWide
  }

  get #isDrained(): boolean {
    if (this.#flushing !== undefined || !this.#isEmpty || this.#filter?.isDrained === false) {
      return false
    }
    return this.#listeners.every(({ listener }) => listener.isDrained)
  }

  #reachPresent(): void {
    this.#positions = { ...this.#group.reading.positions(), ...this.#filter?.positions }
    this.#latest = this.#versionAt(this.#positions)
  }

  /** The keys of the matching rows. The listeners report every change after the tick that selects them. */
  async #matching(): Promise<readonly string[]> {
    const { content, reading } = this.#group
    for (let round = 1; ; round += 1) {
      // oxlint-disable-next-line no-await-in-loop -- an index may have to be made first
      const snapshot = await reading.snapshot()
      const run = reading.run(snapshot)
      try {
        const keys = content.matching(reading.followed(snapshot), run)
        this.#listen(snapshot)
        this.#reachPresent()
        return keys
      } catch (error) {
        if (!(error instanceof UnknownIndexError) || round === maxRounds) throw error
        snapshot.missed(error)
        // oxlint-disable-next-line no-await-in-loop -- as above
        await run.more()
      }
    }
  }

  #listen(snapshot: ReadSnapshot): void {
    const { reading, content, cache } = this.#group
    this.#listeners = reading.readable(snapshot).map((at) => {
      return { kind: at.kind, listener: reading.listen(snapshot, at) }
    })
    const byType = new Map(this.#listeners.map(({ kind, listener }) => [kind.typeName, listener]))
    content.dependencies.listen((type) => byType.get(type)?.hasWaiting === true)
    this.#filter?.listen(snapshot)
    const synced = cache?.onSynced(() => this.#kindSynced())
    if (synced !== undefined) this.#unsubscribe.push(synced)
  }

  #kindSynced(): void {
    const { reading, leaving } = this.#group
    if (leaving.aborted) return
    if (reading.readable().length > this.#listeners.length) this.#group.outdated()
    else if (reading.looksAround) {
      // Any row may lead to the kind.
      this.#isWide = true
      void this.flush().catch(this.#failed)
    }
  }

  async #follow(kind: Kind, listener: Listener): Promise<void> {
    const { leaving } = this.#group
    for await (const batch of listener.gathered(this.#pause)) {
      this.#group.memberships.changed(kind, batch.changes)
      this.#take(kind.typeName, batch)
      // The changes of other kinds at the same time go into the same frame.
      if (this.#listeners.length > 1) await new Promise<void>((resolve) => setImmediate(resolve))
      await this.flush()
    }
    if (!leaving.aborted) this.#group.stopped(kind)
  }

  async #followFilter(filter: GroupFilter): Promise<void> {
    while (await filter.changed()) {
      await this.#pause()
      await this.flush()
    }
    if (!this.#group.leaving.aborted) this.#group.filterStopped()
  }

  readonly #pause = (): Promise<void> | undefined => {
    const { coalesceMs, leaving } = this.#group
    return coalesceMs === 0 ? undefined : sleep(coalesceMs, leaving)
  }

  readonly #failed = (error: unknown): void => this.#group.failed(error)

  #take(type: string, { changes, position }: ListenerBatch): void {
    const { plan, content } = this.#group
    const { dependencies } = content
    const { keys, unseen, previous, positions } = this.#pending
    if (type === plan.kind.typeName && content.isWhole !== true) {
      const keepsPrevious = plan.previous.length > 0
      for (const { key, uid, type: what, finalStateKnown, previousHeld } of changes) {
        keys.add(key)
        if (keepsPrevious && !previous.has(uid)) previous.set(uid, previousHeld)
        if (what === 'DELETED' && !finalStateKnown) unseen.add(uid)
      }
    }
    if (content.isWhole === true || dependencies.isWide(type)) {
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

  async #flushOnce(): Promise<void> {
    const group = this.#group
    const { content, writer, frames } = group
    const startMs = performance.now()
    const { keys: all, unseen, previous, positions } = this.#pending
    this.#pending = nothingPending()
    const filter = this.#filter?.take()
    if (filter !== undefined && content.isWhole === true && isAnyRow(filter)) this.#isWide = true
    const isWideDue = this.#isWide && this.#wide.isDue
    if (isWideDue) {
      for (const key of content.keys()) all.add(key)
      Object.assign(positions, this.#widePositions)
      this.#isWide = false
      this.#widePositions = {}
    } else if (this.#isWide) {
      this.#wide.plan(() => void this.flush().catch(this.#failed), group.leaving)
    }
    const affected = filter === undefined ? noRows : await this.#affectedBy(filter, all)
    const before = this.#positions
    const after = { ...before, ...positions, ...filter?.positions }
    const seen = {
      isFinalStateKnown: (uid: string) => !unseen.has(uid),
      previousOf: (uid: string) => previous.get(uid),
    }
    let count = content.page?.totalCount
    let isPageOpen = false
    const send = (changes: readonly SentChange[], isLast: boolean): void => {
      const { page } = content
      const isAhead = this.#isAheadOf(this.#versionAt(after))
      const reached = isLast ? after : before
      if (changes.length > 0 || page?.totalCount !== count || (isLast && isPageOpen)) {
        isPageOpen = page !== undefined
        count = page?.totalCount
        const at = { reset: false, before, positions: reached, isAhead, page }
        for (const frame of writer.frames(changes, at)) frames.push(frame)
        group.announce()
      }
      this.#positions = reached
      group.written()
    }
    await this.#inChunks([...all, ...affected], after, send, seen, affected)
    if (isWideDue) this.#wide.done(startMs)
  }

  /** The rows that may match or stop matching because of related objects, without those that are `written` anyway. */
  async #affectedBy(
    { rows, isAll }: FilterChanges,
    written: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> {
    if (this.#group.content.isWhole === true) return noRows
    const others = isAll ? await this.#changedMatches() : [...rows]
    return new Set(others.filter((key) => !written.has(key)))
  }

  async #changedMatches(): Promise<readonly string[]> {
    await this.#group.enter()
    const { reading, content } = this.#group
    const snapshot = await reading.snapshot()
    const startMs = performance.now()
    const changed = runLive(() =>
      content.changedMatches(reading.followed(snapshot), reading.run(snapshot)),
    )
    this.#filter?.decidedAll(startMs)
    return changed
  }

  #versionAt(positions: Positions): ResourceVersion {
    return resourceVersion(positions[this.#group.plan.kind.typeName] ?? '')
  }

  #isAheadOf(version: ResourceVersion): boolean {
    if (this.#latest === version) return false
    // Without an order, assumes that it is.
    return !isBefore(this.#latest, version)
  }

  /**
   * Writes the changes for keys, a bounded number at a time, so that other work gets its turn in between. Rows that
   * have not changed since show the positions `after`. Of the `affected` keys, only those whose match has changed.
   */
  async #inChunks(
    keys: readonly string[],
    after: Positions,
    send: (changes: readonly SentChange[], isLast: boolean) => void,
    seen: SeenChanges = nothingSeen,
    affected = noRows,
  ): Promise<void> {
    const { maxFrameObjects, content, reading } = this.#group
    const version = this.#versionAt(after)
    for (let start = 0; start === 0 || start < keys.length; start += maxFrameObjects) {
      const chunk = keys.slice(start, start + maxFrameObjects)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#inTurn((snapshot, run) => {
        const part = reading.followed(snapshot)
        const due = this.#due(chunk, affected, part, run)
        let changes: readonly SentChange[]
        try {
          changes = content.changes(due, part, run, seen)
        } catch (error) {
          // A missing or lacking read takes precedence over the error that it causes.
          run.check()
          throw error
        }
        const written = reading.haveChanged(due, version) ? part.view.resourceVersion : version
        if (!this.#isAheadOf(written)) this.#latest = written
        send(changes, start + maxFrameObjects >= keys.length)
      })
    }
  }

  #due(
    keys: readonly string[],
    affected: ReadonlySet<string>,
    part: KindView,
    run: GroupRun,
  ): readonly string[] {
    const asked = affected.size === 0 ? [] : keys.filter((key) => affected.has(key))
    if (asked.length === 0) return keys
    const changed = new Set(this.#group.content.changedMatches(part, run, asked))
    return keys.filter((key) => !affected.has(key) || changed.has(key))
  }

  /** Calls `write` in the group's turn. If an index or a permission is lacking, prepares it and calls `write` again. */
  async #inTurn(write: (snapshot: ReadSnapshot, run: GroupRun) => void): Promise<void> {
    const { reading, leaving } = this.#group
    const decisions = reading.decisions()
    for (let round = 1; ; round += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#group.enter()
      if (leaving.aborted) return
      // oxlint-disable-next-line no-await-in-loop -- as above
      const snapshot = await reading.snapshot()
      const run = reading.run(snapshot, decisions, round > maxLackingRounds)
      try {
        runLive(() => write(snapshot, run))
        return
      } catch (error) {
        if (!(error instanceof LackingError)) throw error
      }
      // oxlint-disable-next-line no-await-in-loop -- as above
      await run.more()
    }
  }
}
