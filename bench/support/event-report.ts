import { Latencies } from './latencies.ts'
import { writtenAnnotation } from './pod-updates.ts'

const warmUpMs = 3000

/** Takes the time from an object's write to its arrival here, in a window that begins after a warm-up. */
export class EventReport {
  readonly #latencies = new Latencies()
  #measuring = false

  /** To be called as each object arrives. */
  arrived(annotations: Readonly<Record<string, string>> | undefined): void {
    if (this.#measuring) this.written(annotations?.[writtenAnnotation])
  }

  /** The same, with the moment of the write. */
  written(ns: string | undefined | null): void {
    if (!this.#measuring || ns === undefined || ns === null) return
    this.#latencies.add(Number(process.hrtime.bigint() - BigInt(ns)) / 1e6)
  }

  /** Warms up, measures for a time, and prints the figures as one line of JSON. */
  async run(durationMs: number): Promise<void> {
    await sleep(warmUpMs)
    console.log('measuring')
    this.#measuring = true
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    await sleep(durationMs)
    this.#measuring = false
    const { user, system } = process.cpuUsage(cpu)
    const events = this.#latencies.count
    console.log(
      JSON.stringify({
        'events/s': (events * 1000) / (performance.now() - startMs),
        p50Ms: this.#latencies.percentile(0.5),
        p99Ms: this.#latencies.percentile(0.99),
        cpuUsPerEvent: (user + system) / events,
      }),
    )
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
