import type { Json, KubernetesObject } from '../../kubernetes/object.ts'
import { differenceWidth, type Difference } from './difference.ts'
import { parseExact } from '../../lib/json.ts'
import { jsonChar, mayHoldLongInteger } from './json-bytes.ts'
import type { ObjectText } from './object-text.ts'
import { nodeField, nodeWidth, type Template } from './template.ts'
import { stringBytes, valueBytes } from './memory-size.ts'

/** An object held as its differences from a template. */
export class Row {
  readonly template: Template
  /** A JSON array: a node of the template, the value in its place, the next node, … in ascending order. */
  readonly text: string
  /** Whether the text may hold integers that need `parseExact`. */
  readonly exact: boolean

  constructor(template: Template, text: string, exact: boolean) {
    this.template = template
    this.text = text
    this.exact = exact
  }
}

export class RowWriter {
  #bytes: Buffer = Buffer.alloc(1 << 13)

  /** Returns `undefined` if the row would be longer than `maxBytes`. */
  write(
    template: Template,
    text: ObjectText,
    difference: Difference,
    maxBytes: number,
  ): Row | undefined {
    const { entries, count } = difference
    let size = 2
    for (let at = 0; at < count * differenceWidth; at += differenceWidth) {
      size += nodeDigits + 2 + (entries[at + 2] ?? 0) - (entries[at + 1] ?? 0)
    }
    if (size > maxBytes) return undefined
    if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size * 2)
    const bytes = this.#bytes
    let exact = false
    let to = 0
    bytes[to++] = jsonChar.openBracket
    for (let at = 0; at < count * differenceWidth; at += differenceWidth) {
      const start = entries[at + 1] ?? 0
      const end = entries[at + 2] ?? 0
      if (at > 0) bytes[to++] = jsonChar.comma
      to = writeNumber(bytes, to, entries[at] ?? 0)
      bytes[to++] = jsonChar.comma
      if (!exact && needsExact(text.bytes, start, end)) exact = true
      to = copy(text.bytes, start, end, bytes, to)
    }
    bytes[to++] = jsonChar.closeBracket
    return new Row(template, bytes.toString('utf8', 0, to), exact)
  }
}

const nodeDigits = 8

function writeNumber(bytes: Buffer, at: number, value: number): number {
  let unit = 1
  while (unit * 10 <= value) unit *= 10
  let to = at
  for (let rest = value; unit >= 1; unit = Math.floor(unit / 10)) {
    const digit = Math.floor(rest / unit)
    bytes[to++] = jsonChar.zero + digit
    rest -= digit * unit
  }
  return to
}

function needsExact(bytes: Buffer, start: number, end: number): boolean {
  return bytes[start] !== jsonChar.quote && mayHoldLongInteger(bytes, start, end)
}

/** Up to some tens of bytes, a loop is faster than the native copy. */
function copy(from: Buffer, start: number, end: number, to: Buffer, at: number): number {
  if (end - start > 64) from.copy(to, at, start, end)
  else for (let index = start; index < end; index++) to[at + index - start] = from[index] ?? 0
  return at + end - start
}

/** The object of a row: copies the containers around each difference and shares the rest with the template. */
export function readRow(row: Row): KubernetesObject {
  const { template } = row
  if (row.text === '[]') return template.object
  const entries = (row.exact ? parseExact(row.text) : JSON.parse(row.text)) as readonly Json[]
  const { nodes, keys } = template
  const root: Container = { ...template.object }
  copies[0] = root
  copiedNodes[0] = 0
  let depth = 0
  for (let at = 0; at < entries.length; at += 2) {
    const node = entries[at] as number
    while ((nodes[(copiedNodes[depth] ?? 0) * nodeWidth + nodeField.next] ?? 0) <= node) depth--
    let missing = 0
    let parent = nodes[node * nodeWidth + nodeField.parent] ?? 0
    while (parent !== copiedNodes[depth]) {
      path[missing++] = parent
      parent = nodes[parent * nodeWidth + nodeField.parent] ?? 0
    }
    while (missing > 0) {
      const inner = path[--missing] ?? 0
      const around = copies[depth] ?? root
      const key = keys[inner] ?? 0
      const own = shallowCopy(around[key] as Container)
      around[key] = own
      copies[++depth] = own
      copiedNodes[depth] = inner
    }
    const container = copies[depth] ?? root
    container[keys[node] ?? 0] = entries[at + 1]
  }
  copies.fill(undefined, 0)
  return root as unknown as KubernetesObject
}

/** A copied object or array that takes its differences. */
type Container = Record<string | number, unknown>

/** The copied containers from the object down to the last difference; reused by each call. */
const copies: (Container | undefined)[] = []
const copiedNodes: number[] = []
const path: number[] = []

function shallowCopy(container: Container): Container {
  return Array.isArray(container)
    ? (container.slice() as unknown as Container)
    : Object.assign({}, container)
}

/** An object held as its JSON text, which is smaller but must be parsed. */
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

/** Returns the object itself if it takes no more memory than its text (few values, long strings), or else the text. */
export function holdWhole(
  object: KubernetesObject,
  text: string,
  exact: boolean,
): KubernetesObject | WholeText {
  const textBytes = stringBytes(text)
  return valueBytes(object, textBytes) <= textBytes ? object : new WholeText(text, exact)
}
