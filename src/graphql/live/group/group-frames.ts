/*
 * What a group sends. `GroupState` is what all its frames say besides rows: which lists the group follows, how far their
 * rows are (positions, resume tokens), and which parts are missing or out of date. `GroupFrames` writes changes as frames,
 * once for all members, and keeps the last ones in a ring. A member is a place in the ring (`group-members.ts`). One that
 * is new, comes back or is far behind first takes other frames, which lead to a place in the ring (`CatchUpFrames`): a
 * snapshot, the changes since its resume token, or the frames of the ring merged into fewer.
 */

import type { GraphQLFormattedError } from 'graphql'
import { ReadReport } from '../../../query/condition/read-report.ts'
import { explain } from '../../answer/explanation.ts'
import { boundedFormatted, type ClientError, frameErrors } from '../../errors/client-error.ts'
import type { NoRoomError } from '../../prepare/user-shares.ts'
import type { ViewerAccess } from '../../prepare/viewer-access.ts'
import {
  encodeResumeToken,
  positionOfLists,
  positionName,
  type Positions,
  type ResumePosition,
} from '../../reads/resume-token.ts'
import type { ClusterGap } from '../../schema/gateway-types.ts'
import type { OperationLimits, ServedSchema } from '../../served/served-schema.ts'
import { type PageState, type SentChange, visibleIn, type WantedList } from '../frame-plan.ts'
import type { LiveCounts, LiveLimits } from '../live-limits.ts'
import { type AccessRequest, GroupAccess, type SeenList, type WantedGroup } from './group-access.ts'
import type { GroupContent, GroupList } from './group-list.ts'
import type { GroupReadingOptions } from './group-reading.ts'

/** A list of a group: one that it follows, or one of a cluster that joins. */
export interface GroupEntry {
  readonly wanted: WantedList
  /** The members' access; `undefined` until it is known. */
  readonly seen: SeenList | undefined
  /** `undefined` if the members may not read it, or not yet, or if it is within no namespace and stays empty. */
  readonly list: GroupList | undefined
  /** Why it cannot be read, or not yet. */
  readonly error: ClientError | undefined
}

type SettledEntry = GroupEntry & { readonly seen: SeenList }

export type GroupPositions = ReadonlyMap<GroupList, Positions>

type GroupStateOptions = Pick<GroupReadingOptions, 'wanted' | 'served' | 'limits' | 'onlyViewer'>

export class GroupState {
  /** The lists that the members follow in the present clusters, and their plan. */
  wanted: WantedGroup
  /** The schema that the group reads. Its clusters change in place. */
  readonly served: ServedSchema
  readonly limits: OperationLimits
  /** Set if rows depend on the viewer's identity; then all members have the same viewer. */
  readonly onlyViewer: ViewerAccess | undefined
  /** Aborted when the group is over, which stops all following and writing. */
  readonly leaving: AbortSignal
  /**
   * Since when the rows may be out of date, in RFC 3339; `null` while their caches are in step. The ring has a frame for
   * each change to and from `null`.
   */
  staleSince: string | null = null
  /** Parts that are missing, or may be out of date. The ring has a frame for each gap that comes or goes. */
  gaps: readonly ClusterGap[] = []
  /** The errors of gaps, which are optional lists. A snapshot has all of them, and those of ids whose objects were made anew. */
  failures: readonly ClientError[] = []
  /** The types that `problems` has looked at, and the types that it should have looked at. */
  lookedAt: readonly string[] = []
  notLookedAt: readonly string[] = []
  /** The positions that the frames of the ring have reached. */
  positions: GroupPositions = new Map()
  isWriting = false
  report: ReadReport = new ReadReport()
  #entries: readonly GroupEntry[] = []
  #settled: readonly SettledEntry[] = []
  #lists: readonly GroupList[] = []
  #access = new GroupAccess([])
  #token: { readonly text: string; readonly token: GroupState['token'] } | undefined

  constructor({ wanted, served, limits, onlyViewer }: GroupStateOptions, leaving: AbortSignal) {
    this.wanted = wanted
    this.served = served
    this.limits = limits
    this.onlyViewer = onlyViewer
    this.leaving = leaving
  }

  /** Whether every list is optional: the lists then follow the clusters that come and go, and there may be none. */
  get isOptional(): boolean {
    return this.wanted.lists.every(({ list }) => list.at.isOptional === true)
  }

  /** All lists in their order, with those of joining clusters. */
  get entries(): readonly GroupEntry[] {
    return this.#entries
  }

  set entries(entries: readonly GroupEntry[]) {
    this.#entries = entries
    this.#settled = entries.filter((one): one is SettledEntry => one.seen !== undefined)
    this.#lists = entries.flatMap(({ list }) => list ?? [])
    this.#access = new GroupAccess(this.#settled.map(({ seen }) => seen))
    this.#token = undefined
  }

  /** The entries to which the members' access is known. Their numbers are those of positions in resume tokens. */
  get settled(): readonly SettledEntry[] {
    return this.#settled
  }

  /** The lists that the members may see, in part or whole. */
  get lists(): readonly GroupList[] {
    return this.#lists
  }

  get access(): GroupAccess {
    return this.#access
  }

  get requests(): readonly AccessRequest[] {
    return this.#settled.map(({ seen }) => seen.request)
  }

  /** The positions of a member that has read every frame. Advances lists without waiting changes to the present. */
  reachPresent(): GroupPositions {
    if (this.isWriting || this.leaving.aborted) return this.positions
    // A list without waiting changes has sent everything up to the present.
    const drained = this.#lists.filter((list) => list.isDrained)
    if (drained.length > 0) {
      const reached = drained.map((list) => ({ list, positions: list.reachPresent() }))
      this.positions = positionsAfter(this.positions, reached)
    }
    return this.positions
  }

  /** Whether some rows were written in a state newer than positions. */
  isAheadOf(positions: GroupPositions): boolean {
    return this.#lists.some((list) => list.isAheadOf(positions.get(list) ?? {}))
  }

  /** The resource version that frames show, from the group's only list; `''` if its lists are optional. */
  versionAt(positions: GroupPositions): string {
    const [only] = this.#lists
    return (!this.isOptional && only && positions.get(only)?.[only.at.kind.typeName]) || ''
  }

  /** A resume token of the group. Its positions have the numbers of the present lists. */
  tokenAt(positions: GroupPositions, isAhead: boolean): string {
    const named = this.#settled.flatMap(({ list }, number) => {
      const own = (list && positions.get(list)) ?? {}
      return Object.entries(own).map(([name, version]) => [positionName(number, name), version])
    })
    return encodeResumeToken({ ...this.token, positions: Object.fromEntries(named), isAhead })
  }

  positionsOf(token: Positions): GroupPositions {
    const positions = new Map<GroupList, Record<string, string>>()
    for (const [name, version] of Object.entries(token)) {
      const list = this.#settled[Number.parseInt(name, 10)]?.list
      if (list === undefined) continue
      const own = positions.get(list) ?? {}
      own[name.slice(name.indexOf(' ') + 1)] = version
      positions.set(list, own)
    }
    return positions
  }

  /** The parts of the group's resume tokens besides the positions. */
  get token(): Omit<ResumePosition, 'positions' | 'isAhead'> {
    const incarnations = this.#lists.map((list) => list.incarnation)
    const text = incarnations.join(' ')
    if (this.#token?.text !== text) {
      const { onlyViewer } = this
      const viewer = onlyViewer ? [onlyViewer.identity] : []
      const access = [this.access.fingerprint, ...viewer].join(' ')
      const lists = this.wanted.lists.map((one) => one.list.list)
      this.#token = { text, token: positionOfLists({ lists, incarnations, access }) }
    }
    return this.#token.token
  }

  /** How rows were read since the last call, as JSON; `undefined` if frames carry no explanation. */
  explanation(): string | undefined {
    const { served, report, onlyViewer: access } = this
    if (!this.wanted.explains) return undefined
    this.report = new ReadReport()
    const kinds = this.#lists.flatMap(({ reading }) => reading.needs)
    return JSON.stringify(explain({ served, report, access, kinds }))
  }
}

export function positionsAfter(
  before: GroupPositions,
  reached: Iterable<{ readonly list: GroupList; readonly positions: Positions }>,
): GroupPositions {
  const after = new Map(before)
  for (const { list, positions } of reached) after.set(list, { ...after.get(list), ...positions })
  return after
}

/** The state of some frames: the last one leads to `positions`, those before it stay at `before`. */
export interface FramesAt {
  /** Whether the changes are a snapshot. Then only its last frame is synced. */
  readonly reset: boolean
  /** The positions of the tokens before the last frame; equal to `positions` if further frames lead there. */
  readonly before: GroupPositions
  readonly positions: GroupPositions
  /** Whether some rows were written in a state later than `positions`. */
  readonly isAhead: boolean
  readonly page: PageState | undefined
  /** The errors that the first of the frames reports. */
  readonly failures?: readonly ClientError[] | undefined
}

export interface WrittenFrame {
  readonly changes: readonly SentChange[]
  readonly payload: Buffer
  readonly positions: GroupPositions
  readonly isAhead: boolean
  /** Whether it reports other errors than the errors of rows. */
  readonly hasFailures: boolean
}

export interface FramePayload {
  /** UTF-8. */
  readonly payload: Buffer
  readonly rows: number
}

/** The approximate memory of one change besides its text, in a written or unwritten frame. */
const changeBytes = 100

/**
 * The frames that a member takes before it reads the ring at `next`. They lead to the same rows as the ring's frames before
 * `next`, and to the same `positions`. Several members may share them, each with its own number of the next one to take.
 *
 * Frames are written one by one, when the first member asks for them, as long as the changes to write are kept. So a
 * snapshot of 50,000 rows for a member that takes the first of 50 frames costs one frame, for example. Written frames stay
 * until no member refers to them. If a frame finds no room, this class drops all frames, and the members that have not
 * taken the last one end with `problem`.
 */
export class CatchUpFrames {
  /** The number of the ring's frame that follows them. */
  readonly next: number
  readonly positions: GroupPositions
  readonly rows: number
  /** Whether it is a snapshot, which all members of the group share. */
  readonly isSnapshot: boolean
  /** The error if there was no room for the frames. */
  problem: NoRoomError | undefined
  readonly #check: (() => NoRoomError | undefined) | undefined
  #unwritten: Iterator<WrittenFrame, void> | undefined
  #written: FramePayload[] = []
  #bytes = 0

  /** `check` returns the error if there is no room for a frame just written. Without it, all frames are written now. */
  constructor(
    frames: Iterator<WrittenFrame, void>,
    { rows, next, positions }: Pick<CatchUpFrames, 'rows' | 'next' | 'positions'>,
    check?: () => NoRoomError | undefined,
  ) {
    this.rows = rows
    this.next = next
    this.positions = positions
    this.isSnapshot = check !== undefined
    this.#unwritten = frames
    this.#check = check
    if (check === undefined) while (this.#unwritten !== undefined) this.#write(frames)
  }

  /** The memory of the written frames, and of the changes to write. */
  get bytes(): number {
    return this.#bytes + (this.#unwritten === undefined ? 0 : this.rows * changeBytes)
  }

  frame(number: number): FramePayload | undefined {
    while (this.#written.length <= number && this.#unwritten !== undefined) {
      this.#write(this.#unwritten)
    }
    return this.#written[number]
  }

  /** Whether there is no frame with this number. False also if that is not known yet. */
  isRead(number: number): boolean {
    return this.#unwritten === undefined && this.#written.length <= number
  }

  #write(frames: Iterator<WrittenFrame, void>): void {
    const { value } = frames.next()
    if (value === undefined) {
      this.#unwritten = undefined
      return
    }
    const { payload, changes } = value
    this.#written.push({ payload, rows: changes.length })
    this.#bytes += payload.length
    this.problem = this.#check?.()
    if (this.problem !== undefined) this.empty()
  }

  empty(): void {
    this.#unwritten = undefined
    this.#written = []
    this.#bytes = 0
  }
}

/** New members share a snapshot until this many frames have followed it, or until this much time has passed. */
const maxFramesSinceSnapshot = 16
const snapshotMs = 10_000
/** The number of places in the ring with merged frames. Each may cover the whole ring. */
const maxMergedPlaces = 4
/** How long merged frames are kept for other members. The next frame makes them useless, too. */
const mergedMs = 1_000

export interface GroupFramesOptions {
  readonly state: GroupState
  readonly content: GroupContent
  readonly live: Pick<LiveLimits, 'maxFrames' | 'maxBytes'>
  readonly counts: LiveCounts
  /** The error if there is no room for so many more bytes. */
  readonly roomProblem: (bytes?: number) => NoRoomError | undefined
}

export class GroupFrames {
  readonly #options: GroupFramesOptions
  readonly #limits: Pick<LiveLimits, 'maxFrames' | 'maxBytes'>
  readonly #ring: (WrittenFrame | undefined)[] = []
  #first = 0
  #next = 0
  #ringBytes = 0
  #ringChanges = 0
  #snapshot: CatchUpFrames | undefined
  /** All snapshots that members may still read. */
  #snapshots: WeakRef<CatchUpFrames>[] = []
  /** By place in the ring, with the positions of the members at that place. */
  readonly #merged = new Map<
    number,
    { readonly before: GroupPositions; readonly frames: CatchUpFrames }
  >()
  #snapshotTimer: NodeJS.Timeout | undefined
  #mergedTimer: NodeJS.Timeout | undefined

  constructor(options: GroupFramesOptions) {
    this.#options = options
    this.#limits = options.live
  }

  /** The number of the oldest frame in the ring, or of the next one if there is none. */
  get first(): number {
    return this.#first
  }

  get next(): number {
    return this.#next
  }

  /** The memory of the snapshots and of the ring, including the texts that its frames were made of. */
  get sharedBytes(): number {
    const snapshots = this.#snapshots.reduce((sum, ref) => sum + (ref.deref()?.bytes ?? 0), 0)
    return this.#ringBytes * 2 + this.#ringChanges * changeBytes + snapshots
  }

  /** The merged frames that are kept for members to come. */
  get merges(): readonly CatchUpFrames[] {
    return Array.from(this.#merged.values(), ({ frames }) => frames)
  }

  /**
   * Writes changes as frames within the limits, at least one, each when the caller takes it. Only the last frame has all
   * changes up to its positions, so the others keep the positions before.
   */
  *written(changes: readonly SentChange[], at: FramesAt): Generator<WrittenFrame, void> {
    const { wanted, limits } = this.#options.state
    const { plan } = wanted
    let { reset, failures } = at
    let fields = plan.changes.map((): string[] => [])
    let length = 0
    let start = 0
    for (const [number, change] of changes.entries()) {
      const texts = plan.changes.map((write) => write(change))
      const more = texts.reduce((sum, text) => sum + text.length + 1, 0)
      const isFull =
        number - start >= limits.maxFrameObjects || length + more > limits.maxFrameBytes
      if (number > start && isFull) {
        const within = { reset, synced: !at.reset, positions: at.before, isAhead: true }
        yield this.#frame(changes.slice(start, number), fields, { ...at, ...within, failures })
        reset = false
        failures = undefined
        fields = plan.changes.map(() => [])
        ;[length, start] = [0, number]
      }
      for (const [field, text] of texts.entries()) fields[field]?.push(text)
      length += more
    }
    // Within a change, a page has several states at one position.
    const isAhead = at.isAhead || at.positions === at.before
    const last = { ...at, reset, failures, synced: true, isAhead }
    yield this.#frame(changes.slice(start), fields, last)
  }

  #frame(
    changes: readonly SentChange[],
    fields: readonly (readonly string[])[],
    {
      reset,
      synced,
      positions,
      isAhead,
      page,
      failures = [],
    }: FramesAt & { readonly synced: boolean },
  ): WrittenFrame {
    const { state } = this.#options
    const { plan } = state.wanted
    const { key } = plan
    const ofRows = changes.flatMap((change, at) => {
      if (change.errors === '') return none
      return (JSON.parse(change.errors) as readonly GraphQLFormattedError[]).map((error) => {
        const [field = '', ...rest] = error.path ?? []
        return { ...error, path: [key, field, at, ...rest] }
      })
    })
    const errors = [...frameErrors(failures, key), ...ofRows]
    const payload = plan.payload({
      reset,
      synced,
      totalCount: page?.totalCount,
      counts: page?.counts ?? [],
      lookedAt: state.lookedAt,
      notLookedAt: state.notLookedAt,
      complete: state.notLookedAt.length === 0,
      // A getter, because most subscribers do not select it.
      get resumeToken() {
        return state.tokenAt(positions, isAhead)
      },
      facets: page?.facets,
      changes: fields.map((texts) => `[${texts.join(',')}]`),
      resourceVersion: state.versionAt(positions),
      staleSince: state.staleSince,
      incomplete: state.gaps,
      visible: plan.tellsVisibility ? visibleIn(state) : 'ALL',
      errors: errors.length === 0 ? undefined : JSON.stringify(boundedFormatted(errors)),
      explained: state.explanation(),
    })
    // A buffer with its own memory: a slice of the shared pool would keep the whole pool in memory.
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(payload))
    bytes.write(payload)
    return { changes, payload: bytes, positions, isAhead, hasFailures: failures.length > 0 }
  }

  push(frame: WrittenFrame): void {
    const { maxFrames, maxBytes } = this.#limits
    if (this.#next - this.#first === maxFrames) this.#drop()
    this.#ring[this.#next % maxFrames] = frame
    this.#next += 1
    this.#ringBytes += frame.payload.length
    this.#ringChanges += frame.changes.length
    const { counts } = this.#options
    counts.written += 1
    counts.writtenBytes += frame.payload.length
    // The newest frame stays, however large: frames are bounded.
    while (this.#ringBytes > maxBytes && this.#next - this.#first > 1) this.#drop()
    this.#merged.clear()
  }

  /** A frame of the ring; `undefined` if it was dropped or does not exist yet. */
  get(number: number): WrittenFrame | undefined {
    if (number < this.#first || number >= this.#next) return undefined
    return this.#ring[number % this.#limits.maxFrames]
  }

  /** All rows as frames. The snapshot may be some frames old. */
  snapshot(): CatchUpFrames {
    this.dropSnapshots()
    if (this.#snapshot !== undefined) return this.#snapshot
    const { content, state } = this.#options
    const failures = [...state.failures, ...state.lists.flatMap((list) => list.madeAnew())]
    const positions = state.reachPresent()
    const isAhead = state.isAheadOf(positions)
    const changes = content.all()
    const at = { reset: true, before: new Map(), positions, isAhead, page: content.page, failures }
    const end = { rows: changes.length, next: this.#next, positions }
    const frames = this.written(changes, at)
    const snapshot = new CatchUpFrames(frames, end, () => this.#options.roomProblem())
    this.#snapshot = snapshot
    const reference = new WeakRef(snapshot)
    this.#snapshots.push(reference)
    clearTimeout(this.#snapshotTimer)
    this.#snapshotTimer = setTimeout(() => {
      if (this.#snapshot === reference.deref()) this.renewSnapshot()
      this.dropSnapshots()
    }, snapshotMs).unref()
    return snapshot
  }

  renewSnapshot(): void {
    this.#snapshot = undefined
  }

  /**
   * Drops the snapshot for new members if many frames have followed it. Empties the snapshots that no frame of the ring
   * follows, even if a member has stopped in the middle of one.
   */
  dropSnapshots(): void {
    const first = this.#first
    const snapshot = this.#snapshot
    if (snapshot !== undefined) {
      const isFarBehind = this.#next - snapshot.next > maxFramesSinceSnapshot
      const isUseless = snapshot.next < first || snapshot.problem !== undefined
      if (isFarBehind || isUseless) this.renewSnapshot()
    }
    if (this.#snapshots.length === 0) return
    this.#snapshots = this.#snapshots.filter((reference) => {
      const read = reference.deref()
      if (read === undefined || read.next >= first) return read !== undefined
      read.empty()
      return false
    })
  }

  /** Drops the frames that neither a member nor a new member needs. */
  dropRead(members: Iterable<{ readonly place: number }>): void {
    let needed = this.#snapshot?.next ?? this.#next
    for (const { place } of members) {
      needed = Math.min(needed, place)
      if (needed <= this.#first) return
    }
    while (this.#first < needed) this.#drop()
  }

  close(): void {
    clearTimeout(this.#snapshotTimer)
    clearTimeout(this.#mergedTimer)
  }

  dropAll(): void {
    while (this.#first < this.#next) this.#drop()
    this.dropSnapshots()
  }

  /**
   * The frames from a place in the ring to its end as fewer frames, for a member at the positions `before`. All members
   * at the place share them, because load that delays one reader delays all. `undefined` if there is no room.
   */
  merged(place: number, before: GroupPositions): CatchUpFrames | undefined {
    const known = this.#merged.get(place)
    if (known?.before === before) return known.frames
    const frames = this.#merge(place, before)
    if (frames.bytes > 0 && this.#options.roomProblem(frames.bytes) !== undefined) return undefined
    if (known !== undefined || this.#merged.size < maxMergedPlaces) {
      this.#merged.set(place, { before, frames })
      clearTimeout(this.#mergedTimer)
      this.#mergedTimer = setTimeout(() => this.#merged.clear(), mergedMs).unref()
    }
    return frames
  }

  #merge(place: number, before: GroupPositions): CatchUpFrames {
    const { content, state } = this.#options
    const changes = []
    let hasFailures = false
    let positions = before
    let isAhead = true
    let isStalenessTold = false
    for (let number = place; number < this.#next; number += 1) {
      const frame = this.get(number)
      if (frame === undefined) continue
      ;({ positions, isAhead } = frame)
      hasFailures ||= frame.hasFailures
      isStalenessTold ||= frame.changes.length === 0
      for (const change of frame.changes) changes.push(change)
    }
    const { page } = content
    const merged = content.merged(changes)
    // A frame of a list without changes says that its caches have become stale, or are in step again.
    const isNothing = merged.length === 0 && page === undefined && !isStalenessTold
    const failures = hasFailures ? state.failures : undefined
    const at = { reset: false, before, positions, isAhead, page, failures }
    const frames = isNothing ? [].values() : this.written(merged, at)
    return new CatchUpFrames(frames, { rows: merged.length, next: this.#next, positions })
  }

  #drop(): void {
    const at = this.#first % this.#limits.maxFrames
    this.#ringBytes -= this.#ring[at]?.payload.length ?? 0
    this.#ringChanges -= this.#ring[at]?.changes.length ?? 0
    this.#ring[at] = undefined
    this.#first += 1
  }
}

const none: readonly GraphQLFormattedError[] = []
