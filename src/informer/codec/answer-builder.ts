import { isJsonObject } from '../../lib/json.ts'
import { AnswerTooLongError, checkRoom, withinRoom } from './answer-room.ts'
import { writeJson } from './leaf-writer.ts'
import { projectParsed, projectParsedAt } from './parsed-projection.ts'
import type { ObjectSelection, SelectedField, SelectedValue } from './projection.ts'
import { type Hole, noNode, TemplateAnswer } from './template-answer.ts'
import { nodeField, nodeWidth, type Template } from './template.ts'

/**
 * Writes the selection of the template's own object. `undefined` where the slow way must do for that one, and where the
 * answer would be too large: then the rows of the template have to be decoded.
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

/** An answer of more holes, or of more texts of containers, saves too little: its rows are decoded. So are those of a longer one. */
const maxHoles = 1 << 14
const maxContainers = 16
const maxAnswerUnits = 1 << 20

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const anyJson: SelectedValue = { form: 'leaf', write: writeJson }
const anyField: SelectedField = { key: '', path: [], value: anyJson }

/** Walks over a selection and the nodes of a template in step. */
class AnswerBuilder {
  /** `undefined` once a part of it could not be written. */
  text: string | undefined = ''
  readonly holes: Mutable<Hole>[] = []
  readonly #template: Template
  #containers = 0

  constructor(template: Template) {
    this.#template = template
  }

  /** The value of a node, which is `parsed`. */
  addValue(value: SelectedValue, node: number, parsed: unknown): void {
    if (this.text === undefined) return
    const children = this.#childrenOf(node)
    // A scalar, an empty container, or one that the template did not take apart.
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

  /** Made of the whole object; where it is to be made of a part of one, each row is decoded. */
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

  /** What stands at the field's path from `from` on, seen from the node. */
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
