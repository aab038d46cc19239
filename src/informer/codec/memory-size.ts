/** Sizes in V8's heap, without pointer compression. */
const pointerBytes = 8
const headerBytes = 32
const beyondLatin1 = /[\u0100-\uffff]/

/** The approximate size of a string in memory. */
export function stringBytes(text: string): number {
  return headerBytes + text.length * (beyondLatin1.test(text) ? 2 : 1)
}

/** The approximate size of a parsed JSON value in memory. Stops counting above `limit`. */
export function valueBytes(value: unknown, limit: number = Infinity): number {
  let bytes = 0
  // Not recursive: objects may be nested deeper than the stack allows.
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
