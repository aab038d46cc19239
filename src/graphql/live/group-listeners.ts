import { sleep } from '../../lib/backoff.ts'
import type { ClusterCache } from '../../cache/cluster-cache.ts'
import type { Listener } from '../../informer/delivery/listener.ts'
import type { Kind } from '../model/kind.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import type { GroupContent } from './group-content.ts'
import type { GroupFilter } from './group-filter.ts'
import type { GroupFlush } from './group-flush.ts'
import type { StreamEnd } from './group-member.ts'
import type { GroupReading } from './group-reading.ts'
import type { GroupMemberships } from './group-memberships.ts'

export interface GroupListenersOptions {
  readonly reading: GroupReading
  readonly rows: Pick<GroupContent, 'dependencies'>
  readonly filter: GroupFilter
  readonly flush: GroupFlush
  readonly memberships: GroupMemberships
  /** The caches of the cluster. */
  readonly cache: ClusterCache | undefined
  /** The kinds that only objects have named. */
  readonly further: ReadonlySet<Kind>
  readonly coalesceMs: number
  /** Aborted when the group is over: nothing is heard any more. */
  readonly leaving: AbortSignal
  /** There is nothing to follow any more. */
  readonly ended: (end: StreamEnd) => void
  /** What has been heard could not be written. */
  readonly failed: (error: unknown) => void
  /** All that is read has been let go of, as the cluster is another one now. */
  readonly renewed: () => void
}

/** What a group hears: the changes of each kind that it reads, and of those that its filter rests on, that a further kind has come to be in memory, and that the cluster is another one. */
export class GroupListeners {
  readonly #options: GroupListenersOptions
  #listeners: readonly Listener[] = []
  #forget: readonly (() => void)[] = []

  constructor(options: GroupListenersOptions) {
    this.#options = options
  }

  /** Whether all that has happened to the kinds has been dealt with. */
  get isDrained(): boolean {
    return this.#listeners.every(({ isDrained }) => isDrained)
  }

  /** From now on it is known what happens around the kinds. */
  lookAround(): void {
    const { cache, reading, flush, leaving, renewed } = this.#options
    if (cache === undefined) return
    const synced = cache.onSynced(() => {
      // It may be one that rows lead to.
      if (!reading.looksAround || leaving.aborted) return
      flush.takeAll()
      this.#flush()
    })
    const another = cache.onRenewed(() => {
      if (!leaving.aborted) renewed()
    })
    this.#forget = [synced, another]
  }

  /** To be called in the tick in which the kinds are first read: whatever is not there then is heard. Throws where one cannot be. */
  listen(settled: ReadSnapshot): void {
    const { reading, rows, filter } = this.#options
    const listeners = reading.listeners(settled)
    this.#listeners = listeners
    const byType = new Map(reading.needs.map(({ kind }, at) => [kind.typeName, listeners[at]]))
    rows.dependencies.listen((type) => byType.get(type)?.hasWaiting === true)
    filter.listen(settled)
  }

  /** Has written what is heard, and what there is already. */
  follow(): void {
    const { reading, filter, flush, leaving, ended, failed } = this.#options
    for (const [number, { kind }] of reading.needs.entries()) {
      const listener = this.#listeners[number]
      if (listener !== undefined) void this.#follow(kind, listener).catch(failed)
    }
    this.#flush()
    void filter
      .follow(this.#pause, () => flush.flush())
      .then((end) => {
        if (end !== undefined && !leaving.aborted) ended(end)
      })
      .catch(failed)
  }

  /** Hears no more. */
  close(): void {
    for (const forget of this.#forget) forget()
    for (const listener of [...this.#listeners, this.#options.filter]) listener.close()
  }

  async #follow(kind: Kind, listener: Listener): Promise<void> {
    const { reading, flush, memberships, further, leaving, ended } = this.#options
    for await (const batch of listener.gathered(this.#pause)) {
      memberships.heard(kind, batch.changes)
      flush.take(kind.typeName, batch)
      // What the listeners of other kinds have at the same time goes into the same frame.
      if (reading.needs.length > 1) await new Promise<void>((resolve) => setImmediate(resolve))
      await flush.flush()
    }
    if (leaving.aborted) return
    // Its informer has stopped. That of a kind which only objects named ends nothing that was asked for.
    if (further.has(kind)) await reading.settled()
    ended({ form: 'complete' })
  }

  #flush(): void {
    const { flush, failed } = this.#options
    void flush.flush().catch(failed)
  }

  readonly #pause = (): Promise<void> | undefined => {
    const { coalesceMs, leaving } = this.#options
    return coalesceMs === 0 ? undefined : sleep(coalesceMs, leaving)
  }
}
