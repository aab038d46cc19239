import type { Unstructured } from '../../kubernetes/object.ts'
import { createRandom } from '../population/random.ts'
import type { GroupVersionResource } from '../population/resources.ts'
import type { ChurnContext } from './churn-context.ts'
import { nextActivity, pulse } from './choice.ts'
import { type Activity, Cluster, ObjectGoneError } from './cluster.ts'
import { ClusterIndex } from './cluster-index.ts'
import { isSettled } from './cluster-records.ts'
import type { ClusterWriter } from './cluster-writer.ts'
import { EventRecorder } from './event-recorder.ts'
import { runAtPace } from './pace.ts'
import { PodLifecycle } from './pod-lifecycle.ts'

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
   * Takes note of an object that is there from the beginning, owners before what they own. Whoever fills the storage saves
   * the churn from reading everything again; without any call it reads everything before its first step.
   */
  observe(resource: GroupVersionResource, object: Unstructured): void
  /**
   * Does one thing and all that follows from it at once, so that counters, endpoints and pods agree whenever it returns.
   * Returns the number of writes: usually 1 to 6, 0 where there is nothing to do.
   */
  step(): number
  /** Steps at the rate until the signal is aborted, then resolves. Rejects with what the writer throws. */
  run(signal: AbortSignal): Promise<void>
}

/** Prepares a churn; nothing happens before the first {@link Churn.step}. */
export function createChurn(options: ChurnOptions): Churn {
  const { writer, seed = 'informerql', eventsPerSecond = 5, maxEvents = 1000 } = options
  const random = createRandom(`${seed}/churn`)
  const index = new ClusterIndex()
  const cluster = new Cluster(writer, index, random, options.now ?? Date.now)
  const events = new EventRecorder(cluster, maxEvents)
  const context: ChurnContext = { cluster, events, lifecycle: new PodLifecycle(cluster, events) }
  const going: Activity[] = []
  let observed = false
  let begun = false

  function begin(): void {
    begun = true
    if (!observed) index.load(writer)
    events.adopt()
    // What is unsettled before anything has happened is broken on purpose, and stays so.
    for (const record of index.deployments) record.broken = !isSettled(record)
  }

  function step(): number {
    if (!begun) begin()
    const before = cluster.writes
    // A turn that finds nothing to do gives way to the next.
    for (let turns = 0; turns < 5 && cluster.writes === before; turns++) turn()
    return cluster.writes - before
  }

  function turn(): void {
    const mostAtOnce =
      options.maxActivities ?? Math.min(64, Math.max(2, index.deployments.length / 10))
    if (random.chance(0.3)) attempt(() => pulse(context))
    else if (going.length < mostAtOnce) attempt(() => nextActivity(context))
    else advance(random.pick(going))
  }

  /** An activity takes its first step at once, so that it has marked what it changes as busy. */
  function attempt(choose: () => Activity | undefined): void {
    const activity = unlessGone(choose)
    if (activity === undefined) {
      if (going.length > 0) advance(random.pick(going))
      return
    }
    going.push(activity)
    advance(activity)
  }

  function advance(activity: Activity): void {
    let ended = true
    try {
      ended = unlessGone(() => activity.next())?.done !== false
    } finally {
      if (ended) going.splice(going.indexOf(activity), 1)
    }
  }

  return {
    observe(resource, object) {
      observed = true
      index.observe(resource, object)
    },
    step,
    run: (signal) => runAtPace(step, eventsPerSecond, signal),
  }
}

/** Somebody else may delete what an activity works on: then it simply ends. */
function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof ObjectGoneError) return undefined
    throw error
  }
}
