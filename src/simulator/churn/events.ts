import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { eventItem, type EventReport, resources } from '../population/object.ts'
import { kubeletReport, mainContainer } from '../population/pod.ts'
import { type Cluster, eventKey } from './cluster.ts'

/** A report without its times and count, which the recorder sets. */
export type Report = Omit<EventReport, 'firstAtMs' | 'lastAtMs' | 'count'>

/**
 * Writes Events. Repeated Events count up. Beyond `maxEvents` the oldest is deleted, as an API server does after an
 * hour.
 */
export class EventRecorder {
  readonly #cluster: Cluster
  readonly #maxEvents: number

  constructor(cluster: Cluster, maxEvents: number) {
    this.#cluster = cluster
    this.#maxEvents = maxEvents
  }

  record(report: Report): void {
    const cluster = this.#cluster
    const { events } = cluster
    const atMs = cluster.now()
    const item = eventItem({ ...report, firstAtMs: atMs, lastAtMs: atMs, count: 1 })
    const key = eventKey(item.object)
    const seen = events.get(key)
    // Keeps the map in the order of last occurrence.
    events.delete(key)
    if (seen !== undefined && cluster.get(resources.events, seen) !== undefined) {
      cluster.change(resources.events, seen, (event) => repeated(event, atMs))
      return
    }
    const at = { namespace: '', ...item.object.metadata }
    if (cluster.get(resources.events, at) === undefined) cluster.create(item)
    for (const [oldest, place] of events) {
      if (events.size <= this.#maxEvents) return
      events.delete(oldest)
      cluster.remove(resources.events, place)
    }
  }

  /** Records a normal Event. */
  normal(regarding: Unstructured, component: string, reason: string, message: string): void {
    this.record({ regarding, type: 'Normal', component, reason, message })
  }

  /** Records a kubelet's Event about the first container of a pod. */
  container(pod: Unstructured, nodeName: string, reason: string, message: string): void {
    const report = { ...kubeletReport(pod, nodeName), type: 'Normal' } as const
    this.record({ ...report, reason, message: `${message}${mainContainer(pod).name}` })
  }
}

function repeated(event: Unstructured, atMs: number): Unstructured {
  const count = typeof event['count'] === 'number' ? event['count'] : 1
  return { ...event, count: count + 1, lastTimestamp: timestamp(atMs) }
}
