/*
 * Texts as they are kept: compressed by raw deflate, against a text of the same kind where there is one, behind their
 * CRC-32, by which a byte that flips on the disk is noticed. zstd with a dictionary reads it anew for each text, which takes
 * several times as long as all of an inflation.
 */

import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { places, type SqlRow, type SqlValue, type Statements } from './engine.ts'

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

const maxDictionaries = 500

/** The texts of rows. Remembers the texts against which they are compressed. */
export class KeptTexts {
  readonly #dictionaries = new Map<number, Uint8Array>()

  /** Forgets what it remembers: after a failed transaction, or when another process may have written. */
  forget(): void {
    this.#dictionaries.clear()
  }

  async dictionary(
    statements: Pick<Statements, 'rows'>,
    id: SqlValue | undefined,
  ): Promise<Uint8Array | undefined> {
    if (id === null || id === undefined) return undefined
    if (!this.#dictionaries.has(Number(id))) await this.fetch(statements, [id])
    return this.#dictionaries.get(Number(id))
  }

  /** Fetches the dictionaries that rows will ask for, by one statement. */
  async fetch(
    statements: Pick<Statements, 'rows'>,
    ids: readonly (SqlValue | undefined)[],
  ): Promise<void> {
    const given = ids.filter((id) => id !== null && id !== undefined)
    const lacked = [...new Set(given)].filter((id) => !this.#dictionaries.has(Number(id)))
    if (lacked.length === 0) return
    const rows = await statements.rows(
      `SELECT id, body FROM dictionaries WHERE id IN (${places(lacked, 1)})`,
      lacked,
    )
    if (this.#dictionaries.size + rows.length > maxDictionaries) this.#dictionaries.clear()
    for (const { id, body } of rows) {
      if (body instanceof Uint8Array) this.#dictionaries.set(Number(id), body)
    }
  }

  /** The bytes (UTF-8) of a row with `dictionary` and this column. */
  async bytes(
    statements: Pick<Statements, 'rows'>,
    row: SqlRow,
    column: 'body' | 'detail' = 'body',
  ): Promise<Buffer> {
    const dictionary = await this.dictionary(statements, row['dictionary'])
    return unpacked(row[column] as Uint8Array, dictionary)
  }

  async text(...parameters: Parameters<KeptTexts['bytes']>): Promise<string> {
    return (await this.bytes(...parameters)).toString()
  }
}
