import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Cluster, type ClusterWriter, ObjectGoneError } from './cluster.ts'
import { createLoop, reconcile } from './controllers.ts'
import { randomChange, routineChange, turnCrashLoop } from './incidents.ts'
import { createRandom } from './random.ts'
import { syncChanged } from './status.ts'

/** Options of a churn. */
export interface ChurnOptions {
  readonly writer: ClusterWriter
  /** The same seed, clock and objects give the same changes. Default `informerql`. */
  readonly seed?: string
  /** Writes per second: the events that a watcher of all kinds sees. Default 5; 0 for none. */
  readonly eventsPerSecond?: number
  /** The number of rollouts, scalings and other activities at a time. Default: one per 10 Deployments, from 2 to 64. */
  readonly maxActivities?: number
  /** The maximum number of Event objects. The oldest are deleted first. Default 1,000. */
  readonly maxEvents?: number
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

/** Changes a cluster as its controllers, its scheduler and its kubelets would, through one writer. */
export interface Churn {
  /**
   * Makes one change with all its consequences, so that counters, endpoints and pods agree after each step. Returns the
   * number of writes: usually 1 to 6, or 0 without anything to do.
   */
  step(): number
  /**
   * Steps at the configured rate until the signal aborts; what clients change is answered within moments besides. Rejects with the writer's error. */
  run(signal: AbortSignal): Promise<void>
}

/**
 * The longest time between two turns of crash loops, each a restart or the failure after it. By chance alone, a page of
 * broken pods would stay as it is for minutes.
 */
const crashLoopTurnMs = 5_000

/** How often the controllers that a client has changed take a step, and how many of them. */
const answerMs = 200
const mostAnswered = 20

/** The number of idle turns after which a step gives up. */
const mostTurns = 10

/** Prepares a churn. It follows all objects from now on, and writes nothing before the first {@link Churn.step}. */
export function createChurn(options: ChurnOptions): Churn {
  const { writer, seed = 'informerql', eventsPerSecond = 5, maxEvents = 1000 } = options
  const cluster = new Cluster(writer, createRandom(`${seed}/churn`), options.now ?? Date.now)
  const loop = createLoop(cluster, maxEvents)
  const { random, active } = cluster
  let begun = false
  let turnedMs = 0

  function begin(): void {
    if (!begun) cluster.begin()
    begun = true
  }

  function step(): number {
    begin()
    const before = cluster.writes
    for (let turns = 0; turns < mostTurns && cluster.writes === before; turns++) {
      unlessGone(turn)
      syncChanged(cluster)
    }
    return cluster.writes - before
  }

  function turn(): void {
    const nowMs = cluster.now()
    if (nowMs - turnedMs >= crashLoopTurnMs) {
      turnedMs = nowMs
      if (turnCrashLoop(loop)) return
    }
    const many = Math.min(64, Math.max(2, cluster.ofKind('Deployment').size / 10))
    if (random.chance(0.3)) return routineChange(loop)
    if (active.size < (options.maxActivities ?? many)) return randomChange(loop)
    const item = random.pick([...active])
    let more = false
    try {
      more = reconcile(loop, item)
    } finally {
      if (!more) active.delete(item)
    }
  }

  /** One step for each controller that a client has changed: its users wait for them, and not for their turn. */
  function answer(): void {
    if (cluster.asked.size === 0) return
    for (const item of [...cluster.asked].slice(0, mostAnswered)) {
      // Goes behind the others.
      cluster.asked.delete(item)
      unlessGone(() => {
        if (reconcile(loop, item)) cluster.asked.add(item)
      })
    }
    syncChanged(cluster)
  }

  return {
    step,
    async run(signal) {
      if (eventsPerSecond > 0) begin()
      const answering = eventsPerSecond > 0 ? answerClients(answer, signal) : undefined
      await Promise.all([runAtPace(step, eventsPerSecond, signal), answering])
    },
  }
}

/** Ignores that a client has deleted the object of the current activity. */
function unlessGone(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof ObjectGoneError)) throw error
  }
}

/** The longest time for which steps block the event loop. */
const longestTurnMs = 15

/**
 * Calls `step`, which returns its number of writes, at a rate of `writesPerSecond` until the signal aborts. Drops a
 * backlog of more than one second.
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

async function answerClients(answer: () => void, signal: AbortSignal): Promise<void> {
  while (await elapsed(answerMs, signal)) answer()
}

/** Resolves with `false` if the signal aborts first. */
async function elapsed(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
