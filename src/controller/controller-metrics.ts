import type { WorkQueue } from '../informer/work-queue/work-queue.ts'
import type { ControllerObserver, ReconcileOutcome } from './controller-observer.ts'
import type { EventDrop } from './event-recorder.ts'

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

/** What the metrics read of a controller whenever their text is made. */
export interface MeasuredController {
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

  reconciled({
    controller,
    outcome,
    durationMs,
  }: {
    controller: string
    outcome: ReconcileOutcome
    durationMs: number
  }): void {
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
    const all = [...this.#controllers]
    const gauges = all.flatMap(([name, { measured }]) => {
      return measured === undefined ? [] : [[name, measured] as const]
    })
    const lines = [
      ...family(
        'controller_runtime_reconcile_total',
        'counter',
        'Reconciles by result.',
        all,
        ([controller, { results: counts }]) =>
          Array.from(counts, ([result, count]) => [{ controller, result }, count]),
      ),
      ...counter(
        'controller_runtime_reconcile_errors_total',
        'Reconciles that threw.',
        all,
        ({ results: counts }) => counts.get('error') ?? 0,
      ),
      ...counter(
        'controller_runtime_terminal_reconcile_errors_total',
        'Reconciles that threw a TerminalError.',
        all,
        (one) => one.terminalErrors,
      ),
      ...counter(
        'controller_runtime_stuck_reconciles_total',
        'Reconciles that went on after their deadline.',
        all,
        (one) => one.stuck,
      ),
      ...histogram(
        'controller_runtime_reconcile_time_seconds',
        'How long reconciles took.',
        'controller',
        all,
        (one) => one.took,
      ),
      ...family(
        'controller_runtime_max_concurrent_reconciles',
        'gauge',
        'The number of workers.',
        gauges,
        ([controller, one]) => [[{ controller }, one.concurrency]],
      ),
      ...family(
        'controller_runtime_active_workers',
        'gauge',
        'Workers that reconcile now.',
        gauges,
        ([controller, { queue }]) => [[{ controller }, queue.processing.length]],
      ),
      ...family('workqueue_adds_total', 'counter', 'Keys that were queued.', all, ([name, one]) => [
        [{ name }, one.adds],
      ]),
      ...family(
        'workqueue_retries_total',
        'counter',
        'Keys that were queued with a delay.',
        all,
        ([name, one]) => [[{ name }, one.retries]],
      ),
      ...family('workqueue_depth', 'gauge', 'Keys that wait.', gauges, ([name, { queue }]) => [
        [{ name }, queue.depth],
      ]),
      ...family(
        'workqueue_unfinished_work_seconds',
        'gauge',
        'How long all running reconciles have run.',
        gauges,
        ([name, { queue }]) => [[{ name }, queue.unfinishedWorkMs / 1000]],
      ),
      ...family(
        'workqueue_longest_running_processor_seconds',
        'gauge',
        'How long the oldest running reconcile has run.',
        gauges,
        ([name, { queue }]) => [[{ name }, queue.longestRunningMs / 1000]],
      ),
      ...histogram(
        'workqueue_queue_duration_seconds',
        'How long keys waited for a worker.',
        'name',
        all,
        (one) => one.waited,
      ),
      ...(this.#isLeading === undefined
        ? []
        : family(
            'leader_election_master_status',
            'gauge',
            'Whether this process leads.',
            [this.#isLeading],
            (leads) => [[{}, leads ? 1 : 0]],
          )),
      ...(this.#isLeading === undefined
        ? []
        : family(
            'leader_election_slowpath_total',
            'counter',
            'Renewals of the lease that had to read it first.',
            [this.#slowRenewals],
            (count) => [[{}, count]],
          )),
      ...family(
        'controller_events_dropped_total',
        'counter',
        'Events of reconciles that were not written, by reason.',
        all,
        ([controller, { droppedEvents }]) =>
          Array.from(droppedEvents, ([reason, count]) => [{ controller, reason }, count]),
      ),
    ]
    return `${lines.join('\n')}\n`
  }

  #countsOf(controller: string): ControllerCounts {
    let counts = this.#controllers.get(controller)
    if (counts === undefined) this.#controllers.set(controller, (counts = new ControllerCounts()))
    return counts
  }
}

class ControllerCounts {
  readonly results = new Map<string, number>(
    ['success', 'requeue_after', 'error'].map((result) => [result, 0]),
  )
  readonly droppedEvents = new Map<EventDrop, number>([
    ['overflow', 0],
    ['rate-limit', 0],
    ['refused', 0],
    ['deadline', 0],
    ['closed', 0],
  ])
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

  /** The samples: the suffix of the name, the labels beside the given ones, and the value. */
  *samples(): Generator<readonly [suffix: string, labels: Labels, value: number]> {
    for (const [at, bound] of this.#bounds.entries()) {
      yield ['_bucket', { le: String(bound) }, this.#counts[at] ?? 0]
    }
    yield ['_bucket', { le: '+Inf' }, this.#count]
    yield ['_sum', {}, this.#sum]
    yield ['_count', {}, this.#count]
  }
}

type Labels = Readonly<Record<string, string>>

function family<T>(
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  all: readonly T[],
  samples: (one: T) => Iterable<readonly [labels: Labels, value: number, suffix?: string]>,
): readonly string[] {
  const lines = all.flatMap((one) =>
    Array.from(samples(one), ([labels, value, suffix = '']) => {
      return `${name}${suffix}${labelText(labels)} ${value}`
    }),
  )
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines]
}

/** Names of controllers need no escapes. */
function labelText(labels: Labels): string {
  const members = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return members.length === 0 ? '' : `{${members.join(',')}}`
}

type Counted = readonly [name: string, counts: ControllerCounts]

function counter(
  name: string,
  help: string,
  all: readonly Counted[],
  valueOf: (counts: ControllerCounts) => number,
): readonly string[] {
  return family(name, 'counter', help, all, ([controller, counts]) => [
    [{ controller }, valueOf(counts)],
  ])
}

function histogram(
  name: string,
  help: string,
  label: 'controller' | 'name',
  all: readonly Counted[],
  of: (counts: ControllerCounts) => Histogram,
): readonly string[] {
  return family(name, 'histogram', help, all, ([controller, counts]) =>
    Array.from(of(counts).samples(), ([suffix, labels, value]) => {
      return [{ [label]: controller, ...labels }, value, suffix] as const
    }),
  )
}
