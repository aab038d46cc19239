/*
 * Asks other gateways, by HTTP: an operation is a POST of `/graphql`, a subscription one whose answer is an event stream. The
 * credentials go along as the caller has sent them, and the peer decides who that is. Connections are kept for further
 * questions, but for writes: a kept connection may break before an answer, and then nobody knows whether it was read.
 *
 * What one peer may take is bounded: running requests, and bytes of their answers that are in memory. The frames of a
 * subscription are passed on as bytes. While its subscriber takes none, no more are read from the connection, so that
 * they wait at the peer, which counts them as those of any slow reader. A shell is a WebSocket of `/exec` there.
 *
 * A question may take as long as an operation, but no caller should wait that long for a gateway that stands still. So a
 * peer that sends nothing for a while is asked for `/livez`, which every gateway answers at once. If it does not, all that
 * runs there is given up, and nothing more is asked of it until it answers.
 */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { WebSocket } from 'ws'
import type { Credentials } from '../access/authentication/authenticator.ts'
import type { RequestHeaderOptions } from '../access/authentication/request-header.ts'
import { ClientError } from '../graphql/errors/client-error.ts'
import { FailedStream } from '../graphql/live/value-streams.ts'
import { forwardedHeader, proofHeader } from '../graphql/over-gateways/over-gateways.ts'
import {
  type PeerCaller,
  PeerError,
  type PeerRequest,
  type Peers,
} from '../graphql/over-gateways/peers.ts'
import { FollowedFiles } from '../lib/file-follower.ts'
import { FrameStream } from '../lib/frame-stream.ts'
import { InvalidOptionError } from '../lib/options.ts'
import { hostOf } from '../lib/url-host.ts'
import { requestIdHeader } from '../server/guard/request-guard.ts'
import { graphqlPath } from '../server/operation-options.ts'
import {
  answered,
  errorsOf,
  isAnswer,
  isMisdirected,
  isOfType,
  lost,
  notOfGateway,
  refusalIn,
} from './peer-answers.ts'
import type { ShareOptions } from './sharing.ts'

export interface HttpPeersOptions {
  /** The address of this gateway. */
  readonly address: string
  readonly trust: Pick<ShareOptions, 'caFile' | 'certFile' | 'keyFile'>
  /** Shows peers that this gateway has made a document: see `Sharing.proofOf`. */
  readonly proofOf: (document: string) => string
  /** Receives why a peer could not be asked, with its address. */
  readonly unreachable: (error: PeerError, address: string) => void
  /** Called with the address of a peer that has refused the credentials of a caller. This gateway has accepted the same credentials. */
  readonly refused: (address: string) => void
  /** How long a peer may take to answer, or to begin a subscription. */
  readonly deadlineMs: number
  /** Receives the failure of a certificate that has changed. The previous one stays in use. */
  readonly failed: (error: unknown) => void
}

const eventStream = 'text/event-stream'
/** Headers that go along as they came. */
const passedHeaders = ['traceparent', 'tracestate', 'baggage'] as const
/** The running requests to one peer, subscriptions included, and how many of them these may be. */
const maxRequests = 4_096
const maxSubscriptions = 3_072
/** The bytes of answers and frames of one peer that are in memory. */
const maxHeldBytes = 256 << 20
/** The bytes of frames that a subscriber has not taken, from which on no more are read. */
const readAheadBytes = 65_536
/** How soon the kernel notices a peer that is gone without a word. */
const tcpKeepAliveMs = 15_000
/**
 * For how long a peer may send nothing until it is asked whether it runs, and how long it has to say so. Counted in looks,
 * so that a moment in which this gateway itself stands still counts as one.
 */
const watchMs = 1_000
const silentLooks = 4
const probeLooks = 4
/** For how long a peer that does not answer is asked whether it runs after a question to it. */
const forgottenLooks = 60
/** A peer says by itself when an operation takes too long. This is how much later it is given up. */
const lateMs = 1_000

/** What is asked of one gateway now. */
class Peer {
  readonly address: URL
  readonly agent: Agent
  /** How each running request is given up. */
  readonly running = new Set<(why: Error) => void>()
  /** Since it last sent something, or was asked while nothing ran. */
  silentLooks = 0
  /** The question whether it runs, and the looks since then. */
  probe: ClientRequest | undefined
  probeLooks = 0
  /** Why it has not answered a probe. */
  failure: Error | undefined
  #heldBytes = 0

  constructor(address: string) {
    this.address = new URL(address)
    const options = { keepAlive: true, maxFreeSockets: 32, timeout: 60_000 }
    this.agent = this.isSecure ? new HttpsAgent(options) : new Agent(options)
  }

  get isSecure(): boolean {
    return this.address.protocol === 'https:'
  }

  /** Whether a request may be sent. Throws `ClientError`. */
  checkRoom(isSubscription: boolean): void {
    const { size } = this.running
    const most = isSubscription ? maxSubscriptions : maxRequests
    if (size >= most) throw this.#full(`${size} requests are running there`)
    if (size === 0) this.silentLooks = 0
  }

  /** Counts bytes that are in memory; negative ones are so no more. Throws `ClientError`. */
  hold(bytes: number): void {
    this.#heldBytes += bytes
    if (bytes > 0) this.silentLooks = 0
    if (bytes > 0 && this.#heldBytes > maxHeldBytes) {
      this.#heldBytes -= bytes
      throw this.#full(`${maxHeldBytes} bytes of its answers wait to be sent`)
    }
  }

  #full(why: string): ClientError {
    const message = `too much is asked of the gateway at ${this.address.origin}: ${why}`
    const hint = 'wait until some of it has ended'
    return new ClientError('TOO_MANY_OPERATIONS', message, { hint, retryAfterMs: 1_000 })
  }
}

/** What opens a WebSocket at a peer. */
export interface PeerDialing {
  readonly url: URL
  readonly request: Material & { readonly headers: OutgoingHttpHeaders; readonly agent?: false }
  /** The error of a response that is no upgrade. */
  readonly refusal: (httpStatus: number) => PeerError
  readonly failure: (error: unknown) => PeerError
  /** Aborts with a `PeerError` when the peer is given up. */
  readonly signal: AbortSignal
}

/** A request that has been sent. */
interface Sent {
  readonly peer: Peer
  readonly sent: ClientRequest
  readonly giveUp: (why: Error) => void
  /** To be called when nothing more is read. */
  readonly done: () => void
}

interface Material {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

/** Reads the files by which gateways trust each other. Throws `InvalidOptionError`. */
export function materialOf({ caFile, certFile, keyFile }: HttpPeersOptions['trust']): Material {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const missing = certFile === undefined ? 'share.certFile' : 'share.keyFile'
    const problem = 'share.certFile and share.keyFile belong together'
    throw new InvalidOptionError(missing, undefined, 'both, a certificate and its key', problem)
  }
  const material = {
    ...(caFile !== undefined && { ca: readFor('share.caFile', caFile) }),
    ...(certFile !== undefined && { cert: readFor('share.certFile', certFile) }),
    ...(keyFile !== undefined && { key: readFor('share.keyFile', keyFile) }),
  }
  let option = 'share.caFile'
  try {
    // Node accepts any text as a CA, and then trusts no certificate.
    if (material.ca !== undefined) new X509Certificate(material.ca).toString()
    option = 'share.certFile'
    createSecureContext(material)
  } catch (error) {
    const problem = `${option}: ${(error as Error).message}`
    throw new InvalidOptionError(option, undefined, 'certificates, and their keys, PEM', problem)
  }
  return material
}

function readFor(option: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new InvalidOptionError(option, file, 'a file, PEM', (error as Error).message)
  }
}

export class HttpPeers implements Peers, Disposable {
  readonly #options: HttpPeersOptions
  readonly #material: FollowedFiles<Material>
  readonly #peers = new Map<string, Peer>()
  #watch: NodeJS.Timeout | undefined
  #identity: RequestHeaderOptions | undefined

  /** Throws as {@link materialOf} does. */
  constructor(options: HttpPeersOptions) {
    this.#options = options
    const { caFile, certFile, keyFile } = options.trust
    const files = [caFile, certFile, keyFile].filter((file) => file !== undefined)
    const read = (): Material => materialOf(options.trust)
    this.#material = new FollowedFiles(files, read, options.failed)
  }

  /** Sets the headers by which a trusted proxy names callers. */
  trustHeaders(identity: RequestHeaderOptions): void {
    this.#identity = identity
  }

  async ask(address: string, request: PeerRequest, caller: PeerCaller): Promise<string> {
    const { peer, sent, giveUp, done } = this.#send(address, request, caller, 'application/json')
    const { deadlineMs, unreachable } = this.#options
    const late = lateAfter(deadlineMs, giveUp, caller.beganMs)
    let heldBytes = 0
    try {
      const response = await answered(peer, sent)
      const chunks: Buffer[] = []
      try {
        for await (const chunk of response as AsyncIterable<Buffer>) {
          peer.hold(chunk.length)
          heldBytes += chunk.length
          chunks.push(chunk)
        }
      } catch (cause) {
        throw cause instanceof ClientError ? cause : lost(peer, cause)
      }
      const text = Buffer.concat(chunks).toString()
      const { statusCode = 0 } = response
      if (statusCode !== 200 || isMisdirected(text)) errorsOf(peer, statusCode, text)
      else if (!isAnswer(response, text)) throw lost(peer, notOfGateway)
      return text
    } catch (error) {
      if (error instanceof PeerError) unreachable(error, address)
      throw error
    } finally {
      clearTimeout(late)
      peer.hold(-heldBytes)
      done()
    }
  }

  follow(address: string, request: PeerRequest, caller: PeerCaller): FrameStream {
    try {
      const { peer, sent, ...means } = this.#send(address, request, caller, eventStream)
      const { deadlineMs, unreachable } = this.#options
      const stream = new PeerFrames(peer, sent, { deadlineMs, unreachable, ...means })
      void stream.read()
      return stream
    } catch (error) {
      return new FailedStream([error])
    }
  }

  /**
   * Opens a WebSocket at a peer as the caller. `connect` makes it of what it is given, and rejects with its `failure`, or with
   * the reason of its `signal`. Rejects with `ClientError`.
   */
  async dial(
    address: string,
    path: string,
    caller: PeerCaller,
    connect: (dialing: PeerDialing) => Promise<WebSocket>,
  ): Promise<WebSocket> {
    const { peer, request } = this.#requestTo(address, caller, true)
    let socket: WebSocket | undefined
    const givingUp = new AbortController()
    const giveUp = (why: Error): void => {
      givingUp.abort(lost(peer, why))
      socket?.terminate()
    }
    peer.running.add(giveUp)
    this.#watchAll()
    try {
      socket = await connect({
        url: new URL(path, peer.address),
        request: { ...request, agent: false },
        refusal: (status) => lost(peer, new Error(`it refuses the WebSocket with HTTP ${status}`)),
        failure: (error) => lost(peer, error),
        signal: givingUp.signal,
      })
    } catch (error) {
      peer.running.delete(giveUp)
      if (error instanceof PeerError) this.#options.unreachable(error, address)
      throw error
    }
    const heard = (): void => void (peer.silentLooks = 0)
    socket.on('message', heard).on('ping', heard)
    socket.once('close', () => peer.running.delete(giveUp))
    return socket
  }

  [Symbol.dispose](): void {
    this.#material[Symbol.dispose]()
    clearInterval(this.#watch)
    for (const peer of this.#peers.values()) {
      giveUpAll(peer, new Error('this gateway is stopping'))
      peer.probe?.destroy()
      peer.agent.destroy()
    }
  }

  /** Sends a request. Throws `ClientError`. */
  #send(
    address: string,
    { query, operationName, variables, clusters, explains, isWrite }: PeerRequest,
    caller: PeerCaller,
    accept: string,
  ): Sent {
    const extensions = {
      ...(clusters !== undefined && { clusters }),
      ...(explains === true && { explain: true }),
    }
    const body = JSON.stringify({ query, operationName, variables, extensions })
    const { peer, request } = this.#requestTo(address, caller, accept === eventStream)
    const headers: OutgoingHttpHeaders = {
      accept,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      [proofHeader]: this.#options.proofOf(query),
      ...request.headers,
    }
    const isKept = isWrite !== true && accept !== eventStream
    const sent = requestBy(peer)({
      ...hostOf(peer.address),
      path: graphqlPath,
      method: 'POST',
      agent: isKept ? peer.agent : false,
      ...request,
      headers,
    })
    let received: IncomingMessage | undefined
    const giveUp = (why: Error): void => void (received ?? sent).destroy(why)
    peer.running.add(giveUp)
    sent.once('response', (response) => {
      received = response
      if (response.statusCode === 401 && caller.viewer !== undefined) this.#options.refused(address)
    })
    sent.setNoDelay(true)
    sent.setSocketKeepAlive(true, tcpKeepAliveMs)
    sent.end(body)
    this.#watchAll()
    return { peer, sent, giveUp, done: () => void peer.running.delete(giveUp) }
  }

  /** What any request to a peer has: who asks, and the certificates. Throws `ClientError` if none may be sent. */
  #requestTo(
    address: string,
    caller: PeerCaller,
    isFollowed: boolean,
  ): { readonly peer: Peer; readonly request: PeerDialing['request'] } {
    const peer = this.#peerAt(address)
    const isNamed = this.#isNamedByProxy(caller.sent)
    const headers = {
      [forwardedHeader]: this.#options.address,
      ...this.#headersOf(peer, caller, isNamed),
    }
    if (peer.failure !== undefined) {
      peer.silentLooks = 0
      throw lost(peer, peer.failure, false)
    }
    peer.checkRoom(isFollowed)
    const { ca, cert, key } = this.#material.value
    const request = {
      headers,
      ...(ca !== undefined && { ca }),
      ...(isNamed && cert !== undefined && { cert, key }),
    }
    return { peer, request }
  }

  #watchAll(): void {
    this.#watch ??= setInterval(() => this.#look(), watchMs).unref()
  }

  #look(): void {
    for (const peer of this.#peers.values()) {
      peer.silentLooks += 1
      peer.probeLooks += 1
      if (peer.probeLooks >= probeLooks) peer.probe?.destroy(standsStill)
      const isSilent = peer.running.size > 0 && peer.silentLooks >= silentLooks
      if (peer.silentLooks >= forgottenLooks) peer.failure = undefined
      else if (isSilent || peer.failure !== undefined) this.#probe(peer)
    }
  }

  /** Asks a peer whether it runs. Gives up what is asked of it if it does not say so. */
  #probe(peer: Peer): void {
    if (peer.probe !== undefined) return
    const { ca } = this.#material.value
    const probe = requestBy(peer)({
      ...hostOf(peer.address),
      path: '/livez',
      agent: false,
      ...(ca !== undefined && { ca }),
    })
    const ended = (failure?: Error): void => {
      if (peer.probe !== probe) return
      peer.probe = undefined
      peer.failure = failure
      if (failure === undefined) peer.silentLooks = 0
      else giveUpAll(peer, failure)
      probe.destroy()
    }
    probe.once('response', () => ended())
    probe.on('error', ended)
    probe.end()
    peer.probe = probe
    peer.probeLooks = 0
  }

  #peerAt(address: string): Peer {
    let peer = this.#peers.get(address)
    if (peer === undefined) {
      // Addresses of gateways that are gone.
      for (const [known, { running, agent }] of this.#peers) {
        if (this.#peers.size < 1_024 || running.size > 0) continue
        agent.destroy()
        this.#peers.delete(known)
      }
      this.#peers.set(address, (peer = new Peer(address)))
    }
    return peer
  }

  /** Whether a trusted proxy has named the caller by headers. Throws `ClientError` if the peer could not trust them. */
  #isNamedByProxy(sent: Credentials | undefined): boolean {
    const isNamed =
      this.#identity !== undefined &&
      sent?.clientCertificate !== undefined &&
      (sent.authorization ?? '') === ''
    if (!isNamed || this.#material.value.cert !== undefined) return isNamed
    const message =
      'this is about a cluster that another gateway holds, which trusts the headers that name a caller only with a certificate'
    const hint = 'the operator gives share.certFile and share.keyFile'
    throw new ClientError('UNSUPPORTED', message, { hint })
  }

  /** What of the caller's headers goes along. */
  #headersOf(peer: Peer, { sent, trace }: PeerCaller, isNamed: boolean): OutgoingHttpHeaders {
    const headers: OutgoingHttpHeaders = {}
    if (trace !== undefined) headers[requestIdHeader] = trace.requestId
    if (sent === undefined) return headers
    const given = sent.headers()
    for (const name of passedHeaders) {
      const values = given[name]
      if (values !== undefined) headers[name] = [...values]
    }
    if (sent.authorization !== undefined) headers['authorization'] = sent.authorization
    if (sent.cookie !== undefined) {
      headers['cookie'] = sent.cookie
      // A page of the gateway has sent it. The peer takes its own address for one of its origins.
      headers['origin'] = peer.address.origin
    }
    if (!isNamed || this.#identity === undefined) return headers
    const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = this.#identity
    const names = new Set(
      [...usernameHeaders, ...uidHeaders, ...groupHeaders].map((name) => name.toLowerCase()),
    )
    const prefixes = extraHeaderPrefixes.map((prefix) => prefix.toLowerCase())
    for (const [name, values] of Object.entries(given)) {
      const isIdentity = names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
      if (isIdentity && values !== undefined) headers[name] = [...values]
    }
    return headers
  }
}

function requestBy({ isSecure }: Peer): typeof httpsRequest {
  return isSecure ? httpsRequest : httpRequest
}

function giveUpAll({ running }: Peer, why: Error): void {
  for (const giveUp of running) giveUp(why)
}

const standsStill = new Error('it stands still, or the network between loses everything')

function lateAfter(
  deadlineMs: number,
  giveUp: Sent['giveUp'],
  beganMs = performance.now(),
): NodeJS.Timeout {
  const why = new Error(`no answer within ${deadlineMs} ms`)
  const restMs = Math.max(0, beganMs + deadlineMs - performance.now())
  return setTimeout(() => giveUp(why), restMs + lateMs)
}

const next = Buffer.from('event: next\ndata: ')
const complete = Buffer.from('event: complete\n')
const newline = 10

type PeerFramesMeans = Pick<HttpPeersOptions, 'deadlineMs' | 'unreachable'> &
  Pick<Sent, 'giveUp' | 'done'>

/** The frames of an event stream. */
class PeerFrames extends FrameStream {
  readonly #peer: Peer
  readonly #sent: ClientRequest
  readonly #means: PeerFramesMeans
  readonly #frames: Buffer[] = []
  /** The chunks of an event that has not arrived as a whole. */
  #begun: Buffer[] = []
  #response: IncomingMessage | undefined
  #framesBytes = 0
  #begunBytes = 0

  constructor(peer: Peer, sent: ClientRequest, means: PeerFramesMeans) {
    super()
    this.#peer = peer
    this.#sent = sent
    this.#means = means
  }

  override get isHeld(): boolean {
    return this.#frames.length > 0
  }

  take(): Buffer | undefined {
    const frame = this.#frames.shift()
    if (frame === undefined) return undefined
    this.#framesBytes -= frame.length
    this.#peer.hold(-frame.length)
    if (this.#framesBytes < readAheadBytes) this.#response?.resume()
    return frame
  }

  protected leave(): void {
    this.#sent.destroy()
    this.#peer.hold(-this.#framesBytes - this.#begunBytes)
    this.#frames.length = 0
    this.#begun = []
    this.#framesBytes = 0
    this.#begunBytes = 0
    this.#means.done()
  }

  /** Call once. Never rejects. */
  async read(): Promise<void> {
    const late = lateAfter(this.#means.deadlineMs, this.#means.giveUp)
    try {
      const response = await answered(this.#peer, this.#sent)
      clearTimeout(late)
      if (this.isClosed) return
      const { statusCode = 0 } = response
      if (statusCode !== 200) {
        this.finish({ form: 'failed', errors: await refusalIn(this.#peer, statusCode, response) })
        return
      }
      if (!isOfType(response, eventStream)) throw lost(this.#peer, notOfGateway)
      this.#response = response
      response.on('data', (chunk: Buffer) => this.#arrived(chunk))
      response.once('error', (error) => this.#fail(lost(this.#peer, error)))
      // Without `complete`, the peer has gone, or wants its clients to reconnect.
      const why = new Error('it has closed the subscription')
      response.once('close', () => this.#fail(lost(this.#peer, why)))
    } catch (error) {
      clearTimeout(late)
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#sent.destroy()
    if (this.end === undefined) {
      if (error instanceof PeerError) this.#means.unreachable(error, this.#peer.address.origin)
      this.finish({ form: 'failed', errors: [error] })
    }
    this.#means.done()
  }

  #arrived(chunk: Buffer): void {
    if (this.isClosed) return
    try {
      this.#peer.hold(chunk.length)
    } catch (error) {
      this.#sent.destroy()
      this.#fail(error)
      return
    }
    this.#begunBytes += chunk.length
    let from = 0
    // The empty line at the end of an event may be cut in the middle.
    const isCut = this.#begun.at(-1)?.at(-1) === newline && chunk[0] === newline
    for (let end = isCut ? 1 : endOfEvent(chunk, 0); end > 0; end = endOfEvent(chunk, from)) {
      this.#begun.push(chunk.subarray(from, end))
      this.#event(Buffer.concat(this.#begun))
      this.#begun = []
      from = end
    }
    if (from < chunk.length) this.#begun.push(chunk.subarray(from))
    if (this.#framesBytes >= readAheadBytes) this.#response?.pause()
    if (this.#frames.length > 0 || this.end !== undefined) this.announce()
  }

  /** Takes an event with its end, an empty line. */
  #event(event: Buffer): void {
    this.#begunBytes -= event.length
    if (event.subarray(0, next.length).equals(next)) {
      const frame = event.subarray(next.length, event.length - 2)
      this.#frames.push(frame)
      this.#framesBytes += frame.length
      this.#peer.hold(frame.length - event.length)
      return
    }
    this.#peer.hold(-event.length)
    if (event.subarray(0, complete.length).equals(complete)) this.finish({ form: 'complete' })
  }
}

/** Where the event ends that begins at `from`; 0 if the chunk does not have its end. */
function endOfEvent(chunk: Buffer, from: number): number {
  const at = chunk.indexOf('\n\n', from)
  return at === -1 ? 0 : at + 2
}
