import { isJsonObject } from '../../lib/json.ts'
import {
  AnswerTooLongError,
  checkRoom,
  type ObjectSelection,
  type SelectedField,
  type SelectedValue,
  withinRoom,
} from './projection.ts'
import { writeJson } from './leaf-writer.ts'
import { projectParsed, projectParsedAt } from './parsed-projection.ts'
import { type Hole, noNode, TemplateAnswer } from './template-answer.ts'
import { nodeField, nodeWidth, type Template } from './template.ts'

/**
 * Writes the selection of the template's own object, with its holes. `undefined` if the selection cannot be written
 * this way or the answer would be too large: then the template's rows are decoded.
 */
export function answerOf(
  template: Template,
  selection: ObjectSelection,
): TemplateAnswer | undefined {
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

/** With more holes, container texts or bytes than this, an answer saves too little: rows are decoded. */
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

  /** A computed part of the whole object. If it needs only a part of the object, each row is decoded. */
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

/** The answers of one template; `null` if rows must be decoded. */
type Answers = Map<ObjectSelection, TemplateAnswer | null>

/** The size of an entry without its answer. */
const entryBytes = 100

/**
 * Keeps the answers for the selections of one resource, per template. Answers are dropped with their templates. Of the
 * others, two generations are kept: when the young one exceeds `maxBytes` it becomes the old one, and the entries of
 * the previous old one that were not used since are dropped. So the cache takes at most twice `maxBytes`.
 */
export class AnswerCache {
  readonly #maxBytes: number
  #young = new WeakMap<Template, Answers>()
  #old = new WeakMap<Template, Answers>()
  #youngBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns `undefined` if the template's rows must be decoded. */
  answer(template: Template, selection: ObjectSelection): TemplateAnswer | undefined {
    const young = this.#young.get(template)?.get(selection)
    return (young === undefined ? this.#renew(template, selection) : young) ?? undefined
  }

  #renew(template: Template, selection: ObjectSelection): TemplateAnswer | null {
    const old = this.#old.get(template)?.get(selection)
    const answer = old === undefined ? (answerOf(template, selection) ?? null) : old
    this.#youngBytes += entryBytes + (answer?.bytes ?? 0)
    if (this.#youngBytes > this.#maxBytes) {
      this.#old = this.#young
      this.#young = new WeakMap()
      this.#youngBytes = entryBytes + (answer?.bytes ?? 0)
    }
    const answers: Answers = this.#young.get(template) ?? new Map()
    this.#young.set(template, answers.set(selection, answer))
    return answer
  }
}
