import { TimeShare } from '../../../lib/event-loop.ts'
import type { Listener, ListenerBatch } from '../../../informer/delivery/listener.ts'
import type { Change } from '../../../informer/store/change.ts'
import type { StoreView } from '../../../informer/store/store-view.ts'
import { unrestricted } from '../../../query/condition/scope.ts'
import { QueryTooCostlyError, WorkBudget } from '../../../query/condition/work-budget.ts'
import type { ReadSnapshot } from '../../prepare/read-snapshot.ts'
import type { FollowedList, ListFilter } from '../followed-list.ts'

/** The rows to decide again. */
export interface FilterChanges {
  /** The keys of rows that may have started or stopped matching. */
  readonly rows: ReadonlySet<string>
  /** Whether any other row may have, too. */
  readonly isAll: boolean
  /** The positions after deciding them. */
  readonly positions: Readonly<Record<string, string>>
}

/** The rows to decide one by one. Beyond this, the group decides all rows, which costs as much as a snapshot. */
const maxAffectedRows = 10_000
/** The changes that may wait. Beyond this, the group decides all rows again. */
const maxWaitingChanges = 10_000
/** The share of time for deciding all rows again. */
const allShare = 1 / 20

/**
 * Follows the objects that a filter on related objects reads, and finds the rows that their changes affect. It examines
 * every change, because any state in between may have decided a row. With too many waiting changes, too many affected
 * rows or too much work to find them, the group decides all rows again, in at most a twentieth of the time.
 */
export class GroupFilter {
  readonly #list: FollowedList
  readonly #filter: ListFilter
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

  constructor(list: FollowedList, filter: ListFilter) {
    this.#list = list
    this.#filter = filter
  }

  get #isOver(): boolean {
    return this.#leaving.signal.aborted
  }

  get isDrained(): boolean {
    const isEmpty = !this.#isAll && Object.keys(this.#positions).length === 0
    return isEmpty && this.#listeners.every(({ isDrained }) => isDrained)
  }

  /** Whether there are rows or positions to take now. */
  get isDue(): boolean {
    if (this.#isAll) return this.#all.isDue
    return Object.keys(this.#positions).length > 0
  }

  get positions(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.#filter.kinds.map(({ position, at }) => [
        position,
        this.#viewOf(at.kind.typeName).resourceVersion,
      ]),
    )
  }

  /** Call in the tick that first decides the rows. Throws if a kind cannot be read. */
  listen(snapshot: Pick<ReadSnapshot, 'informer'>): void {
    for (const at of [this.#list.at, ...this.#list.needs]) {
      this.#views.set(at.kind.typeName, snapshot.informer(at, { watch: true }).store)
    }
    for (const { position, at } of this.#filter.kinds) {
      const listener = snapshot.informer(at, { watch: true }).listen({
        bufferLimit: maxWaitingChanges,
        overflow: 'reset',
        replay: false,
        readsStore: true,
      })
      this.#listeners.push(listener)
      void this.#follow(at.kind.typeName, position, listener)
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

  /** Takes the rows to decide; nothing while deciding all rows is not yet due. */
  take(): FilterChanges {
    if (this.#isAll && !this.isDue) return { rows: new Set(), isAll: false, positions: {} }
    const taken = { rows: this.#rows, isAll: this.#isAll, positions: this.#positions }
    this.#rows = new Set()
    this.#isAll = false
    this.#positions = {}
    return taken
  }

  /** Records that deciding all rows began at `startMs`, in `performance.now()` time, and is done. */
  decidedAll(startMs: number): void {
    this.#all.done(startMs)
  }

  close(): void {
    this.#leaving.abort()
    for (const listener of this.#listeners) listener.close()
    this.#notify()
  }

  async #follow(type: string, position: string, listener: Listener): Promise<void> {
    try {
      for await (const batch of listener) {
        this.#positions[position] = batch.position
        this.#find(type, batch)
        this.#notify()
      }
    } catch (error) {
      this.#failure ??= error
    }
    // The informer has stopped.
    this.#leaving.abort()
    this.#notify()
  }

  #find(type: string, { changes, reset }: ListenerBatch): void {
    if (this.#isAll) return
    const viewOf = (name: string): StoreView => this.#viewOf(name)
    const keys = reset ? undefined : affectedRows(this.#filter, type, changes, viewOf)
    for (const key of keys ?? []) this.#rows.add(key)
    if (keys !== undefined && this.#rows.size <= maxAffectedRows) return
    this.#isAll = true
    this.#rows = new Set()
  }

  #viewOf(type: string): StoreView {
    const view = this.#views.get(type)
    if (view === undefined) throw new TypeError(`${type} is not followed`)
    return view
  }

  #notify(): void {
    if (this.#isAll && !this.#all.isDue && !this.#isOver) {
      this.#all.plan(() => this.#notify(), this.#leaving.signal)
      return
    }
    this.#hasNews = true
    this.#wake?.resolve()
    this.#wake = undefined
  }
}

/** The rows that changes of a type may add to a list or remove; `undefined` if they are too many or too costly to find. */
export function affectedRows(
  { affected }: ListFilter,
  type: string,
  changes: readonly Change[],
  viewOf: (type: string) => StoreView,
  budget: WorkBudget = new WorkBudget(),
): ReadonlySet<string> | undefined {
  try {
    return affected.of(type, changes, {
      part: (name) => ({ view: viewOf(name), scope: unrestricted }),
      budget,
      maxRows: maxAffectedRows,
    })
  } catch (error) {
    if (error instanceof QueryTooCostlyError) return undefined
    throw error
  }
}
