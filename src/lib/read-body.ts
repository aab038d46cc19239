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
