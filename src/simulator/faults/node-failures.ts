import type { Unstructured } from '../../kubernetes/object.ts'
import {
  evictedPod,
  recoveredNode,
  recoveredPod,
  lostNode,
  unreadyPod,
  toleratedForMs,
} from '../population/node-health.ts'
import type { Storage } from '../storage/storage.ts'

const nodes = { group: '', version: 'v1', resource: 'nodes' }
const pods = { group: '', version: 'v1', resource: 'pods' }

/** The longest delay of a timer. */
const longestWaitMs = 2 ** 31 - 1

/**
 * Fails nodes and brings them back, with the effects that the node controller has on them and on their pods. Evicted
 * pods stay, terminating, until their node is back.
 */
export class NodeFailures {
  readonly #storage: Storage
  /** Timers of pending evictions, by node. */
  readonly #timers = new Map<string, NodeJS.Timeout[]>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  has(name: string): boolean {
    return this.#storage.get(nodes, '', name) !== undefined
  }

  /** Makes a node silent. Its pods are evicted after the time for which they tolerate it, or after `evictAfterMs`. */
  fail(name: string, evictAfterMs: number | undefined): void {
    const node = this.#storage.get(nodes, '', name)
    if (node === undefined) return
    this.#clear(name)
    const atMs = Date.now()
    this.#storage.update(nodes, lostNode(node, atMs))
    const evictions = new Map<number, Unstructured[]>()
    for (const pod of this.#podsOn(name)) {
      const unready = unreadyPod(pod, atMs)
      if (unready !== undefined) this.#storage.update(pods, unready)
      const toleratedMs = toleratedForMs(pod)
      if (toleratedMs === Infinity) continue
      const dueMs = evictAfterMs ?? toleratedMs
      evictions.set(dueMs, [...(evictions.get(dueMs) ?? []), pod])
    }
    const timers = [...evictions].map(([dueMs, due]) =>
      setTimeout(() => this.#evict(due), Math.min(dueMs, longestWaitMs)),
    )
    this.#timers.set(name, timers)
  }

  /** Brings a node back. Its pods are ready again; evicted pods are deleted. */
  recover(name: string): void {
    const node = this.#storage.get(nodes, '', name)
    if (node === undefined) return
    this.#clear(name)
    const atMs = Date.now()
    this.#storage.update(nodes, recoveredNode(node, atMs))
    for (const pod of this.#podsOn(name)) {
      const { namespace = '', finalizers = [], deletionTimestamp } = pod.metadata
      const found = recoveredPod(pod, atMs)
      if (deletionTimestamp !== undefined && finalizers.length === 0) {
        this.#storage.delete(pods, namespace, pod.metadata.name)
      } else if (found !== undefined) this.#storage.update(pods, found)
    }
  }

  /** Cancels all pending evictions. */
  stop(): void {
    for (const name of this.#timers.keys()) this.#clear(name)
  }

  #clear(name: string): void {
    for (const timer of this.#timers.get(name) ?? []) clearTimeout(timer)
    this.#timers.delete(name)
  }

  #podsOn(name: string): readonly Unstructured[] {
    return Array.from(this.#storage.list(pods)).filter((pod) => {
      const { nodeName } = (pod['spec'] ?? {}) as { readonly nodeName?: string }
      return nodeName === name
    })
  }

  #evict(due: readonly Unstructured[]): void {
    for (const { metadata } of due) {
      const pod = this.#storage.get(pods, metadata.namespace ?? '', metadata.name)
      const isSame = pod?.metadata.uid === metadata.uid
      if (pod === undefined || !isSame || pod.metadata.deletionTimestamp !== undefined) continue
      this.#storage.update(pods, evictedPod(pod, Date.now()))
    }
  }
}
