import type { Json, JsonObject, KubernetesObject } from '../../kubernetes/object.ts'
import { valueBytes } from './memory-size.ts'
import { jsonChar, skipString, skipValue } from './json-bytes.ts'

/** A value nested deeper than this is one node, compared and recorded as a whole. */
const maxDepth = 64

/** The numbers for each node in {@link Template.nodes}. */
export const nodeWidth = 4
export const nodeField = { start: 0, end: 1, parent: 2, next: 3 } as const

/**
 * An object that others are held as differences from: its text, its value, and the tree of its values as a flat array.
 * Node 0 is the object; the nodes are in the order of the text (preorder).
 */
export interface Template {
  readonly bytes: Buffer
  readonly view: DataView
  /** `nodeWidth` numbers per node: the start and end of its text, its parent, and the next node outside it. */
  readonly nodes: Uint16Array
  /** The key or index of each node in its parent. */
  readonly keys: readonly (string | number)[]
  readonly object: KubernetesObject
}

/** Larger objects do not become templates, because their offsets do not fit 16 bits. */
export const maxTemplateBytes = 0xffff

/**
 * Creates a template from a text and its parsed value. `undefined` if the text has white space, unlike those of
 * servers, or is longer than {@link maxTemplateBytes}. Objects with a repeated key or a `__proto__` become one node.
 */
export function createTemplate(
  text: Buffer,
  end: number,
  object: KubernetesObject,
): Template | undefined {
  if (end > maxTemplateBytes) return undefined
  const bytes = Buffer.from(
    text.buffer.slice(text.byteOffset, text.byteOffset + end) as ArrayBuffer,
  )
  const tree = new TreeBuilder(bytes)
  if (tree.add(0, 0, '', object as unknown as Json, 0) !== end) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return { bytes, view, nodes: new Uint16Array(tree.nodes), keys: tree.keys.slice(), object }
}

/** The approximate size of a template in memory. */
export function templateBytes({ bytes, nodes, keys, object }: Template): number {
  const structures = 512
  return structures + bytes.length + nodes.byteLength + keys.length * 8 + valueBytes(object)
}

class TreeBuilder {
  readonly nodes: number[] = []
  readonly keys: (string | number)[] = []
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Adds the value at `start` with everything in it. Returns the index after it, or -1. */
  add(start: number, parent: number, key: string | number, value: Json, depth: number): number {
    const node = this.keys.length
    this.nodes.push(start, 0, parent, 0)
    this.keys.push(key)
    const end = this.#addWithin(start, node, value, depth)
    this.nodes[node * nodeWidth + nodeField.end] = end
    this.nodes[node * nodeWidth + nodeField.next] = this.keys.length
    return end
  }

  #addWithin(start: number, node: number, value: Json, depth: number): number {
    const bytes = this.#bytes
    if (depth < maxDepth && typeof value === 'object' && value !== null) {
      if (bytes[start] === jsonChar.openBracket && Array.isArray(value)) {
        return this.#addElements(start, node, value as readonly Json[], depth)
      }
      if (bytes[start] === jsonChar.openBrace) {
        const end = this.#addMembers(start, node, value as JsonObject, depth)
        if (end >= 0) return end
        this.keys.length = node + 1
        this.nodes.length = (node + 1) * nodeWidth
      }
    }
    return skipValue(bytes, start, bytes.length)
  }

  #addElements(start: number, node: number, values: readonly Json[], depth: number): number {
    const bytes = this.#bytes
    let index = start + 1
    if (bytes[index] === jsonChar.closeBracket) return index + 1
    for (let position = 0; position < values.length; position++) {
      index = this.add(index, node, position, values[position] ?? null, depth + 1)
      const after = index < 0 ? undefined : bytes[index]
      if (after === jsonChar.closeBracket) return index + 1
      if (after !== jsonChar.comma) return -1
      index++
    }
    return -1
  }

  /** Also returns -1 if the keys in the text are not, in order, those of the value. */
  #addMembers(start: number, node: number, values: JsonObject, depth: number): number {
    const bytes = this.#bytes
    let index = start + 1
    if (bytes[index] === jsonChar.closeBrace) return index + 1
    // Unlike strings read from the text, these are the engine's own copies of the property names.
    for (const key of Object.keys(values)) {
      if (bytes[index] !== jsonChar.quote) return -1
      const close = skipString(bytes, index, bytes.length)
      if (close < 0 || bytes[close] !== jsonChar.colon || !isKey(bytes, index, close, key))
        return -1
      if (key === '__proto__') return -1
      index = this.add(close + 1, node, key, values[key] ?? null, depth + 1)
      const after = index < 0 ? undefined : bytes[index]
      if (after === jsonChar.closeBrace) return index + 1
      if (after !== jsonChar.comma) return -1
      index++
    }
    return -1
  }
}

/** Whether the string between these indices, including quotes, is the key. */
function isKey(bytes: Buffer, start: number, end: number, key: string): boolean {
  if (end - start - 2 === key.length) {
    let index = 0
    while (index < key.length && bytes[start + 1 + index] === key.charCodeAt(index)) index++
    // Equal code units mean equal characters in ASCII only.
    if (index === key.length && asciiWithoutEscapes.test(key)) return true
  }
  return keyAt(bytes, start, end) === key
}

const asciiWithoutEscapes = /^[ !#-[\]-~]*$/

function keyAt(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(bytes.toString('utf8', start, end)) as string
}
