import type { Unstructured } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import { jsonChar, valueEnd } from '../../lib/json-text.ts'
import {
  AnswerTooLongError,
  checkRoom,
  type LeafWriter,
  type ObjectSelection,
  type SelectedField,
  type SelectedValue,
  withinRoom,
  writeJson,
} from './projection.ts'
import { readRow, type Row } from './row.ts'
import { nodeField, nodeWidth, type Template } from './template.ts'
import { projectParsed, projectParsedAt, projectTextAt } from './value-projection.ts'

/** `null`: rows must be decoded. */
type Answers = Map<ObjectSelection, TemplateAnswer | null>

const entryBytes = 100

/**
 * Keeps the answers for the selections of one resource, per template, in two generations: when the young one exceeds
 * `maxBytes` it becomes the old one, and old entries that were not used since are dropped. Takes at most twice
 * `maxBytes`.
 */
export class AnswerCache {
  readonly #maxBytes: number
  /** Absent while they are not needed: a fleet has thousands of caches, and V8 visits each such map whenever it collects. */
  #young: WeakMap<Template, Answers> | undefined
  #old: WeakMap<Template, Answers> | undefined
  #youngBytes = 0
  #oldBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#youngBytes + this.#oldBytes
  }

  /** Returns `undefined` if the template's rows must be decoded. */
  answer(template: Template, selection: ObjectSelection): TemplateAnswer | undefined {
    const young = this.#young?.get(template)?.get(selection)
    return (young === undefined ? this.#renew(template, selection) : young) ?? undefined
  }

  #renew(template: Template, selection: ObjectSelection): TemplateAnswer | null {
    const old = this.#old?.get(template)?.get(selection)
    const answer = old === undefined ? (answerOf(template, selection) ?? null) : old
    this.#youngBytes += entryBytes + (answer?.bytes ?? 0)
    if (this.#youngBytes > this.#maxBytes) {
      this.#old = this.#young
      this.#oldBytes = this.#maxBytes
      this.#young = undefined
      this.#youngBytes = entryBytes + (answer?.bytes ?? 0)
    }
    this.#young ??= new WeakMap()
    const answers: Answers = this.#young.get(template) ?? new Map()
    this.#young.set(template, answers.set(selection, answer))
    return answer
  }
}

const noHole = -1
/** The node of a hole that depends on a whole container. */
const noNode = -1

/** A range of the answer that depends on one node of the template. */
interface Hole {
  readonly start: number
  readonly end: number
  readonly node: number
  /** What the hole shows of the node's value: `field.value` at `field.path` from index `from` on. */
  readonly field: SelectedField
  readonly from: number
  /** With {@link noNode}: the answer that forms the text of the container, and the writer that takes it. */
  readonly container?: ContainerText
  /** With {@link noNode}: computes the text from the decoded object. */
  readonly make?: (object: Readonly<Record<string, unknown>>) => string | undefined
}

interface ContainerText {
  readonly answer: TemplateAnswer
  readonly write: LeafWriter
}

/** For each hole of the current row, where its new value starts and ends; 0 for unchanged holes. */
let valueStarts = new Int32Array(256)
let valueEnds = new Int32Array(256)

/**
 * Writes a selection without decoding. A row is its template with other values at some nodes; its answer is the
 * template's answer, written once, with other texts in some holes. A hole is a range of that text which was made from
 * one node.
 *
 * A hole is a whole value, and holes nest as the selected values do. Differences never nest, so the holes that a row
 * fills do not either: its answer alternates pieces of the template's answer with filled holes. For a scalar, the row's
 * text is written, with its spelling normalised. For a container, its text gives the selected parts. Only
 * values that `JSON.stringify` would spell differently are parsed.
 *
 * Differences are in the order of the object's text, holes in the order of the selection, and a node may be selected
 * several times. So one pass over the row locates the value of each hole, and one pass over the holes writes.
 *
 * A writer may turn a container into something else than its text, such as its length. Then the container's text is
 * written first, as an answer of its own, and passed to the writer.
 */
class TemplateAnswer {
  readonly bytes: number
  readonly #text: string
  readonly #holes: readonly Hole[]
  /** Whether a part is computed from the decoded object. */
  readonly #isMade: boolean
  readonly #containers: readonly ContainerText[]
  /** The first hole of each node, or `noHole`. */
  readonly #holeOf: Int32Array
  readonly #nextHole: Int32Array
  /** Differences behind this node are not selected. */
  readonly #lastNode: number

  /** `holes`: in the order of their starts, outer ones first. */
  constructor(text: string, holes: readonly Hole[]) {
    this.#text = text
    this.#holes = holes
    this.#isMade = holes.some(({ make }) => make !== undefined)
    this.#containers = holes.flatMap(({ container }) => container ?? [])
    this.#lastNode = holes.reduce((last, { node }) => Math.max(last, node), 0)
    this.#holeOf = new Int32Array(this.#lastNode + 1).fill(noHole)
    this.#nextHole = new Int32Array(holes.length)
    for (let index = holes.length - 1; index >= 0; index--) {
      const node = holes[index]?.node ?? noNode
      if (node === noNode) continue
      this.#nextHole[index] = this.#holeOf[node] ?? noHole
      this.#holeOf[node] = index
    }
    const nodeBytes = this.#lastNode * Int32Array.BYTES_PER_ELEMENT
    const inner = this.#containers.reduce((sum, { answer }) => sum + answer.bytes, 0)
    this.bytes = text.length + holes.length * holeBytes + nodeBytes + inner
  }

  /** The answer for a row of this template; `undefined` if the row must be decoded. */
  fill(row: Row): string | undefined {
    const { text } = row
    const object = this.#isMade ? (readRow(row) as Unstructured) : undefined
    // Inner answers come first, because they reuse the positions of values.
    const containers = this.#containers.map(({ answer }) => answer.fill(row))
    if (!this.#noteValues(text) && containers.length === 0 && object === undefined)
      return this.#text
    let container = 0
    let answer = ''
    let written = 0
    for (let index = 0; index < this.#holes.length; index++) {
      const start = valueStarts[index] ?? 0
      const hole = this.#holes[index] as Hole
      let piece: string | undefined
      if (hole.container !== undefined) {
        const whole = containers[container++]
        // The container itself, or one around it, differs as a whole.
        if (hole.start < written) continue
        piece = whole === undefined ? undefined : hole.container.write(whole)
      } else if (hole.make !== undefined) {
        piece = object === undefined ? undefined : hole.make(object)
      } else if (start === 0) continue
      else piece = projectTextAt(hole.field, hole.from, text, start, valueEnds[index] ?? 0)
      if (piece === undefined) return undefined
      answer += this.#text.slice(written, hole.start) + piece
      checkRoom(answer.length)
      written = hole.end
    }
    return answer + this.#text.slice(written)
  }

  /** Returns whether the row has values for holes. */
  #noteValues(text: string): boolean {
    reserve(this.#holes.length)
    const starts = valueStarts
    const ends = valueEnds
    const holeOf = this.#holeOf
    const nextHole = this.#nextHole
    const lastNode = this.#lastNode
    let filled = false
    let index = 1
    while (index < text.length - 1) {
      let node = 0
      for (;;) {
        const char = text.charCodeAt(index++)
        if (char === jsonChar.comma) break
        node = node * 10 + char - jsonChar.zero
      }
      if (node > lastNode) break
      const end = valueEnd(text, index)
      let hole = holeOf[node] ?? noHole
      for (; hole !== noHole; hole = nextHole[hole] ?? noHole) {
        starts[hole] = index
        ends[hole] = end
        filled = true
      }
      index = end + 1
    }
    return filled
  }
}

const holeBytes = 64

function reserve(holes: number): void {
  if (valueStarts.length < holes) {
    valueStarts = new Int32Array(holes * 2)
    valueEnds = new Int32Array(holes * 2)
  } else valueStarts.fill(0, 0, holes)
}

/**
 * Writes the selection of the template's own object, with its holes. `undefined` if it cannot be written this way, or
 * is too large.
 */
function answerOf(template: Template, selection: ObjectSelection): TemplateAnswer | undefined {
  const builder = new AnswerBuilder(template)
  const value = { form: 'object', selection, required: true } as const
  try {
    withinRoom(maxAnswerUnits, () => builder.addValue(value, 0, template.object))
  } catch (error) {
    if (error instanceof AnswerTooLongError) return undefined
    throw error
  }
  const { text, holes } = builder
  return text === undefined ? undefined : new TemplateAnswer(text, holes)
}

/** With more than this, an answer saves too little: rows are decoded. */
const maxHoles = 1 << 14
const maxContainers = 16
const maxAnswerUnits = 1 << 20

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const anyJson: SelectedValue = { form: 'leaf', write: writeJson }
const anyField: SelectedField = { key: '', path: [], value: anyJson }

/** Walks over a selection and the nodes of a template in parallel. */
class AnswerBuilder {
  /** `undefined` after a part could not be written. */
  text: string | undefined = ''
  readonly holes: Mutable<Hole>[] = []
  readonly #template: Template
  #containers = 0

  constructor(template: Template) {
    this.#template = template
  }

  /** Adds the value of a node; `parsed` is its parsed form. */
  addValue(value: SelectedValue, node: number, parsed: unknown): void {
    if (this.text === undefined) return
    const children = this.#childrenOf(node)
    // A scalar, an empty container, or a container that the template treats as one node.
    if (children.length === 0) this.#add(projectParsed(value, parsed))
    else if (value.form === 'object' && isJsonObject(parsed)) {
      this.#addMembers(value.selection, node, parsed)
    } else if (value.form === 'list' && Array.isArray(parsed)) {
      this.#addAll('[', ']', children, (child) => this.#addChild(value.of, child, parsed))
    } else if (value.form === 'entries' && isJsonObject(parsed)) {
      this.#addAll('[', ']', children, (child) => {
        this.#addAll('{', '}', value.fields, (field) => {
          this.#add(`${JSON.stringify(field.key)}:`)
          if (field.value === 'key') this.#add(JSON.stringify(this.#template.keys[child]))
          else this.#addChild(field.value, child, parsed)
        })
      })
    } else if (value.form === 'leaf') this.#addContainer(value, node, children, parsed)
    else if (value.form === 'made') this.#addMade(value, node, parsed)
    else this.#add(projectParsed(value, parsed))
  }

  #addContainer(
    { write }: SelectedValue & { readonly form: 'leaf' },
    node: number,
    children: readonly number[],
    parsed: unknown,
  ): void {
    if (write !== writeJson) {
      if (++this.#containers > maxContainers) this.#add(undefined)
      const inner = new AnswerBuilder(this.#template)
      inner.addValue(anyJson, node, parsed)
      const { text } = inner
      if (text === undefined) return this.#add(undefined)
      const container = { answer: new TemplateAnswer(text, inner.holes), write }
      this.#addHole({ node: noNode, field: anyField, from: 0, container }, () => {
        this.#add(write(text))
      })
    } else if (Array.isArray(parsed)) {
      this.#addAll('[', ']', children, (child) => this.#addChild(anyJson, child, parsed))
    } else {
      this.#addAll('{', '}', children, (child) => {
        this.#add(`${JSON.stringify(this.#template.keys[child])}:`)
        this.#addChild(anyJson, child, parsed)
      })
    }
  }

  /** If it needs only a part of the object, each row is decoded. */
  #addMade(
    { make }: SelectedValue & { readonly form: 'made' },
    node: number,
    parsed: unknown,
  ): void {
    if (node !== 0 || !isJsonObject(parsed)) return this.#add(undefined)
    this.#addHole({ node: noNode, field: anyField, from: 0, make }, () => this.#add(make(parsed)))
  }

  #addMembers({ fields }: ObjectSelection, node: number, parsed: unknown): void {
    this.#addAll('{', '}', fields, (field) => {
      this.#add(`${JSON.stringify(field.key)}:`)
      this.#addAt(field, 0, node, parsed)
    })
  }

  /** Adds the value at the field's path from index `from` on, relative to the node. */
  #addAt(field: SelectedField, from: number, node: number, parsed: unknown): void {
    const property = field.path[from]
    if (property === undefined) {
      this.addValue(field.value, node, parsed)
      return
    }
    const child = this.#childrenOf(node).find((inner) => this.#template.keys[inner] === property)
    if (child === undefined) {
      this.#add(projectParsedAt(field.value, parsed, field.path, from))
      return
    }
    this.#addHole({ node: child, field, from: from + 1 }, () => {
      this.#addAt(field, from + 1, child, (parsed as Readonly<Record<string, unknown>>)[property])
    })
  }

  #addChild(value: SelectedValue, child: number, parsed: unknown): void {
    const inner = (parsed as Readonly<Record<string | number, unknown>>)[
      this.#template.keys[child] ?? 0
    ]
    const field = value === anyJson ? anyField : { key: '', path: [], value }
    this.#addHole({ node: child, field, from: 0 }, () => this.addValue(value, child, inner))
  }

  #addHole(part: Omit<Hole, 'start' | 'end'>, add: () => void): void {
    if (this.holes.length >= maxHoles) this.#add(undefined)
    const hole = { start: this.#length(), end: 0, ...part }
    this.holes.push(hole)
    add()
    hole.end = this.#length()
  }

  #addAll<T>(open: string, close: string, parts: readonly T[], add: (part: T) => void): void {
    this.#add(open)
    for (let index = 0; index < parts.length; index++) {
      if (index > 0) this.#add(',')
      add(parts[index] as T)
    }
    this.#add(close)
  }

  #length(): number {
    return this.text?.length ?? 0
  }

  #add(text: string | undefined): void {
    this.text = text === undefined || this.text === undefined ? undefined : this.text + text
    checkRoom(this.#length())
  }

  #childrenOf(node: number): number[] {
    const children: number[] = []
    const end = this.#field(node, nodeField.next)
    for (let child = node + 1; child < end; child = this.#field(child, nodeField.next)) {
      children.push(child)
    }
    return children
  }

  #field(node: number, field: number): number {
    return this.#template.nodes[node * nodeWidth + field] ?? 0
  }
}
