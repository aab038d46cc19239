/*
 * A text that is seldom read, held compressed. The bytes on the way to it and back are freed at once: they lie outside of the
 * heap, where the collector sees them late. A thousand definitions would leave a hundred megabytes of them.
 */

import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** Large enough that Node gives a buffer memory of its own. */
const leastChunkBytes = 32 * 1024

export class CompressedText {
  readonly #bytes: Uint8Array
  readonly #length: number

  constructor(text: string) {
    const plain = new TextEncoder().encode(text)
    const compressed = deflateRawSync(plain, { level: 3, chunkSize: leastChunkBytes })
    this.#length = plain.length
    this.#bytes = new Uint8Array(compressed)
    free(plain)
    free(compressed)
  }

  read(): string {
    // One chunk, which has room to spare.
    const chunkSize = Math.max(leastChunkBytes, this.#length + 64)
    const plain = inflateRawSync(this.#bytes, { chunkSize })
    const text = plain.toString()
    free(plain)
    return text
  }
}

function free({ buffer }: Uint8Array): void {
  ;(buffer as ArrayBuffer).transfer(0)
}
