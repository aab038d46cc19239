import type { Duplex } from 'node:stream'

const behind = Buffer.from('}')

/** From so many bytes on, a payload is not copied for each connection that it goes to. */
const sharedFromBytes = 16_384
/** So many ids are told the same payload as a rule: clients count their operations, or number them by a UUID of each. */
const maxSharedIds = 16

/**
 * The messages `next` of graphql-transport-ws for frames that many are sent. Each is one WebSocket frame (RFC 6455, 5.2), neither
 * masked nor compressed, so the same bytes are right for everybody whose operation has the same id.
 */
export class NextMessages {
  #payload: Buffer | undefined
  readonly #byId = new Map<string, Buffer>()

  /** Writes one of the operation `id` to a connection that nothing is compressed for, and where no message is under way. */
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
 * All of a message that stands before its payload. Made for each payload: whoever kept so few bytes for each connection would keep
 * the pool that they were cut from.
 */
function aheadOf(id: string): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
}

const finalText = 0x81
const length16 = 126
const length64 = 127

/** A message of a length, as far as its parts go: behind the header of its WebSocket frame. */
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
