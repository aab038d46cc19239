import type { Duplex } from 'node:stream'

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

  /** Writes one to a connection that nothing is compressed for, and where no message is under way. */
  write(connection: Duplex, id: string, payload: Buffer): void {
    if (payload.length < sharedFromBytes) {
      connection.write(this.#whole(id, payload))
      return
    }
    connection.cork()
    connection.write(ahead(id, payload))
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
    const message = Buffer.concat([ahead(id, payload), payload, behind])
    if (this.#byId.size < maxSharedIds) this.#byId.set(id, message)
    return message
  }
}

const behind = Buffer.from('}')

/** All that stands before a payload: the header of the WebSocket frame, and the beginning of the message. */
function ahead(id: string, payload: Buffer): Buffer {
  const text = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
  return Buffer.concat([header(text.length + payload.length + behind.length), text])
}

const finalText = 0x81
const length16 = 126
const length64 = 127

function header(length: number): Buffer {
  if (length < length16) return Buffer.from([finalText, length])
  if (length < 65_536) {
    const bytes = Buffer.from([finalText, length16, 0, 0])
    bytes.writeUInt16BE(length, 2)
    return bytes
  }
  const bytes = Buffer.alloc(10)
  bytes[0] = finalText
  bytes[1] = length64
  bytes.writeBigUInt64BE(BigInt(length), 2)
  return bytes
}
