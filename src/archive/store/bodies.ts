/*
 * Texts as they are kept: compressed, against a text of the same kind where there is one.
 */

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

export function packedText(text: string, dictionary: Uint8Array | undefined): Uint8Array {
  return zstdCompressSync(text, dictionary === undefined ? {} : { dictionary })
}

export function unpackedText(packed: Uint8Array, dictionary: Uint8Array | undefined): string {
  return zstdDecompressSync(packed, dictionary === undefined ? {} : { dictionary }).toString()
}
