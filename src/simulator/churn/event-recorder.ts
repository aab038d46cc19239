import { eventItem, type EventReport, repeatedEvent } from '../population/event.ts'
import { resources } from '../population/resources.ts'
import type { Cluster } from './cluster.ts'
import { eventKey } from './cluster-index.ts'

/** What a report says; when it happened is the recorder's. */
export type Report = Omit<EventReport, 'firstAtMs' | 'lastAtMs' | 'count'>

/**
 * Writes Events. One that has been seen before counts up; beyond `maxEvents` the oldest is deleted, as the API server
 * does after an hour.
 */
export class EventRecorder {
  readonly #cluster: Cluster
  readonly #maxEvents: number
  readonly #byKey = new Map<string, { readonly namespace: string; readonly name: string }>()

  constructor(cluster: Cluster, maxEvents: number) {
    this.#cluster = cluster
    this.#maxEvents = maxEvents
  }

  /** Takes over the Events that are there already. */
  adopt(): void {
    const { events } = this.#cluster.index
    for (const { key, namespace, name } of events.splice(0))
      this.#byKey.set(key, { namespace, name })
  }

  record(report: Report): void {
    const atMs = this.#cluster.now()
    const item = eventItem({ ...report, firstAtMs: atMs, lastAtMs: atMs, count: 1 })
    const key = eventKey(item.object)
    const seen = this.#byKey.get(key)
    if (seen !== undefined) {
      const { namespace, name } = seen
      const event = this.#cluster.get(resources.events, namespace, name)
      if (event !== undefined) {
        this.#cluster.replace(resources.events, event, (old) => repeatedEvent(old, atMs))
        this.#byKey.delete(key)
        this.#byKey.set(key, seen)
        return
      }
      this.#byKey.delete(key)
    }
    const { namespace = '', name } = item.object.metadata
    if (this.#cluster.get(resources.events, namespace, name) !== undefined) return
    this.#cluster.create(item)
    this.#byKey.set(key, { namespace, name })
    this.#prune()
  }

  #prune(): void {
    for (const [key, { namespace, name }] of this.#byKey) {
      if (this.#byKey.size <= this.#maxEvents) return
      this.#byKey.delete(key)
      this.#cluster.remove(resources.events, namespace, name)
    }
  }
}
