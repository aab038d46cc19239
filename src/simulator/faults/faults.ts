/*
 * Faults that a test or a user orders. One of the server strikes at once; one of a request waits for the next requests
 * that match it, and then refuses them, changes their streams, or rewrites the frames of a watch.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { statusReasons } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { Refusal } from '../api/status-refusal.ts'

/** The properties of a request that faults match. */
interface FaultSubject extends Required<Omit<FaultMatch, 'verb'>> {
  readonly verb: string
}

/** Faults that strike one request after the other, over and over. */
interface OrderedFaults extends Omit<PendingFault, 'fault'> {
  readonly faults: readonly RequestFault[]
}

/** An order with an unknown fault, or with a fault that has no target. */
export class FaultError extends CodedError {
  constructor(value: unknown) {
    super('FAULT', `no such fault, or no target for it: ${JSON.stringify(value)}`, {
      value,
      hint: 'POST {"fault":{"type":…},"match":{…},"times":1}; docs/simulator.md lists the types',
    })
  }
}

/** The server that faults strike. */
interface FaultyServer {
  readonly connections: () => Connections
  /** Carries out a server fault. Returns `false` for an unknown fault, or one without a target. */
  readonly strike: (fault: ServerFault) => boolean
}

const mostPending = 1000

/** The ordered faults. Each strikes the next requests that match it. */
export class Faults {
  readonly #server: FaultyServer
  #pending: OrderedFaults[] = []

  constructor(server: FaultyServer) {
    this.#server = server
  }

  get connections(): Connections {
    return this.#server.connections()
  }

  /** Orders a fault. Server faults strike at once. Throws {@link FaultError}. */
  inject({ fault, match = {}, times = 1 }: FaultOrder): void {
    const faults = [fault].flat()
    const isOfRequests = (one: RequestFault | ServerFault): one is RequestFault =>
      Object.hasOwn(effects, one.type)
    if (faults.length > 0 && faults.every(isOfRequests)) {
      if (this.#pending.length >= mostPending) throw new FaultError(fault)
      this.#pending.push({ faults, match, remaining: faults.length * times })
    } else if (!this.#server.strike(fault as ServerFault)) throw new FaultError(fault)
  }

  pending(): readonly PendingFault[] {
    return this.#pending.map((one) => {
      const { match, remaining } = one
      return { fault: next(one), match, remaining }
    })
  }

  clear(): void {
    this.#pending = []
  }

  /** Takes the effects of all faults that strike a request, in the order in which they were ordered. */
  take(subject: FaultSubject): FaultEffect[] {
    if (this.#pending.length === 0) return []
    const struck = this.#pending.filter(({ match: { path = '', ...match } }) => {
      const wanted = Object.entries(match) as [keyof FaultSubject, string][]
      return subject.path.startsWith(path) && wanted.every(([name, one]) => subject[name] === one)
    })
    this.#pending = this.#pending
      .map((one) => (struck.includes(one) ? { ...one, remaining: one.remaining - 1 } : one))
      .filter(({ remaining }) => remaining > 0)
    return struck.map((one) => {
      const fault = next(one)
      return (effects[fault.type] as (of: RequestFault) => FaultEffect)(fault)
    })
  }
}

function next({ faults, remaining }: OrderedFaults): RequestFault {
  return faults.at(-remaining % faults.length) as RequestFault
}

/** The requests that a fault strikes. An absent field matches anything. */
export interface FaultMatch {
  /** The plural of the path, `pods`. */
  readonly resource?: string
  /** `''` for the core group. */
  readonly group?: string
  readonly namespace?: string
  readonly verb?:
    | 'list'
    | 'watch'
    | 'get'
    | 'create'
    | 'update'
    | 'patch'
    | 'delete'
    | 'deletecollection'
  /** For LIST: `first` without a continue token, `later` with one. */
  readonly page?: 'first' | 'later'
  /** A prefix of the path, such as `/openapi`, for requests outside of resources. */
  readonly path?: string
}

/** The three forms in which servers report a resource version that is too large. */
export type TooLargeEncoding = 'cause-reason' | 'cause-message' | 'message'

/** A fault in the answer to a request. It strikes the next matching requests. */
export type RequestFault =
  /** No fault: a place in a sequence. */
  | { readonly type: 'none' }
  /** Refuses the request with this status (429, 500, 503, …) and, if given, `Retry-After`. */
  | {
      readonly type: 'status'
      readonly code: number
      readonly reason?: string
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  /** 410: at a LIST, at a page (`match.page`) or at the opening of a WATCH. */
  | { readonly type: 'expired' }
  /** 504, "Too large resource version". */
  | { readonly type: 'too-large-resource-version'; readonly encoding: TooLargeEncoding }
  /** Closes the connection without an answer. */
  | { readonly type: 'disconnect' }
  /** Stops the answer after `afterBytes` bytes of its body. The connection stays open. */
  | { readonly type: 'half-open'; readonly afterBytes: number }
  /** Closes the connection after `afterBytes` bytes of the body. */
  | { readonly type: 'truncate'; readonly afterBytes: number }
  /** Sends nothing of the body for so long. */
  | { readonly type: 'delay'; readonly forMs: number }
  /** Sends the body at this rate. */
  | { readonly type: 'slow'; readonly bytesPerSecond: number }
  /** Sends the body in pieces of `everyBytes` bytes. */
  | { readonly type: 'split'; readonly everyBytes: number }
  /** Sends the frame of this number of a WATCH (the first is 0) twice. */
  | { readonly type: 'duplicate-event'; readonly frame: number }
  /** Sends an object of a foreign kind before the frame of this number of a WATCH. */
  | { readonly type: 'wrong-kind-event'; readonly frame: number }
  /** Sends a line that is not JSON before the frame of this number of a WATCH. */
  | { readonly type: 'malformed-event'; readonly frame: number }
  /** Ends a WATCH with an ERROR event (default code 410) in place of the frame of this number. */
  | { readonly type: 'error-event'; readonly frame: number; readonly code?: number }
  /** Drops the bookmark that ends the initial events. */
  | { readonly type: 'no-initial-events-end' }

/** A fault of the whole server. It strikes at once. */
export type ServerFault =
  /** Breaks every connection. */
  | { readonly type: 'drop-connections' }
  /** Breaks every connection and refuses new connections for `forMs` milliseconds. */
  | { readonly type: 'refuse-connections'; readonly forMs: number }
  /** Breaks every connection, and every new one at its first request, until `mend`. Orders of faults still arrive. */
  | { readonly type: 'cut' }
  /** Sends nothing on any connection until `mend`. They stay open, and new ones are accepted. Orders of faults still arrive. */
  | { readonly type: 'hang' }
  /** Ends `cut`, `hang`, `refuse-connections` and `freeze-connections`. What waited is answered. */
  | { readonly type: 'mend' }
  /** Sends nothing more on the connections that are open now. They stay open. */
  | { readonly type: 'freeze-connections' }
  /** Ends every open watch of the resource with an ERROR event; default code 410. */
  | { readonly type: 'end-watches'; readonly code?: number; readonly resource?: string }
  /**
   * Makes a node silent: NotReady and tainted. Its pods are not ready, and are evicted after the time for which they
   * tolerate the taint, or after `evictAfterMs`.
   */
  | { readonly type: 'fail-node'; readonly node: string; readonly evictAfterMs?: number }
  /** Brings a silent node back. */
  | { readonly type: 'recover-node'; readonly node: string }
  /** Forgets the history. Older resource versions and continue tokens are answered with 410. */
  | { readonly type: 'compact-history' }

/** Whether a server answers: `cut` breaks its connections, `hanging` keeps them open and silent. */
export type Connections = 'served' | 'cut' | 'hanging'

/** An order for faults. */
export interface FaultOrder {
  /** One fault, or a sequence that strikes one request after the other: a 409, then a 429. */
  readonly fault: RequestFault | ServerFault | readonly RequestFault[]
  /** For request faults. */
  readonly match?: FaultMatch
  /** For request faults: the number of requests to strike, or of runs through a sequence. Default 1. */
  readonly times?: number
}

/** A request fault that waits for matching requests; for a sequence, its next fault. */
export interface PendingFault {
  readonly fault: RequestFault
  readonly match: FaultMatch
  /** The number of requests still to strike, including the later faults of a sequence. */
  readonly remaining: number
}

export interface WatchFrame {
  readonly kind: 'event' | 'bookmark' | 'initial-events-end' | 'error'
  readonly bytes: Buffer
}

/** Replaces a frame of a watch. `end` closes the stream after the replacement. */
type FrameRewriter = (frame: WatchFrame) => {
  readonly bytes: readonly Buffer[]
  readonly end: boolean
}

export interface FaultEffect {
  /** Replaces the server's answer. `disconnect` closes the connection without an answer. */
  readonly answer?: Refusal | 'disconnect'
  /** Changes the bytes of a streamed answer. */
  readonly stream?: (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
  /** Changes the frames of a watch. */
  readonly rewrite?: FrameRewriter
}

const tooLarge: Readonly<Record<TooLargeEncoding, () => Refusal>> = {
  'cause-reason': () =>
    new Refusal(504, 'Timeout: the server is behind', {
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'the server is behind' }] },
    }),
  'cause-message': () =>
    new Refusal(504, 'Timeout: the server is behind', {
      reason: 'Timeout',
      details: { causes: [{ message: 'Too large resource version' }] },
    }),
  message: () =>
    new Refusal(504, 'Too large resource version: 99999999, current: 1', { reason: 'Timeout' }),
}

/** A refusal with the reason of its code. */
export function statusOf(
  code: number,
  message?: string,
  reason?: string,
  retryAfterSeconds?: number,
): Refusal {
  const named = reason ?? statusReasons[code]
  return new Refusal(code, message ?? `injected fault: ${code}`, {
    ...(named === undefined ? {} : { reason: named }),
    ...(retryAfterSeconds === undefined ? {} : { details: {}, retryAfterSeconds }),
  })
}

/** Applies `change` to one frame, by its number. */
function atFrame(
  number: number,
  change: (bytes: Buffer) => ReturnType<FrameRewriter>,
): FrameRewriter {
  let seen = 0
  return ({ bytes }) => (seen++ === number ? change(bytes) : { bytes: [bytes], end: false })
}

const foreignEvent = Buffer.from(
  '{"type":"ADDED","object":{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"stranger","namespace":"default","uid":"00000000-0000-4000-8000-000000000000","resourceVersion":"999999999"}}}\n',
)
const malformed = Buffer.from('{"type":"ADDED","object":{"kind":\n')

type Effects = {
  readonly [T in RequestFault['type']]: (
    fault: Extract<RequestFault, { readonly type: T }>,
  ) => FaultEffect
}

const effects: Effects = {
  none: () => ({}),
  status: ({ code, message, reason, retryAfterSeconds }) => ({
    answer: statusOf(code, message, reason, retryAfterSeconds),
  }),
  expired: () => ({
    answer: statusOf(410, 'The resourceVersion for the provided list is too old.'),
  }),
  'too-large-resource-version': ({ encoding }) => ({ answer: tooLarge[encoding]() }),
  disconnect: () => ({ answer: 'disconnect' }),
  'half-open': ({ afterBytes }) => ({ stream: (chunks) => firstBytes(chunks, afterBytes, false) }),
  truncate: ({ afterBytes }) => ({ stream: (chunks) => firstBytes(chunks, afterBytes, true) }),
  delay: ({ forMs }) => ({ stream: (chunks) => delayed(chunks, forMs) }),
  // In steps of a twentieth of a second.
  slow: ({ bytesPerSecond }) => ({
    stream: (chunks) => piecewise(chunks, Math.floor(bytesPerSecond / 20), 50),
  }),
  // Each piece in its own turn of the event loop.
  split: ({ everyBytes }) => ({ stream: (chunks) => piecewise(chunks, everyBytes, 1) }),
  'duplicate-event': ({ frame }) => ({
    rewrite: atFrame(frame, (bytes) => ({ bytes: [bytes, bytes], end: false })),
  }),
  'wrong-kind-event': ({ frame }) => ({
    rewrite: atFrame(frame, (bytes) => ({ bytes: [foreignEvent, bytes], end: false })),
  }),
  'malformed-event': ({ frame }) => ({
    rewrite: atFrame(frame, (bytes) => ({ bytes: [malformed, bytes], end: false })),
  }),
  'error-event': ({ frame, code = 410 }) => ({
    rewrite: atFrame(frame, () => {
      const status = JSON.stringify(statusOf(code).status)
      return { bytes: [Buffer.from(`{"type":"ERROR","object":${status}}\n`)], end: true }
    }),
  }),
  'no-initial-events-end': () => ({
    rewrite: ({ kind, bytes }) => ({
      bytes: kind === 'initial-events-end' ? [] : [bytes],
      end: false,
    }),
  }),
}

/** Passes `afterBytes` bytes, then closes the connection, or sends nothing more and leaves it open. */
async function* firstBytes(
  chunks: AsyncIterable<Buffer>,
  afterBytes: number,
  closes: boolean,
): AsyncGenerator<Buffer> {
  let left = afterBytes
  for await (const chunk of chunks) {
    const part = chunk.subarray(0, left)
    left -= part.length
    if (part.length > 0) yield part
    if (!closes || left > 0) continue
    // The bytes have to arrive before the connection closes.
    await sleep(10)
    throw new Error('a fault closes the connection')
  }
  if (!closes && left === 0) await new Promise(() => undefined)
}

async function* delayed(chunks: AsyncIterable<Buffer>, forMs: number): AsyncGenerator<Buffer> {
  await sleep(forMs)
  yield* chunks
}

/** Sends pieces of `bytes` bytes, with a pause after each. */
async function* piecewise(
  chunks: AsyncIterable<Buffer>,
  bytes: number,
  pauseMs: number,
): AsyncGenerator<Buffer> {
  const step = Math.max(1, bytes)
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += step) {
      yield chunk.subarray(at, at + step)
      await sleep(pauseMs)
    }
  }
}
