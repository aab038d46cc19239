import { StringDecoder } from 'node:string_decoder'

/** Reads a body to its end, or until it has more than `mostBytes`: then what is left of it is not read. */
export async function readUpTo(mostBytes: number, body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > mostBytes) break
  }
  return Buffer.concat(chunks)
}

/**
 * The text of a body, and its size. It is decoded as it arrives, and its bytes are given back at once: they lie outside of
 * the heap, where the collector sees them late, and where what a large body has occupied stays occupied.
 */
export async function readTextUpTo(
  mostBytes: number,
  body: AsyncIterable<Buffer>,
): Promise<{ readonly text: string; readonly bytes: number }> {
  const decoder = new StringDecoder('utf8')
  let text = ''
  let bytes = 0
  for await (const chunk of body) {
    text += decoder.write(chunk)
    bytes += chunk.length
    // Unless the chunk is a part of a buffer that others have, too.
    if (chunk.length === chunk.buffer.byteLength) (chunk.buffer as ArrayBuffer).transfer(0)
    if (bytes > mostBytes) break
  }
  return { text: text + decoder.end(), bytes }
}
