/*
 * Records Events. `record` checks one, counts it as a repetition or queues it, and never waits. Workers write the queued
 * Events, in series as client-go does. An Event that cannot be written is dropped, and reported.
 */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { ApiServer } from '../api-server/api-server.ts'
import { ConnectionError } from '../api-server/transport/connection-error.ts'
import { UnexpectedAnswerError } from '../api-server/transport/json-request.ts'
import type { ObjectClient } from '../api-server/writes/object-client.ts'
import { itemExponentialFailureRateLimiter } from '../informer/work-queue/rate-limiter.ts'
import { createWorkQueue, type WorkQueue } from '../informer/work-queue/work-queue.ts'
import { type ReconcileResult, runWorkers } from '../informer/work-queue/workers.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import { resources } from '../kubernetes/resources.ts'
import { ApiStatusError, isAlreadyExists, isNotFound } from '../kubernetes/status.ts'
import { microTimestamp } from '../kubernetes/timestamp.ts'
import type { ObjectReference } from '../kubernetes/wire/core-v1.ts'
import type { EventsEvent } from '../kubernetes/wire/events-v1.ts'
import { checkedWait, DeadlineError, type WaitOptions, withDeadline } from '../lib/deadline.ts'
import {
  aDuration,
  aLimit,
  anObject,
  aString,
  checkedOptions,
  InvalidOptionError,
  oneOf,
  type OptionChecks,
  withDefaults,
} from '../lib/options.ts'

/** The defaults of {@link EventRecorderOptions}: client-go's, where it has them. */
export const eventRecorderDefaults = {
  maxQueued: 1000,
  maxRemembered: 4096,
  burst: 25,
  refillMs: 300_000,
  seriesEndMs: 360_000,
  seriesRefreshMs: 1_800_000,
  retryDeadlineMs: 120_000,
  closeDeadlineMs: 5_000,
} as const

/** How events are written. Times are milliseconds. */
export interface EventRecorderOptions {
  /** Needs `create` and `patch` of `events.events.k8s.io`, in the namespaces of the objects and in `default`. */
  readonly apiServer: Pick<ApiServer, 'client'>
  /** Who reports, as a qualified name: `example.com/order-controller`. */
  readonly controller: string
  /** Which of its processes. Default: the controller's name and the host's. */
  readonly instance?: string
  /** How many events may wait to be created. Further ones are dropped. */
  readonly maxQueued?: number
  /** How many events are remembered, to count their repetitions. The oldest is forgotten first. */
  readonly maxRemembered?: number
  /** How many new events about one object may be created at once. Further ones are dropped. */
  readonly burst?: number
  /** After this time, one more event about the object may be created. */
  readonly refillMs?: number
  /** A series has ended when the event was not repeated for this time. Its last count is written then. */
  readonly seriesEndMs?: number
  /** How often the count of a series is written while it goes on. Keeps the event from expiring on the server. */
  readonly seriesRefreshMs?: number
  /** How long an event may wait while the server cannot be reached. */
  readonly retryDeadlineMs?: number
  /** How long `close` waits for the last events. */
  readonly closeDeadlineMs?: number
  readonly observer?: EventRecorderObserver
}

/**
 * Why an event was not written: too many waited (`overflow`), too many were about its object (`rate-limit`), the server
 * refused it (`refused`), the server could not be reached in time (`deadline`), or the recorder was closed (`closed`).
 */
export type EventDrop = 'closed' | 'deadline' | 'overflow' | 'rate-limit' | 'refused'

/** Reports for metrics and logs. Every method is optional and must not throw. */
export interface EventRecorderObserver {
  /** An event was created, or the count of its series was written. */
  written?(event: EventsEvent): void
  /** An event, or the rest of a series, was not written. Without this method, the first drop is a warning of the process. */
  dropped?(event: EventsEvent, reason: EventDrop, error?: unknown): void
}

const recorderChecks: OptionChecks<EventRecorderOptions> = {
  apiServer: anObject,
  controller: aString,
  instance: aString,
  maxQueued: aLimit(1),
  maxRemembered: aLimit(1),
  burst: aLimit(1),
  refillMs: aDuration,
  seriesEndMs: aDuration,
  seriesRefreshMs: aDuration,
  retryDeadlineMs: aDuration,
  closeDeadlineMs: aDuration,
  observer: anObject,
}

/** How many events are written at the same time, and how long one write may take. */
const writers = 4
const requestDeadlineMs = 10_000

/** The pause between attempts, up to client-go's 10 s. */
const retryPause = { baseDelayMs: 500, maxDelayMs: 10_000 }

/** The key in the queue that stands for a look at all series. */
const sweep = ''

/** An event that was recorded, and its repetitions. */
interface Series {
  readonly event: EventsEvent
  /** How many times the event was recorded. */
  count: number
  /** The count that the server has; 0 before the event is created. */
  written: number
  lastAtMs: number
  lastTime: string
  writtenAtMs: number
  /** Since when the present write has failed. */
  failingSinceMs: number | undefined
  /** The calls of {@link EventRecorder.flush} that wait for a count to be written. */
  readonly waiting: Set<{ readonly count: number; readonly resolve: () => void }>
}

interface Bucket {
  tokens: number
  filledAtMs: number
}

/**
 * Writes Events about objects (client-go's `tools/events`), to `events.k8s.io/v1`. {@link record} never waits and never
 * fails because of the server: what cannot be written is dropped, and counted by the observer.
 *
 * Events that are equal except for their note are one series: the first is created, the second adds `series` to it, and
 * further ones are counted and written every `seriesRefreshMs` and when the series has ended. New events about one object
 * are limited as by client-go's spam filter. Events about objects without a namespace are in `default`.
 *
 * Writing begins with the first event. {@link close} ends it, and writes the last counts.
 */
export class EventRecorder implements AsyncDisposable {
  readonly #reporter: EventReporter
  readonly #limits: Limits
  readonly #observer: EventRecorderObserver
  readonly #client: Pick<ObjectClient<EventsEvent>, 'create' | 'patch'>
  readonly #queue: WorkQueue = createWorkQueue({
    rateLimiter: itemExponentialFailureRateLimiter(retryPause),
  })
  readonly #series = new Map<string, Series>()
  readonly #buckets = new Map<string, Bucket>()
  readonly #stopping = new AbortController()
  #writing: Promise<unknown> | undefined
  #closing: Promise<void> | undefined
  #queued = 0
  #hasWarned = false

  constructor(given: EventRecorderOptions) {
    const options = checkedOptions('an event recorder', given, recorderChecks)
    const { apiServer, controller, instance, observer = {} } = options
    anObject('apiServer', apiServer)
    this.#reporter = eventReporter(controller, instance)
    this.#limits = withDefaults<Limits>(eventRecorderDefaults, options)
    this.#observer = observer
    this.#client = apiServer.client(resources.eventsEvents)
  }

  /** Records an event, to be written soon. Throws `InvalidOptionError` if the API would refuse the event. */
  record(event: RecordedEvent): void {
    const made = eventOf(event, this.#reporter)
    if (this.#closing !== undefined) return this.#dropped(made, 'closed')
    // Equal events are repetitions. Notes, and versions of the objects, may differ.
    const { type, reason, action, regarding = {}, related = {} } = made
    const objects = [identityOf(regarding), identityOf(related)]
    const key = [type, reason, action, ...objects].join('\n')
    const known = this.#series.get(key)
    if (known !== undefined && !this.#isOver(known)) {
      known.count += 1
      known.lastAtMs = performance.now()
      known.lastTime = microTimestamp(Date.now())
      if (known.written === 1) this.#queue.add(key)
      return
    }
    if (this.#queued >= this.#limits.maxQueued) return this.#dropped(made, 'overflow')
    if (!this.#takeToken(made)) return this.#dropped(made, 'rate-limit')
    if (!this.#makeRoom()) return this.#dropped(made, 'overflow')
    this.#queued += 1
    // A series that begins anew goes to the end: the map is in the order of age.
    this.#series.delete(key)
    this.#series.set(key, {
      event: made,
      count: 1,
      written: 0,
      lastAtMs: performance.now(),
      lastTime: made.eventTime ?? '',
      writtenAtMs: 0,
      failingSinceMs: undefined,
      waiting: new Set(),
    })
    this.#queue.add(key)
    this.#start()
  }

  /**
   * Waits until all events so far are written or dropped, the counts of series too. Rejects with `DeadlineError`, or
   * with the signal's reason.
   */
  async flush(options: WaitOptions = {}): Promise<void> {
    const { deadlineMs, signal } = checkedWait(options)
    const unwritten = [...this.#series].filter(([, { count, written }]) => count > written)
    const all = unwritten.map(([key, series]) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      series.waiting.add({ count: series.count, resolve })
      this.#queue.add(key)
      return promise
    })
    await withDeadline('the flush of events', Promise.all(all), deadlineMs, signal)
  }

  /** Writes what is unwritten, for `closeDeadlineMs` at most, drops the rest, and ends. Idempotent. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      try {
        await this.flush({ deadlineMs: this.#limits.closeDeadlineMs })
      } catch (error) {
        if (!(error instanceof DeadlineError)) throw error
      }
      this.#stopping.abort()
      this.#queue.shutDown()
      await this.#writing
      for (const [key, { count, written }] of this.#series) {
        if (count > written) this.#drop(key, 'closed')
      }
      this.#series.clear()
    })()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Takes one of the tokens of the event's object (client-go's `EventSourceObjectSpamFilter`). */
  #takeToken({ regarding = {} }: EventsEvent): boolean {
    const { burst, refillMs, maxRemembered } = this.#limits
    const { fieldPath: _, ...object } = regarding
    const key = identityOf(object)
    const nowMs = performance.now()
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAtMs: nowMs }
    const filled = refillMs === 0 ? burst : (nowMs - bucket.filledAtMs) / refillMs
    const tokens = Math.min(burst, bucket.tokens + filled)
    const isAllowed = tokens >= 1
    // Objects with recent events come last; the first object is forgotten.
    this.#buckets.delete(key)
    this.#buckets.set(key, { tokens: isAllowed ? tokens - 1 : tokens, filledAtMs: nowMs })
    const [first] = this.#buckets.keys()
    if (this.#buckets.size > maxRemembered && first !== undefined) this.#buckets.delete(first)
    return isAllowed
  }

  /** Forgets the oldest event that is written, if there are too many. */
  #makeRoom(): boolean {
    if (this.#series.size < this.#limits.maxRemembered) return true
    for (const [key, { written, count }] of this.#series) {
      if (written === 0) continue
      if (count > written) this.#drop(key, 'overflow')
      else this.#series.delete(key)
      return true
    }
    return false
  }

  #start(): void {
    if (this.#writing !== undefined) return
    const { seriesEndMs, seriesRefreshMs } = this.#limits
    const sweepMs = Math.max(10, Math.min(60_000, seriesEndMs / 6, seriesRefreshMs / 6))
    const handle = (key: string, signal: AbortSignal): Promise<void> | ReconcileResult => {
      if (key !== sweep) return this.#process(key, signal)
      // Queues the series that are due, and forgets the series that have ended.
      for (const [one, series] of this.#series) {
        if (this.#isDue(series)) this.#queue.add(one)
        else if (this.#isOver(series)) this.#series.delete(one)
      }
      return { requeueAfterMs: sweepMs }
    }
    this.#queue.addAfter(sweep, sweepMs)
    this.#writing = runWorkers(this.#queue, writers, handle, this.#stopping.signal, {
      drainDeadlineMs: 0,
      // Failures are counted until the deadline of the event.
      onFailure: () => {},
    })
  }

  #hasEnded({ lastAtMs }: Series): boolean {
    return performance.now() - lastAtMs >= this.#limits.seriesEndMs
  }

  /** The series has ended, and the server knows its count. */
  #isOver(series: Series): boolean {
    return this.#hasEnded(series) && series.count === series.written
  }

  /** Whether the count has to be written now. */
  #isDue(series: Series): boolean {
    const { count, written, writtenAtMs, waiting } = series
    if (count === written) return false
    if (written <= 1 || waiting.size > 0 || this.#hasEnded(series)) return true
    return performance.now() - writtenAtMs >= this.#limits.seriesRefreshMs
  }

  async #process(key: string, signal: AbortSignal): Promise<void> {
    const series = this.#series.get(key)
    if (series === undefined || !this.#isDue(series)) return
    const { count } = series
    let event: EventsEvent
    try {
      event = await this.#write(series, signal)
    } catch (error) {
      if (signal.aborted) return
      const isPassing =
        error instanceof ApiStatusError
          ? error.httpStatus === 429 || error.httpStatus >= 500
          : error instanceof ConnectionError || error instanceof UnexpectedAnswerError
      if (!isPassing) return this.#drop(key, 'refused', error)
      series.failingSinceMs ??= performance.now()
      const failingMs = performance.now() - series.failingSinceMs
      if (failingMs >= this.#limits.retryDeadlineMs) return this.#drop(key, 'deadline', error)
      throw error
    }
    if (series.written === 0) this.#queued -= 1
    series.written = count
    series.writtenAtMs = performance.now()
    series.failingSinceMs = undefined
    for (const one of series.waiting) {
      if (one.count > count) continue
      series.waiting.delete(one)
      one.resolve()
    }
    this.#observer.written?.(event)
    // The event was repeated meanwhile.
    if (this.#isDue(series)) this.#queue.add(key)
  }

  async #write(series: Series, signal: AbortSignal): Promise<EventsEvent> {
    const { event, count, lastTime, written } = series
    const options = { signal, deadlineMs: requestDeadlineMs }
    const change = { series: { count, lastObservedTime: lastTime } }
    if (written > 0) {
      try {
        return await this.#client.patch(event.metadata, { merge: change }, options)
      } catch (error) {
        // The server forgets events after an hour.
        if (!isNotFound(error)) throw error
      }
    }
    const made = count === 1 ? event : { ...event, ...change }
    try {
      return await this.#client.create(made, options)
    } catch (error) {
      // Created by an attempt whose answer was lost.
      if (!isAlreadyExists(error)) throw error
      return count === 1
        ? event
        : await this.#client.patch(event.metadata, { merge: change }, options)
    }
  }

  #drop(key: string, reason: EventDrop, error?: unknown): void {
    const series = this.#series.get(key)
    if (series === undefined) return
    this.#series.delete(key)
    if (series.written === 0) this.#queued -= 1
    for (const { resolve } of series.waiting) resolve()
    this.#dropped(series.event, reason, error)
  }

  #dropped(event: EventsEvent, reason: EventDrop, error?: unknown): void {
    if (this.#observer.dropped !== undefined) {
      this.#observer.dropped(event, reason, error)
    } else if (!this.#hasWarned) {
      this.#hasWarned = true
      const { regarding = {}, reason: why = '' } = event
      const cause = error instanceof Error ? `: ${error.message}` : ''
      process.emitWarning(
        `an event (${why} of ${regarding.kind} ${regarding.name}) was dropped (${reason})${cause}`,
      )
    }
  }
}

/** Creates a recorder. Throws `InvalidOptionError`. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new EventRecorder(options)
}

type Limits = Record<keyof typeof eventRecorderDefaults, number>

/** What has happened to an object. Texts are limited as by the API. */
export interface RecordedEvent {
  /** The object that the event is about. It may come from a cache. */
  readonly regarding: KubernetesObject | ObjectReference
  /** A second object, such as one that was made. */
  readonly related?: KubernetesObject | ObjectReference
  /** Default: `Normal`. */
  readonly type?: 'Normal' | 'Warning'
  /** Why, for programs: `Shipped`. At most 128 bytes. */
  readonly reason: string
  /** What was done or tried: `Ship`. At most 128 bytes. */
  readonly action: string
  /** For people. Cut at 1024 bytes. Only the first note of a series is written. */
  readonly note?: string
}

interface EventReporter {
  /** A qualified name. */
  readonly controller: string
  readonly instance: string
}

const eventChecks: OptionChecks<RecordedEvent> = {
  regarding: anObject,
  related: anObject,
  type: oneOf('Normal', 'Warning'),
  reason: aString,
  action: aString,
  note: aString,
}

/** The API's limits, in bytes. */
const maxReasonBytes = 128
const maxNoteBytes = 1024
const maxNameLength = 253

/** Throws `InvalidOptionError` if the API would refuse events of this reporter. */
function eventReporter(controller: string, instance?: string): EventReporter {
  if (typeof controller !== 'string' || !qualifiedName.test(controller)) {
    const expected = 'a qualified name, such as example.com/my-controller'
    throw new InvalidOptionError('controller', controller, expected)
  }
  const name = controller.slice(controller.indexOf('/') + 1)
  const own = instance ?? cut(`${name}-${hostname()}`, maxReasonBytes)
  requireText('instance', own)
  return { controller, instance: own }
}

/** The Event that tells what has happened. Throws `InvalidOptionError` if the API would refuse it. */
function eventOf(given: RecordedEvent, reporter: EventReporter): EventsEvent {
  const checked = checkedOptions('an event', given, eventChecks)
  const { type = 'Normal', reason, action, note = '', related } = checked
  requireText('reason', reason)
  requireText('action', action)
  const regarding = referenceTo('regarding', checked.regarding)
  const { namespace = '', name = '' } = regarding
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: {
      namespace: namespace === '' ? 'default' : namespace,
      name: eventName(name),
    },
    eventTime: microTimestamp(Date.now()),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance,
    action,
    reason,
    regarding,
    ...(related === undefined ? {} : { related: referenceTo('related', related) }),
    note: cut(note, maxNoteBytes),
    type,
  }
}

/** Tells objects apart. Their versions may differ. */
function identityOf({
  apiVersion,
  kind,
  namespace,
  name,
  uid,
  fieldPath,
}: ObjectReference): string {
  return [apiVersion, kind, namespace, name, uid, fieldPath].join('\t')
}

function referenceTo(option: string, target: KubernetesObject | ObjectReference): ObjectReference {
  anObject(option, target)
  const { apiVersion, kind, fieldPath } = target as ObjectReference
  const from = 'metadata' in target ? target.metadata : target
  const { namespace, name, uid, resourceVersion } = from
  for (const [member, value] of Object.entries({ apiVersion, kind, name })) {
    if (typeof value !== 'string' || value === '') {
      throw new InvalidOptionError(`${option}.${member}`, value, 'an object with kind and name')
    }
  }
  const reference = { apiVersion, kind, namespace, name, uid, resourceVersion, fieldPath }
  return Object.fromEntries(
    Object.entries(reference).filter(([, value]) => value !== undefined && value !== ''),
  )
}

/** The name of the object, as far as names of Events allow, and digits that no other Event has. */
function eventName(name: string): string {
  const unique = `.${Date.now().toString(16)}${randomBytes(4).toString('hex')}`
  const start = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .slice(0, maxNameLength - unique.length)
    .split('.')
    .map((part) => part.replaceAll(/^-+|-+$/g, ''))
    .filter((part) => part !== '')
    .join('.')
  return `${start === '' ? 'event' : start}${unique}`
}

function requireText(option: string, value: unknown): void {
  const isText = typeof value === 'string' && value !== ''
  if (isText && Buffer.byteLength(value) <= maxReasonBytes) return
  throw new InvalidOptionError(option, value, `text of at most ${maxReasonBytes} bytes`)
}

const qualifiedName =
  /^(?:(?=.{1,253}\/)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

/** The longest beginning that fits, with `…` at its end if something is missing. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const sign = '…'
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes - Buffer.byteLength(sign)), {
    // Leaves out a character that is cut.
    stream: true,
  })
  return kept + sign
}
