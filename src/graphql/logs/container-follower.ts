/*
 * Follows the log of one container. Each step looks at the container's status in its pod and does one thing: it waits,
 * ends, asks for the permission, takes a place for a stream, or reads one stream to its end. Each run of the container
 * has its own log. A stream that breaks while the container runs is opened again after the last line. The API server
 * compares whole seconds, so repeated lines are left out.
 */

import type { ApiServer } from '../../api-server/api-server.ts'
import { type LogEntry, LogLines } from '../../api-server/frames/log-lines.ts'
import { openPodLog } from '../../api-server/pod-log.ts'
import { ConnectionError } from '../../api-server/transport/connection-error.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { Backoff } from '../../lib/backoff.ts'
import { ClientError, isLostCluster } from '../errors/client-error.ts'
import type { LogStream } from '../schema/gateway-types.ts'
import type { ContainerView } from './followed-pods.ts'
import { HeldLine, type LineReader, type LogBuffer } from './log-buffer.ts'
import type { LogLimits } from './log-limits.ts'
import type { LogRequest } from './log-request.ts'

/** The logs of several containers, as the follower of one container knows them. `FollowedLogs` implements it. */
export interface FollowerMeans {
  readonly request: LogRequest
  readonly logLimits: LogLimits
  readonly buffer: LogBuffer
  /** Whether new lines are followed; else each log is read once. */
  readonly follows: boolean
  /** How long a server may take to begin an answer that is read once. */
  readonly deadlineMs: number
  /** When the logs began to be followed, by RFC 3339. */
  readonly beganAt: string
  /** The API server of a cluster as the caller, to be released after use. Throws `ClientError`. */
  server(cluster: string): { readonly server: ApiServer } & Disposable
  /** Whether the caller may read the log. Rejects with `ClientError`. */
  mayRead(view: ContainerView): Promise<boolean>
  /** Takes a place for a stream; the reason if there is none. */
  takePlace(): string | undefined
  freePlace(): void
  /**
   * Reads some lines in its turn, when there is room for them. `read` returns the number of lines, including lines that
   * `contains` leaves out, which cost as much. Resolves to false if nothing more is read.
   */
  inTurn(read: () => number): Promise<boolean>
  changed(what: 'lines' | 'state' | 'reopened'): void
}

type State = Pick<LogStream, 'state' | 'reason' | 'message'>

/** How long a stream may be silent until it counts as open: a kubelet answers with the first line. */
const silenceMs = 1_000
/** How long a log may go on after its pod is gone. */
const lastLinesMs = 2_000

export class ContainerFollower implements LineReader {
  readonly #means: FollowerMeans
  #view: ContainerView
  #state: State = { state: 'WAITING', reason: null, message: null }
  /** The first run may have begun before the logs were followed. */
  #isFirstRun = true
  readonly #isLate: boolean
  /** The last run that was read to its end. */
  #done: string | undefined
  /** Where to go on if the stream breaks: the time of the last line, and the number of lines with that time. */
  #last: { time: string; lines: number } | undefined
  #stream: AbortController | undefined
  #hasPlace = false
  #isPlaceDue = false
  #heldLines = 0
  #isWaiting = false
  /**
   * Whether the stream broke during this run. Another run may have begun meanwhile, whether or not the pod's status says so
   * by now: so what the former run wrote is read before the present one, each from the last line on.
   */
  #hasBroken = false
  #isFormerDue = false
  /** Whether the log of the former run is read. */
  #isFormer = false
  #refusal: unknown
  #isGone = false
  #isClosed = false
  #isOver = false
  #change = Promise.withResolvers<void>()
  readonly #backoff = new Backoff({ initialMs: 500, maxMs: 30_000, resetAfterMs: 60_000 })

  /** `isLate`: the container came after the logs were first followed. */
  constructor(view: ContainerView, isLate: boolean, means: FollowerMeans) {
    this.#means = means
    this.#view = view
    this.#isLate = isLate
  }

  get state(): LogStream {
    const { cluster, namespace, pod, container } = this.#view
    return { cluster, namespace, pod, container, ...this.#state }
  }

  get uid(): string {
    return this.#view.uid
  }

  get cluster(): string {
    return this.#view.cluster
  }

  /** Whether nothing more is read until {@link see} reports a change. */
  get isSettled(): boolean {
    const { state } = this.#state
    return this.#isOver || state === 'ENDED' || state === 'FAILED' || this.#isWaiting
  }

  /** Whether it is still unknown if the log can be read. */
  get isOpening(): boolean {
    const { state, reason } = this.#state
    return state === 'WAITING' && reason === null && !this.isSettled
  }

  /** Whether it has ended for good. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Follows until the container is gone or {@link close} is called. Never rejects. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      await this.#step()
    }
    this.#freePlace()
  }

  see(view: ContainerView): void {
    const before = this.#view
    this.#view = view
    this.#isGone = false
    const isSame =
      before.run === view.run && before.phase === view.phase && before.reason === view.reason
    if (!isSame) this.wake()
  }

  /** Marks the container as no longer followed. Its last lines are still read. */
  gone(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.wake()
    setTimeout(() => {
      if (this.#isGone) this.#stream?.abort(new Error('the pod is gone'))
    }, lastLinesMs).unref()
  }

  /** Takes the next step: a permission has changed, or a place has become free. */
  wake(): void {
    const change = this.#change
    this.#change = Promise.withResolvers()
    change.resolve()
  }

  /** Asks again whether the caller may read. No line is given before the answer. */
  async review(): Promise<void> {
    if (await this.#isAllowed()) {
      if (this.#state.reason === 'FORBIDDEN') this.wake()
      return
    }
    // The stream of a cluster that cannot be reached brings nothing. What it brought was allowed.
    if (this.#isUnknown) return
    this.#means.buffer.drop(this)
    this.#stream?.abort(new Error('the caller may no longer read the log'))
    this.wake()
  }

  /** The place becomes free only when the reader has taken the last line. */
  holds(difference: number): void {
    this.#heldLines += difference
    if (this.#isPlaceDue) this.#freePlace()
  }

  close(): void {
    this.#isClosed = true
    this.#isOver = true
    this.#stream?.abort(new Error('the last reader has left'))
    this.wake()
  }

  async #step(): Promise<void> {
    if (this.#isGone) {
      this.#set(podDeleted)
      this.#isOver = true
      this.#means.changed('state')
      return
    }
    const { follows, request } = this.#means
    const { run, previousRun, phase, reason = null, message = null } = this.#view
    const wanted = request.previous ? previousRun : run
    if (wanted === undefined || wanted === this.#done) {
      // There is nothing to read.
      const isWaiting = phase === 'waiting' && (follows || wanted === undefined)
      if (!request.previous) this.#set({ state: isWaiting ? 'WAITING' : 'ENDED', reason, message })
      else this.#set(wanted === undefined ? noPreviousRun : ended)
      return await this.#rest(!follows || request.previous)
    }
    const change = this.#change.promise
    const isAllowed = await this.#isAllowed()
    // Opens no stream that no close would end.
    if (this.#isOver) return
    if (!isAllowed) {
      this.#freePlace()
      const refusal = this.#refusal
      // Not known while the cluster cannot be reached.
      if (this.#isUnknown) return await this.#failed(refusal, wanted)
      const { namespace, cluster } = this.#view
      const denied = `you may not get pods/log in namespace ${namespace} of cluster ${cluster}`
      const said = refusal === undefined ? denied : messageOf(refusal)
      this.#set({ state: 'FAILED', reason: 'FORBIDDEN', message: said })
      if (follows) await change
      else this.#isOver = true
      return
    }
    if (!this.#hasPlace) {
      const full = this.#means.takePlace()
      if (full !== undefined) {
        this.#set({ state: 'WAITING', reason: 'TOO_MANY_STREAMS', message: full })
        return await this.#rest(!follows)
      }
      this.#hasPlace = true
    }
    this.#isPlaceDue = false
    this.#isFormer = this.#isFormerDue && follows && !request.previous && this.#last !== undefined
    this.#isFormerDue = false
    await this.#read(wanted)
  }

  /** Reads one stream of a run to its end. */
  async #read(run: string): Promise<void> {
    const { follows, request } = this.#means
    const stream = new AbortController()
    this.#stream = stream
    const isOpen = setTimeout(() => this.#set(streaming), silenceMs)
    try {
      using at = this.#means.server(this.#view.cluster)
      const log = await openPodLog(at.server, this.#request(), stream.signal)
      this.#set(streaming)
      const lines = new LogLines(this.#means.logLimits.maxLineBytes)
      const isNew = this.#newLines()
      const pass = (entries: () => readonly LogEntry[]): Promise<boolean> =>
        this.#means.inTurn(() => {
          // The caller may have lost the permission meanwhile.
          if (stream.signal.aborted) return 0
          const all = entries()
          for (const entry of all) if (isNew(entry)) this.#push(entry)
          return all.length
        })
      let isRead = true
      for await (const chunk of log) {
        isRead = await pass(() => lines.take(chunk))
        if (!isRead) break
      }
      if (isRead) await pass(() => lines.rest())
    } catch (error) {
      clearTimeout(isOpen)
      if (this.#isOver) return
      // An abort is no failure: the next step looks at the status again.
      if (!stream.signal.aborted) {
        const status = error instanceof ApiStatusError ? error.httpStatus : undefined
        // There was no former run.
        if (this.#isFormer && status === 400) return
        this.#isFormerDue = this.#hasBroken = status === undefined
        return await this.#failed(error, run)
      }
      if (this.#isGone) this.#done = run
      return
    } finally {
      this.#stream = undefined
      clearTimeout(isOpen)
    }
    if (this.#isOver) return
    if (this.#isFormer) return
    if (!follows || request.previous || this.#isEnded(run)) return this.#ended(run)
    // The status of the pod may come a moment later; or the stream has broken.
    await this.#pause()
    if (this.#isEnded(run)) this.#ended(run)
    else this.#means.changed('reopened')
  }

  #isEnded(run: string): boolean {
    return this.#isGone || this.#view.run !== run || this.#view.phase !== 'running'
  }

  #ended(run: string): void {
    this.#done = run
    this.#isFirstRun = false
    // A stream that was opened again may have brought lines of the next run already.
    if (!this.#hasBroken) this.#last = undefined
    this.#hasBroken = false
    this.#backoff.restart()
    this.#freePlace()
  }

  /** Tells whether a line of a stream is new. The server compares whole seconds, so it sends some lines again. */
  #newLines(): (line: LogEntry) => boolean {
    const resumed = this.#last && { ...this.#last }
    let again = 0
    return ({ time }) => {
      if (resumed !== undefined && time !== '' && time <= resumed.time) {
        if (time < resumed.time) return false
        again += 1
        if (again <= resumed.lines) return false
      }
      const last = this.#last
      if (time !== '' && last?.time === time) last.lines += 1
      else if (time !== '') this.#last = { time, lines: 1 }
      return true
    }
  }

  #push({ time, text, truncated }: LogEntry): void {
    const { buffer, request } = this.#means
    const { cluster, namespace, pod, container } = this.#view
    const { contains, sinceTime, timestamps } = request
    if (contains !== undefined && !text.includes(contains)) return
    if (sinceTime !== undefined && time !== '' && time < sinceTime.slice(0, -1)) return
    const shown = timestamps && time !== '' ? `${time} ${text}` : text
    const line = { cluster, namespace, pod, container, text: shown, truncated, of: this }
    buffer.push(new HeldLine({ ...line, time: time === '' ? null : time }))
  }

  #request(): Parameters<typeof openPodLog>[1] {
    const { request, follows, deadlineMs, beganAt } = this.#means
    const { namespace, pod, container, phase, createdAt } = this.#view
    const { tailLines, sinceTime } = request
    const previous = request.previous || this.#isFormer
    const isFollowed = follows && phase === 'running' && !previous
    const common = {
      namespace,
      pod,
      container,
      previous,
      follow: isFollowed,
      responseDeadlineMs: isFollowed ? Infinity : deadlineMs,
    }
    if (this.#last !== undefined) return { ...common, sinceTime: this.#last.time }
    if (!this.#isFirstRun) return common
    if (!this.#isLate) return { ...common, tailLines, sinceTime }
    // An older pod that starts to match is followed from now on.
    return createdAt < beganAt ? { ...common, sinceTime: beganAt } : common
  }

  async #failed(error: unknown, run: string): Promise<void> {
    const { follows } = this.#means
    const { cluster, pod, reason = 'Pending' } = this.#view
    const status = error instanceof ApiStatusError ? error.httpStatus : undefined
    const text = messageOf(error)
    if (status === 400 && /waiting to start|is not available/.test(text)) {
      this.#set({ state: 'WAITING', reason, message: text })
      return await (follows ? this.#pause() : this.#rest(true))
    }
    if (status === 400) {
      // The run no longer exists.
      this.#done = run
      this.#freePlace()
      return
    }
    // The pod is gone. If its node were missing, the API server would answer 404 with the name of the node.
    if (status === 404 && text.includes(`"${pod}"`)) {
      this.#done = run
      this.#set(podDeleted)
      return await this.#rest(!follows)
    }
    const { code, message, isLasting } = failureOf(error, cluster)
    this.#set({ state: 'FAILED', reason: code, message })
    if (isLasting || !follows) return await this.#rest(!follows)
    await this.#pause()
    this.#means.changed('reopened')
  }

  async #isAllowed(): Promise<boolean> {
    this.#refusal = undefined
    try {
      return await this.#means.mayRead(this.#view)
    } catch (error) {
      this.#refusal = error
      return false
    }
  }

  /** Whether the last review failed because the cluster cannot be reached. */
  get #isUnknown(): boolean {
    return this.#refusal instanceof ClientError && isLostCluster(this.#refusal.code)
  }

  /** Waits for a change. Ends if there will be none. */
  async #rest(isEnd: boolean): Promise<void> {
    this.#freePlace()
    if (isEnd) {
      this.#isOver = true
      this.#means.changed('state')
      return
    }
    this.#isWaiting = true
    this.#means.changed('state')
    await this.#change.promise
    this.#isWaiting = false
  }

  /** Waits for a change, or until it is time to try again. */
  async #pause(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, this.#backoff.nextMs())
    await Promise.race([this.#change.promise, late.promise])
    clearTimeout(timer)
  }

  #set(state: State): void {
    const { state: before, reason, message } = this.#state
    if (this.#isClosed) return
    if (before === state.state && reason === state.reason && message === state.message) return
    this.#state = state
    this.#means.changed('state')
  }

  #freePlace(): void {
    this.#isPlaceDue = this.#hasPlace && this.#heldLines > 0
    if (!this.#hasPlace || this.#isPlaceDue) return
    this.#hasPlace = false
    this.#means.freePlace()
  }
}

const streaming: State = { state: 'STREAMING', reason: null, message: null }
const ended: State = { state: 'ENDED', reason: null, message: null }
const noPreviousRun: State = { ...ended, reason: 'NoPreviousRun' }
const podDeleted: State = { ...ended, reason: 'PodDeleted' }

/** Why a log cannot be read. `isLasting`: another try would fail in the same way. */
function failureOf(
  error: unknown,
  cluster: string,
): { readonly code: string; readonly message: string; readonly isLasting: boolean } {
  const message = messageOf(error)
  if (error instanceof ClientError) {
    const isLasting = !isLostCluster(error.code)
    return { code: error.code, message, isLasting }
  }
  if (error instanceof ConnectionError) {
    return {
      code: 'CLUSTER_UNREACHABLE',
      message: `the API server of cluster ${cluster} does not answer`,
      isLasting: false,
    }
  }
  if (!(error instanceof ApiStatusError)) return { code: 'INTERNAL', message, isLasting: false }
  switch (error.httpStatus) {
    case 401: {
      const text = `the API server of cluster ${cluster} does not accept your token (any more)`
      return { code: 'TOKEN_NEEDED', message: text, isLasting: true }
    }
    case 403:
      return { code: 'FORBIDDEN', message, isLasting: true }
    default:
      // The kubelet did not answer: the text is from the API server.
      return { code: 'NODE_UNREACHABLE', message, isLasting: false }
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ApiStatusError) return error.status.message ?? error.message
  return error instanceof Error ? error.message : String(error)
}
