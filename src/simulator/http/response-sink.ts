import { createGzip } from 'node:zlib'
import type { ServerResponse } from 'node:http'
import type { ResponseSink } from '../faults/fault-effects.ts'

/** The sink of a real response. It applies back-pressure. */
export function responseSink(response: ServerResponse): ResponseSink {
  return {
    write: async (chunk) => {
      if (response.destroyed) return false
      if (response.write(chunk)) return true
      return new Promise((resolve) => {
        const settle = (): void => {
          response.off('drain', settle)
          response.off('close', settle)
          resolve(!response.destroyed)
        }
        response.on('drain', settle)
        response.on('close', settle)
      })
    },
    end: () => {
      response.end()
    },
    destroy: () => {
      response.destroy()
    },
  }
}

/** Gathers small pieces into chunks of about `chunkBytes`. Holds at most one chunk and one piece. */
export class ChunkedWriter {
  readonly #sink: ResponseSink
  readonly #chunkBytes: number
  #parts: Buffer[] = []
  #bytes = 0

  constructor(sink: ResponseSink, chunkBytes: number = 128 * 1024) {
    this.#sink = sink
    this.#chunkBytes = chunkBytes
  }

  /** Takes pieces. Returns whether it is time to {@link flush}. */
  add(...parts: readonly Buffer[]): boolean {
    for (const part of parts) {
      this.#parts.push(part)
      this.#bytes += part.length
    }
    return this.#bytes >= this.#chunkBytes
  }

  /** Writes the gathered pieces; `false` if the connection is closed. */
  async flush(): Promise<boolean> {
    if (this.#bytes === 0) return true
    const chunk = Buffer.concat(this.#parts, this.#bytes)
    this.#parts = []
    this.#bytes = 0
    return this.#sink.write(chunk)
  }
}

/** Compresses a stream for speed rather than size, as a kube-apiserver does. */
export function gzipSink(inner: ResponseSink): ResponseSink {
  const gzip = createGzip({ level: 1 })
  let written = Promise.resolve(true)
  gzip.on('data', (chunk: Buffer) => {
    written = written.then(async (open) => open && inner.write(chunk))
  })
  gzip.once('end', () => {
    void written.then(() => inner.end())
  })
  return {
    write: async (chunk) => {
      await new Promise<void>((resolve) => {
        gzip.write(chunk, () => resolve())
      })
      return written
    },
    end: () => {
      gzip.end()
    },
    destroy: () => inner.destroy(),
  }
}
