import { hash as digest } from 'node:crypto'

const blockLength = 64

/**
 * HMAC-SHA-256 (RFC 2104) of texts under one key of at most 64 bytes, as base64: the result of `createHmac`, by two
 * one-shot hashes. Every request of a caller needs one, and the objects of `createHmac` would cost more than the rest of
 * authentication.
 */
export class KeyedHash {
  readonly #inner: Buffer
  readonly #outer: Buffer

  constructor(key: Buffer) {
    if (key.length > blockLength) throw new RangeError(`a key of ${key.length} bytes is too long`)
    this.#inner = padded(key, 0x36)
    this.#outer = padded(key, 0x5c)
  }

  of(text: string): string {
    const inner = digest('sha256', Buffer.concat([this.#inner, Buffer.from(text)]), 'buffer')
    return digest('sha256', Buffer.concat([this.#outer, inner]), 'base64')
  }
}

function padded(key: Buffer, pad: number): Buffer {
  const block = Buffer.alloc(blockLength, pad)
  for (const [at, byte] of key.entries()) block[at] = byte ^ pad
  return block
}
