/*
 * How the changes of a group's lists become frames. At the start, the lists select their rows, and the group writes them.
 * Then the group gathers each listener's changes for `coalesceMs` and marks them at their list. A flush takes the changes
 * of all lists and writes them into the ring: one flush at a time, a bounded number of rows a turn. If a row lacks an
 * index or a permission, the group prepares it and repeats the turn. A list that cannot be read begins again later
 * (`retried`); until then, frames report it as a gap (`stateChanged`).
 */

import { Backoff, sleep } from '../../../lib/backoff.ts'
import { TimeShare } from '../../../lib/event-loop.ts'
import { ClientError } from '../../errors/client-error.ts'
import { enterLive, runLive } from '../../prepare/user-shares.ts'
import type { Kind } from '../../model/kind.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import type { ReadParts, ReadSnapshot } from '../../prepare/preparation.ts'
import { isSwitchedOff, type PlaceRead, PlacesReport, staleSince } from '../../reads/places.ts'
import type { FollowedList } from '../followed-list.ts'
import type { SentChange } from '../frame-plan.ts'
import type { GroupList, ListRead, ListReads, RowKeys, TakenChanges } from './group-list.ts'
import type { GroupMembers, MembersGroup } from './group-members.ts'
import { type GroupPositions, type GroupState, positionsAfter } from './group-frames.ts'
import { type GroupRun, LackingError, type RunMeans } from './group-reading.ts'

type BegunList = Awaited<ReturnType<GroupList['begin']>>

/** How often to look whether the clusters can be reached. */
const stateCheckMs = 500

/** Each round may reveal lacking indexes or permissions one level deeper. */
const maxLackingRounds = 10

/** The group whose changes are written. */
export interface ChangingGroup extends MembersGroup {
  readonly members: GroupMembers
  /** Called if the list must begin anew: its cluster was replaced, or it can read a further kind. */
  outdated(list: GroupList): void
  /** Called when an informer that the list reads has stopped. `undefined`: only its condition reads that informer. */
  stopped(list: GroupList, kind: Kind | undefined): void
  failed(error: unknown): void
}

export class GroupChanges {
  readonly #group: ChangingGroup
  readonly #state: GroupState
  /** Limits the time for changes that may affect any row of a list. */
  readonly #wideShare = new TimeShare(1 / 20)
  /** How long the works of the last flush have taken. */
  #workedMs = 0
  readonly #unsubscribe: (() => void)[] = []
  #flushing: Promise<void> | undefined
  #pausing: Promise<void> | undefined
  #isFlushPlanned = false
  #stateTimer: NodeJS.Timeout | undefined

  constructor(group: ChangingGroup) {
    this.#group = group
    this.#state = group.state
  }

  /**
   * Writes the matching rows, then follows changes. Rejects with the error that prevents this. A list among several that
   * cannot be read yet is added later.
   */
  async start(): Promise<void> {
    const { content } = this.#group
    const state = this.#state
    const { lists } = state
    for (const list of lists) this.#followCluster(list)
    const all = await Promise.all(lists.map((list) => this.#begin(list)))
    const begun = all.filter((one) => one !== undefined)
    const objects = begun.reduce((sum, { keys }) => sum + keys.length, 0)
    const problem = this.#group.members.roomProblem(objects * content.bytesPerObject)
    // Checks before it writes rows: a refused group costs no memory.
    if (problem !== undefined) throw problem
    const reached = positionsAfter(state.positions, begun)
    state.positions = reached
    await this.#inChunks(begun, reached, () => this.#group.members.written())
    const { plan } = state.wanted
    const { isOptional } = state
    this.#look()
    if (isOptional || plan.tellsGaps || content.stateChanged !== undefined) {
      this.#stateTimer = setInterval(() => this.stateChanged(), stateCheckMs).unref()
    }
    if (isOptional || plan.tellsGaps || plan.tellsStaleness) this.#followStaleness(lists)
    for (const list of lists) {
      if (list.isFollowing) this.#follow(list)
      else void this.#await(list).catch(this.#failed)
    }
    this.flushSoon()
  }

  #followCluster(list: GroupList): void {
    const state = this.#state
    const renewed = list.cache?.onRenewed(() => {
      if (!state.leaving.aborted && state.lists.includes(list)) this.#group.outdated(list)
    })
    if (renewed !== undefined) this.#unsubscribe.push(renewed)
  }

  /** Adds lists of clusters that join: their rows come when they can be read. */
  add(lists: readonly GroupList[]): void {
    this.#group.content.follow(this.#state.lists)
    for (const list of lists) {
      this.#followCluster(list)
      list.close(unreadable(list))
      void this.#await(list, false).catch(this.#failed)
    }
    this.#followStaleness(lists)
    this.stateChanged()
  }

  /** Begins a list. Returns `undefined` for an optional list that cannot be read: it is a gap. */
  async #begin(list: GroupList): Promise<BegunList | undefined> {
    const { leaving } = this.#state
    try {
      return await list.begin(() => {
        if (leaving.aborted) return
        if (list.isOutdated) this.#group.outdated(list)
        else if (list.reading.looksAround) {
          // Any row may lead to the kind.
          list.markWide()
          this.flushSoon()
        }
      })
    } catch (error) {
      if (list.at.isOptional !== true || !(error instanceof ClientError)) throw error
      list.close(error)
      return undefined
    }
  }

  #follow(list: GroupList): void {
    const state = this.#state
    const ofKind = async ({ at, listener }: GroupList['listeners'][number]): Promise<void> => {
      const isPlaceBound = list.access.isPlaceBound(at.kind)
      for await (const batch of listener.gathered(() => this.pause())) {
        if (isPlaceBound) this.#group.members.recheckNamespaces(at, batch.changes)
        list.gather(at.kind.typeName, batch)
        // The changes of other kinds at the same time go into the same frame.
        const kinds = state.lists.reduce((sum, { listeners }) => sum + listeners.length, 0)
        if (kinds > 1) await new Promise<void>((resolve) => setImmediate(resolve))
        await this.flush()
      }
    }
    const ofFilter = async (one: GroupList['listeners'][number]): Promise<void> => {
      for await (const batch of one.listener) {
        list.decide(one, batch)
        this.#flushPaused()
      }
    }
    for (const one of list.listeners) {
      const isOwn = one.filtering === undefined
      void (isOwn ? ofKind(one) : ofFilter(one))
        .then(() => {
          const hasStopped = !state.leaving.aborted && list.isListening(one.listener)
          if (hasStopped) this.#group.stopped(list, isOwn ? one.at.kind : undefined)
        })
        .catch(this.#failed)
    }
  }

  /** Flushes after a pause, however often it is called meanwhile. */
  readonly #flushPaused = (): void => {
    if (this.#isFlushPlanned) return
    this.#isFlushPlanned = true
    void Promise.resolve(this.pause())
      .then(() => {
        this.#isFlushPlanned = false
        return this.flush()
      })
      .catch(this.#failed)
  }

  /** Begins one of several lists anew. Its rows stay until then. */
  restart(list: GroupList): void {
    if (!list.isFollowing) return
    list.close(unreadable(list))
    void this.#await(list).catch(this.#failed)
  }

  /** Removes the rows of lists whose clusters are gone. */
  remove(lists: readonly GroupList[]): void {
    for (const list of lists) list.close()
    const removed = this.#writing(async () => {
      await this.#write([], () => this.#group.content.drop(lists))
      const positions = [...this.#state.positions].filter(([list]) => !lists.includes(list))
      this.#state.positions = new Map(positions)
    })
    void removed.then(() => this.stateChanged()).catch(this.#failed)
  }

  /** Waits until a list can be read, then adds its rows and removes the rows that no longer match. */
  async #await(list: GroupList, hasFailed = true): Promise<void> {
    const isThere = (): boolean => this.#state.lists.includes(list)
    const begun = await this.retried(this.#state.leaving, hasFailed, async () =>
      isThere() ? await this.#begin(list) : 'gone',
    )
    if (begun === undefined || begun === 'gone') return
    if (!isThere()) return list.close()
    list.mark(begun.keys, begun.positions)
    list.mark(this.#group.content.matched(list))
    this.#follow(list)
    await this.flush()
    // Only now do the members have its rows.
    list.shown()
    this.stateChanged()
  }

  /**
   * Tries until an attempt gives a value. A group retries nothing else: lists that cannot be read, and lists of clusters
   * that join. There is no deadline: meanwhile, frames report the gaps. The waits grow. `hasFailed`: waits before the
   * first attempt, too. Returns `undefined` once the signal aborts.
   */
  async retried<T>(
    signal: AbortSignal,
    hasFailed: boolean,
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const backoff = new Backoff({ initialMs: 100, maxMs: 5_000 })
    for (let waits = hasFailed; ; waits = true) {
      if (waits) this.stateChanged()
      if (waits) await sleep(backoff.nextMs(), signal)
      if (signal.aborted) return undefined
      const done = await attempt()
      if (done !== undefined) return done
    }
  }

  /** Rewrites all rows. Rejects as {@link flush} does. */
  async rewrite(): Promise<void> {
    const { content } = this.#group
    content.rewrite?.()
    for (const list of this.#state.lists) list.mark(content.keys(list))
    await this.flush()
  }

  /** Writes the gathered changes that are due. Rejects with the error that prevents this. */
  async flush(): Promise<void> {
    await this.#writing(() => {
      const { lists, leaving } = this.#state
      const share = this.#wideShare
      const takesWide = share.isDue
      const due = lists.filter((list) => list.isDue(takesWide))
      const isWide = lists.some((list) => list.isWide)
      if (isWide && !takesWide) share.plan(this.flushSoon, leaving)
      if (due.length === 0) return undefined
      const { content, members } = this.#group
      const decide = async (list: GroupList): Promise<readonly string[]> => {
        await enterLive(members.users)
        const snapshot = await list.reading.snapshot()
        const read = { part: list.reading.followed(snapshot), run: list.reading.run(snapshot) }
        return this.#measured(() => content.changedMatches(list, read))
      }
      return (async () => {
        this.#workedMs = 0
        const taken: TakenChanges[] = []
        for (const list of due) taken.push(await list.take(takesWide, decide))
        await this.#write(taken)
        if (isWide && takesWide) share.done(this.#workedMs)
      })()
    })
  }

  /** Runs a work of the flush under way. The waits between such works do not count for the share of time. */
  #measured<T>(work: () => T): T {
    const beganMs = performance.now()
    try {
      return runLive(work)
    } finally {
      this.#workedMs += performance.now() - beganMs
    }
  }

  /** Runs `work` when nothing else writes. `work` returns `undefined` if there is nothing to do. */
  async #writing(work: () => Promise<void> | undefined): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
    const state = this.#state
    const working = state.leaving.aborted ? undefined : work()
    if (working === undefined) return
    state.isWriting = true
    this.#flushing = working.finally(() => {
      state.isWriting = false
      this.#flushing = undefined
    })
    await this.#flushing
  }

  /** Waits while changes are gathered. All who call it during one wait share that wait. */
  pause(): Promise<void> | undefined {
    const { wanted, leaving } = this.#state
    const { coalesceMs } = wanted
    if (coalesceMs === 0) return undefined
    this.#pausing ??= sleep(coalesceMs, leaving).finally(() => {
      this.#pausing = undefined
    })
    return this.#pausing
  }

  close(): void {
    clearInterval(this.#stateTimer)
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const list of this.#state.lists) list.close()
  }

  readonly flushSoon = (): void => void this.flush().catch(this.#failed)

  readonly #failed = (error: unknown): void => this.#group.failed(error)

  #followStaleness(lists: readonly GroupList[]): void {
    for (const cache of new Set(lists.map((list) => list.cache))) {
      const unsubscribe = cache?.onStaleness(() => this.stateChanged())
      if (unsubscribe !== undefined) this.#unsubscribe.push(unsubscribe)
    }
  }

  /**
   * Sends a frame without changes when the first cache becomes stale, when all caches are in step again, and when gaps
   * come and go, as far as the members have selected this. A new gap among several lists is also an error of the frame.
   */
  stateChanged(): void {
    const group = this.#group
    const state = this.#state
    if (state.leaving.aborted) return
    group.content.stateChanged?.()
    const { plan } = state.wanted
    const { staleSince: wasStale, gaps: before, positions } = state
    const failures = this.#look()
    const isOtherGap = plan.tellsGaps && JSON.stringify(before) !== JSON.stringify(state.gaps)
    const isOtherState = (state.staleSince === null) !== (wasStale === null) || isOtherGap
    if (!isOtherState && failures.length === 0) return
    // A flush under way may have written rows already.
    const at = { before: positions, positions, isAhead: true }
    const { page } = group.content
    const { members } = group
    for (const frame of members.frames.written([], { ...at, reset: false, page, failures })) {
      members.frames.push(frame)
    }
    members.announce()
    members.written()
  }

  /**
   * Updates gaps and staleness. The lists are places of one field, as in a query, and a list that cannot be read is a
   * gap. Returns the errors of new gaps.
   */
  #look(): readonly ClientError[] {
    const state = this.#state
    const { served, wanted, entries, lists, gaps: before } = state
    const unread = entries.flatMap(({ wanted: { list }, error }) =>
      error === undefined ? [] : [{ list, error }],
    )
    const problemsOf = new Map(
      [...unread, ...lists].map(({ list }) => [list.at.kind, list.problems]),
    )
    // The viewer may lack access to kinds that the arguments do not name.
    const isNamed = (kind: Kind): boolean => problemsOf.get(kind)?.isNamed ?? true
    const places = new PlacesReport<PlaceRead>(served, {
      isNamed,
      fails: ({ kind }, { code }) =>
        isNamed(kind) || (problemsOf.get(kind)?.isOver === true && code !== 'FORBIDDEN'),
      failsOnce: wanted.problems !== undefined,
      tellsNotServed: true,
    })
    for (const { list, error } of unread) {
      places.put(list.at, () => {
        throw error
      })
    }
    for (const list of lists) {
      const { at, problems } = list.list
      const isAsked = problems === undefined || problems.isNamed || problems.isOver
      places.put({ ...at, isOptional: isAsked }, () => list.place())
    }
    state.gaps = places.read().incomplete()
    if (wanted.plan.tellsStaleness) {
      const reads = lists.flatMap(({ reading, list }) => [...reading.needs, ...list.needs])
      state.staleSince = staleSince(served, reads)
    }
    if (wanted.problems !== undefined) {
      const missing = lists.filter(({ isShown, isServed }) => !isShown && isServed)
      const gaps = [...unread, ...missing.map(({ list, failure: error }) => ({ list, error }))]
      const meant = gaps.filter(
        ({ list: { at }, error }) =>
          isNamed(at.kind) || error === undefined || !isSwitchedOff(at.kind, error),
      )
      state.lookedAt = countedTypes(lists.filter(({ isShown }) => isShown))
      state.notLookedAt = countedTypes(meant)
    }
    if (!state.isOptional) return []
    state.failures = places.failures
    const isKnown = ({ cluster, kind }: ClusterKind, code: string): boolean =>
      before.some((gap) => {
        return gap.cluster === cluster && gap.type === kind.typeName && gap.code === code
      })
    return places.failed.flatMap(([at, error]) => (isKnown(at, error.code) ? [] : error))
  }

  /** Writes taken changes after the changes that `first` returns. */
  async #write(
    taken: readonly TakenChanges[],
    first: () => readonly SentChange[] = () => [],
  ): Promise<void> {
    const { content, members } = this.#group
    const { frames } = members
    const state = this.#state
    let { page: sent } = content
    let further = first()
    const before = state.positions
    const after = positionsAfter(before, taken)
    let isPageOpen = false
    await this.#inChunks(taken, after, (written, isLast) => {
      const changes = further.length === 0 ? written : [...further, ...written]
      further = []
      const { page } = content
      const reached = isLast ? after : before
      const isOther = page?.totalCount !== sent?.totalCount || page?.counts !== sent?.counts
      if (changes.length > 0 || isOther || (isLast && isPageOpen)) {
        isPageOpen = page !== undefined
        sent = page
        const isAhead = state.isAheadOf(after)
        const at = { reset: false, before, positions: reached, isAhead, page }
        for (const frame of frames.written(changes, at)) frames.push(frame)
        members.announce()
      }
      state.positions = reached
      members.written()
    })
  }

  /**
   * Writes the changes of rows, a bounded number at a time, so that other work gets its turn in between. Rows that have
   * not changed since show the positions `after`. An `affected` row is written only if its match has changed.
   */
  async #inChunks(
    rows: readonly RowKeys[],
    after: GroupPositions,
    send: (changes: readonly SentChange[], isLast: boolean) => void,
  ): Promise<void> {
    const { content } = this.#group
    for (const { chunk, isLast } of chunksOf(rows, this.#state.limits.maxFrameObjects)) {
      await this.#inTurn(chunk, (reads) => {
        const due = chunk
          .filter(({ list }) => list.isFollowing)
          .map((one) => {
            const { list, keys, affected = noKeys } = one
            const asked = affected.size === 0 ? [] : keys.filter((key) => affected.has(key))
            if (asked.length === 0) return one
            const changed = new Set(content.changedMatches(list, reads.of(list), asked))
            return { ...one, keys: keys.filter((key) => !affected.has(key) || changed.has(key)) }
          })
        let changes: readonly SentChange[]
        try {
          changes = content.changes(due, reads)
        } catch (error) {
          // A missing or lacking read takes precedence over the error that it causes.
          reads.check()
          throw error
        }
        for (const { list, keys } of due) {
          list.wrote(keys, reads.of(list).part, after.get(list) ?? {})
        }
        send(changes, isLast)
      })
    }
  }

  /** Calls `write` in the group's turn. If an index or a permission is lacking, prepares it and calls `write` again. */
  async #inTurn(rows: readonly RowKeys[], write: (reads: ListReads) => void): Promise<void> {
    const { leaving, lists, isOptional } = this.#state
    const means = new Map<GroupList, RunMeans>()
    for (let round = 1; ; round += 1) {
      await enterLive(this.#group.members.users)
      if (leaving.aborted) return
      const reads = new TurnReads(lists, means, round > maxLackingRounds)
      try {
        for (const { list } of rows) if (list.isFollowing) await list.reading.snapshot()
        this.#measured(() => write(reads))
        return
      } catch (error) {
        if (!(error instanceof LackingError)) {
          if (!isOptional || !(error instanceof ClientError)) throw error
          // Lists that have become unreadable begin anew.
          const lost = lists.filter((list) => list.isFollowing && unreadable(list) !== undefined)
          for (const list of lost) this.restart(list)
          if (lost.length === 0) throw error
        }
      }
      await reads.more()
    }
  }
}

const noKeys: ReadonlySet<string> = new Set()

/** The error of a list that cannot be read now. */
function unreadable({ reading }: GroupList): ClientError | undefined {
  try {
    reading.followed()
    return undefined
  } catch (error) {
    if (error instanceof ClientError) return error
    throw error
  }
}

/** The types of the lists whose objects count as problems. */
function countedTypes(lists: readonly { readonly list: FollowedList }[]): readonly string[] {
  const counted = lists.filter(({ list: { problems } }) => problems?.counts === true)
  return [...new Set(counted.map(({ list: { at } }) => at.kind.typeName))].toSorted()
}

/** The reads of one turn, list by list, within one tick. A list costs only its view until its rows are written. */
class TurnReads implements ListReads {
  readonly #reads = new Map<GroupList, ListRead>()
  readonly #runs: GroupRun[] = []
  readonly #lists: readonly GroupList[]
  readonly #means: Map<GroupList, RunMeans>
  readonly #isLast: boolean
  #snapshot: ReadSnapshot | undefined

  /** `means`: what earlier rounds have prepared. `isLast`: ignores lacking indexes and permissions. */
  constructor(lists: readonly GroupList[], means: Map<GroupList, RunMeans>, isLast: boolean) {
    this.#lists = lists
    this.#means = means
    this.#isLast = isLast
  }

  of(list: GroupList): ListRead {
    const known = this.#reads.get(list)
    if (known !== undefined) return known
    // All lists of a group have the same leases.
    const snapshot = (this.#snapshot ??= list.reading.now())
    const part = list.reading.followed(snapshot)
    let run: GroupRun | undefined
    const runOf = (): GroupRun => {
      const { reading } = list
      let means = this.#means.get(list)
      if (means === undefined) {
        means = { decisions: reading.decisions(), extensions: reading.extensions() }
        this.#means.set(list, means)
      }
      const others = ({ cluster, kind }: ClusterKind): ReadParts | undefined => {
        const isAt = ({ at }: GroupList): boolean => at.cluster === cluster && at.kind === kind
        const other = this.#lists.find(isAt)
        const isOther = other !== undefined && other !== list && other.isFollowing
        return isOther ? this.of(other).run.parts : undefined
      }
      const made = reading.run(snapshot, {
        ...means,
        isLast: this.#isLast,
        others: list.list.problems && others,
      })
      this.#runs.push(made)
      return made
    }
    const read = {
      part,
      get run() {
        return (run ??= runOf())
      },
    }
    this.#reads.set(list, read)
    return read
  }

  check(): void {
    for (const run of this.#runs) run.check()
  }

  async more(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.more()))
  }
}

/** Splits the rows of lists into chunks of at most `most` rows. Yields at least one chunk. */
function* chunksOf(
  rows: readonly RowKeys[],
  most: number,
): Generator<{ readonly chunk: readonly RowKeys[]; readonly isLast: boolean }, void> {
  let chunk: RowKeys[] = []
  let room = most
  for (const one of rows) {
    let start = 0
    do {
      if (room === 0) {
        yield { chunk, isLast: false }
        ;[chunk, room] = [[], most]
      }
      const keys =
        start === 0 && one.keys.length <= room ? one.keys : one.keys.slice(start, start + room)
      chunk.push(keys === one.keys ? one : { ...one, keys })
      start += keys.length
      room -= keys.length
    } while (start < one.keys.length)
  }
  yield { chunk, isLast: true }
}
