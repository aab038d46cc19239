/*
 * Texts as they are kept: compressed, against a text of the same kind where there is one.
 */

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** With a checksum: a byte that flips on the disk is noticed. */
const params = { [constants.ZSTD_c_checksumFlag]: 1 }

export function packedText(text: string, dictionary: Uint8Array | undefined): Uint8Array {
  const bytes = Buffer.from(text)
  // Tables of the right size are made sooner.
  const options = { params, pledgedSrcSize: bytes.length }
  return zstdCompressSync(bytes, dictionary === undefined ? options : { ...options, dictionary })
}

/** UTF-8. */
export function unpacked(packed: Uint8Array, dictionary: Uint8Array | undefined): Buffer {
  return zstdDecompressSync(packed, dictionary === undefined ? {} : { dictionary })
}

export function unpackedText(packed: Uint8Array, dictionary: Uint8Array | undefined): string {
  return unpacked(packed, dictionary).toString()
}
