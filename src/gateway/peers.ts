/*
 * Asks other gateways, by HTTP: an operation is a POST of `/graphql`, a subscription one whose answer is an event stream. The
 * credentials go along as the caller has sent them, and the peer decides who that is. Connections are kept for further
 * questions, but for writes: a kept connection may break before an answer, and then nobody knows whether it was read.
 *
 * What one peer may take is bounded: running requests, and bytes of their answers that are in memory. The frames of a
 * subscription are passed on as bytes. While its subscriber takes none, no more are read from the connection, so that
 * they wait at the peer, which counts them as those of any slow reader.
 */

import { readFileSync } from 'node:fs'
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { GraphQLError } from 'graphql'
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
import { isRecord } from '../lib/json.ts'
import { requestIdHeader } from '../server/guard/request-guard.ts'
import { graphqlPath } from '../server/operation-options.ts'
import type { ShareOptions } from './sharing.ts'

export interface HttpPeersOptions {
  /** The address of this gateway. */
  readonly address: string
  readonly trust: Pick<ShareOptions, 'caFile' | 'certFile' | 'keyFile'>
  /** Shows peers that this gateway has made a document: see `Sharing.proofOf`. */
  readonly proofOf: (document: string) => string
  /** Receives why a peer could not be asked. */
  readonly unreachable: (error: PeerError) => void
  /** How long a peer may take to answer, or to begin a subscription. */
  readonly deadlineMs: number
  /** Receives the failure of a certificate that has changed. The previous one stays in use. */
  readonly failed: (error: unknown) => void
}

/** Headers that go along as they came. */
const passedHeaders = ['traceparent', 'tracestate', 'baggage'] as const
/** The running requests to one peer, subscriptions included. */
const maxRequests = 4_096
/** The bytes of answers and frames of one peer that are in memory. */
const maxHeldBytes = 256 << 20
/** The bytes of frames that a subscriber has not taken, from which on no more are read. */
const readAheadBytes = 65_536
/** A refusal is short. */
const maxRefusalBytes = 65_536
/** How soon the kernel notices a peer that is gone without a word. */
const tcpKeepAliveMs = 15_000

/** What is asked of one gateway now. */
class Peer {
  readonly address: URL
  readonly agent: Agent
  requests = 0
  #heldBytes = 0

  constructor(address: string) {
    this.address = new URL(address)
    const options = { keepAlive: true, maxFreeSockets: 32, timeout: 60_000 }
    this.agent = this.isSecure ? new HttpsAgent(options) : new Agent(options)
  }

  get isSecure(): boolean {
    return this.address.protocol === 'https:'
  }

  /** Counts a request. Throws `ClientError`. */
  take(): void {
    if (this.requests >= maxRequests) throw this.#full(`${maxRequests} requests are running there`)
    this.requests += 1
  }

  /** Counts bytes that are in memory; negative ones are so no more. Throws `ClientError`. */
  hold(bytes: number): void {
    this.#heldBytes += bytes
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

interface Material {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

export class HttpPeers implements Peers, Disposable {
  readonly #options: HttpPeersOptions
  readonly #material: FollowedFiles<Material>
  readonly #peers = new Map<string, Peer>()
  readonly #running = new Set<ClientRequest>()
  #identity: RequestHeaderOptions | undefined

  /** Throws if a file cannot be read. */
  constructor(options: HttpPeersOptions) {
    this.#options = options
    const { caFile, certFile, keyFile } = options.trust
    const files = [caFile, certFile, keyFile].filter((file) => file !== undefined)
    const read = (): Material => ({
      ...(caFile !== undefined && { ca: readFileSync(caFile) }),
      ...(certFile !== undefined && { cert: readFileSync(certFile) }),
      ...(keyFile !== undefined && { key: readFileSync(keyFile) }),
    })
    this.#material = new FollowedFiles(files, read, options.failed)
  }

  /** Sets the headers by which a trusted proxy names callers. */
  trustHeaders(identity: RequestHeaderOptions): void {
    this.#identity = identity
  }

  async ask(address: string, request: PeerRequest, caller: PeerCaller): Promise<string> {
    const { peer, sent, done } = this.#send(address, request, caller, 'application/json')
    const late = setTimeout(() => {
      sent.destroy(new Error(`no answer within ${this.#options.deadlineMs} ms`))
    }, this.#options.deadlineMs)
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
      return text
    } catch (error) {
      if (error instanceof PeerError) this.#options.unreachable(error)
      throw error
    } finally {
      clearTimeout(late)
      peer.hold(-heldBytes)
      done()
    }
  }

  follow(address: string, request: PeerRequest, caller: PeerCaller): FrameStream {
    try {
      const { peer, sent, done } = this.#send(address, request, caller, 'text/event-stream')
      const { deadlineMs, unreachable } = this.#options
      const stream = new PeerFrames(peer, sent, { deadlineMs, unreachable, done })
      void stream.read()
      return stream
    } catch (error) {
      return new FailedStream([error])
    }
  }

  [Symbol.dispose](): void {
    this.#material[Symbol.dispose]()
    for (const request of this.#running) request.destroy(new Error('this gateway is stopping'))
    for (const { agent } of this.#peers.values()) agent.destroy()
  }

  /** Sends a request. Throws `ClientError`. `done` must be called at its end. */
  #send(
    address: string,
    { query, operationName, variables, clusters, explains, isWrite }: PeerRequest,
    caller: PeerCaller,
    accept: string,
  ): { readonly peer: Peer; readonly sent: ClientRequest; readonly done: () => void } {
    const extensions = {
      ...(clusters !== undefined && { clusters }),
      ...(explains === true && { explain: true }),
    }
    const body = JSON.stringify({ query, operationName, variables, extensions })
    const peer = this.#peerAt(address)
    const isNamed = this.#isNamedByProxy(caller.sent)
    const headers: OutgoingHttpHeaders = {
      accept,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      [forwardedHeader]: this.#options.address,
      [proofHeader]: this.#options.proofOf(query),
      ...this.#headersOf(peer, caller, isNamed),
    }
    peer.take()
    const { ca, cert, key } = this.#material.value
    const send = peer.isSecure ? httpsRequest : httpRequest
    const isKept = isWrite !== true && accept === 'application/json'
    const sent = send({
      ...hostOf(peer.address),
      path: graphqlPath,
      method: 'POST',
      agent: isKept ? peer.agent : false,
      headers,
      ...(ca !== undefined && { ca }),
      ...(isNamed && cert !== undefined && { cert, key }),
    })
    this.#running.add(sent)
    let isDone = false
    const done = (): void => {
      if (isDone) return
      isDone = true
      peer.requests -= 1
      this.#running.delete(sent)
    }
    sent.setNoDelay(true)
    sent.setSocketKeepAlive(true, tcpKeepAliveMs)
    sent.end(body)
    return { peer, sent, done }
  }

  #peerAt(address: string): Peer {
    let peer = this.#peers.get(address)
    if (peer === undefined) {
      // Addresses of gateways that are gone.
      for (const [known, { requests, agent }] of this.#peers) {
        if (this.#peers.size < 1_024 || requests > 0) continue
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

function hostOf({ hostname, port, protocol }: URL): {
  readonly hostname: string
  readonly port: number
} {
  const byDefault = protocol === 'https:' ? 443 : 80
  return {
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? byDefault : Number(port),
  }
}

function lost(peer: Peer, cause: unknown, mayHaveBegun = true): PeerError {
  const why = cause instanceof Error && cause.message !== '' ? cause.message : 'it is gone'
  const message = `the gateway at ${peer.address.origin} does not answer: ${why}`
  return new PeerError(message, { mayHaveBegun, cause })
}

/** Resolves with the response. Rejects with `PeerError`. */
function answered(peer: Peer, sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let isConnected = false
    sent.once('socket', (socket) => {
      isConnected = !socket.connecting
      if (isConnected) return
      socket.once(peer.isSecure ? 'secureConnect' : 'connect', () => void (isConnected = true))
    })
    sent.once('response', resolve)
    // Also after the response, whose reader hears of it by itself.
    sent.on('error', (error) => reject(lost(peer, error, isConnected)))
  })
}

/** The errors of a refused operation. Throws `PeerError` for other answers, and for a peer that starts or stops. */
function errorsOf(peer: Peer, httpStatus: number, text: string): readonly GraphQLError[] {
  const { errors } = parsed(text) ?? {}
  const all = Array.isArray(errors) ? errors.filter(isRecord) : []
  const [first] = all
  const code = isRecord(first?.['extensions']) ? first['extensions']['code'] : undefined
  const isOfPeer =
    httpStatus === 403 || httpStatus === 404 || code === 'INTERNAL' || isMisdirected(text)
  if (first === undefined || isOfPeer) {
    const why = typeof first?.['message'] === 'string' ? first['message'] : `HTTP ${httpStatus}`
    throw lost(peer, new Error(why), false)
  }
  return all.map(
    ({ message, extensions }) =>
      new GraphQLError(String(message), { extensions: isRecord(extensions) ? extensions : {} }),
  )
}

/** Whether the peer says that it does not hold the cluster. */
function isMisdirected(text: string): boolean {
  if (text.length > 2_048 || !text.includes('"misdirected"')) return false
  const { errors } = parsed(text) ?? {}
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : []
  const extensions = isRecord(first) ? first['extensions'] : undefined
  return isRecord(extensions) && extensions['misdirected'] === true
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

const next = Buffer.from('event: next\ndata: ')
const complete = Buffer.from('event: complete\n')
const newline = 10

interface PeerFramesMeans extends Pick<HttpPeersOptions, 'deadlineMs' | 'unreachable'> {
  /** Called when nothing more is read. */
  readonly done: () => void
}

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
    const { deadlineMs } = this.#means
    const late = setTimeout(() => {
      this.#sent.destroy(new Error(`no answer within ${deadlineMs} ms`))
    }, deadlineMs)
    try {
      const response = await answered(this.#peer, this.#sent)
      clearTimeout(late)
      if (this.isClosed) return
      const { statusCode = 0 } = response
      if (statusCode !== 200) {
        this.finish({ form: 'failed', errors: await refusalIn(this.#peer, statusCode, response) })
        return
      }
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
    if (this.end === undefined) {
      if (error instanceof PeerError) this.#means.unreachable(error)
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

/** The errors of a refused subscription. Throws `PeerError`. */
async function refusalIn(
  peer: Peer,
  httpStatus: number,
  response: IncomingMessage,
): Promise<readonly GraphQLError[]> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxRefusalBytes) break
  }
  return errorsOf(peer, httpStatus, Buffer.concat(chunks).toString())
}
