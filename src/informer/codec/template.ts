import type { Json, JsonObject, KubernetesObject } from '../../kubernetes/object.ts'
import { jsonChar } from '../../lib/json-text.ts'
import { skipString, skipValue } from './json-scan.ts'
import { noGroup, type ObjectText } from './object-text.ts'

/** A value nested deeper than this is one node, compared and recorded as a whole. */
const maxDepth = 64

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

/** Offsets in larger objects do not fit 16 bits. */
const maxTemplateBytes = 0xffff

/**
 * `undefined` if the text has white space or is longer than {@link maxTemplateBytes}. Objects with a repeated key or a
 * `__proto__` become one node.
 */
function createTemplate(text: Buffer, end: number, object: KubernetesObject): Template | undefined {
  if (end > maxTemplateBytes) return undefined
  const bytes = Buffer.from(
    text.buffer.slice(text.byteOffset, text.byteOffset + end) as ArrayBuffer,
  )
  const tree = new TreeBuilder(bytes)
  if (tree.add(0, 0, '', object as unknown as Json, 0) !== end) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return { bytes, view, nodes: new Uint16Array(tree.nodes), keys: tree.keys.slice(), object }
}

function templateBytes({ bytes, nodes, keys, object }: Template): number {
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

  /** Returns the index after the value, or -1. */
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

/** Whether the quoted string between these indices is the key. */
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

/** How many objects of a group come before it may have a template. */
const firstObjects = 4
/** A row fits its template up to this part of its object's text. */
const fittingPart = 1 / 8
/** The memory of a template (text, tree and object), as a multiple of its text. */
const templateCost = 3
const firstSweep = 4096

interface Group {
  /** Retained by its rows only, so that it is collected with the last of them. */
  template: WeakRef<Template> | undefined
  objects: number
  /** How many bytes the rows since the last template waste. */
  excessBytes: number
  /** Doubles with each template, so that a group without a fitting one stops trying. */
  patience: number
}

/**
 * The templates of one resource: one for all objects, and one for each group that is worth it. An object is held
 * against the template of its siblings (same owner, same namespace), of its kin in other namespaces, or of all objects.
 *
 * A template is created when the rows without it waste more bytes than it takes, and replaced when the rows with it do.
 * The number of groups is bounded by the number of used templates: each sweep drops groups without one.
 */
export class TemplateSet {
  readonly #groups = new Map<number, Group>()
  readonly #all: Group = newGroup()
  #templateOfAll: Template | undefined
  #sweepAt = firstSweep
  readonly #size = { bytes: 0 }

  /** The approximate memory of the templates that were created and not yet collected. */
  get bytes(): number {
    return this.#size.bytes
  }

  find({ siblings, kin }: ObjectText): Template | undefined {
    return this.#templateOf(siblings) ?? this.#templateOf(kin) ?? this.#templateOfAll
  }

  /** Records the size of an object against the template from `find`. Returns a template if the object becomes one. */
  learn(text: ObjectText, object: KubernetesObject, heldBytes: number): Template | undefined {
    const excess = Math.max(0, heldBytes - text.end * fittingPart)
    const ofSiblings = this.#templateOf(text.siblings) !== undefined
    const ofKin = ofSiblings || this.#templateOf(text.kin) !== undefined
    const all = !ofKin && isDue(this.#all, text, excess)
    const kin = !ofSiblings && isDue(this.#groupOf(text.kin), text, excess)
    const siblings = isDue(this.#groupOf(text.siblings), text, excess)
    if (!all && !kin && !siblings) return undefined
    const template = createTemplate(text.bytes, text.end, object)
    if (template !== undefined) {
      const bytes = templateBytes(template)
      this.#size.bytes += bytes
      collected.register(template, { size: this.#size, bytes })
    }
    if (all) this.#templateOfAll = template
    const group = all ? undefined : this.#groupOf(kin ? text.kin : text.siblings)
    if (group !== undefined) group.template = template && new WeakRef(template)
    return template
  }

  #templateOf(key: number): Template | undefined {
    return key === noGroup ? undefined : this.#groups.get(key)?.template?.deref()
  }

  #groupOf(key: number): Group | undefined {
    if (key === noGroup) return undefined
    let group = this.#groups.get(key)
    if (group === undefined) {
      if (this.#groups.size >= this.#sweepAt) this.#sweep()
      group = newGroup()
      this.#groups.set(key, group)
    }
    return group
  }

  #sweep(): void {
    for (const [key, group] of this.#groups) {
      if (group.template?.deref() === undefined) this.#groups.delete(key)
    }
    this.#sweepAt = Math.max(firstSweep, this.#groups.size * 2)
  }
}

/** Of all sets: each registry costs V8 time whenever it collects, and a fleet has thousands of sets. */
const collected = new FinalizationRegistry<{
  readonly size: { bytes: number }
  readonly bytes: number
}>(({ size, bytes }) => (size.bytes -= bytes))

function isDue(group: Group | undefined, text: ObjectText, excess: number): boolean {
  if (group === undefined) return false
  group.objects++
  group.excessBytes += excess
  if (group.objects < firstObjects || text.end > maxTemplateBytes) return false
  if (group.excessBytes < text.end * templateCost * group.patience) return false
  group.excessBytes = 0
  group.patience *= 2
  return true
}

function newGroup(): Group {
  return { template: undefined, objects: 0, excessBytes: 0, patience: 1 }
}

/** Sizes in V8's heap, without pointer compression. */
const pointerBytes = 8
const headerBytes = 32
const beyondLatin1 = /[\u0100-\uffff]/

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
