import { setTimeout as sleep } from 'node:timers/promises'
import type { ResponseSink } from './answer-stream.ts'

/** Lets so many bytes through, then breaks the connection. */
export function cutSink(inner: ResponseSink, afterBytes: number): ResponseSink {
  let left = afterBytes
  return {
    ...inner,
    write: async (chunk) => {
      if (chunk.length < left) {
        left -= chunk.length
        return inner.write(chunk)
      }
      await inner.write(chunk.subarray(0, left))
      // The bytes are to arrive before the end does.
      await sleep(10)
      inner.destroy()
      return false
    },
  }
}

/** Lets so many bytes through, then takes everything and sends nothing; the connection stays open. */
export function frozenSink(inner: ResponseSink, afterBytes: number): ResponseSink {
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

/** Sends at a rate, in twentieths of a second. */
export function slowSink(inner: ResponseSink, bytesPerSecond: number): ResponseSink {
  const step = Math.max(1, Math.floor(bytesPerSecond / 20))
  return { ...inner, write: async (chunk) => inPieces(inner, chunk, step, 50) }
}

/** Sends pieces of so many bytes, each in a turn of the event loop of its own. */
export function splitSink(inner: ResponseSink, everyBytes: number): ResponseSink {
  const step = Math.max(1, everyBytes)
  return { ...inner, write: async (chunk) => inPieces(inner, chunk, step, 1) }
}

async function inPieces(
  inner: ResponseSink,
  chunk: Buffer,
  step: number,
  pauseMs: number,
): Promise<boolean> {
  for (let at = 0; at < chunk.length; at += step) {
    if (!(await inner.write(chunk.subarray(at, at + step)))) return false
    await sleep(pauseMs)
  }
  return true
}
