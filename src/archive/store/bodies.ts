/*
 * Texts as they are kept: compressed by raw deflate, against a text of the same kind where there is one, behind their
 * CRC-32, by which a byte that flips on the disk is noticed. zstd with a dictionary reads it anew for each text, which takes
 * several times as long as all of an inflation.
 */

import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'

const checksumBytes = 4

/** A text that is not what was written. */
export class DamagedTextError extends Error {}

/** In place of what a damaged text would have said. */
export const lost: unique symbol = Symbol('lost')

export async function unlessLost<T>(reading: Promise<T>): Promise<T | typeof lost> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof DamagedTextError) return lost
    throw error
  }
}

export function packedText(text: string, dictionary: Uint8Array | undefined): Uint8Array {
  const bytes = Buffer.from(text)
  const checksum = Buffer.alloc(checksumBytes)
  checksum.writeUInt32LE(crc32(bytes))
  const deflated = deflateRawSync(bytes, dictionary === undefined ? {} : { dictionary })
  return Buffer.concat([checksum, deflated])
}

/** UTF-8. Throws {@link DamagedTextError} if the bytes are not those that were packed. */
export function unpacked(packed: Uint8Array, dictionary: Uint8Array | undefined): Buffer {
  const deflated = packed.subarray(checksumBytes)
  let bytes: Buffer
  try {
    bytes = inflateRawSync(deflated, dictionary === undefined ? {} : { dictionary })
  } catch (cause) {
    throw new DamagedTextError('a kept text cannot be read', { cause })
  }
  if (crc32(bytes) === new DataView(packed.buffer, packed.byteOffset).getUint32(0, true))
    return bytes
  throw new DamagedTextError('the checksum of a kept text does not match')
}

export function unpackedText(packed: Uint8Array, dictionary: Uint8Array | undefined): string {
  return unpacked(packed, dictionary).toString()
}
