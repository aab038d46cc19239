/*
 * Texts as they are kept: compressed, against a text of the same kind where there is one.
 */

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** With a checksum: a byte that flips on the disk is noticed. */
const params = { [constants.ZSTD_c_checksumFlag]: 1 }

export function packedText(text: string, dictionary: Uint8Array | undefined): Uint8Array {
  return zstdCompressSync(text, dictionary === undefined ? { params } : { params, dictionary })
}

export function unpackedText(packed: Uint8Array, dictionary: Uint8Array | undefined): string {
  return zstdDecompressSync(packed, dictionary === undefined ? {} : { dictionary }).toString()
}
