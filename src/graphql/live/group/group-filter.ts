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

/** A kind that a filter reads, followed. */
export interface FilterListener {
  readonly type: string
  readonly position: string
  readonly listener: Listener
}

/**
 * The objects that a filter on related objects reads, and the rows that their changes affect. Every change counts, because
 * any state in between may have decided a row. With too many waiting changes, too many affected rows or too much work to
 * find them, the group decides all rows again, in at most a twentieth of the time.
 */
export class GroupFilter {
  readonly #filter: ListFilter
  readonly listeners: readonly FilterListener[]
  readonly #views: ReadonlyMap<string, StoreView>
  #rows = new Set<string>()
  #isAll = false
  readonly #all = new TimeShare(allShare)
  #positions: Record<string, string> = {}

  /** Make it in the tick that first decides the rows. Throws if a kind cannot be read. */
  constructor({ at: own, needs }: FollowedList, filter: ListFilter, snapshot: ReadSnapshot) {
    this.#filter = filter
    this.#views = new Map(
      [own, ...needs].map((at) => [at.kind.typeName, snapshot.informer(at, { watch: true }).store]),
    )
    this.listeners = filter.kinds.map(({ position, at }) => {
      const listener = snapshot.informer(at, { watch: true }).listen({
        bufferLimit: maxWaitingChanges,
        overflow: 'reset',
        replay: false,
        readsStore: true,
      })
      return { type: at.kind.typeName, position, listener }
    })
  }

  get isDrained(): boolean {
    const isEmpty = !this.#isAll && Object.keys(this.#positions).length === 0
    return isEmpty && this.listeners.every(({ listener }) => listener.isDrained)
  }

  /** Whether there are rows or positions to take now. */
  get isDue(): boolean {
    if (this.#isAll) return this.#all.isDue
    return Object.keys(this.#positions).length > 0
  }

  get positions(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.listeners.map(({ type, position }) => [position, this.#viewOf(type).resourceVersion]),
    )
  }

  /** Finds the rows that changes affect. Calls `due` when they are to be taken. */
  find(
    { type, position }: FilterListener,
    batch: ListenerBatch,
    due: () => void,
    leaving: AbortSignal,
  ): void {
    this.#positions[position] = batch.position
    if (!this.#isAll) {
      const viewOf = (name: string): StoreView => this.#viewOf(name)
      const keys = batch.reset ? undefined : affectedRows(this.#filter, type, batch.changes, viewOf)
      for (const key of keys ?? []) this.#rows.add(key)
      if (keys === undefined || this.#rows.size > maxAffectedRows) {
        this.#isAll = true
        this.#rows = new Set()
      }
    }
    if (this.isDue) due()
    else this.#all.plan(due, leaving)
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
    for (const { listener } of this.listeners) listener.close()
  }

  #viewOf(type: string): StoreView {
    const view = this.#views.get(type)
    if (view === undefined) throw new TypeError(`${type} is not followed`)
    return view
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
