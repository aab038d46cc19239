import type { KubernetesObject } from '../../kubernetes/object.ts'
import { parseExact } from '../../lib/exact-json.ts'

/** An object held as its JSON text: smaller than the object itself, read at the price of parsing. */
export class WholeText {
  readonly text: string
  /** Whether the text may hold integers that need `parseExact`. */
  readonly exact: boolean

  constructor(text: string, exact: boolean) {
    this.text = text
    this.exact = exact
  }
}

export function readWholeText({ text, exact }: WholeText): KubernetesObject {
  return (exact ? parseExact(text) : JSON.parse(text)) as KubernetesObject
}

/** The object itself where it takes no more memory than its text (few values, long strings), or else the text. */
export function holdWhole(
  object: KubernetesObject,
  text: string,
  exact: boolean,
): KubernetesObject | WholeText {
  const textBytes = stringBytes(text)
  return valueBytes(object, textBytes, 0) <= textBytes ? object : new WholeText(text, exact)
}

/** Sizes in V8's heap, without pointer compression. */
const pointerBytes = 8
const headerBytes = 32
const maxDepth = 64
const beyondLatin1 = /[\u0100-\uffff]/

function stringBytes(text: string): number {
  return headerBytes + text.length * (beyondLatin1.test(text) ? 2 : 1)
}

/** About what a parsed value takes; stops counting once that is more than `limit`. */
function valueBytes(value: unknown, limit: number, depth: number): number {
  if (typeof value === 'string') return stringBytes(value)
  if (typeof value !== 'object' || value === null) return 0
  if (depth > maxDepth) return Infinity
  let bytes = headerBytes
  for (const inner of Object.values(value)) {
    bytes += pointerBytes + valueBytes(inner, limit - bytes, depth + 1)
    if (bytes > limit) return bytes
  }
  return bytes
}
