/** Durations of one kind, in milliseconds. */
export class Latencies {
  readonly #values: number[] = []

  get count(): number {
    return this.#values.length
  }

  add(ms: number): void {
    this.#values.push(ms)
  }

  /** `part` of the values are at most this; 0 where there are none. */
  percentile(part: number): number {
    const sorted = this.#values.toSorted((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  }
}
