import { setTimeout as sleep } from 'node:timers/promises'
import { statusReasons } from '../../kubernetes/status.ts'
import { Refusal } from '../api/status-refusal.ts'
import type { RequestFault, ServerFault, TooLargeEncoding } from './fault.ts'

/** Takes the bytes of a streamed answer. Faults wrap it. */
export interface ResponseSink {
  /** Resolves when there is room for more; with `false` if the connection is closed. */
  write(chunk: Buffer): Promise<boolean>
  end(): void
  destroy(): void
}

export interface WatchFrame {
  readonly kind: 'event' | 'bookmark' | 'initial-events-end' | 'error'
  readonly bytes: Buffer
}

/** Replaces a frame of a watch. `end` closes the stream after the replacement. */
export type FrameRewriter = (frame: WatchFrame) => {
  readonly bytes: readonly Buffer[]
  readonly end: boolean
}

export interface FaultEffect {
  /** Replaces the server's answer. `disconnect` closes the connection without an answer. */
  readonly answer?: Refusal | 'disconnect'
  /** Wraps the connection. */
  readonly sink?: (inner: ResponseSink) => ResponseSink
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
  'half-open': ({ afterBytes }) => ({ sink: (inner) => frozenSink(inner, afterBytes) }),
  truncate: ({ afterBytes }) => ({ sink: (inner) => cutSink(inner, afterBytes) }),
  // In steps of a twentieth of a second.
  slow: ({ bytesPerSecond }) => ({ sink: piecewise(Math.floor(bytesPerSecond / 20), 50) }),
  // Each piece in its own turn of the event loop.
  split: ({ everyBytes }) => ({ sink: piecewise(everyBytes, 1) }),
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

/** The effect of a fault on one request. Make a new effect for each request. */
export function effectOf(fault: RequestFault): FaultEffect {
  const make = effects[fault.type] as (fault: RequestFault) => FaultEffect
  return make(fault)
}

export function isRequestFault(fault: RequestFault | ServerFault): fault is RequestFault {
  return Object.hasOwn(effects, fault.type)
}

/** Passes `afterBytes` bytes, then closes the connection. */
function cutSink(inner: ResponseSink, afterBytes: number): ResponseSink {
  let left = afterBytes
  return {
    ...inner,
    write: async (chunk) => {
      if (chunk.length < left) {
        left -= chunk.length
        return inner.write(chunk)
      }
      await inner.write(chunk.subarray(0, left))
      // The bytes have to arrive before the connection closes.
      await sleep(10)
      inner.destroy()
      return false
    },
  }
}

/** Passes `afterBytes` bytes, then sends nothing more. The connection stays open. */
function frozenSink(inner: ResponseSink, afterBytes: number): ResponseSink {
  let left = afterBytes
  return {
    write: async (chunk) => {
      const part = chunk.subarray(0, left)
      left -= part.length
      return part.length === 0 ? true : inner.write(part)
    },
    end: () => {
      if (left > 0) inner.end()
    },
    destroy: () => inner.destroy(),
  }
}

/** Sends pieces of `bytes` bytes, with a pause after each. */
function piecewise(bytes: number, pauseMs: number): (inner: ResponseSink) => ResponseSink {
  const step = Math.max(1, bytes)
  return (inner) => ({
    ...inner,
    write: async (chunk) => {
      for (let at = 0; at < chunk.length; at += step) {
        if (!(await inner.write(chunk.subarray(at, at + step)))) return false
        await sleep(pauseMs)
      }
      return true
    },
  })
}
