/*
 * The logs of pods, read and followed as their callers (`PodLogs`). The pods come from a subscription of the caller
 * (`FollowedPods`). Each container has one stream at a time (`ContainerFollower`), which takes one of the places. The
 * lines wait in a buffer (`LogBuffer`), in the order of their times, until the reader takes a frame (`FollowedLogs`).
 * Nothing of a log is kept beyond these lines.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { questionOf } from '../../access/access-question.ts'
import type { ApiServer } from '../../api-server/api-server.ts'
import type { CallerServer, ClusterConnection } from '../../cache/cluster-cache.ts'
import type { Lane } from '../../lib/event-loop.ts'
import { FrameStream } from '../../lib/frame-stream.ts'
import { ClientError, type ClientErrorCode } from '../errors/client-error.ts'
import { type Caller, callerServer } from '../prepare/caller-server.ts'
import { type ByteHolder, HeldBytes, liveLane, queryLane, turns } from '../prepare/user-shares.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import type {
  KindLogsArguments,
  LogStream,
  PodLogs as PodLogLines,
} from '../schema/gateway-types.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { ContainerFollower, type FollowerMeans } from './container-follower.ts'
import { type ContainerView, FollowedPods, type Subscribe } from './followed-pods.ts'
import { LogBuffer, patienceMs } from './log-buffer.ts'
import { type LogCounts, type LogLimits, LogPlaces } from './log-limits.ts'
import {
  askedObjects,
  loggedKey,
  type LoggedObject,
  type LoggedObjects,
  logRequest,
  type LogRequest,
} from './log-request.ts'

/** Lines, and the errors beside them of requested objects that are gone. */
type PodLogPage = PodLogLines & { readonly failures: readonly ClientError[] }

export interface PodLogsOptions {
  readonly served: () => ServedSchema
  readonly limits: OperationLimits
  readonly logs: LogLimits
  /** Subscribes to the pods as the caller. */
  readonly subscribe: Subscribe
}

interface FollowedLogsOptions extends PodLogsOptions {
  readonly places: LogPlaces
  /** The memory of all readers. */
  readonly held: HeldBytes
  readonly counts: { read: number; lines: number; skipped: number; reopened: number }
  readonly args: KindLogsArguments
  readonly request: LogRequest
  readonly caller: Caller
  /** Receives the objects that the report of the operation names. */
  readonly logged: LoggedObjects
  /** Whether new lines are followed; else each log is read once. */
  readonly follows: boolean
  readonly write: (frame: PodLogLines, failures: readonly ClientError[]) => Buffer
}

export class PodLogs {
  readonly #options: PodLogsOptions
  readonly #places: LogPlaces
  readonly #held: HeldBytes
  readonly #counts = { read: 0, lines: 0, skipped: 0, reopened: 0 }

  constructor(options: PodLogsOptions) {
    this.#options = options
    this.#places = new LogPlaces(options.logs)
    const hint = 'read fewer logs at once, read them faster, or try again later'
    this.#held = new HeldBytes(options.logs, { name: 'logs', hint })
  }

  get counts(): LogCounts {
    return { ...this.#counts, streams: this.#places.taken, heldBytes: this.#held.bytes }
  }

  /**
   * Follows the logs. `write` writes a frame; `logged` receives the objects that are read. Rejects with the error that
   * prevents it.
   */
  async follow(
    args: KindLogsArguments,
    caller: Caller,
    how: Pick<FollowedLogsOptions, 'write' | 'logged'>,
  ): Promise<FrameStream> {
    return await this.#open(args, caller, { ...how, follows: true })
  }

  /**
   * Reads the present logs, as far as the time allows. They count as held until `held` is disposed. Rejects with the
   * error that prevents it.
   */
  async read(
    args: KindLogsArguments,
    caller: Caller,
    {
      deadlineMs,
      held,
      logged,
    }: {
      readonly deadlineMs: number
      readonly held: DisposableStack
      readonly logged: LoggedObjects
    },
  ): Promise<PodLogPage> {
    const limits = { ...this.#options.limits, liveDeadlineMs: deadlineMs }
    const how = { follows: false, write: () => Buffer.alloc(0), limits, logged }
    const logs = await this.#open(args, caller, how, held)
    const page = logs.page()
    logs.close()
    return page
  }

  async #open(
    args: KindLogsArguments,
    caller: Caller,
    how: Pick<FollowedLogsOptions, 'follows' | 'write' | 'logged'> & Partial<PodLogsOptions>,
    until?: DisposableStack,
  ): Promise<FollowedLogs> {
    const request = logRequest(args, this.#options.logs)
    const shared = { places: this.#places, held: this.#held, counts: this.#counts }
    const logs = new FollowedLogs({ ...this.#options, ...how, ...shared, args, caller, request })
    // Registers the logs before anything is read: an error elsewhere may end the answer first.
    until?.use(logs)
    try {
      await logs.begin()
      if (logs.end?.form === 'failed') throw logs.end.errors[0]
    } catch (error) {
      logs[Symbol.dispose]()
      throw error
    }
    return logs
  }
}

/** The most containers that wait for a place. Further containers are only counted. */
const maxFollowers = 1_000
/** The ended containers that `streams` goes on to name. */
const maxEnded = 100
/** How long the first frame waits for the first lines of all containers, to sort them. */
const firstFrameMs = 1_000
const maxLinesOfFrame = 500
const maxBytesOfFrame = 262_144
/** How often a stream checks for room when all readers together hold too much. */
const fullPauseMs = 50
/** The memory of a follower, besides its view of the pod. */
const followerBytes = 2_048
/** How often permissions are reviewed again without a reported change. */
const reviewMs = 30_000

/** The logs of some pods, for one reader. Like any subscriber, it gives the transport a frame when that has room. */
class FollowedLogs extends FrameStream implements ByteHolder, Disposable, FollowerMeans {
  readonly users: ReadonlySet<string>
  readonly #options: FollowedLogsOptions
  readonly request: LogRequest
  readonly follows: boolean
  readonly logLimits: LogLimits
  readonly deadlineMs: number
  readonly beganAt: string = new Date().toISOString()
  readonly buffer: LogBuffer
  readonly #access: ViewerAccess | undefined
  readonly #lane: Lane
  readonly #followers = new Map<string, ContainerFollower>()
  readonly #servers = new Map<string, UsedServer>()
  readonly #accessFollowed = new Map<string, () => void>()
  readonly #stopWaiting: () => void
  readonly #begun = Promise.withResolvers<void>()
  #pods: FollowedPods | undefined
  #hasBegun = false
  #isFirstSeen = false
  #beyond = 0
  #freed = 0
  #reviews = 0
  #reviewTimer: NodeJS.Timeout | undefined
  #firstTimer: NodeJS.Timeout | undefined
  #frameTimer: NodeJS.Timeout | undefined
  #looking: NodeJS.Immediate | undefined
  #areStreamsNew = true
  #gapsBefore = ''
  /** The clusters that were missing when the pods last changed. */
  #missing: ReadonlySet<string> = new Set()
  #rows = 0
  #pageBytes = 0

  constructor(options: FollowedLogsOptions) {
    super()
    const { served, caller, logs, places, request, follows, limits } = options
    this.#options = options
    this.request = request
    this.follows = follows
    this.logLimits = logs
    this.deadlineMs = limits.liveDeadlineMs
    this.#access = caller.viewer && new ViewerAccess(served(), caller.viewer)
    const user = caller.viewer?.username
    this.users = new Set(user === undefined ? [] : [user])
    this.#lane = follows ? liveLane : queryLane(caller.viewer)
    this.buffer = new LogBuffer(logs, follows)
    this.#stopWaiting = places.onFree(() => this.#placeFreed())
  }

  async mayRead({ cluster, namespace, pod: name }: ContainerView): Promise<boolean> {
    const place = { namespace, name, subresource: 'log' }
    const question = questionOf('get', { group: '', resource: 'pods' }, place)
    return (await this.#access?.may(cluster, question)) ?? true
  }

  /** Without authentication all callers are one user. */
  get #user(): string {
    return this.#options.caller.viewer?.username ?? ''
  }

  takePlace(): string | undefined {
    return this.#options.places.take(this.#user)
  }

  freePlace(): void {
    this.#options.places.free(this.#user)
  }

  /** Resolves when the first lines are there, or after a short wait. Rejects with the error that prevents it. */
  async begin(): Promise<void> {
    const { served, args, subscribe, caller, limits } = this.#options
    for (const [key, object] of askedObjects(served(), args)) this.#name(key, object)
    const full = this.#options.held.hold(this)
    if (full !== undefined) throw full
    const inTurn = async (work: () => void): Promise<void> => {
      await turns.enter(this.#lane, this.users)
      if (!this.isClosed) turns.run(work, this.#lane)
    }
    const changed = (): void => this.#podsChanged()
    const how = { subscribe, caller, maxPods: limits.maxPageSize, inTurn, changed }
    this.#pods = await FollowedPods.open(served(), args, how)
    if (this.isClosed) this.#pods.close()
    this.#podsChanged()
    await this.#begun.promise
  }

  get heldBytes(): number {
    const pods = this.#pods?.heldBytes ?? 0
    return this.#pageBytes + this.buffer.bytes + this.#followers.size * followerBytes + pods
  }

  override get rows(): number {
    return this.#rows
  }

  take(): Buffer | undefined {
    if (this.isClosed || !this.#hasBegun || this.#reviews > 0) return undefined
    const gaps = this.#pods?.gaps ?? []
    const gapsNow = JSON.stringify(gaps)
    const isNews = this.#areStreamsNew || gapsNow !== this.#gapsBefore
    if (this.buffer.isEmpty && !isNews) return undefined
    this.#gapsBefore = gapsNow
    const { maxFrameBytes, maxFrameObjects } = this.#options.limits
    const { lines, skipped } = this.buffer.take({
      lines: Math.min(maxLinesOfFrame, maxFrameObjects),
      bytes: Math.min(maxBytesOfFrame, maxFrameBytes),
    })
    const streams = this.#areStreamsNew ? this.#streams() : null
    this.#areStreamsNew = false
    this.#count(lines.length, skipped)
    const failures = this.#pods?.takeMadeAnew() ?? []
    const notFollowed = this.#notFollowed()
    const frame = { lines, streams, skipped, notFollowed, incomplete: gaps }
    return turns.run(() => this.#options.write(frame, failures), this.#lane)
  }

  page(): PodLogPage {
    this.#pageBytes = this.buffer.bytes
    const { lines, skipped } = this.buffer.take({ lines: Infinity, bytes: Infinity })
    this.#count(lines.length, skipped)
    const streams = this.#streams().map((one, at): LogStream => {
      if ([...this.#followers.values()][at]?.isSettled === true) return one
      const message = `the log was not read within ${this.#options.limits.liveDeadlineMs} ms`
      return { ...one, state: 'FAILED', reason: 'DEADLINE_EXCEEDED', message }
    })
    const incomplete = this.#pods?.gaps ?? []
    const failures = this.#pods?.takeMadeAnew() ?? []
    return { lines, streams, skipped, notFollowed: this.#notFollowed(), incomplete, failures }
  }

  [Symbol.dispose](): void {
    this.close()
    this.#options.held.release(this)
  }

  protected leave(): void {
    clearInterval(this.#reviewTimer)
    clearTimeout(this.#firstTimer)
    clearTimeout(this.#frameTimer)
    clearImmediate(this.#looking)
    this.#stopWaiting()
    for (const stop of this.#accessFollowed.values()) stop()
    for (const follower of this.#followers.values()) follower.close()
    this.#followers.clear()
    this.buffer.close()
    this.#pods?.close()
    for (const used of this.#servers.values()) retire(used)
    if (this.#options.follows) this.#options.held.release(this)
    this.#begun.resolve()
  }

  #count(lines: number, skipped: number): void {
    const { counts } = this.#options
    this.#rows += lines
    counts.lines += lines
    counts.skipped += skipped
  }

  #streams(): readonly LogStream[] {
    return Array.from(this.#followers.values(), ({ state }) => state)
  }

  #notFollowed(): number {
    const waiting = this.#streams().filter(({ reason }) => reason === 'TOO_MANY_STREAMS')
    return waiting.length + this.#beyond
  }

  #fail(error: unknown): void {
    this.finish({ form: 'failed', errors: [error] })
    this.#begun.resolve()
  }

  /** Follows the containers of the pods as they are now. */
  #podsChanged(): void {
    const pods = this.#pods
    if (pods === undefined || this.isClosed) return
    if (pods.error !== undefined) return this.#fail(pods.error)
    if (!pods.isSynced) return
    const { request, args } = this.#options
    const all = pods.containers()
    const { container } = request
    const wanted = container === undefined ? all : all.filter((one) => one.container === container)
    const isFirst = !this.#isFirstSeen
    if (isFirst) {
      this.#isFirstSeen = true
      for (const { type, ...owner } of pods.owners())
        this.#name(loggedKey(owner.cluster, owner.uid), { type, ...owner })
      const problem = problemOf(args, { pods, all, wanted })
      if (problem !== undefined) return this.#fail(problem)
    }
    const added = Math.min(wanted.length, maxFollowers) - this.#followers.size
    const full = this.#options.held.hold(this, Math.max(0, added) * followerBytes)
    if (full !== undefined) return this.#fail(full)
    this.#access?.begin()
    this.#follow(wanted, !isFirst)
    if (!isFirst) return this.changed('lines')
    const { follows, limits } = this.#options
    const ms = follows ? firstFrameMs : limits.liveDeadlineMs
    this.#firstTimer = setTimeout(() => this.#nowBegun(), ms)
    if (this.#access !== undefined && follows) {
      this.#reviewTimer = setInterval(() => void this.#review(), reviewMs).unref()
    }
    this.#look()
  }

  #follow(wanted: readonly ContainerView[], areLate: boolean): void {
    const { follows, request } = this.#options
    const seen = new Set<string>()
    let room = maxFollowers - this.#followers.size + this.#endedKeys().length
    this.#beyond = 0
    for (const view of wanted) {
      const key = `${view.cluster}\n${view.uid}\n${view.container}`
      seen.add(key)
      const known = this.#followers.get(key)
      if (known !== undefined && (!known.isOver || !follows || request.previous)) {
        known.see(view)
        continue
      }
      if (room === 0) {
        this.#beyond += 1
        continue
      }
      room -= 1
      const follower = new ContainerFollower(view, areLate, this)
      this.#followers.set(key, follower)
      const { cluster, namespace, pod: name, uid } = view
      this.#name(loggedKey(view.cluster, view.uid), { cluster, type: 'Pod', namespace, name, uid })
      const { viewer } = this.#options.caller
      const access = this.#access?.in(cluster)
      if (viewer !== undefined && access !== undefined && !this.#accessFollowed.has(cluster)) {
        const stop = access.onChange(viewer, () => void this.#review())
        this.#accessFollowed.set(cluster, stop)
      }
      void follower.run()
    }
    for (const [key, follower] of this.#followers) {
      const isMissing = this.#pods?.isMissing(follower.cluster) === true
      // A cluster that is back may have ended its streams, or taken them up: each is looked at again.
      if (this.#missing.has(follower.cluster) && !isMissing) follower.wake()
      if (seen.has(key) || isMissing) continue
      if (this.#pods?.isHidden(follower.uid) === true) {
        this.buffer.drop(follower)
        follower.close()
        this.#followers.delete(key)
        this.#areStreamsNew = true
      } else follower.gone()
    }
    for (const key of this.#endedKeys().slice(0, -maxEnded)) this.#followers.delete(key)
    this.#missing = new Set(this.#pods?.gaps.map(({ cluster }) => cluster))
  }

  #name(key: string, object: LoggedObject): void {
    const { logged } = this.#options
    if (logged.size < maxFollowers || logged.has(key)) logged.set(key, object)
  }

  #endedKeys(): readonly string[] {
    return Array.from(this.#followers, ([key, { isOver }]) => (isOver ? key : '')).filter(Boolean)
  }

  /** Begins once it is known whether each log can be read. With `previous`, ends when all logs have ended. */
  #look(): void {
    if (this.isClosed || !this.#isFirstSeen) return
    const { request, follows } = this.#options
    const all = [...this.#followers.values()]
    if (!this.#hasBegun) {
      if (all.every((one) => (follows ? !one.isOpening : one.isSettled))) this.#nowBegun()
    } else if (request.previous && follows && all.every(({ isOver }) => isOver)) {
      this.finish({ form: 'complete' })
    }
  }

  #nowBegun(): void {
    if (this.#hasBegun) return
    clearTimeout(this.#firstTimer)
    const refusal = refusalOf(this.#streams(), this.#options.follows)
    if (refusal !== undefined) return this.#fail(refusal)
    this.#hasBegun = true
    this.#begun.resolve()
    this.changed('state')
  }

  changed(what: 'lines' | 'state' | 'reopened'): void {
    if (what === 'reopened') this.#options.counts.reopened += 1
    if (this.isClosed || what === 'reopened') return
    if (what === 'state') this.#areStreamsNew = true
    if (this.#hasBegun) this.#announceSoon()
    // Gathers changes: containers change by the hundred.
    this.#looking ??= setImmediate(() => {
      this.#looking = undefined
      this.#look()
    })
  }

  #announceSoon(): void {
    this.#frameTimer ??= setTimeout(() => {
      this.#frameTimer = undefined
      this.announce()
    }, this.#options.limits.coalesceMs)
  }

  /** Places may become free one by one: wakes as many waiting followers. */
  #placeFreed(): void {
    this.#freed += 1
    if (this.#freed > 1) return
    setImmediate(() => {
      let left = this.#freed
      this.#freed = 0
      for (const follower of this.#followers.values()) {
        if (left === 0) return
        if (follower.state.reason !== 'TOO_MANY_STREAMS') continue
        follower.wake()
        left -= 1
      }
    })
  }

  async inTurn(read: () => number): Promise<boolean> {
    const { held, follows, counts } = this.#options
    const endsAtMs = performance.now() + patienceMs
    while (!this.isClosed) {
      await this.buffer.room()
      await turns.enter(this.#lane, this.users)
      if (this.isClosed) break
      const full = held.hold(this)
      if (full === undefined) {
        counts.read += turns.run(read, this.#lane)
        held.hold(this)
        this.changed('lines')
        return true
      }
      if (!follows || performance.now() > endsAtMs) this.#fail(full)
      else await sleep(fullPauseMs)
    }
    return false
  }

  /** Sends nothing until a review says which logs the caller may still read. */
  async #review(): Promise<void> {
    this.#reviews += 1
    this.#access?.begin()
    await Promise.all(Array.from(this.#followers.values(), (one) => one.review()))
    this.#reviews -= 1
    if (!this.isClosed) this.#announceSoon()
  }

  /** The next streams use a renewed token. Open streams keep theirs. */
  server(cluster: string): { readonly server: ApiServer } & Disposable {
    const { served, caller } = this.#options
    const now = served()
    const connection = now.clusters.get(cluster)?.connection
    const token = caller.callerToken?.reveal()
    let used = this.#servers.get(cluster)
    if (used === undefined || used.of !== connection || used.token !== token) {
      const to = callerServer(now, cluster, caller)
      if (used !== undefined) retire(used)
      this.#servers.set(cluster, (used = { of: connection, token, to, users: 0, isRetired: false }))
    }
    const held = used
    held.users += 1
    const release = (): void => {
      held.users -= 1
      if (held.isRetired) retire(held)
    }
    return { server: held.to.server, [Symbol.dispose]: release }
  }
}

/** The API server as the caller, with one token. */
interface UsedServer {
  readonly of: ClusterConnection | undefined
  readonly token: string | undefined
  readonly to: CallerServer
  /** The streams that use it. */
  users: number
  isRetired: boolean
}

/** Closes the connections of a server when no stream uses them any more. */
function retire(used: UsedServer): void {
  used.isRetired = true
  if (used.users === 0) void used.to[Symbol.asyncDispose]()
}

/** The error of a request whose objects do not exist. */
function problemOf(
  { ids, container }: KindLogsArguments,
  found: {
    readonly pods: FollowedPods
    readonly all: readonly ContainerView[]
    readonly wanted: readonly ContainerView[]
  },
): ClientError | undefined {
  const { pods, all, wanted } = found
  if (ids !== undefined && ids !== null && pods.isEmpty && pods.gaps.length === 0) {
    const [anew] = pods.takeMadeAnew()
    if (anew !== undefined) return anew
    const hint = 'a pod that is created again has another id: follow the id of what owns it'
    return new ClientError('NOT_FOUND', 'podLogs: there is no object with these ids', {
      argument: 'ids',
      value: ids,
      hint,
    })
  }
  if (all.length === 0 || wanted.length > 0) return undefined
  const names = [...new Set(all.map((one) => one.container))].toSorted().slice(0, 20)
  return new ClientError('BAD_USER_INPUT', `container: no pod has a container ${container}`, {
    argument: 'container',
    value: container,
    hint: `the containers are ${names.join(', ')}`,
  })
}

/** `lasting`: no further try changes the answer. `passing`: another try of the gateway may reach the node. */
const lasting: readonly string[] = ['FORBIDDEN', 'TOKEN_NEEDED']
const passing: readonly string[] = [
  'NODE_UNREACHABLE',
  'CLUSTER_UNREACHABLE',
  'CLUSTER_UNAUTHORIZED',
]

const hints: Readonly<Record<string, string>> = {
  FORBIDDEN: 'ask for the verb get on pods/log',
  TOKEN_NEEDED: 'send Authorization: Bearer TOKEN: the gateway does not impersonate callers',
  NODE_UNREACHABLE: 'look at the node of the pod: its kubelet does not answer the API server',
}

/** The error if no log can be read, all for the same reason. */
function refusalOf(streams: readonly LogStream[], follows: boolean): ClientError | undefined {
  const [first] = streams
  if (first === undefined || streams.some(({ reason }) => reason !== first.reason)) return undefined
  const { reason, message, cluster, state } = first
  const text = `podLogs: ${message}`
  if (reason === 'TOO_MANY_STREAMS') {
    const hint = 'end another subscription to logs, or name fewer pods'
    return new ClientError('TOO_MANY_OPERATIONS', text, { hint, retryAfterMs: 5_000 })
  }
  const isRefusal = lasting.includes(reason ?? '') || (!follows && passing.includes(reason ?? ''))
  if (state !== 'FAILED' || !isRefusal) return undefined
  const code = reason as ClientErrorCode
  const wait = passing.includes(code) ? { retryAfterMs: 5_000 } : {}
  return new ClientError(code, text, { cluster, type: 'Pod', hint: hints[code], ...wait })
}
