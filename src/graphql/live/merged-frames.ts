import type { FrameRing } from './frame-ring.ts'
import type { FrameWriter } from './frame-writer.ts'
import type { Positions } from '../reads/resume-token.ts'
import type { GroupContent } from './group-content.ts'
import { type MergedReading, type Resumption, resumptionBy } from './group-member.ts'

/** A group, as far as its frames are merged. */
export interface MergedGroup {
  readonly ring: FrameRing
  readonly writer: FrameWriter
  readonly content: Pick<GroupContent, 'merged' | 'page'>
  /** Whether there is room for so many bytes of frames. */
  hasRoomFor(bytes: number): boolean
}

interface Merged extends Resumption {
  /** The positions of the members that it is for. */
  readonly before: Positions
}

/** So many places are kept at once. Each may lead through all of the ring. */
const maxPlaces = 4
/** So long merged frames are kept for other members, unless the ring moves on before. */
const keptMs = 1_000

/**
 * The rest of a ring as fewer frames, from each place where members stand. They are made once for all members at a place: load that
 * makes one reader late makes all of them late.
 */
export class MergedFrames implements MergedReading {
  readonly #group: MergedGroup
  readonly #known = new Map<number, Merged>()
  /** Where they lead to. */
  #next = 0
  #forgotten: NodeJS.Timeout | undefined

  constructor(group: MergedGroup) {
    this.#group = group
  }

  /** All that are kept. */
  get kept(): Iterable<Resumption> {
    return this.#known.values()
  }

  /** The ring may have moved on. */
  moved(): void {
    const { next } = this.#group.ring
    if (next !== this.#next) this.#known.clear()
    this.#next = next
  }

  from(place: number, before: Positions): Resumption | undefined {
    this.moved()
    const known = this.#known.get(place)
    if (known?.before === before) return known
    const made = { ...this.#merged(place, before), before }
    if (made.bytes > 0 && !this.#group.hasRoomFor(made.bytes)) return undefined
    if (known !== undefined || this.#known.size < maxPlaces) this.#keep(place, made)
    return made
  }

  #keep(place: number, made: Merged): void {
    this.#known.set(place, made)
    clearTimeout(this.#forgotten)
    this.#forgotten = setTimeout(() => this.#known.clear(), keptMs).unref()
  }

  #merged(place: number, before: Positions): Resumption {
    const { ring, writer, content } = this.#group
    const changes = []
    let positions = before
    let isAhead = true
    for (let number = place; number < ring.next; number += 1) {
      const frame = ring.get(number)
      if (frame === undefined) continue
      ;({ positions, isAhead } = frame)
      for (const change of frame.changes) changes.push(change)
    }
    const { next } = ring
    const { page } = content
    const merged = content.merged(changes)
    const isNothing = merged.length === 0 && page === undefined
    const at = { reset: false, wasSynced: true, before, positions, isAhead, page }
    const frames = isNothing ? [] : writer.frames(merged, at)
    return resumptionBy(frames, { rows: merged.length, next, positions })
  }
}
