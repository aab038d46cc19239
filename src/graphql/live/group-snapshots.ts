import type { FrameRing } from './frame-ring.ts'
import type { GroupSnapshot } from './group-snapshot.ts'

/** A snapshot is given to newcomers as long as not more frames have followed it, and for so long. */
const maxFramesBehind = 16
const givenMs = 10_000

/**
 * The snapshots of a group: the one that newcomers are given, and those that somebody is still reading. One that the ring has gone
 * past leads nowhere any more, so it is emptied then, whoever has stopped reading in the midst of it.
 */
export class GroupSnapshots {
  readonly #ring: Pick<FrameRing, 'first' | 'next'>
  #given: GroupSnapshot | undefined
  #givenUntilMs = 0
  /** Those that were given before, as long as somebody has them. */
  #read: WeakRef<GroupSnapshot>[] = []

  constructor(ring: Pick<FrameRing, 'first' | 'next'>) {
    this.#ring = ring
  }

  /** What the frames take of those that somebody may still read. */
  get bytes(): number {
    return this.#read.reduce((sum, reference) => sum + (reference.deref()?.bytes ?? 0), 0)
  }

  /** The place in the ring from which newcomers go on; `undefined` where the next one is given a new snapshot. */
  get place(): number | undefined {
    return this.#given?.next
  }

  /** The one that newcomers are given, made where there is none. */
  current(make: () => GroupSnapshot): GroupSnapshot {
    this.moved()
    if (this.#given !== undefined) return this.#given
    const made = make()
    this.#given = made
    this.#givenUntilMs = performance.now() + givenMs
    this.#read.push(new WeakRef(made))
    setTimeout(() => this.moved(), givenMs).unref()
    return made
  }

  /** The ring may have moved on. */
  moved(): void {
    const { first, next } = this.#ring
    const given = this.#given
    if (given !== undefined) {
      const isOld = next - given.next > maxFramesBehind || performance.now() >= this.#givenUntilMs
      if (isOld || given.next < first || given.problem !== undefined) this.#given = undefined
    }
    if (this.#read.length === 0) return
    this.#read = this.#read.filter((reference) => {
      const snapshot = reference.deref()
      if (snapshot === undefined || snapshot.next >= first) return snapshot !== undefined
      snapshot.empty()
      return false
    })
  }
}
