/** The slots of a ring, and the most points of an answer. */
export const ringSlots = 60

/** CPU and memory at the same times, as sums of the objects that were measured then. */
export class Series {
  readonly stepMs: number
  /** The ends of the steps, the oldest first. */
  readonly timesMs: readonly number[]
  readonly cpu: (number | null)[]
  readonly memory: (number | null)[]
  /** How many objects were measured at each time. */
  readonly counts: number[]

  /** The steps of a time until now, as many as {@link ringSlots} at most. A step is a multiple of `slotMs`. */
  constructor(lastMs: number, slotMs: number, nowMs: number) {
    this.stepMs = slotMs * Math.max(1, Math.ceil(lastMs / (ringSlots * slotMs)))
    const endMs = Math.ceil(nowMs / this.stepMs) * this.stepMs
    const count = Math.max(1, Math.floor(lastMs / this.stepMs))
    this.timesMs = Array.from({ length: count }, (_, at) => endMs - (count - 1 - at) * this.stepMs)
    this.cpu = this.timesMs.map(() => null)
    this.memory = this.timesMs.map(() => null)
    this.counts = this.timesMs.map(() => 0)
  }

  add(at: number, cpu: number, memory: number, count = 1): void {
    if (at < 0 || at >= this.timesMs.length) return
    this.cpu[at] = sum(this.cpu[at], cpu)
    this.memory[at] = sum(this.memory[at], memory)
    this.counts[at] = (this.counts[at] ?? 0) + count
  }
}

function sum(before: number | null | undefined, more: number): number | null {
  return Number.isNaN(more) ? (before ?? null) : (before ?? 0) + more
}
