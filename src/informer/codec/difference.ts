import { endsScalar, skipValue, startsScalar } from './json-bytes.ts'
import type { ObjectText } from './object-text.ts'
import { nodeField, nodeWidth, type Template } from './template.ts'

/** Numbers per entry: a node of the template, and the range of the object's text in its place. */
export const differenceWidth = 3

/**
 * The differences between an object and a template: nodes of the template in ascending order, none inside another, each
 * with the range of the object's text in its place. Found by walking over both texts in parallel. At the first
 * different byte, the innermost value of the template at that place counts as different as a whole, and the walk
 * continues after it. Equal bytes from equal positions are equal tokens, so nothing in between needs parsing. Reusable.
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

  /** The innermost value at the place `at`, where the object continues with `found`. */
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

/** How many bytes are equal from the two positions on. */
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
