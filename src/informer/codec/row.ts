import type { Json, KubernetesObject } from '../../kubernetes/object.ts'
import { parseExact } from '../../lib/json.ts'
import { endsScalar, jsonChar, valueEnd } from '../../lib/json-text.ts'
import { mayHoldLongInteger, skipValue, startsScalar } from './json-scan.ts'
import type { ObjectText } from './object-text.ts'
import { nodeField, nodeWidth, stringBytes, type Template, valueBytes } from './template.ts'

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

/** The JSON text of a row's object: that of the template, with the values of the row in their places. */
export function writeRow({ template, text }: Row): string {
  const { bytes, nodes } = template
  let written = ''
  let from = 0
  for (let at = 1; at < text.length - 1;) {
    const comma = text.indexOf(',', at)
    const node = Number(text.slice(at, comma)) * nodeWidth
    const end = valueEnd(text, comma + 1)
    written += bytes.toString('utf8', from, nodes[node + nodeField.start] ?? 0)
    written += text.slice(comma + 1, end)
    from = nodes[node + nodeField.end] ?? 0
    at = end + 1
  }
  return written + bytes.toString('utf8', from)
}

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

/** Numbers per entry: a node of the template, and the start and end of the text in its place. */
const differenceWidth = 3

/**
 * The differences between an object and a template: nodes of the template in ascending order, none inside another, each
 * with the range of the object's text in its place. A walk over both texts in parallel finds them: at the first
 * different byte, the innermost value of the template counts as different as a whole, and the walk goes on after it.
 * Equal bytes from equal positions are equal tokens, so nothing is parsed. Reusable.
 */
export class Difference {
  entries: Int32Array = new Int32Array(256 * differenceWidth)
  count = 0

  /** Returns false if the object and the template share nothing but their braces. */
  find(template: Template, text: ObjectText): boolean {
    this.count = 0
    const { nodes } = template
    const templateEnd = template.bytes.length
    let templateAt = text.headBytes
    let textAt = templateAt
    let fromNode = 0
    for (;;) {
      const equal = equalBytes(template, templateAt, text, textAt)
      templateAt += equal
      textAt += equal
      if (templateAt === templateEnd && textAt === text.end) return true
      if (templateAt === templateEnd || textAt === text.end) return false
      const node = this.#nodeAt(template, fromNode, templateAt, text.bytes[textAt])
      if (node <= 0) return false
      const start = this.#startOf(nodes, node)
      const end = skipValue(text.bytes, start, text.end)
      if (end < 0) return false
      this.#record(node, start, end)
      templateAt = nodes[node * nodeWidth + nodeField.end] ?? 0
      textAt = end
      fromNode = nodes[node * nodeWidth + nodeField.next] ?? 0
    }
  }

  #nodeAt(
    { bytes, nodes }: Template,
    fromNode: number,
    at: number,
    found: number | undefined,
  ): number {
    let low = Math.max(fromNode - 1, 0)
    let high = nodes.length / nodeWidth - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((nodes[middle * nodeWidth] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    let node = low
    // Between `1` and `12`, the texts differ after the template's number, but the number is what differs.
    const isBehind = node >= fromNode && nodes[node * nodeWidth + nodeField.end] === at
    if (isBehind && startsScalar(bytes[nodes[node * nodeWidth] ?? 0]) && !endsScalar(found)) {
      return node
    }
    while (node > 0 && (nodes[node * nodeWidth + nodeField.end] ?? 0) <= at) {
      node = nodes[node * nodeWidth + nodeField.parent] ?? 0
    }
    return node
  }

  /** The start of a node in the object's text. Drops the differences inside that node. */
  #startOf(nodes: Uint16Array, node: number): number {
    const { entries } = this
    const width = differenceWidth
    while (this.count > 0 && (entries[(this.count - 1) * width] ?? 0) >= node) this.count--
    const start = nodes[node * nodeWidth] ?? 0
    if (this.count === 0) return start
    const last = (this.count - 1) * width
    const lastNodeEnd = nodes[(entries[last] ?? 0) * nodeWidth + nodeField.end] ?? 0
    return (entries[last + 2] ?? 0) + start - lastNodeEnd
  }

  #record(node: number, start: number, end: number): void {
    const at = this.count * differenceWidth
    if (at + differenceWidth > this.entries.length) {
      const larger = new Int32Array(this.entries.length * 2)
      larger.set(this.entries)
      this.entries = larger
    }
    this.entries[at] = node
    this.entries[at + 1] = start
    this.entries[at + 2] = end
    this.count++
  }
}

function equalBytes(
  template: Template,
  templateAt: number,
  text: ObjectText,
  textAt: number,
): number {
  const length = Math.min(template.bytes.length - templateAt, text.end - textAt)
  const a = template.view
  const b = text.view
  let equal = 0
  for (;;) {
    // Compares eight bytes at once as doubles. The only equal doubles with different bytes are the two zeros, and a
    // template's text has no byte 0. Bytes that form NaN, which never equals itself, are compared one by one.
    while (
      equal + 8 <= length &&
      a.getFloat64(templateAt + equal, true) === b.getFloat64(textAt + equal, true)
    ) {
      equal += 8
    }
    const stop = Math.min(equal + 8, length)
    while (equal < stop && template.bytes[templateAt + equal] === text.bytes[textAt + equal])
      equal++
    if (equal < stop || equal === length) return equal
  }
}
