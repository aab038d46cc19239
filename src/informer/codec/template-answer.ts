import type { Unstructured } from '../../kubernetes/object.ts'
import { checkRoom, type LeafWriter, type SelectedField } from './projection.ts'
import { jsonChar } from './json-bytes.ts'
import { valueEnd } from './json-text.ts'
import { readRow, type Row } from './row.ts'
import { projectTextAt } from './text-projection.ts'

const noHole = -1
/** The node of a hole that depends on a whole container. */
export const noNode = -1

/** A range of the answer that depends on one node of the template. */
export interface Hole {
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
 * Writes a selection without decoding. A row is its template with other values at some nodes. In the same way, its
 * answer is the template's answer with other texts in some holes. The selection is written once, for the template
 * itself. A hole is a range of that text which was made from one node; a row that differs at the node has another text
 * there.
 *
 * A hole is a whole value, and holes nest as the selected values do: `status` contains `conditions`, which contains one
 * hole per element, down to scalars. Differences never nest, so the holes that a row fills do not nest either: its
 * answer alternates pieces of the template's answer with filled holes. If the difference is a scalar, its text in the
 * row is written, with its spelling normalised. If it is a container (an array of another length, an object with other
 * keys), the selected parts are picked out of its text. Only values that `JSON.stringify` would spell differently are
 * parsed.
 *
 * Differences are in the order of the object's text, holes in the order of the selection, and a node may be selected
 * several times. So one pass over the row locates the value of each hole, and one pass over the holes writes.
 *
 * A writer may turn a container into something else than its text, such as its length. Then no part of its output stems
 * from a part of the container: the container's text is written first, as an answer of its own, and passed to the
 * writer.
 */
export class TemplateAnswer {
  /** The approximate size in memory. */
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

  /** `holes` in the order of their starts; outer ones before inner ones. */
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

  /** Locates the values of holes. Returns whether there are any. */
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

/** The memory of a hole: the object, and its entries in the arrays. */
const holeBytes = 64

function reserve(holes: number): void {
  if (valueStarts.length < holes) {
    valueStarts = new Int32Array(holes * 2)
    valueEnds = new Int32Array(holes * 2)
  } else valueStarts.fill(0, 0, holes)
}
