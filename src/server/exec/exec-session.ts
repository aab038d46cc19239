/*
 * One shell in a container, over a WebSocket of `/exec`: from the message that names the target to the close. The caller is
 * authenticated as that of any WebSocket (`SocketIdentity`), takes a place, and `PodShells` opens the process with the
 * caller's own credentials. From then on bytes go both ways unchanged. When one side takes none, the other one is not read,
 * so that at most `maxBufferedBytes` wait in each direction; a reader that takes nothing at all is cut off by
 * `UnsentBytes`.
 *
 * A session ends once, with an outcome, which the client gets as its last message and in the close frame, and the audit log
 * in a line. The process may exit, the client may close, the session may be idle or last too long, the caller may lose the
 * credentials or the permission, and the gateway may stop.
 *
 * For a cluster of another gateway, the session passes messages on to that gateway and back, in the same bounds. That gateway
 * says how the session ends, and records it.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { z } from 'zod'
import { isUnexpected, ClientError, clientErrorOf } from '../../graphql/errors/client-error.ts'
import { forwardedHeader } from '../../graphql/over-gateways/over-gateways.ts'
import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import { isRecord, jsonIn } from '../../lib/json.ts'
import type { Counts } from '../../lib/counts.ts'
import type { ServerParts } from '../operation-pipeline.ts'
import type { Output } from '../user-limits.ts'
import { SocketIdentity } from '../websocket/socket-identity.ts'
import { followPings } from '../websocket/web-socket-transport.ts'
import {
  execChannel,
  type ExecEndReport,
  type ExecOptions,
  type ExecReport,
  type PodShell,
  type PodShells,
} from './exec-options.ts'

/** The sessions that run, by user. Without authentication all callers are one user. */
export class ExecPlaces {
  readonly #options: ExecOptions
  readonly #ofUser: Counts
  #taken = 0

  constructor(options: ExecOptions, counts: Counts) {
    this.#options = options
    this.#ofUser = counts
  }

  /** Takes a place. The returned function gives it back. Throws `ClientError`. */
  take(user: string): () => void {
    const { maxSessions, maxSessionsPerUser } = this.#options
    if (this.#ofUser.of(user) >= maxSessionsPerUser) {
      throw noPlace(`you have ${maxSessionsPerUser} shells open (exec.maxSessionsPerUser)`)
    }
    if (this.#taken >= maxSessions) {
      throw noPlace(`the gateway has ${maxSessions} shells open (exec.maxSessions)`)
    }
    this.#ofUser.add(user)
    this.#taken += 1
    return () => {
      this.#ofUser.remove(user)
      this.#taken -= 1
    }
  }
}

function noPlace(message: string): ClientError {
  const hint = 'end another shell, or try again later'
  return new ClientError('TOO_MANY_OPERATIONS', message, { hint, retryAfterMs: 5_000 })
}

export interface ExecSessionOptions {
  readonly socket: WebSocket
  readonly connection: Socket
  readonly request: IncomingMessage
  readonly requestId: string
  readonly parts: ServerParts
  readonly options: ExecOptions
  readonly shells: PodShells
  readonly places: ExecPlaces
}

/** How a session ends. */
interface ExecEnd {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly exitCode?: number | undefined
  readonly retryAfterMs?: number | undefined
}

const text = z.string().min(1).max(253)
/** Goes into a path of the API server, so `..` is none. */
const name = text.regex(
  /^[a-z0-9][-a-z0-9.]*$/,
  'must be a name of Kubernetes: lower-case letters, digits, "-" and "."',
)

/** The first message. */
const startMessage = z.strictObject({
  type: z.literal('start'),
  authorization: z.string().max(16_384).optional(),
  cluster: text.optional(),
  namespace: name,
  pod: name,
  container: name.optional(),
  command: z.array(z.string().max(16_384)).min(1).max(100),
  tty: z.boolean().default(false),
  columns: z.int().min(1).max(1_000).optional(),
  rows: z.int().min(1).max(1_000).optional(),
  debug: z.strictObject({ image: z.string().min(1).max(1_000) }).optional(),
})

const credentialsMessage = z.strictObject({
  type: z.literal('credentials'),
  authorization: z.string().max(16_384),
})

/** The last message of another gateway. */
const endMessage = z.object({
  type: z.literal('end'),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  exitCode: z.int().optional(),
  retryAfterMs: z.number().optional(),
})

/** What a kept message takes besides its bytes, at most. */
const bytesPerMessage = 256

/** How long a client may take to answer a close frame. */
const closeDeadlineMs = 2_000

/** Messages are joined up to so many bytes: as many as kubelets send in one. */
const maxJoinedBytes = 32_768
/** The maximum length of a close reason (RFC 6455, 5.5.1), in bytes. */
const maxReasonBytes = 123

/** The close codes of outcomes: 1000 to 1013 as registered, others after HTTP's statuses. */
const closeCodes: Readonly<Record<string, number>> = {
  EXITED: 1000,
  CLOSED: 1000,
  SLOW_READER: 1008,
  INTERNAL: 1011,
  FAILED: 1011,
  STOPPING: 1012,
  CLUSTER_UNREACHABLE: 1013,
  IDENTITY_UNAVAILABLE: 1013,
  AUDIT_UNAVAILABLE: 1013,
  NODE_UNREACHABLE: 1013,
  UNAUTHENTICATED: 4401,
  FORBIDDEN: 4403,
  TOKEN_NEEDED: 4403,
  NOT_FOUND: 4404,
  IDLE: 4408,
  TOO_LONG: 4408,
  DEADLINE_EXCEEDED: 4408,
  TOO_MANY_OPERATIONS: 4429,
}
const otherCloseCode = 4400

/** What `SocketIdentity` closes a WebSocket with, as outcomes. */
const identityOutcomes: Readonly<Record<number, string>> = {
  4401: 'UNAUTHENTICATED',
  4403: 'UNAUTHENTICATED',
  4429: 'TOO_MANY_OPERATIONS',
  1013: 'IDENTITY_UNAVAILABLE',
}

export class ExecSession {
  readonly #options: ExecSessionOptions
  readonly #identity: SocketIdentity
  readonly #output: Output
  readonly #closing = new AbortController()
  readonly #ends = new DisposableStack()
  readonly #beganMs = performance.now()
  #state: 'waiting' | 'opening' | 'running' | 'ended' = 'waiting'
  #shell: PodShell | undefined
  #report: ExecReport | undefined
  /** Messages of the client that wait for the process to start. */
  #early: Buffer[] = []
  #earlyBytes = 0
  /** What was printed and is not sent yet, all on one channel. The first has the byte of the channel. */
  #prints: Buffer[] = []
  #printBytes = 0
  #isRenewing = false
  /** Resolves once the caller is known, or refused. */
  #begun: Promise<unknown> = Promise.resolve()
  /** The credentials that another gateway is to get, once it is connected. */
  #renewed: string | undefined
  #idle: NodeJS.Timeout | undefined
  #bytesIn = 0
  #bytesOut = 0

  /** Serves the session until it ends. */
  static serve(options: ExecSessionOptions): void {
    void new ExecSession(options)
  }

  private constructor(options: ExecSessionOptions) {
    const { socket, connection, request, requestId, parts } = options
    this.#options = options
    const closer = {
      close: (code?: number, reason?: string | Buffer): void => {
        const outcome = identityOutcomes[code ?? 0] ?? 'INTERNAL'
        const hint = outcome === 'UNAUTHENTICATED' ? 'sign in, or send another token' : undefined
        this.#end({ code: outcome, message: String(reason), hint })
      },
    }
    this.#identity = new SocketIdentity(parts, { request, requestId }, closer)
    this.#output = parts.unsent.open({
      transport: 'websocket',
      connection,
      viewer: () => this.#identity.viewer,
      waitingBytes: () => connection.writableLength,
      cutOff: () => {
        this.#end({ code: 'SLOW_READER', message: 'the client reads too slowly' })
        socket.terminate()
      },
    })
    connection.on('drain', () => this.#clientDrained())
    socket.on('message', (data, isBinary) => this.#received(data, isBinary))
    socket.on('error', () => {})
    socket.once('close', () => {
      this.#output.close()
      this.#end({ code: 'CLOSED', message: 'the client has closed the connection' })
    })
    this.#defer(
      parts.connections.add({
        dismiss: () => {
          const hint = 'open the shell again: the process has ended'
          this.#end({ code: 'STOPPING', message: 'the gateway stops', hint })
        },
        destroy: () => socket.terminate(),
      }),
    )
    this.#limit(parts.limits.connectionInitDeadlineMs, () => {
      if (this.#state === 'waiting') this.#end(wrong('the first message has not arrived in time'))
    })
    // A paused socket reads no answers.
    this.#defer(followPings(socket, parts.limits.pingIntervalMs, () => socket.isPaused))
  }

  #defer(release: () => void): void {
    this.#ends.defer(release)
  }

  #limit(ms: number, act: () => void): void {
    const timer = setTimeout(act, ms)
    this.#defer(() => clearTimeout(timer))
  }

  #received(data: RawData, isBinary: boolean): void {
    // A Buffer, as binaryType is nodebuffer.
    const message = data as Buffer
    if (this.#state === 'ended') return
    if (isBinary) {
      if (this.#state === 'waiting') this.#end(wrong('the first message names no target'))
      else if (this.#state === 'opening') this.#keep(message)
      else this.#pass(message)
      return
    }
    const given = jsonIn(message.toString())
    if (given === undefined) {
      this.#end(wrong('a text message is not JSON'))
      return
    }
    if (this.#state === 'waiting') {
      const start = startMessage.safeParse(given)
      if (start.success) void this.#start(start.data)
      else this.#end(wrong(problemOf(start.error)))
      return
    }
    const renewed = credentialsMessage.safeParse(given)
    if (!renewed.success) this.#end(wrong(problemOf(renewed.error)))
    else {
      void this.#renew(renewed.data.authorization)
    }
  }

  /** Takes newer credentials. While some are checked, further ones are left out. */
  async #renew(authorization: string): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    try {
      await this.#begun
      await this.#identity.renew({ authorization })
      this.#renewed = authorization
      this.#passRenewed()
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isRenewing = false
    }
  }

  /** Passes newer credentials on to the gateway that holds the cluster. */
  #passRenewed(): void {
    if (this.#renewed === undefined || this.#isOver() || this.#shell?.isElsewhere !== true) return
    const message = { type: 'credentials', authorization: this.#renewed }
    this.#renewed = undefined
    this.#send(this.#shell, JSON.stringify(message))
  }

  async #start(message: z.infer<typeof startMessage>): Promise<void> {
    const { type: _type, authorization, columns, rows, ...target } = message
    const { parts, options, shells, places, request, requestId } = this.#options
    this.#state = 'opening'
    try {
      const { headers } = request
      const connectionParams = authorization === undefined ? undefined : { authorization }
      const begun = this.#identity.begin(connectionParams)
      this.#begun = begun
      if (!(await begun)) return
      const { viewer: known } = this.#identity
      const origin = { transport: 'websocket', headers, connectionParams, viewer: known } as const
      const { viewer } = await parts.contextOf(origin)
      if (this.#isOver()) return
      const { remoteAddress: address } = request.socket
      this.#report = { viewer, requestId, address, target }
      // A session counts as a subscription, too, and begins only where those may.
      this.#defer(parts.quotas.take('subscriptions', viewer))
      this.#defer(places.take(viewer?.username ?? ''))
      const { callerToken, credentials } = this.#identity
      // The credentials are those of the authenticator's viewer.
      const isKnown = viewer === known
      const caller = {
        viewer,
        callerToken: isKnown ? callerToken : undefined,
        sent: isKnown ? credentials : undefined,
        requestId,
        isPassedOn: headers[forwardedHeader] !== undefined,
      }
      const { openDeadlineMs } = options
      const adds = (container: string | undefined): void => {
        if (this.#report !== undefined) this.#report = { ...this.#report, container }
      }
      const opening = { openDeadlineMs, adds }
      const shell = await shells.open(target, caller, opening, this.#closing.signal)
      if (this.#isOver()) {
        shell.socket.terminate()
        await shell[Symbol.asyncDispose]()
        return
      }
      this.#run(shell)
      if (columns !== undefined && rows !== undefined) this.#resize(columns, rows)
      for (const early of this.#early) if (!this.#isOver()) this.#pass(early)
      this.#early = []
      this.#earlyBytes = 0
    } catch (error) {
      this.#fail(error)
    }
  }

  #isOver(): boolean {
    return this.#state === 'ended'
  }

  #run(shell: PodShell): void {
    const { socket, parts, options } = this.#options
    const { container, cluster } = shell
    this.#shell = shell
    this.#state = 'running'
    if (shell.isElsewhere) {
      this.#passBack(shell)
      this.#passRenewed()
      return
    }
    if (this.#report !== undefined) {
      this.#report = { ...this.#report, container, cluster }
      parts.observer?.execBegan?.(this.#report)
    }
    shell.socket.on('message', (data, isBinary) => this.#printed(data as Buffer, isBinary))
    shell.socket.once('close', () => {
      const message = `the connection to the container is lost`
      const hint = 'open the shell again: the process has ended, or lost its terminal'
      this.#end({ code: 'CLUSTER_UNREACHABLE', message, hint, retryAfterMs: 1_000 })
    })
    shell.socket.resume()
    shell.follow((error) => this.#fail(error), this.#closing.signal)
    this.#active()
    this.#defer(() => clearTimeout(this.#idle))
    this.#limit(options.maxSessionMs, () => {
      const message = `the shell was open for ${options.maxSessionMs} ms (exec.maxSessionMs)`
      this.#end({ code: 'TOO_LONG', message, hint: 'open another one' })
    })
    socket.send(JSON.stringify({ type: 'open', cluster, container }))
    socket.resume()
  }

  /** Passes on what another gateway says. It ends the session, or is gone. */
  #passBack({ socket: from, cluster }: PodShell): void {
    const { socket } = this.#options
    from.on('message', (data, isBinary) => {
      const message = data as Buffer
      if (this.#isOver()) return
      const end = isBinary ? undefined : endIn(message)
      if (isBinary) this.#print(message)
      else if (end === undefined) this.#write(message, false)
      else this.#end(end)
    })
    from.once('close', () => {
      const message = `the connection to the gateway that holds cluster ${cluster} is lost`
      const hint =
        'open the shell again: another gateway takes over the clusters of one that is gone'
      this.#end({ code: 'CLUSTER_UNREACHABLE', message, hint, retryAfterMs: 1_000 })
    })
    from.resume()
    socket.resume()
  }

  /** Something was typed or printed. */
  #active(): void {
    const { idleMs } = this.#options.options
    if (this.#idle !== undefined) {
      this.#idle.refresh()
      return
    }
    this.#idle = setTimeout(() => {
      const message = `nothing was typed or printed for ${idleMs} ms (exec.idleMs)`
      this.#end({ code: 'IDLE', message, hint: 'open the shell again' })
    }, idleMs)
  }

  #keep(message: Buffer): void {
    // A copy: the message is a part of what was received with it.
    this.#early.push(Buffer.from(message))
    this.#earlyBytes += message.length + bytesPerMessage
    if (this.#earlyBytes > this.#options.options.maxBufferedBytes) this.#options.socket.pause()
  }

  /** Passes a binary message of the client on. */
  #pass(message: Buffer): void {
    const shell = this.#shell
    if (shell === undefined) return
    if (shell.isElsewhere) {
      this.#send(shell, message)
      return
    }
    switch (message[0]) {
      case execChannel.stdin:
        this.#bytesIn += message.length - 1
        this.#active()
        break
      case execChannel.resize: {
        const size = sizeIn(message.subarray(1))
        if (size === undefined) this.#end(wrong('a size has the numbers Width and Height'))
        else this.#resize(size.Width, size.Height)
        return
      }
      case execChannel.close:
        if (message.length !== 2 || message[1] !== execChannel.stdin) {
          this.#end(wrong('only the standard input can be closed'))
          return
        }
        if (!shell.closesInput) {
          const problem = 'the API server cannot be told that the input has ended'
          const hint = 'type ctrl-d in a terminal'
          this.#end({ code: 'UNSUPPORTED', message: problem, hint })
          return
        }
        break
      default:
        this.#end(wrong(`${message[0] ?? 'nothing'} is not a channel of a client`))
        return
    }
    this.#send(shell, message)
  }

  #resize(columns: number, rows: number): void {
    const size = JSON.stringify({ Width: columns, Height: rows })
    const message = Buffer.concat([Buffer.of(execChannel.resize), Buffer.from(size)])
    if (this.#shell !== undefined) this.#send(this.#shell, message)
  }

  /** Sends a message to the API server. The client is not read while too much waits there. */
  #send(shell: PodShell, message: Buffer | string): void {
    const { socket, options } = this.#options
    const { maxBufferedBytes } = options
    shell.socket.send(message, () => {
      if (socket.isPaused && shell.socket.bufferedAmount <= maxBufferedBytes / 2) socket.resume()
    })
    if (shell.socket.bufferedAmount > maxBufferedBytes) socket.pause()
  }

  /** A message of the API server: Kubernetes' channels are those of the client. */
  #printed(message: Buffer, isBinary: boolean): void {
    if (this.#state !== 'running' || !isBinary || message.length <= 1) return
    const [channel] = message
    if (channel === execChannel.status) {
      this.#end(endOf(message.subarray(1)))
      return
    }
    if (channel !== execChannel.stdout && channel !== execChannel.stderr) return
    this.#bytesOut += message.length - 1
    this.#active()
    this.#print(message)
  }

  /**
   * Sends what was printed to the client once all is read that has arrived with it: processes print single characters, each
   * a message, and to send thousands of these takes a hundred times as long as to send them as one.
   */
  #print(message: Buffer): void {
    const [channel] = message
    const { length } = this.#prints
    const bytes = this.#printBytes + message.length
    if (length > 0 && (this.#prints[0]?.[0] !== channel || bytes > maxJoinedBytes)) this.#flush()
    if (this.#prints.length === 0) setImmediate(() => this.#flush())
    this.#printBytes += message.length
    this.#prints.push(this.#prints.length === 0 ? message : message.subarray(1))
  }

  #flush(): void {
    const [first, ...others] = this.#prints
    this.#prints = []
    this.#printBytes = 0
    if (first !== undefined)
      this.#write(others.length === 0 ? first : Buffer.concat([first, ...others]), true)
  }

  /** Sends a message to the client. What prints is not read while too much waits. */
  #write(message: Buffer, binary: boolean): void {
    const { socket, connection, options } = this.#options
    // The connection drains only if it was full, which `maxBufferedBytes` may be less than.
    socket.send(message, { binary }, () => this.#clientDrained())
    this.#output.measure()
    if (connection.writableLength > options.maxBufferedBytes) this.#shell?.socket.pause()
  }

  #clientDrained(): void {
    const { connection, options } = this.#options
    this.#output.measure()
    if (connection.writableLength > options.maxBufferedBytes / 2) return
    if (this.#shell?.socket.isPaused === true) this.#shell.socket.resume()
  }

  #fail(error: unknown): void {
    if (this.#isOver()) return
    const { parts, requestId } = this.#options
    const seen = clientErrorOf(error)
    if (isUnexpected(seen)) parts.log.error('a shell failed unexpectedly', { requestId, error })
    const { code, hint, retryAfterMs } = seen.extensions
    this.#end({
      code: String(code),
      message: seen.message,
      hint: textOf(hint),
      retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
    })
  }

  #end(end: ExecEnd): void {
    if (this.#state === 'ended') return
    const began = this.#state === 'running'
    this.#state = 'ended'
    const { socket } = this.#options
    if (socket.readyState === socket.OPEN) this.#flush()
    this.#prints = []
    this.#tell(end, began)
    this.#closing.abort(new ClientError('DEADLINE_EXCEEDED', 'the session has ended'))
    this.#identity[Symbol.dispose]()
    this.#ends[Symbol.dispose]()
    this.#early = []
    const shell = this.#shell
    shell?.socket.terminate()
    void shell?.[Symbol.asyncDispose]()
    if (socket.readyState !== socket.OPEN) {
      socket.terminate()
      return
    }
    if (socket.isPaused) socket.resume()
    socket.send(JSON.stringify({ type: 'end', ...end }))
    socket.close(closeCodes[end.code] ?? otherCloseCode, reasonOf(end))
    this.#terminateLater()
  }

  /** What was printed goes before the close frame. A client that reads none of it is cut off by `UnsentBytes`. */
  #terminateLater(): void {
    const { socket, connection } = this.#options
    if (connection.writableLength > 0) {
      connection.once('drain', () => this.#terminateLater())
      return
    }
    const timer = setTimeout(() => socket.terminate(), closeDeadlineMs)
    socket.once('close', () => clearTimeout(timer))
  }

  /** Tells the audit log and the metrics, of refused targets as well. */
  #tell({ code, exitCode }: ExecEnd, began: boolean): void {
    const { parts } = this.#options
    // Of a shell elsewhere, the gateway there tells.
    if (this.#report === undefined || this.#shell?.isElsewhere === true) return
    const end: ExecEndReport = {
      ...this.#report,
      outcome: code,
      exitCode,
      durationMs: performance.now() - this.#beganMs,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
    }
    if (began) parts.observer?.execEnded?.(end)
    else parts.observer?.execRefused?.(end)
  }
}

function wrong(message: string): ExecEnd {
  return { code: 'BAD_USER_INPUT', message, hint: 'docs/exec.md describes the messages' }
}

function problemOf({ issues: [first] }: z.ZodError): string {
  return `${first?.path.join('.') || 'the message'}: ${first?.message ?? 'is wrong'}`
}

function endIn(message: Buffer): ExecEnd | undefined {
  const { data } = endMessage.safeParse(jsonIn(message.toString()))
  if (data === undefined) return undefined
  const { type: _type, ...end } = data
  return end
}

function isSize(one: unknown): one is number {
  return Number.isInteger(one) && Number(one) > 0 && Number(one) <= 1_000
}

function sizeIn(message: Buffer): { readonly Width: number; readonly Height: number } | undefined {
  const size = jsonIn(message.toString())
  if (!isRecord(size)) return undefined
  const { Width, Height } = size
  return isSize(Width) && isSize(Height) ? { Width, Height } : undefined
}

/** The end of a process, as the Status of Kubernetes' error channel says. */
function endOf(status: Buffer): ExecEnd {
  const given = jsonIn(status.toString())
  if (given === undefined) {
    return { code: 'FAILED', message: status.toString('utf8', 0, 1_000) }
  }
  const { status: state, message, details } = fieldsOf(given)
  if (state === 'Success') return { code: 'EXITED', message: 'the process has exited', exitCode: 0 }
  const cause = itemsOf(fieldsOf(details)['causes']).find(({ reason }) => reason === 'ExitCode')
  const exitCode = Number(cause?.['message'])
  if (cause === undefined || Number.isNaN(exitCode)) {
    return {
      code: 'FAILED',
      message: (textOf(message) ?? 'the process has failed').slice(0, 1_000),
    }
  }
  return { code: 'EXITED', message: `the process has exited with ${exitCode}`, exitCode }
}

/** `CODE: message`, cut to what a close frame holds. */
function reasonOf({ code, message }: ExecEnd): string {
  const bytes = Buffer.from(`${code}: ${message}`).subarray(0, maxReasonBytes)
  // Leaves out a character that was cut.
  return new TextDecoder('utf-8').decode(bytes).replace(/\uFFFD+$/, '')
}
