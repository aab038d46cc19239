/*
 * Serves the liveness and readiness of a process of controllers, and its counts in Prometheus' format by the names of
 * controller-runtime and client-go.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WorkQueue } from '../informer/work-queue/work-queue.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { aNumber, aString, InvalidOptionError, type OptionChecks } from '../lib/options.ts'
import type {
  ControllerObserver,
  ReconcileOutcome,
  ReconcileReport,
} from './controller-observer.ts'
import type { EventDrop } from './event-recorder.ts'

/** Where health and metrics are served. */
export interface HealthOptions {
  /** 0: any free port; the observer's `listening` has it. */
  readonly port: number
  /** Default: all addresses, since the kubelet asks at the pod's. */
  readonly host?: string
}

export const healthChecks: OptionChecks<HealthOptions> = { port: aNumber(), host: aString }

interface HealthSource {
  /** The reasons why the process is not ready; none if it is. */
  readonly notReady: () => readonly string[]
  readonly metrics: () => string
}

/**
 * Serves `/healthz` (the process runs), `/readyz` (its caches are filled, and it works or waits for the lease) and
 * `/metrics`, without authentication.
 */
export class HealthServer implements AsyncDisposable {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** Rejects with `InvalidOptionError` if another program has the port, else with Node's error. */
  static async listen({ port, host }: HealthOptions, source: HealthSource): Promise<HealthServer> {
    const server = createServer((request, response) => answer(request, response, source))
    server.maxConnections = maxConnections
    server.requestTimeout = requestTimeoutMs
    server.listen(port, host)
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      const problem = `port ${port} is already in use`
      throw new InvalidOptionError('health.port', port, 'a free port, or 0 for any', problem)
    })
    return new HealthServer(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

const maxConnections = 100
const requestTimeoutMs = 10_000

function answer(request: IncomingMessage, response: ServerResponse, source: HealthSource): void {
  request.resume()
  const send = (status: number, text: string, contentType = 'text/plain; charset=utf-8') => {
    response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' })
    response.end(request.method === 'HEAD' ? undefined : text)
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, 'GET only\n')
  switch (request.url?.split('?', 1)[0]) {
    case '/healthz':
      return send(200, 'ok\n')
    case '/readyz': {
      const reasons = source.notReady()
      return reasons.length === 0
        ? send(200, 'ok\n')
        : send(503, `not ready\n${reasons.map((reason) => `${reason}\n`).join('')}`)
    }
    case '/metrics':
      return send(200, source.metrics(), metricsContentType)
    default:
      return send(404, 'not found\n')
  }
}

/**
 * Counts what controllers do, and writes it in Prometheus' text format by the metric names of controller-runtime and
 * client-go where they have one, so that their dashboards and alerts fit.
 */
export interface ControllerMetrics extends ControllerObserver {
  /** All metrics, in Prometheus' text format. */
  text(): string
}

/** The `Content-Type` of {@link ControllerMetrics.text}. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/** The state of a controller that the metrics read whenever their text is made. */
interface MeasuredController {
  readonly name: string
  readonly concurrency: number
  readonly queue: Pick<WorkQueue, 'depth' | 'longestRunningMs' | 'processing' | 'unfinishedWorkMs'>
}

/** Creates metrics without any counts, for one run. */
export function createControllerMetrics(): ControllerMetrics {
  return new Metrics()
}

const results: Readonly<Record<ReconcileOutcome, string>> = {
  success: 'success',
  requeue: 'requeue_after',
  error: 'error',
  terminal: 'error',
}

const reconcileBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const queueBounds = [0.001, 0.01, 0.1, 1, 10, 60, 600]

/** The metrics of a run. `runControllers` tells them which controllers there are. */
export class Metrics implements ControllerMetrics {
  readonly #controllers = new Map<string, ControllerCounts>()
  #isLeading: boolean | undefined
  #slowRenewals = 0

  /** Adds a controller whose queue is read for gauges. */
  measure(controller: MeasuredController): void {
    this.#countsOf(controller.name).measured = controller
  }

  leading(isLeading: boolean): void {
    this.#isLeading = isLeading
  }

  slowRenewal(): void {
    this.#slowRenewals += 1
  }

  added(controller: string): void {
    this.#countsOf(controller).adds += 1
  }

  started(controller: string, _key: string, latencyMs: number): void {
    this.#countsOf(controller).waited.observe(latencyMs / 1000)
  }

  retried(controller: string): void {
    this.#countsOf(controller).retries += 1
  }

  reconciled({ controller, outcome, durationMs }: ReconcileReport): void {
    const counts = this.#countsOf(controller)
    const result = results[outcome]
    counts.results.set(result, (counts.results.get(result) ?? 0) + 1)
    if (outcome === 'terminal') counts.terminalErrors += 1
    counts.took.observe(durationMs / 1000)
  }

  stuck(controller: string): void {
    this.#countsOf(controller).stuck += 1
  }

  eventDropped(controller: string, reason: EventDrop): void {
    const { droppedEvents } = this.#countsOf(controller)
    droppedEvents.set(reason, (droppedEvents.get(reason) ?? 0) + 1)
  }

  text(): string {
    const lines = Object.entries(families).flatMap(([name, [type, help, of]]) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...Array.from(this.#controllers).flatMap(([controller, counts]) =>
        Array.from(of(counts), ([value, labels, suffix = '']) =>
          sample(
            `${name}${suffix}`,
            { [name.startsWith('workqueue_') ? 'name' : 'controller']: controller, ...labels },
            value,
          ),
        ),
      ),
    ])
    if (this.#isLeading !== undefined) {
      const [leads, slow] = ['leader_election_master_status', 'leader_election_slowpath_total']
      lines.push(
        `# HELP ${leads} Whether this process leads.`,
        `# TYPE ${leads} gauge`,
        sample(leads, {}, this.#isLeading ? 1 : 0),
        `# HELP ${slow} Renewals of the lease that had to read it first.`,
        `# TYPE ${slow} counter`,
        sample(slow, {}, this.#slowRenewals),
      )
    }
    return `${lines.join('\n')}\n`
  }

  #countsOf(controller: string): ControllerCounts {
    return getOrInsert(this.#controllers, controller, () => new ControllerCounts())
  }
}

class ControllerCounts {
  readonly results = new Map<string, number>(
    ['success', 'requeue_after', 'error'].map((result) => [result, 0]),
  )
  readonly droppedEvents = new Map<EventDrop, number>(
    (['overflow', 'rate-limit', 'refused', 'deadline', 'closed'] as const).map((why) => [why, 0]),
  )
  readonly took = new Histogram(reconcileBounds)
  readonly waited = new Histogram(queueBounds)
  adds = 0
  retries = 0
  stuck = 0
  terminalErrors = 0
  measured: MeasuredController | undefined
}

class Histogram {
  readonly #bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0
  #count = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = bounds.map(() => 0)
  }

  observe(value: number): void {
    this.#sum += value
    this.#count += 1
    for (const [at, bound] of this.#bounds.entries()) {
      if (value <= bound) this.#counts[at] = (this.#counts[at] ?? 0) + 1
    }
  }

  *samples(): Generator<Sample> {
    for (const [at, bound] of this.#bounds.entries()) {
      yield [this.#counts[at] ?? 0, { le: String(bound) }, '_bucket']
    }
    yield [this.#count, { le: '+Inf' }, '_bucket']
    yield [this.#sum, {}, '_sum']
    yield [this.#count, {}, '_count']
  }
}

type Labels = Readonly<Record<string, string>>

/** A value, the labels beside that of the controller, and the suffix of the name. */
type Sample = readonly [value: number, labels?: Labels, suffix?: string]

/** Names of controllers need no escapes. */
function sample(name: string, labels: Labels, value: number): string {
  const members = Object.entries(labels).map(([label, text]) => `${label}="${text}"`)
  return `${name}${members.length === 0 ? '' : `{${members.join(',')}}`} ${value}`
}

type Family = readonly [
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  of: (counts: ControllerCounts) => Iterable<Sample>,
]

/** A number that is read from the queue of a controller. */
const measured =
  (of: (controller: MeasuredController) => number) =>
  ({ measured: controller }: ControllerCounts): readonly Sample[] =>
    controller === undefined ? [] : [[of(controller)]]

/** The metrics of each controller, by name, in the order of their text. */
const families: Readonly<Record<string, Family>> = {
  controller_runtime_reconcile_total: [
    'counter',
    'Reconciles by result.',
    (counts) => Array.from(counts.results, ([result, count]) => [count, { result }] as const),
  ],
  controller_runtime_reconcile_errors_total: [
    'counter',
    'Reconciles that threw.',
    (counts) => [[counts.results.get('error') ?? 0]],
  ],
  controller_runtime_terminal_reconcile_errors_total: [
    'counter',
    'Reconciles that threw a TerminalError.',
    (counts) => [[counts.terminalErrors]],
  ],
  controller_runtime_stuck_reconciles_total: [
    'counter',
    'Reconciles that went on after their deadline.',
    (counts) => [[counts.stuck]],
  ],
  controller_runtime_reconcile_time_seconds: [
    'histogram',
    'How long reconciles took.',
    (counts) => counts.took.samples(),
  ],
  controller_runtime_max_concurrent_reconciles: [
    'gauge',
    'The number of workers.',
    measured(({ concurrency }) => concurrency),
  ],
  controller_runtime_active_workers: [
    'gauge',
    'Workers that reconcile now.',
    measured(({ queue }) => queue.processing.length),
  ],
  workqueue_adds_total: ['counter', 'Keys that were queued.', (counts) => [[counts.adds]]],
  workqueue_retries_total: [
    'counter',
    'Keys that were queued with a delay.',
    (counts) => [[counts.retries]],
  ],
  workqueue_depth: ['gauge', 'Keys that wait.', measured(({ queue }) => queue.depth)],
  workqueue_unfinished_work_seconds: [
    'gauge',
    'How long all running reconciles have run.',
    measured(({ queue }) => queue.unfinishedWorkMs / 1000),
  ],
  workqueue_longest_running_processor_seconds: [
    'gauge',
    'How long the oldest running reconcile has run.',
    measured(({ queue }) => queue.longestRunningMs / 1000),
  ],
  workqueue_queue_duration_seconds: [
    'histogram',
    'How long keys waited for a worker.',
    (counts) => counts.waited.samples(),
  ],
  controller_events_dropped_total: [
    'counter',
    'Events of reconciles that were not written, by reason.',
    (counts) => Array.from(counts.droppedEvents, ([reason, count]) => [count, { reason }] as const),
  ],
}
