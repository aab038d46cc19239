import { Latencies } from './latencies.ts'

const warmUpMs = 2000

/** Subscribers of which some read what they are sent, and how late that is. */
export class MeasuredSubscribers {
  readonly #latencies = new Latencies()
  readonly #sockets: number
  /** The distance between subscribers that parse their frames. */
  readonly #every: number
  #readers = 0
  #measuring = false

  /** `readers`: about so many of them read. */
  constructor(sockets: number, readers: number) {
    this.#sockets = sockets
    this.#every = Math.ceil(sockets / readers)
  }

  /** Whether the time to be measured has come. */
  get measuring(): boolean {
    return this.#measuring
  }

  /** Whether a subscriber parses its frames. */
  reads(number: number): boolean {
    return number % this.#every === 0
  }

  /** Takes note of what was written at a time of `process.hrtime.bigint()`, in digits, and is read now. */
  hear(written: string, now: bigint): void {
    if (this.#measuring) this.#latencies.add(Number(now - BigInt(written)) / 1e6)
  }

  /** Has all of them subscribe, so many at once, says `measuring` when they are warm, and prints what was heard in that time. */
  async run(
    subscribe: (number: number) => Promise<void>,
    how: { readonly atOnce: number; readonly durationMs: number; readonly heard: string },
  ): Promise<void> {
    const { atOnce, durationMs, heard } = how
    for (let start = 0; start < this.#sockets; start += atOnce) {
      const size = Math.min(atOnce, this.#sockets - start)
      const batch = Array.from({ length: size }, (_, at) => start + at)
      this.#readers += batch.filter((number) => this.reads(number)).length
      await Promise.all(batch.map(subscribe))
    }
    await sleep(warmUpMs)
    console.log('measuring')
    this.#measuring = true
    const startMs = performance.now()
    await sleep(durationMs)
    this.#measuring = false
    const seconds = (performance.now() - startMs) / 1000
    const { count } = this.#latencies
    console.log(
      JSON.stringify({
        [`${heard}/s`]: ((count / this.#readers) * this.#sockets) / seconds,
        p50Ms: this.#latencies.percentile(0.5),
        p99Ms: this.#latencies.percentile(0.99),
      }),
    )
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
