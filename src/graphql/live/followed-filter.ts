import { TimeShare } from '../../lib/event-loop.ts'
import type { Listener, ListenerBatch } from '../../informer/delivery/listener.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { unrestricted } from '../../query/condition/scope.ts'
import { QueryTooCostlyError, WorkBudget } from '../../query/condition/work-budget.ts'
import type { Kind } from '../model/kind.ts'
import type { FollowedList } from './followed-list.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'

/** The rows to decide again. */
export interface ConcernedTaken {
  /** The keys of rows that may have started or stopped matching. */
  readonly rows: ReadonlySet<string>
  /** Whether any other row may have, too. */
  readonly isAll: boolean
  /** The positions after deciding them, by {@link positionName}. */
  readonly positions: Readonly<Record<string, string>>
}

/** The rows to decide one by one. Beyond this, the group decides all rows, which costs as much as a snapshot. */
export const maxConcernedRows = 10_000
/** The changes that may wait. Beyond this, the group decides all rows again. */
const maxWaitingChanges = 10_000
/** The share of time for deciding all rows again. */
const allShare = 1 / 20

/** The name in a token for a kind that the filter reads. Its position is separate from the position for the rows. */
export function positionName(type: string): string {
  return `where:${type}`
}

/**
 * Follows the objects that a filter on related objects reads, and finds the rows that their changes affect. It examines
 * every change, because any state in between may have decided a row. With too many waiting changes, too many affected
 * rows or too much work to find them, the group decides all rows again, in at most a twentieth of the time.
 */
export class FollowedFilter {
  readonly #list: FollowedList
  readonly #listeners: Listener[] = []
  readonly #views = new Map<string, StoreView>()
  #rows = new Set<string>()
  #isAll = false
  readonly #all = new TimeShare(allShare)
  #positions: Record<string, string> = {}
  #hasNews = false
  #wake: PromiseWithResolvers<void> | undefined
  readonly #leaving = new AbortController()
  #failure: unknown

  constructor(list: FollowedList) {
    this.#list = list
  }

  get #isOver(): boolean {
    return this.#leaving.signal.aborted
  }

  /** Whether all changes have been taken. */
  get isDrained(): boolean {
    const isEmpty = !this.#isAll && Object.keys(this.#positions).length === 0
    return isEmpty && this.#listeners.every(({ isDrained }) => isDrained)
  }

  /** Whether there are rows or positions to take now. */
  get isDue(): boolean {
    if (this.#isAll) return this.#all.isDue
    return Object.keys(this.#positions).length > 0
  }

  /** The positions of the followed stores. */
  get positions(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      filterKinds(this.#list).map(({ typeName }) => [
        positionName(typeName),
        this.#viewOf(typeName).resourceVersion,
      ]),
    )
  }

  /** Call in the tick that first decides the rows. Throws if a kind cannot be read. */
  listen(settled: Pick<ReadSnapshot, 'informer'>): void {
    const list = this.#list
    for (const at of [list.at, ...followedNeeds(list)]) {
      this.#views.set(at.kind.typeName, settled.informer(at, { watch: true }).store)
    }
    for (const kind of filterKinds(list)) {
      const at = { cluster: list.at.cluster, kind }
      const listener = settled.informer(at, { watch: true }).listen({
        bufferLimit: maxWaitingChanges,
        overflow: 'reset',
        replay: false,
        readsStore: true,
      })
      this.#listeners.push(listener)
      void this.#follow(kind.typeName, listener)
    }
  }

  /**
   * Resolves to true when there is more to take or it became due; to false when following has ended. Rejects with the
   * error that stopped it.
   */
  async changed(): Promise<boolean> {
    while (!this.#hasNews && !this.#isOver) {
      this.#wake ??= Promise.withResolvers()
      // oxlint-disable-next-line no-await-in-loop -- until there is news
      await this.#wake.promise
    }
    this.#hasNews = false
    if (this.#failure !== undefined) throw this.#failure
    return !this.#isOver
  }

  /** Takes the rows to decide. Takes nothing while deciding all rows is not yet due, unless `isForced`. */
  take(isForced = false): ConcernedTaken {
    if (this.#isAll && !this.isDue && !isForced)
      return { rows: new Set(), isAll: false, positions: {} }
    const taken = { rows: this.#rows, isAll: this.#isAll, positions: this.#positions }
    this.#rows = new Set()
    this.#isAll = false
    this.#positions = {}
    return taken
  }

  /** Marks all rows: any row may have started or stopped matching. */
  concernsAll(): void {
    this.#toAll()
    this.#tell()
  }

  /** Records that deciding all rows began at `startMs`, in `performance.now()` time, and is done. */
  decidedAll(startMs: number): void {
    this.#all.done(startMs)
  }

  close(): void {
    this.#leaving.abort()
    for (const listener of this.#listeners) listener.close()
    this.#tell()
  }

  async #follow(type: string, listener: Listener): Promise<void> {
    try {
      for await (const batch of listener) this.#look(type, batch)
    } catch (error) {
      this.#failure ??= error
    }
    // The informer has stopped.
    this.#leaving.abort()
    this.#tell()
  }

  #look(type: string, { changes, position, reset }: ListenerBatch): void {
    this.#positions[positionName(type)] = position
    if (!this.#isAll) {
      const keys = reset ? undefined : this.#concerned(type, changes)
      for (const key of keys ?? []) this.#rows.add(key)
      if (keys === undefined || this.#rows.size > maxConcernedRows) this.#toAll()
    }
    this.#tell()
  }

  #concerned(type: string, changes: ListenerBatch['changes']): ReadonlySet<string> | undefined {
    try {
      return this.#list.concerned?.of(type, changes, {
        part: (name) => ({ view: this.#viewOf(name), scope: unrestricted }),
        budget: new WorkBudget(),
        maxRows: maxConcernedRows,
      })
    } catch (error) {
      if (error instanceof QueryTooCostlyError) return undefined
      throw error
    }
  }

  #viewOf(type: string): StoreView {
    const view = this.#views.get(type)
    if (view === undefined) throw new TypeError(`${type} is not followed`)
    return view
  }

  #toAll(): void {
    this.#isAll = true
    this.#rows = new Set()
  }

  #tell(): void {
    if (this.#isAll && !this.#all.isDue && !this.#isOver) {
      this.#all.plan(() => this.#tell(), this.#leaving.signal)
      return
    }
    this.#hasNews = true
    this.#wake?.resolve()
    this.#wake = undefined
  }
}

/** The kinds whose changes may add rows to a list or remove them, through its filter on related objects. */
export function filterKinds({ concerned, needs }: FollowedList): readonly Kind[] {
  const types = new Set(concerned?.types)
  return needs.flatMap(({ kind }) => (types.has(kind.typeName) ? [kind] : []))
}

/** The kinds that a list's filter reads besides the list's own kind, with the indexes for these reads. */
export function followedNeeds({ at, needs }: FollowedList): readonly ClusterKind[] {
  return needs.map((need) => ({ cluster: at.cluster, ...need }))
}

/** The names and kinds of the positions in a token that a list's filter on related objects adds. */
export function filterPositionsAt(
  list: FollowedList,
): readonly { readonly name: string; readonly at: ClusterKind }[] {
  const { cluster } = list.at
  return filterKinds(list).map((kind) => ({
    name: positionName(kind.typeName),
    at: { cluster, kind },
  }))
}
