import { jsonChar, valueEnd } from './json-text.ts'
import type { SelectedField } from './projection.ts'
import type { Row } from './row.ts'
import { projectTextAt } from './text-projection.ts'

/** What stands for a node that no hole depends on, and for one whose difference cannot be filled in. */
const noHole = -1
export const unfillable = -2

/** A range of the answer that depends on one node of the template. */
export interface Hole {
  readonly start: number
  readonly end: number
  readonly node: number
  /** What is written there, of what stands in the node's place: `field.value` at `field.path` from `from` on. */
  readonly field: SelectedField
  readonly from: number
}

/** Where the values of the holes of the row at hand begin, 0 for holes that stay as they are, and where they end. */
let valueStarts = new Int32Array(256)
let valueEnds = new Int32Array(256)

/**
 * How a selection is written without decoding. A row is its template with other values at some nodes; just so its
 * answer is the template's answer with other texts at some holes. So the selection is written once, of the template
 * itself, and for every node that the text was made from the range that it made is remembered: a hole, at which a row
 * with a difference at this node has another text.
 *
 * A hole is a whole value, and holes lie within each other as the selected values do: one is that of `status`, in it
 * that of `conditions`, in it each element's, down to the scalars. Differences never do, so of the holes that a row fills none is within another, and
 * its answer is pieces of the template's answer and filled holes in turn. Where the difference is a scalar, its text in
 * the row is, but for its spelling, what is written; where it is a container (an array that changed its length, an object
 * with other keys), the selected parts are picked out of its text. Either way nothing is parsed.
 *
 * The differences come in the order of the object's text and the holes are filled in that of the selection, and a node
 * may be selected more than once: so one pass over the row notes each value at its holes, and one over the holes writes.
 */
export class TemplateAnswer {
  /** About what it takes in memory. */
  readonly bytes: number
  readonly #text: string
  readonly #holes: readonly Hole[]
  /** The first hole of each node, or one of the two signs. */
  readonly #holeOf: Int32Array
  /** The next hole of the same node. */
  readonly #nextHole: Int32Array
  /** Differences behind this node are in nothing that is selected. */
  readonly #lastNode: number

  /** `holes` in the order of their starts, those around others before them; `unfillableNodes` are half-open ranges. */
  constructor(
    text: string,
    holes: readonly Hole[],
    unfillableNodes: readonly (readonly [from: number, to: number])[],
  ) {
    this.#text = text
    this.#holes = holes
    let last = 0
    for (const { node } of holes) last = Math.max(last, node)
    for (const [, to] of unfillableNodes) last = Math.max(last, to - 1)
    this.#lastNode = last
    this.#holeOf = new Int32Array(last + 1).fill(noHole)
    this.#nextHole = new Int32Array(holes.length)
    for (let index = holes.length - 1; index >= 0; index--) {
      const node = holes[index]?.node ?? 0
      this.#nextHole[index] = this.#holeOf[node] ?? noHole
      this.#holeOf[node] = index
    }
    for (const [from, to] of unfillableNodes) this.#holeOf.fill(unfillable, from, to)
    this.bytes = text.length + holes.length * holeBytes + last * Int32Array.BYTES_PER_ELEMENT
  }

  /** The answer for a row of this template; `undefined` where the object has to be decoded. */
  fill(row: Row): string | undefined {
    const { text } = row
    const filled = this.#noteValues(text)
    if (filled === undefined) return undefined
    if (!filled) return this.#text
    let answer = ''
    let written = 0
    for (let index = 0; index < this.#holes.length; index++) {
      const start = valueStarts[index] ?? 0
      if (start === 0) continue
      const hole = this.#holes[index] as Hole
      const piece = projectTextAt(hole.field, hole.from, text, start, valueEnds[index] ?? 0)
      if (piece === undefined) return undefined
      answer += this.#text.slice(written, hole.start) + piece
      written = hole.end
    }
    return answer + this.#text.slice(written)
  }

  /** Whether any hole is to be filled; `undefined` where one cannot be. */
  #noteValues(text: string): boolean | undefined {
    reserve(this.#holes.length)
    const holeOf = this.#holeOf
    let filled = false
    let index = 1
    while (index < text.length - 1) {
      let node = 0
      for (;;) {
        const char = text.charCodeAt(index++)
        if (char === jsonChar.comma) break
        node = node * 10 + char - jsonChar.zero
      }
      if (node > this.#lastNode) break
      const end = valueEnd(text, index)
      let hole = holeOf[node] ?? noHole
      if (hole === unfillable) return undefined
      for (; hole !== noHole; hole = this.#nextHole[hole] ?? noHole) {
        valueStarts[hole] = index
        valueEnds[hole] = end
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
