/*
 * The recent changes of one cached resource, for subscribers who resume. The informer adds each step with its position.
 * `reach` reads steps from before the resource was cached, as far as the server still has them. `since` returns the
 * changes after a position. When the history is full, it drops the oldest steps, and a subscriber at an older position
 * cannot resume.
 */

import {
  createObjectCodec,
  type HeldObject,
  type ObjectCodec,
} from '../informer/codec/object-codec.ts'
import type { ArchivedResource, ArchivedStep } from './archived-resource.ts'
import type { NamespaceStep } from '../informer/informer-observer.ts'
import type { ListerWatcher } from '../informer/reflector/lister-watcher.ts'
import { isBrokenConnection, isRetriedInPlace } from '../informer/reflector/reflector-errors.ts'
import { Change } from '../informer/store/change.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { objectKey, resourceVersionOf } from '../kubernetes/object.ts'
import {
  compareResourceVersions,
  isBefore,
  type JointPosition,
  latestResourceVersion,
  readJointPosition,
  resourceVersion,
  type ResourceVersion,
} from '../kubernetes/resource-version.ts'
import { isExpired } from '../kubernetes/status.ts'
import { readBookmark, readErrorEvent, readWatchFrame } from '../kubernetes/watch-event.ts'
import { Backoff, sleep } from '../lib/backoff.ts'

export interface ResourceHistoryOptions {
  readonly resource: ApiResource
  readonly metadataOnly: boolean
  readonly source: ListerWatcher
  readonly archived?: Pick<ArchivedResource, 'changesSince'> | undefined
  readonly maxChanges: number
  /** Bytes of the previous states of objects, which the history alone may hold. Estimated by the store's average object. */
  readonly maxBytes: number
  /** If false, subscribers can resume only from the exact position of a step. */
  readonly resourceVersionsComparable: boolean
  readonly objectBytes: () => number
  /** Aborts when the resource stops. Ends all reads. */
  readonly signal: AbortSignal
}

/** The changes that led to one position. */
interface Step {
  readonly position: ResourceVersion
  /** Empty for a bookmark. */
  readonly changes: readonly Change[]
  /** In a store of several namespaces: the version that the namespace of this step has reached. See {@link unknownVersion}. */
  readonly reached?: ResourceVersion
}

/** How many deleted objects are remembered, so that an `id` of one leads to its successor. */
const mostDeleted = 5_000

/** The number of steps after which the size of an object is estimated again. */
const stepsPerReckoning = 256

export class ResourceHistory {
  readonly #options: ResourceHistoryOptions
  /** Steps before `#first` are already dropped. */
  #steps: (Step | undefined)[] = []
  #first = 0
  #changes = 0
  /** The position before the oldest step; `undefined` before the first list. */
  #from: ResourceVersion | undefined
  #objectBytes = 0
  #untilReckoning = 0
  /** The positions of waiting subscribers. */
  #wanted = new Set<ResourceVersion>()
  #filling: Promise<void> = Promise.resolve()
  /**
   * In a store of several namespaces: the steps hold all changes of all namespaces after this version. `''` if versions
   * have no order.
   */
  #floor = latestResourceVersion
  /** In such a store: its first position. If it began with the objects of an archive, that is one of the store before it. */
  #base: JointPosition | undefined
  /** Whether a list may have hidden changes since then. */
  #hasListed = false
  /** The keys of the last deleted objects, by UID. */
  readonly #deleted = new Map<string, string>()

  constructor(options: ResourceHistoryOptions) {
    this.#options = options
  }

  /**
   * Adds a step. The informer calls it after each of its steps, first with the position of the first list. A position that
   * goes back belongs to another history, and drops all steps. `at`: the namespace, in a store of several namespaces.
   */
  add(position: ResourceVersion, changes: readonly Change[], at?: NamespaceStep): void {
    for (const { type, uid, key } of changes) {
      if (type !== 'DELETED') continue
      this.#deleted.set(uid, key)
      if (this.#deleted.size <= mostDeleted) continue
      const [oldest = ''] = this.#deleted.keys()
      this.#deleted.delete(oldest)
    }
    const newest = this.#newest
    const isOther = newest !== undefined && isJoint(newest) !== isJoint(position)
    if (newest === undefined || isOther || isBefore(position, newest)) {
      this.#base = readJointPosition(position)
      this.#hasListed = false
      this.#steps = []
      this.#first = 0
      this.#changes = 0
      this.#from = position
      this.#floor = at?.resourceVersion ?? latestResourceVersion
      return
    }
    if (at === undefined) this.#steps.push({ position, changes })
    else {
      const { resourceVersion: reached = unknownVersion, isFirst, isListing } = at
      // The changes in a namespace before its first list are unknown, and so is what came and went before another list.
      if (isFirst || isListing !== undefined) {
        this.#hasListed = true
        this.#raise(reached)
      }
      this.#steps.push({ position, changes, reached })
    }
    this.#changes += changes.length
    this.#shorten()
  }

  /**
   * The changes after a position, oldest first, up to `until`, a position of this process; `undefined` if the position is
   * too old or not yet reached. If several namespaces fill the store, a position of another process is behind some of them,
   * and the changes include some that its reader already has.
   */
  since(position: ResourceVersion, until?: ResourceVersion): readonly Change[] | undefined {
    const next = this.#stepAfter(position)
    if (next === undefined) return this.#sinceLow(position)
    const end = until === undefined ? undefined : this.#stepAfter(until)
    const [first = [], ...others] = this.#steps.slice(next, end).map((step) => step?.changes ?? [])
    const { resourceVersionsComparable: isComparable } = this.#options
    const missed = isComparable ? first.filter((change) => !isUpTo(change, position)) : first
    return [missed, ...others].flat()
  }

  /** Whether {@link since} returns nothing that the reader of a position may have already. */
  isExact(position: ResourceVersion): boolean {
    return !isJoint(position) || this.#stepAfter(position) !== undefined
  }

  /**
   * The changes after a position of another store with the same namespaces, counted from its lowest version; or of the store
   * before this one, if that has gone on after its objects were archived.
   */
  #sinceLow(position: ResourceVersion): readonly Change[] | undefined {
    const newest = this.#newest
    const [asked, own] = [readJointPosition(position), newest && readJointPosition(newest)]
    if (asked === undefined || own === undefined || asked.store === own.store) return undefined
    if (!this.#options.resourceVersionsComparable || !isOrdered(asked.low, own.low))
      return undefined
    const isSame = asked.extent === own.extent && isOrdered(this.#floor, asked.low)
    const { store } = (this.#from && readJointPosition(this.#from)) ?? {}
    const isNext = this.#isBeyondBase(position) && store === asked.store && !this.#hasListed
    if (!isSame && !isNext) return undefined
    return this.#steps.slice(this.#first).flatMap((step) => {
      const isKnown = step?.reached !== undefined && isOrdered(step.reached, asked.low)
      return step === undefined || isKnown ? [] : step.changes
    })
  }

  /** Whether the store before this one has reached a position after its objects were archived. */
  #isBeyondBase(position: ResourceVersion): boolean {
    const asked = readJointPosition(position)
    if (asked === undefined || asked.store !== this.#base?.store) return false
    const newest = this.#newest && readJointPosition(this.#newest)
    return asked.step > this.#base.step && newest?.store !== asked.store
  }

  /** As `compareResourceVersions`; the steps of the store before this one come before all of its own. */
  #order(a: ResourceVersion, b: ResourceVersion): number | undefined {
    const order = compareResourceVersions(a, b)
    if (order !== undefined || this.#base === undefined) return order
    const newest = this.#newest && readJointPosition(this.#newest)
    const [one, other] = [readJointPosition(a)?.store, readJointPosition(b)?.store]
    if (one === this.#base.store && other === newest?.store) return -1
    return one === newest?.store && other === this.#base.store ? 1 : undefined
  }

  #isOrdered(a: ResourceVersion | undefined, b: ResourceVersion | undefined): boolean {
    if (a === undefined || b === undefined) return false
    const order = this.#order(a, b)
    return order !== undefined && order <= 0
  }

  #raise(floor: ResourceVersion): void {
    if (this.#floor !== latestResourceVersion && isBefore(this.#floor, floor)) this.#floor = floor
  }

  /**
   * Resolves when {@link since} knows as many changes after a position as possible. Reads changes from before the resource
   * was cached from the API server, once for all callers, beginning with the oldest position that the server still knows.
   * Never rejects.
   */
  async reach(position: ResourceVersion): Promise<void> {
    if (!this.#options.resourceVersionsComparable || !this.#isBehind(position)) return
    this.#wanted.add(position)
    this.#filling = this.#filling.then(() => this.#fill())
    await this.#filling
  }

  /** The key that a deleted object had; `undefined` if it is not remembered. */
  keyOfDeleted(uid: string): string | undefined {
    return this.#deleted.get(uid)
  }

  /** The approximate bytes of the previous states of objects. */
  get bytes(): number {
    return this.#changes * this.#objectBytes
  }

  get #newest(): ResourceVersion | undefined {
    return this.#steps.at(-1)?.position ?? this.#from
  }

  #stepAfter(position: ResourceVersion): number | undefined {
    if (position === this.#from) return this.#first
    if (!this.#options.resourceVersionsComparable) {
      const found = this.#steps.findLastIndex((step) => step?.position === position)
      return found < this.#first ? undefined : found + 1
    }
    if (this.#isBeyondBase(position)) return undefined
    if (!this.#isOrdered(this.#from, position)) return undefined
    if (!this.#isOrdered(position, this.#newest)) return undefined
    let [low, high] = [this.#first, this.#steps.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isOrdered(this.#steps[middle]?.position, position)) low = middle + 1
      else high = middle
    }
    return low
  }

  #mostChanges(): number {
    const { maxChanges, maxBytes, objectBytes } = this.#options
    if (this.#untilReckoning-- <= 0) {
      this.#untilReckoning = stepsPerReckoning
      this.#objectBytes = objectBytes()
    }
    return Math.min(maxChanges, maxBytes / Math.max(1, this.#objectBytes))
  }

  #shorten(): void {
    const most = this.#mostChanges()
    while (this.#first < this.#steps.length && this.#size > most) {
      const step = this.#steps[this.#first]
      this.#steps[this.#first] = undefined
      this.#first += 1
      if (step === undefined) continue
      this.#changes -= step.changes.length
      this.#from = step.position
      if (step.reached !== undefined) this.#raise(step.reached)
    }
    if (this.#first > stepsPerReckoning && this.#first * 2 > this.#steps.length) {
      this.#steps = this.#steps.slice(this.#first)
      this.#first = 0
    }
  }

  /** A bookmark counts as a change. */
  get #size(): number {
    return Math.max(this.#changes, this.#steps.length - this.#first)
  }

  async #fill(): Promise<void> {
    let wanted = [...this.#wanted].toSorted((a, b) => this.#order(a, b) ?? 1)
    this.#wanted = new Set()
    // Tries the oldest position first, since the server mostly knows it. Otherwise halves the positions until the server
    // knows one.
    for (let at = 0; wanted.length > 0; at = wanted.length >> 1) {
      const from = wanted[at]
      const until = this.#from
      // Steps beyond the free room would be dropped at once.
      const room = this.#mostChanges() - this.#size
      if (from === undefined || until === undefined || room < 1) return
      const steps = this.#isBehind(from) ? await stepsBetween(this.#options, from, until, room) : []
      if (steps === undefined) return
      wanted = steps === 'tooOld' ? wanted.slice(at + 1) : wanted.slice(0, at)
      if (steps === 'tooOld' || !this.#isBehind(from)) continue
      // The oldest position may have been dropped meanwhile.
      if (this.#from === until) this.#prepend(from, steps)
    }
  }

  #prepend(from: ResourceVersion, steps: readonly Step[]): void {
    this.#steps = [...steps, ...this.#steps.slice(this.#first)]
    this.#first = 0
    for (const { changes } of steps) this.#changes += changes.length
    this.#from = from
    this.#shorten()
  }

  #isBehind(position: ResourceVersion): boolean {
    return this.#from !== undefined && (this.#order(position, this.#from) ?? 0) < 0
  }
}

/** The version of a change that comes from no server: a namespace is no longer covered. Every reader needs it. */
const unknownVersion = latestResourceVersion

function isJoint(position: ResourceVersion): boolean {
  return readJointPosition(position) !== undefined
}

/**
 * Whether a change is already part of a position: a position of another process may lie within a step of this one. Always
 * false for deletions, since not all servers give them versions.
 */
function isUpTo({ type, object }: Change, position: ResourceVersion): boolean {
  return type !== 'DELETED' && isOrdered(resourceVersion(resourceVersionOf(object)), position)
}

function isOrdered(a: ResourceVersion | undefined, b: ResourceVersion | undefined): boolean {
  if (a === undefined || b === undefined) return false
  const order = compareResourceVersions(a, b)
  return order !== undefined && order <= 0
}

const isSilent = ({ type, before, after }: ArchivedStep): boolean =>
  type === 'MODIFIED' && before === after

/** The steps after `from`, up to `until`: with the states before, if the archive knows them. See {@link missedSteps}. */
async function stepsBetween(
  options: ResourceHistoryOptions,
  from: ResourceVersion,
  until: ResourceVersion,
  maxSteps: number,
): Promise<readonly Step[] | 'tooOld' | undefined> {
  const known = await options.archived?.changesSince(from, maxSteps).catch(() => undefined)
  const isOfMany = isJoint(from)
  if (known === undefined) {
    // No watch has the steps of several.
    return isOfMany ? 'tooOld' : await missedSteps(options, from, until, maxSteps)
  }
  // What is no change to the archive has its newest state alone. It stands last, where it may be told twice, but not left out.
  const archived = [...known.filter((one) => !isSilent(one)), ...known.filter(isSilent)]
  const codec = createObjectCodec(options)
  const steps: Step[] = []
  let reached = from
  let bytes = 0
  for (const { type, key, uid, before, after, resourceVersion: version, position } of archived) {
    const at = isOfMany && position === undefined ? until : resourceVersion(position ?? version)
    if (!isOrdered(at, until)) continue
    if (isBefore(reached, at)) reached = at
    bytes += after.length + (before?.length ?? 0)
    if (bytes > options.maxBytes) return 'tooOld'
    const held = (text: string): HeldObject => codec.encode(Buffer.from(text)).held
    const previous = before === undefined ? {} : { previousHeld: held(before) }
    // A reader wants to know of a removed object what it held.
    const change =
      type === 'REMOVED'
        ? { type: 'DELETED' as const, held: held(before ?? after) }
        : { type, held: held(after), ...previous }
    steps.push({ position: reached, changes: [new Change(codec, { key, uid, ...change })] })
  }
  return steps
}

/** A server sends the last bookmark two seconds before this timeout. It confirms that everything before it was sent. */
const timeoutSeconds = 3
const deadlineMs = 8_000
const pauses = { initialMs: 50, maxMs: 500 }

/**
 * Reads the changes after `from`, up to and including `until`, by a separate watch, such as changes from before the
 * process started. Reopens a watch that ends early. Resolves with `tooOld` if the server has forgotten the changes (410),
 * or there are more than `maxSteps` or `maxBytes`; with `undefined` after another failure, or if the watch does not reach
 * `until` in time. Never rejects.
 */
async function missedSteps(
  options: ResourceHistoryOptions,
  from: ResourceVersion,
  until: ResourceVersion,
  maxSteps: number,
): Promise<readonly Step[] | 'tooOld' | undefined> {
  const codec = createObjectCodec(options)
  const reading: Reading = { codec, steps: [], bytes: 0, maxSteps, until }
  const leaving = new AbortController()
  const signal = AbortSignal.any([options.signal, leaving.signal])
  const timer = setTimeout(() => leaving.abort(), deadlineMs)
  const backoff = new Backoff(pauses)
  try {
    while (!signal.aborted) {
      const position = reading.steps.at(-1)?.position ?? from
      const end = await readSteps(options, reading, position, signal)
      if (end === 'reached') return reading.steps
      if (end === 'tooOld') return end
      if (end === 'failed') return undefined
      await sleep(backoff.nextMs(), signal)
    }
    return undefined
  } finally {
    clearTimeout(timer)
    leaving.abort()
  }
}

/** The result of the watches of one fill so far. */
interface Reading {
  readonly codec: ObjectCodec
  readonly steps: Step[]
  bytes: number
  readonly maxSteps: number
  readonly until: ResourceVersion
}

/** Reads one watch. After `open`, the caller may try again. */
async function readSteps(
  { resource, source, maxBytes }: ResourceHistoryOptions,
  reading: Reading,
  position: ResourceVersion,
  signal: AbortSignal,
): Promise<'reached' | 'tooOld' | 'failed' | 'open'> {
  const { codec, steps, maxSteps, until } = reading
  const watch = { resourceVersion: position, allowWatchBookmarks: true, timeoutSeconds }
  try {
    for await (const frames of await source.watch(watch, signal)) {
      for (const frame of frames) {
        reading.bytes += frame.byteLength
        if (reading.bytes > maxBytes) return 'tooOld'
        const step = stepOf(frame, codec, resource)
        const order = step && compareResourceVersions(step.position, until)
        if (step === undefined || order === undefined) return 'failed'
        if (order <= 0) steps.push(step)
        if (steps.length > maxSteps) return 'tooOld'
        if (order >= 0) return 'reached'
      }
    }
    return 'open'
  } catch (error) {
    if (isExpired(error)) return 'tooOld'
    return isRetriedInPlace(error) || isBrokenConnection(error) ? 'open' : 'failed'
  }
}

/** Returns `undefined` for a bookmark without a position. Throws the failure in an ERROR event. */
function stepOf(frame: Uint8Array, codec: ObjectCodec, resource: ApiResource): Step | undefined {
  const { type, object: text } = readWatchFrame(frame)
  if (type === 'ERROR') throw readErrorEvent(groupResourceOf(resource), text)
  if (type === 'BOOKMARK') {
    const position = readBookmark(text).resourceVersion
    return position && { position, changes: [] }
  }
  const encoded = codec.encode(text)
  const { metadata } = encoded.object
  const change = { type, key: objectKey(metadata), uid: metadata.uid ?? '', ...encoded } as const
  const position = resourceVersion(resourceVersionOf(encoded.object))
  return { position, changes: [new Change(codec, change)] }
}
