/*
 * Writes the `next` messages of graphql-transport-ws for shared frames. Each message is one WebSocket frame (RFC 6455,
 * 5.2), neither masked nor compressed, so that operations with the same id share its bytes.
 */

import type { Duplex } from 'node:stream'

const behind = Buffer.from('}')

/** Payloads from this size on are not copied for each connection. */
const sharedFromBytes = 16_384
/** The usual number of ids with the same payload: clients count their operations, or use a UUID for each. */
const maxSharedIds = 16

export class NextMessages {
  #payload: Buffer | undefined
  readonly #byId = new Map<string, Buffer>()

  /** Writes a message of operation `id` to an uncompressed connection between two messages. */
  write(connection: Duplex, id: string, payload: Buffer): void {
    if (payload.length < sharedFromBytes) {
      connection.write(this.#whole(id, payload))
      return
    }
    const ahead = aheadOf(id)
    connection.cork()
    connection.write(message(ahead.length + payload.length + behind.length, [ahead]))
    connection.write(payload)
    connection.write(behind)
    connection.uncork()
  }

  #whole(id: string, payload: Buffer): Buffer {
    if (payload !== this.#payload) {
      this.#payload = payload
      this.#byId.clear()
    }
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const ahead = aheadOf(id)
    const length = ahead.length + payload.length + behind.length
    const whole = message(length, [ahead, payload, behind])
    if (this.#byId.size < maxSharedIds) this.#byId.set(id, whole)
    return whole
  }
}

/**
 * The part of a message before its payload. It is made for each payload: a small buffer per connection would retain the
 * pool that it was cut from.
 */
function aheadOf(id: string): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
}

const finalText = 0x81
const length16 = 126
const length64 = 127

/** The beginning of a message: the header of a WebSocket frame of this length, and parts of the message. */
function message(length: number, parts: readonly Buffer[]): Buffer {
  const headerBytes = length < length16 ? 2 : length < 65_536 ? 4 : 10
  const size = parts.reduce((sum, part) => sum + part.length, headerBytes)
  const bytes = Buffer.allocUnsafe(size)
  bytes[0] = finalText
  if (headerBytes === 2) bytes[1] = length
  else if (headerBytes === 4) {
    bytes[1] = length16
    bytes.writeUInt16BE(length, 2)
  } else {
    bytes[1] = length64
    bytes.writeUInt32BE(0, 2)
    bytes.writeUInt32BE(length, 6)
  }
  let at = headerBytes
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
