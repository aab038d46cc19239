/** Sizes in V8's heap, without pointer compression. */
const pointerBytes = 8
const headerBytes = 32
const beyondLatin1 = /[\u0100-\uffff]/

/** About what a string takes in memory. */
export function stringBytes(text: string): number {
  return headerBytes + text.length * (beyondLatin1.test(text) ? 2 : 1)
}

/** About what a parsed JSON value takes in memory; stops counting once that is more than `limit`. */
export function valueBytes(value: unknown, limit: number = Infinity): number {
  let bytes = 0
  // Without recursion: an object may be nested deeper than the stack is.
  const due: unknown[] = [value]
  while (due.length > 0 && bytes <= limit) {
    const one = due.pop()
    if (typeof one === 'string') bytes += stringBytes(one)
    if (typeof one !== 'object' || one === null) continue
    const inner = Object.values(one)
    bytes += headerBytes + inner.length * pointerBytes
    for (const child of inner) {
      if (typeof child === 'string' || typeof child === 'object') due.push(child)
    }
  }
  return bytes
}
