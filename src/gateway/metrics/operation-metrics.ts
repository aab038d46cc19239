import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { OperationObserver, OperationReport } from '../../graphql/answer/operation-observer.ts'

/**
 * Seconds. A planned query takes some hundredths of a millisecond; a query that waits for a first sync takes up to ten
 * seconds.
 */
const buckets = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  10, 30,
]

/** The metrics of operations. */
export class OperationMetrics implements OperationObserver {
  readonly #durations: Histogram<'operation' | 'by' | 'code'>
  readonly #rows: Counter
  readonly #subscriptions: Gauge

  constructor(registry: Registry) {
    const registers = [registry]
    this.#durations = new Histogram({
      name: 'informerql_operation_duration_seconds',
      help: 'Duration of operations: queries until their answer, subscriptions until their start. The code is that of the first error, or empty.',
      labelNames: ['operation', 'by', 'code'],
      buckets,
      registers,
    })
    this.#rows = new Counter({
      name: 'informerql_operation_rows_total',
      help: 'Objects in answers.',
      registers,
    })
    this.#subscriptions = new Gauge({
      name: 'informerql_subscriptions',
      help: 'Open subscriptions.',
      registers,
    })
  }

  answered({ operation, by, codes, rows, durationMs }: OperationReport): void {
    const [code = ''] = codes
    this.#durations.observe({ operation, by, code }, durationMs / 1_000)
    this.#rows.inc(rows)
    if (operation === 'subscription' && code === '') this.#subscriptions.inc()
  }

  ended({ rows }: OperationReport): void {
    this.#rows.inc(rows)
    this.#subscriptions.dec()
  }
}
