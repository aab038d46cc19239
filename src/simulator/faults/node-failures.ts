import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import type { Pod } from '../../kubernetes/wire/core-v1.ts'
import { evictPod, loseNode, recoverNode, toleratedForMs } from '../churn/node-outage.ts'
import type { Storage } from '../storage/storage.ts'

const longestWaitMs = 2 ** 31 - 1

/** Fails nodes and brings them back. Evicts their pods when they no longer tolerate it. */
export class NodeFailures {
  readonly #storage: Storage
  /** Timers of pending evictions, by node. */
  readonly #timers = new Map<string, NodeJS.Timeout[]>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /**
   * Makes a node silent. Its pods are evicted after the time for which they tolerate it, or after `evictAfterMs`.
   * Returns `false` without such a node.
   */
  fail(name: string, evictAfterMs: number | undefined): boolean {
    const node = this.#storage.get(resources.nodes, '', name)
    if (node === undefined) return false
    this.#clear(name)
    const pods = this.#podsOn(name)
    loseNode(this.#storage, node, pods, Date.now())
    const evicted = pods.filter((pod) => toleratedForMs(pod) !== Infinity)
    const due = Map.groupBy(evicted, (pod) => evictAfterMs ?? toleratedForMs(pod))
    const timers = Array.from(due, ([dueMs, some]) =>
      setTimeout(
        () => {
          for (const { metadata } of some) {
            const pod = this.#storage.get(resources.pods, metadata.namespace ?? '', metadata.name)
            const isSame = pod?.metadata.uid === metadata.uid
            if (isSame && pod !== undefined && pod.metadata.deletionTimestamp === undefined)
              evictPod(this.#storage, pod, Date.now())
          }
        },
        Math.min(dueMs, longestWaitMs),
      ),
    )
    this.#timers.set(name, timers)
    return true
  }

  /** Brings a node back. Returns `false` without such a node. */
  recover(name: string): boolean {
    const node = this.#storage.get(resources.nodes, '', name)
    if (node === undefined) return false
    this.#clear(name)
    recoverNode(this.#storage, node, this.#podsOn(name), Date.now())
    return true
  }

  stop(): void {
    for (const name of this.#timers.keys()) this.#clear(name)
  }

  #clear(name: string): void {
    for (const timer of this.#timers.get(name) ?? []) clearTimeout(timer)
    this.#timers.delete(name)
  }

  #podsOn(name: string): readonly Unstructured[] {
    return Array.from(this.#storage.list(resources.pods)).filter(
      (pod) => (pod as Pod).spec?.nodeName === name,
    )
  }
}
