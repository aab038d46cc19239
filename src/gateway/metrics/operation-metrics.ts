import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { OperationObserver, OperationReport } from '../../graphql/answer/operation-observer.ts'

/** Seconds; a planned query takes some hundredths of a millisecond, one that waits for a first sync up to ten seconds. */
const buckets = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  10, 30,
]

/** What operations come to, and what plans and fragments do for them. */
export class OperationMetrics implements OperationObserver {
  readonly #durations: Histogram<'operation' | 'by' | 'code'>
  readonly #rows: Counter
  readonly #subscriptions: Gauge
  readonly #frames: Counter

  constructor(registry: Registry) {
    const registers = [registry]
    this.#durations = new Histogram({
      name: 'informerql_operation_duration_seconds',
      help: 'How long operations took: queries until they were answered, subscriptions until they had begun. The code is that of the first error, or empty.',
      labelNames: ['operation', 'by', 'code'],
      buckets,
      registers,
    })
    this.#rows = new Counter({
      name: 'informerql_operation_rows_total',
      help: 'Objects that were answered.',
      registers,
    })
    this.#subscriptions = new Gauge({
      name: 'informerql_subscriptions',
      help: 'Subscriptions that are open, without those in groups.',
      registers,
    })
    this.#frames = new Counter({
      name: 'informerql_subscription_frames_total',
      help: 'Frames that these subscriptions were sent.',
      registers,
    })
  }

  answered({ operation, by, codes, rows, durationMs }: OperationReport): void {
    const [code = ''] = codes
    this.#durations.observe({ operation, by, code }, durationMs / 1_000)
    this.#rows.inc(rows)
    if (operation === 'subscription' && code === '') this.#subscriptions.inc()
  }

  framed(): void {
    this.#frames.inc()
  }

  ended({ rows }: OperationReport): void {
    this.#rows.inc(rows)
    this.#subscriptions.dec()
  }
}
