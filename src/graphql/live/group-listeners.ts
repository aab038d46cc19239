import { sleep } from '../../lib/backoff.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import type { Change } from '../../informer/store/change.ts'
import type { Listener } from '../../informer/delivery/listener.ts'
import type { Kind } from '../model/kind.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { GroupContent } from './group-content.ts'
import type { GroupFilter } from './group-filter.ts'
import type { GroupFlush } from './group-flush.ts'
import type { GroupReading } from './group-reading.ts'

/** A group, as far as it listens. */
export interface ListeningGroup {
  readonly reading: GroupReading
  readonly content: Pick<GroupContent, 'dependencies'>
  readonly filter: GroupFilter
  readonly flush: GroupFlush
  /** The caches of the cluster. */
  readonly cache: ClusterCache | undefined
  readonly coalesceMs: number
  /** Aborted when the group is over: nothing is heard any more. */
  readonly leaving: AbortSignal
  /** Objects of a kind have changed. */
  heard(kind: Kind, changes: readonly Change[]): void
  /** The informer of a kind has stopped. */
  stopped(kind: Kind): void
  /** The informer of a kind that the list is filtered by has stopped. */
  filterStopped(): void
  /** Another group has to be found for all members: the cluster is another one, or a further kind can be read. */
  outdated(): void
  /** What has been heard could not be written. */
  failed(error: unknown): void
}

/** What a group hears: changes of the kinds that it reads, further kinds that come to be in memory, and that the cluster is another one. */
export class GroupListeners {
  readonly #group: ListeningGroup
  #listeners: readonly { readonly kind: Kind; readonly listener: Listener }[] = []
  readonly #forget: (() => void)[] = []

  constructor(group: ListeningGroup) {
    this.#group = group
  }

  /** Whether all that has happened to the kinds has been dealt with. */
  get isDrained(): boolean {
    return this.#listeners.every(({ listener }) => listener.isDrained)
  }

  /** From now on it is known whether the cluster is another one. */
  begin(): void {
    const { cache, leaving } = this.#group
    const renewed = cache?.onRenewed(() => {
      if (!leaving.aborted) this.#group.outdated()
    })
    if (renewed !== undefined) this.#forget.push(renewed)
  }

  /** To be called in the tick in which the rows are first chosen. Throws where a kind of the filter cannot be read. */
  listen(settled: ReadSnapshot): void {
    const { reading, content, filter, cache } = this.#group
    this.#listeners = reading.readable(settled).map((at) => {
      return { kind: at.kind, listener: reading.listen(settled, at) }
    })
    const byType = new Map(this.#listeners.map(({ kind, listener }) => [kind.typeName, listener]))
    content.dependencies.listen((type) => byType.get(type)?.hasWaiting === true)
    filter.listen(settled)
    const synced = cache?.onSynced(() => this.#synced())
    if (synced !== undefined) this.#forget.push(synced)
  }

  /** A further kind is in memory. */
  #synced(): void {
    const { reading, flush, leaving } = this.#group
    if (leaving.aborted) return
    if (reading.readable().length > this.#listeners.length) this.#group.outdated()
    else if (reading.looksAround) {
      // Rows may lead to it.
      flush.takeAll()
      this.#flush()
    }
  }

  /** Has written what is heard, and what there is already. */
  follow(): void {
    const { filter, flush, leaving } = this.#group
    const failed = (error: unknown): void => this.#group.failed(error)
    for (const { kind, listener } of this.#listeners) {
      void this.#follow(kind, listener).catch(failed)
    }
    this.#flush()
    if (!filter.isFollowed) return
    void filter
      .follow(this.#pause, () => flush.flush())
      .then(() => {
        if (!leaving.aborted) this.#group.filterStopped()
      })
      .catch(failed)
  }

  /** Hears no more. */
  close(): void {
    for (const forget of this.#forget) forget()
    for (const { listener } of this.#listeners) listener.close()
    this.#group.filter.close()
  }

  async #follow(kind: Kind, listener: Listener): Promise<void> {
    const { flush, leaving } = this.#group
    for await (const batch of listener.gathered(this.#pause)) {
      this.#group.heard(kind, batch.changes)
      flush.take(kind.typeName, batch)
      // What the listeners of other kinds have at the same time goes into the same frame.
      if (this.#listeners.length > 1) await new Promise<void>((resolve) => setImmediate(resolve))
      await flush.flush()
    }
    if (!leaving.aborted) this.#group.stopped(kind)
  }

  #flush(): void {
    const group = this.#group
    void group.flush.flush().catch((error: unknown) => group.failed(error))
  }

  readonly #pause = (): Promise<void> | undefined => {
    const { coalesceMs, leaving } = this.#group
    return coalesceMs === 0 ? undefined : sleep(coalesceMs, leaving)
  }
}
