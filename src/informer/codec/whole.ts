import type { KubernetesObject } from '../../kubernetes/object.ts'
import { parseExact } from '../../lib/json.ts'
import { stringBytes, valueBytes } from './memory-size.ts'

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
  return valueBytes(object, textBytes) <= textBytes ? object : new WholeText(text, exact)
}
