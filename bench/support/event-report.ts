import { Latencies } from './latencies.ts'
import { writtenAnnotation } from './pod-updates.ts'

const warmUpMs = 3000
const catchUpDeadlineMs = 30_000
const caughtUpMs = 100

/**
 * Takes the time from an object's write to its arrival here, in a window that begins when a warm-up is over and what
 * happened during the sync has been caught up with; after half a minute in any case.
 */
export class EventReport {
  readonly #latencies = new Latencies()
  #measuring = false
  #latestMs = Infinity

  /** To be called as each object arrives. */
  arrived(annotations: Readonly<Record<string, string>> | undefined): void {
    this.written(annotations?.[writtenAnnotation])
  }

  /** The same, with the moment of the write. */
  written(ns: string | undefined | null): void {
    if (ns === undefined || ns === null) return
    this.#latestMs = Number(process.hrtime.bigint() - BigInt(ns)) / 1e6
    if (this.#measuring) this.#latencies.add(this.#latestMs)
  }

  /** Warms up, measures for a time, and prints the figures as one line of JSON. */
  async run(durationMs: number): Promise<void> {
    const deadlineMs = performance.now() + catchUpDeadlineMs
    await sleep(warmUpMs)
    while (this.#latestMs > caughtUpMs && performance.now() < deadlineMs) await sleep(20)
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
