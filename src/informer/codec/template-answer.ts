import type { Unstructured } from '../../kubernetes/object.ts'
import { checkRoom } from './answer-room.ts'
import { jsonChar } from './json-char.ts'
import { valueEnd } from './json-text.ts'
import type { LeafWriter, SelectedField } from './projection.ts'
import { readRow, type Row } from './row.ts'
import { projectTextAt } from './text-projection.ts'

const noHole = -1
/** The node of a hole that depends on all that is within a container, not on one node. */
export const noNode = -1

/** A range of the answer that depends on one node of the template. */
export interface Hole {
  readonly start: number
  readonly end: number
  readonly node: number
  /** What is written there, of what stands in the node's place: `field.value` at `field.path` from `from` on. */
  readonly field: SelectedField
  readonly from: number
  /** With {@link noNode}: the answer that is the text of the container, for the writer of what is written of it. */
  readonly container?: ContainerText
  /** With {@link noNode}: what makes the text, of the decoded object. */
  readonly make?: (object: Readonly<Record<string, unknown>>) => string | undefined
}

interface ContainerText {
  readonly answer: TemplateAnswer
  readonly write: LeafWriter
}

/** Where the values of the holes of the row at hand begin, 0 for holes that stay as they are, and where they end. */
let valueStarts = new Int32Array(256)
let valueEnds = new Int32Array(256)

/**
 * How a selection is written without decoding. A row is its template with other values at some nodes; just so its
 * answer is the template's answer with other texts at some holes. So the selection is written once, of the template
 * itself, and it is remembered which range of that text was made of which node: a hole, at which a row that has a
 * difference at the node has another text.
 *
 * A hole is a whole value, and holes lie within each other as the selected values do: in that of `status` is that of
 * `conditions`, in it one of each element, and so down to the scalars. Differences never lie within each other, and so
 * none of the holes that a row fills is within another: its answer is pieces of the template's answer and filled holes
 * in turn. Where the difference is a scalar, its text in the row is what is written, but for its spelling; where it is
 * a container (an array that changed its length, an object with other keys), what is selected of it is picked out of
 * its text. Nothing is parsed but what `JSON.stringify` would spell otherwise.
 *
 * The differences come in the order of the object's text, the holes in that of the selection, and a node may be selected
 * more than once: so one pass over the row notes each value at its holes, and one over the holes writes.
 *
 * A writer may make something else of a container than its text (its length, say). Then no part of what it writes is
 * made of a part of the container: the container's text is put together first, as an answer of its own, and handed over.
 */
export class TemplateAnswer {
  /** About what it takes in memory. */
  readonly bytes: number
  readonly #text: string
  readonly #holes: readonly Hole[]
  /** Whether a part of it is made of the decoded object. */
  readonly #isMade: boolean
  readonly #containers: readonly ContainerText[]
  /** The first hole of each node, or `noHole`. */
  readonly #holeOf: Int32Array
  /** The next hole of the same node. */
  readonly #nextHole: Int32Array
  /** Differences behind this node are in nothing that is selected. */
  readonly #lastNode: number

  /** `holes` in the order of their starts, those around others before them. */
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

  /** The answer for a row of this template; `undefined` where the slow way must do. */
  fill(row: Row): string | undefined {
    const { text } = row
    const object = this.#isMade ? (readRow(row) as Unstructured) : undefined
    // First, since the notes of where the values are serve one answer at a time.
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
        // Then the container itself, or one around it, is different as a whole.
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

  /** Whether any hole is to be filled. */
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

/** The object of a hole, its place in the arrays. */
const holeBytes = 64

function reserve(holes: number): void {
  if (valueStarts.length < holes) {
    valueStarts = new Int32Array(holes * 2)
    valueEnds = new Int32Array(holes * 2)
  } else valueStarts.fill(0, 0, holes)
}
