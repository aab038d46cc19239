/*
 * The metrics of operations, callers and connections, fed by observers of the server and of the steps of an operation.
 * Labels are codes and names of the gateway, never texts of clients, so that no client can make series without end.
 */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { AuthenticationObserver } from '../../access/authentication/authenticator.ts'
import type {
  OperationObserver,
  OperationReport,
  WriteReport,
} from '../../graphql/answer/operation-observer.ts'
import type { ServerObserver, ServerRefusal } from '../../server/operation-options.ts'

/**
 * In seconds. A planned query takes some hundredths of a millisecond, a query that waits for a first sync up to ten
 * seconds.
 */
const buckets = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  10, 30,
]

export function operationMetrics(registry: Registry): OperationObserver {
  const registers = [registry]
  const durations = new Histogram({
    name: 'informerql_operation_duration_seconds',
    help: 'Duration of operations: queries until their answer, subscriptions until their start. The code is that of the first error, or empty.',
    labelNames: ['operation', 'by', 'code'],
    buckets,
    registers,
  })
  const answered = new Counter({
    name: 'informerql_operation_rows_total',
    help: 'Objects in answers.',
    registers,
  })
  const subscriptions = new Gauge({
    name: 'informerql_subscriptions',
    help: 'Open subscriptions.',
    registers,
  })
  const writes = new Counter({
    name: 'informerql_writes_total',
    help: 'Writes to API servers for callers, without dry runs. The code is that of the error, or empty.',
    labelNames: ['mutation', 'cluster', 'code'],
    registers,
  })
  return {
    wrote({ mutation, cluster, code, dryRun }: WriteReport) {
      if (!dryRun) writes.inc({ mutation, cluster, code })
    },
    answered({ operation, by, codes, rows, durationMs }: OperationReport) {
      const [code = ''] = codes
      durations.observe({ operation, by, code }, durationMs / 1_000)
      answered.inc(rows)
      if (operation === 'subscription' && code === '') subscriptions.inc()
    },
    ended({ rows }: OperationReport) {
      answered.inc(rows)
      subscriptions.dec()
    },
  }
}

const nothingUnsent = (): number => 0

/** The metrics of authentication, refusals, the audit log and connections. */
export function serverMetrics(
  registry: Registry,
): ServerObserver &
  Pick<AuthenticationObserver, 'verified' | 'signedIn'> & { auditFailed(): void } {
  const registers = [registry]
  const tokens = new Counter({
    name: 'informerql_token_verifications_total',
    help: 'Verifications of unknown tokens: accepted, refused, or unavailable.',
    labelNames: ['outcome'],
    registers,
  })
  const sessions = new Counter({
    name: 'informerql_sign_ins_total',
    help: 'Steps of browser sessions: sign-in, renewal, sign-out, provider-sign-out. The code is that of the error, or empty.',
    labelNames: ['event', 'code'],
    registers,
  })
  const refusals = new Counter({
    name: 'informerql_refusals_total',
    help: 'Requests and WebSockets refused before their operation was read.',
    labelNames: ['transport', 'code'],
    registers,
  })
  const audit = new Counter({
    name: 'informerql_audit_failures_total',
    help: 'Attempts to write the audit log that failed, and lines of it that are lost.',
    registers,
  })
  const sockets = new Gauge({
    name: 'informerql_websockets',
    help: 'Open WebSockets.',
    registers,
  })
  const cutOffs = new Counter({
    name: 'informerql_readers_cut_off_total',
    help: 'Connections cut off because too many bytes waited, or the reader took nothing for too long.',
    labelNames: ['transport'],
    registers,
  })
  let unsentBytes = nothingUnsent
  const unsent: Gauge = new Gauge({
    name: 'informerql_unsent_bytes',
    help: 'Bytes that wait to be sent, on all connections.',
    collect: () => unsent.set(unsentBytes()),
    registers,
  })
  return {
    verified: (outcome) => tokens.inc({ outcome }),
    signedIn: ({ event, code }) => sessions.inc({ event, code }),
    refused: ({ transport, code }: ServerRefusal) => refusals.inc({ transport, code }),
    auditFailed: () => audit.inc(),
    socketOpened: () => sockets.inc(),
    socketClosed: () => sockets.dec(),
    cutOff: (transport) => cutOffs.inc({ transport }),
    unsent: (bytes) => void (unsentBytes = bytes),
  }
}
