import { TimeShare } from '../../lib/event-loop.ts'
import type { Listener, ListenerBatch } from '../../informer/delivery/listener.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { unrestricted } from '../../query/condition/scope.ts'
import { QueryTooCostlyError, WorkBudget } from '../../query/condition/work-budget.ts'
import type { Kind } from '../model/kind.ts'
import type { FollowedList } from './followed-list.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'

/** What is to be decided anew. */
export interface ConcernedTaken {
  /** The keys of rows that may have come to match, or match no more. */
  readonly rows: ReadonlySet<string>
  /** Whether that may be any row besides. */
  readonly isAll: boolean
  /** Where whoever has decided them is, by {@link positionName}. */
  readonly positions: Readonly<Record<string, string>>
}

/** Rows that are decided one by one; where more are concerned, all are, which costs as much as a snapshot. */
export const maxConcernedRows = 10_000
/** Changes that may wait to be looked at; where more do, all rows are decided anew. */
const maxWaitingChanges = 10_000
/** Deciding all rows anew may take this part of the time. */
const allShare = 1 / 20

/** Stands in a token for a kind that the filter rests on: its position is another matter than that of the rows' own kind. */
export function positionName(type: string): string {
  return `where:${type}`
}

/**
 * Follows the objects that a filter on related objects rests on, and tells which rows that concerns. Every single change is looked
 * at, as a row may have been decided by any state in between. Where that would be too much, because of the changes that wait, the
 * rows that they concern or the work to find them, all rows are decided anew, in a twentieth of the time at the most.
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

  /** Whether all that has happened has been taken. */
  get isDrained(): boolean {
    const isEmpty = !this.#isAll && Object.keys(this.#positions).length === 0
    return isEmpty && this.#listeners.every(({ isDrained }) => isDrained)
  }

  /** Whether there is something to take now. */
  get isDue(): boolean {
    if (this.#isAll) return this.#all.isDue
    return Object.keys(this.#positions).length > 0
  }

  /** Where the stores stand that it follows. */
  get positions(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      filterKinds(this.#list).map(({ typeName }) => [
        positionName(typeName),
        this.#viewOf(typeName).resourceVersion,
      ]),
    )
  }

  /** To be called in the tick in which the rows are first decided. Throws where a kind cannot be read. */
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
   * Resolves when something new is to be taken, or became due; false where nothing will be any more, as a kind is not followed any
   * longer. Rejects with what makes it impossible to tell.
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

  /** What there is to decide. While all rows are, and that is not due yet, nothing, unless it `isForced`. */
  take(isForced = false): ConcernedTaken {
    if (this.#isAll && !this.isDue && !isForced)
      return { rows: new Set(), isAll: false, positions: {} }
    const taken = { rows: this.#rows, isAll: this.#isAll, positions: this.#positions }
    this.#rows = new Set()
    this.#isAll = false
    this.#positions = {}
    return taken
  }

  /** Something else is the case: any row may match now, or match no more. */
  concernsAll(): void {
    this.#toAll()
    this.#tell()
  }

  /** All rows have been decided anew, since `startMs`, as `performance.now()` told then. */
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
    // Its informer has stopped.
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

/** The kinds whose changes may let objects in or out of a list, because of its filter on related objects. */
export function filterKinds({ concerned, needs }: FollowedList): readonly Kind[] {
  const types = new Set(concerned?.types)
  return needs.flatMap(({ kind }) => (types.has(kind.typeName) ? [kind] : []))
}

/** The kinds that a list's filter rests on besides its own, with the indexes that they are read by. */
export function followedNeeds({ at, needs }: FollowedList): readonly ClusterKind[] {
  return needs.map((need) => ({ cluster: at.cluster, ...need }))
}

/** The positions that a token has because of a list's filter on related objects: their names, and the kinds that they are of. */
export function filterPositionsAt(
  list: FollowedList,
): readonly { readonly name: string; readonly at: ClusterKind }[] {
  const { cluster } = list.at
  return filterKinds(list).map((kind) => ({
    name: positionName(kind.typeName),
    at: { cluster, kind },
  }))
}
