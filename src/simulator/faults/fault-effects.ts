import { Refusal } from '../api/status-refusal.ts'
import type { FrameRewriter, ResponseSink } from './answer-stream.ts'
import type { RequestFault, ServerFault, TooLargeEncoding } from './fault.ts'
import { cutSink, frozenSink, slowSink, splitSink } from './faulty-sinks.ts'

/** What a fault does to one request. */
export interface FaultEffect {
  /** Answered instead of the server's own answer; `disconnect`: nothing is. */
  readonly answer?: Refusal | 'disconnect'
  /** Put between the answer's body and the connection. */
  readonly sink?: (inner: ResponseSink) => ResponseSink
  /** Put between a watch and its frames. */
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

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** A refusal with the reason that goes with its code. */
export function statusOf(
  code: number,
  message?: string,
  reason?: string,
  retryAfterSeconds?: number,
): Refusal {
  const named = reason ?? reasons[code]
  return new Refusal(code, message ?? `injected fault: ${code}`, {
    ...(named === undefined ? {} : { reason: named }),
    ...(retryAfterSeconds === undefined
      ? {}
      : { details: { retryAfterSeconds }, headers: { 'retry-after': String(retryAfterSeconds) } }),
  })
}

/** Does `change` to the frame of a number, and nothing to the others. */
function atFrame(
  number: number,
  change: (bytes: Buffer) => ReturnType<FrameRewriter>,
): FrameRewriter {
  let seen = 0
  return ({ bytes }) => (seen++ === number ? change(bytes) : { bytes: [bytes], end: false })
}

const strangers = Buffer.from(
  '{"type":"ADDED","object":{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"stranger","namespace":"default","uid":"00000000-0000-4000-8000-000000000000","resourceVersion":"999999999"}}}\n',
)
const malformed = Buffer.from('{"type":"ADDED","object":{"kind":\n')

type Effects = {
  readonly [T in RequestFault['type']]: (
    fault: Extract<RequestFault, { readonly type: T }>,
  ) => FaultEffect
}

/** Every request fault, as what it does. */
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
  'half-open': ({ afterBytes }) => ({ sink: (inner) => frozenSink(inner, afterBytes) }),
  truncate: ({ afterBytes }) => ({ sink: (inner) => cutSink(inner, afterBytes) }),
  slow: ({ bytesPerSecond }) => ({ sink: (inner) => slowSink(inner, bytesPerSecond) }),
  split: ({ everyBytes }) => ({ sink: (inner) => splitSink(inner, everyBytes) }),
  'duplicate-event': ({ frame }) => ({
    rewrite: atFrame(frame, (bytes) => ({ bytes: [bytes, bytes], end: false })),
  }),
  'wrong-kind-event': ({ frame }) => ({
    rewrite: atFrame(frame, (bytes) => ({ bytes: [strangers, bytes], end: false })),
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

/** What a fault does to one request; made anew for each. */
export function effectOf(fault: RequestFault): FaultEffect {
  const make = effects[fault.type] as (fault: RequestFault) => FaultEffect
  return make(fault)
}

/** Whether a fault is one of a request's. */
export function isRequestFault(fault: RequestFault | ServerFault): fault is RequestFault {
  return Object.hasOwn(effects, fault.type)
}
