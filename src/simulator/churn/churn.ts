import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createRandom } from '../population/random.ts'
import { Cluster, type ClusterWriter, ObjectGoneError } from './cluster.ts'
import { type Loop, reconcile } from './controllers.ts'
import { EventRecorder } from './events.ts'
import { incident, pulse } from './incidents.ts'
import { PodLifecycle } from './pods.ts'
import { syncChanged } from './status-sync.ts'

/** How a cluster changes. */
export interface ChurnOptions {
  readonly writer: ClusterWriter
  /** The same seed, clock and objects give the same changes. Default `informerql`. */
  readonly seed?: string
  /** Writes per second while it runs: what a watcher of everything sees. Default 5; 0 for stillness. */
  readonly eventsPerSecond?: number
  /** How many rollouts, scalings and so on go on at once. Default: one per 10 Deployments, from 2 to 64. */
  readonly maxActivities?: number
  /** How many Event objects are kept; the oldest go first. Default 1,000. */
  readonly maxEvents?: number
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

/** A cluster's life. It does what controllers, the scheduler and kubelets would do, through one writer. */
export interface Churn {
  /**
   * Does one thing and all that follows from it at once, so that counters, endpoints and pods agree whenever it returns.
   * Returns the number of writes: usually 1 to 6, 0 where there is nothing to do.
   */
  step(): number
  /** Steps at the rate until the signal is aborted, then resolves. Rejects with what the writer throws. */
  run(signal: AbortSignal): Promise<void>
}

/** How many turns find nothing to do before a step gives up. */
const mostTurns = 10

/** Prepares a churn, which takes note of what is there and of all that is written from now on; it writes nothing before the first {@link Churn.step}. */
export function createChurn(options: ChurnOptions): Churn {
  const { writer, seed = 'informerql', eventsPerSecond = 5, maxEvents = 1000 } = options
  const cluster = new Cluster(writer, createRandom(`${seed}/churn`), options.now ?? Date.now)
  const events = new EventRecorder(cluster, maxEvents)
  const loop: Loop = { cluster, events, lifecycle: new PodLifecycle(cluster, events) }
  const { random, active } = cluster
  let begun = false

  function step(): number {
    if (!begun) cluster.begin()
    begun = true
    const before = cluster.writes
    for (let turns = 0; turns < mostTurns && cluster.writes === before; turns++) {
      unlessGone(turn)
      syncChanged(cluster)
    }
    return cluster.writes - before
  }

  function turn(): void {
    const many = Math.min(64, Math.max(2, cluster.deployments.size / 10))
    if (random.chance(0.3)) return pulse(loop)
    if (active.size < (options.maxActivities ?? many)) return incident(loop)
    const item = random.pick([...active])
    let more = false
    try {
      more = reconcile(loop, item)
    } finally {
      if (!more) active.delete(item)
    }
  }

  return { step, run: (signal) => runAtPace(step, eventsPerSecond, signal) }
}

/** Ignores that a client has deleted the object that is being worked on. */
function unlessGone(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof ObjectGoneError)) throw error
  }
}

/** How long steps may keep the event loop from others at a stretch. */
const longestTurnMs = 15

/**
 * Calls `step`, which returns how many writes it made, so that there are `writesPerSecond`, until the signal is
 * aborted. What could not be done within one second (the process was busy, or asleep) is not made up for.
 */
async function runAtPace(
  step: () => number,
  writesPerSecond: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  if (writesPerSecond <= 0) {
    await once(signal, 'abort')
    return
  }
  const intervalMs = Math.min(250, Math.max(20, 1000 / writesPerSecond))
  let owed = 0
  let lastMs = performance.now()
  while (await elapsed(intervalMs, signal)) {
    const nowMs = performance.now()
    owed = Math.min(writesPerSecond, owed + ((nowMs - lastMs) * writesPerSecond) / 1000)
    lastMs = nowMs
    while (owed >= 1 && performance.now() - nowMs < longestTurnMs) {
      const writes = step()
      owed = writes === 0 ? 0 : owed - writes
    }
  }
}

/** Resolves with false when the signal is aborted first. */
async function elapsed(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
