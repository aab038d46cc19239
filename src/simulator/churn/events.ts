import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { eventItem, type EventReport, resources } from '../population/object.ts'
import { kubeletReport, mainContainer } from '../population/pod.ts'
import { type Cluster, eventKey } from './cluster.ts'

/** What a report says; when it happened is the recorder's. */
export type Report = Omit<EventReport, 'firstAtMs' | 'lastAtMs' | 'count'>

/**
 * Writes Events. One that has been seen before counts up; beyond `maxEvents` the oldest is deleted, as the API server
 * does after an hour.
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
    // The map keeps the order in which they last happened.
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

  /** What goes on as it should. */
  normal(regarding: Unstructured, component: string, reason: string, message: string): void {
    this.record({ regarding, type: 'Normal', component, reason, message })
  }

  /** What the kubelet of a node says of a pod's first container. */
  container(pod: Unstructured, nodeName: string, reason: string, message: string): void {
    const report = { ...kubeletReport(pod, nodeName), type: 'Normal' } as const
    this.record({ ...report, reason, message: `${message}${mainContainer(pod).name}` })
  }
}

function repeated(event: Unstructured, atMs: number): Unstructured {
  const count = typeof event['count'] === 'number' ? event['count'] : 1
  return { ...event, count: count + 1, lastTimestamp: timestamp(atMs) }
}
