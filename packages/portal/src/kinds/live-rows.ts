import type { ClusterGap, LiveCollection, LivePage, LivePageSnapshot } from '@informerql/client'
import type { TableRowFragment as TableRow } from '../gateway/documents.ts'
import { heldRows } from '../look/held-rows.ts'

/** Where the rows of a table come from. */
export interface RowSources {
  /** The first {@link headRows} rows, live. */
  readonly head: Pick<LivePage<TableRow>, 'getSnapshot' | 'subscribe'>
  /** The {@link blockRows} rows after the first `offset`. */
  readonly block: (offset: number, signal: AbortSignal) => Promise<readonly TableRow[]>
  /** The changes of rows. The receiver closes it. */
  readonly follow: (ids: readonly string[]) => Pick<LiveCollection<TableRow>, 'onChanges' | 'close'>
}

/** The rows of a table at one moment. */
export interface RowsSnapshot {
  /** How many rows the table has; `undefined` before the first are here. */
  readonly count: number | undefined
  /** The row at an index; `undefined` while it is on its way. */
  readonly at: (index: number) => TableRow | undefined
  /** Where the row of an object is, if it is here; otherwise -1. */
  readonly indexOf: (id: string) => number
  /** Whether a row is shown though its object does not belong to the list any more: the rows are held. */
  readonly isGone: (id: string) => boolean
  /** The number of rows that have come above the end of the view while the rows are held. */
  readonly newAbove: number
  readonly status: LivePageSnapshot<TableRow>['status']
  readonly error: Error | undefined
  readonly staleSince: string | null
  /** What is missing of the clusters of a list over several. */
  readonly incomplete: readonly ClusterGap[]
}

export const headRows = 200
export const blockRows = 100
/** A block is asked for again when the list may have changed, and after this time at the latest. */
const blockAgeMs = 5_000
/** The time between two rounds of asking for blocks. */
const roundMs = 1_000
/** The user scrolls: what passes by is not asked for. */
const settleMs = 60
/** The blocks that are kept, those in view included. */
const keptBlocks = 40

interface Block {
  rows: readonly TableRow[]
  askedAt: number
  isStale: boolean
  asking: AbortController | undefined
  unfollow: (() => void) | undefined
}

/**
 * The rows of a table of any length: the head is a live page; beyond it, the blocks around the view are asked for, and
 * their rows are followed while they are in view. While the rows are held, none of them moves: their cells change, and
 * rows that come or go wait. It works while it has subscribers.
 */
export class LiveRows {
  readonly #sources: RowSources
  readonly #listeners = new Set<() => void>()
  readonly #blocks = new Map<number, Block>()
  #shown: readonly TableRow[] = []
  #gone: ReadonlySet<string> = new Set()
  #held = false
  #view = { first: 0, last: 0 }
  #page: LivePageSnapshot<TableRow>
  #blockError: Error | undefined
  #snapshot: RowsSnapshot | undefined
  #leaveHead: (() => void) | undefined
  #settling: ReturnType<typeof setTimeout> | undefined
  #rounds: ReturnType<typeof setInterval> | undefined

  constructor(sources: RowSources) {
    this.#sources = sources
    this.#page = sources.head.getSnapshot()
    this.#shown = this.#page.rows
  }

  /** Works without `this`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) {
      this.#leaveHead = this.#sources.head.subscribe(() => this.#headChanged())
      this.#settle()
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#rest()
    }
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): RowsSnapshot => (this.#snapshot ??= this.#makeSnapshot())

  /** The rows from `first` to `last` are in view. */
  look(first: number, last: number): void {
    if (first === this.#view.first && last === this.#view.last) return
    this.#view = { first, last }
    this.#settle()
  }

  /** Holds the rows in their places, or lets them move. Works without `this`. */
  readonly hold = (held: boolean): void => {
    this.#held = held
    if (!held) this.showAll()
  }

  /** Shows the rows as they are now, also while they are held. */
  showAll(): void {
    if (this.#shown === this.#page.rows && this.#gone.size === 0) return
    this.#shown = this.#page.rows
    this.#gone = new Set()
    this.#tell()
  }

  #headChanged(): void {
    const before = this.#page
    const page = this.#sources.head.getSnapshot()
    this.#page = page
    if (page.rows !== before.rows) {
      const current = new Map(page.rows.map((row) => [row.id, row]))
      for (const row of this.#shown) noteChanges(row, current.get(row.id))
      if (this.#held && this.#shown.length > 0) {
        const held = heldRows(this.#shown, current)
        this.#shown = held.rows
        this.#gone = held.gone
      } else {
        this.#shown = page.rows
        this.#gone = new Set()
      }
    }
    if (page.totalCount !== before.totalCount) {
      for (const block of this.#blocks.values()) block.isStale = true
      if (before.totalCount === undefined) this.#settle()
    }
    this.#tell()
  }

  /** Asks for what is in view when the user has stopped scrolling. */
  #settle(): void {
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.#round(), settleMs)
  }

  get #count(): number | undefined {
    const { totalCount } = this.#page
    if (totalCount === undefined) return undefined
    return totalCount > headRows ? Math.max(totalCount, this.#shown.length) : this.#shown.length
  }

  /** The numbers of the blocks in view and of one at each side, as far as the head does not have them. */
  #wanted(): readonly number[] {
    const count = this.#count ?? 0
    const first = Math.max(this.#view.first - blockRows, this.#shown.length)
    const last = Math.min(this.#view.last + blockRows, count - 1)
    const wanted: number[] = []
    if (first > last) return wanted
    for (let at = Math.floor(first / blockRows); at * blockRows <= last; at++) wanted.push(at)
    return wanted
  }

  /** Asks for the blocks in view that are missing or may be out of date, and leaves the others. */
  #round(): void {
    const wanted = new Set(this.#wanted())
    for (const [at, block] of this.#blocks) {
      if (!wanted.has(at)) leave(block)
    }
    const now = performance.now()
    for (const at of wanted) {
      const block = this.#blocks.get(at)
      const maxAgeMs = block?.isStale === true ? roundMs : blockAgeMs
      const isDue =
        block === undefined ||
        (block.asking === undefined &&
          (block.unfollow === undefined || (!this.#held && now - block.askedAt >= maxAgeMs)))
      if (isDue) void this.#ask(at)
    }
    this.#forget(wanted)
    if (wanted.size === 0) {
      clearInterval(this.#rounds)
      this.#rounds = undefined
    } else this.#rounds ??= setInterval(() => this.#round(), roundMs)
  }

  async #ask(at: number): Promise<void> {
    const asking = new AbortController()
    const known = this.#blocks.get(at)
    const block: Block = {
      rows: known?.rows ?? [],
      unfollow: known?.unfollow,
      askedAt: performance.now(),
      isStale: false,
      asking,
    }
    // A block that is asked for most recently is forgotten last.
    this.#blocks.delete(at)
    this.#blocks.set(at, block)
    try {
      const rows = await this.#sources.block(at * blockRows, asking.signal)
      if (asking.signal.aborted) return
      const before = new Map(block.rows.map((row) => [row.id, row]))
      for (const row of rows) noteChanges(before.get(row.id), row)
      const isSame = before.size === rows.length && rows.every(({ id }) => before.has(id))
      block.rows = rows
      this.#blockError = undefined
      if (!isSame || block.unfollow === undefined) this.#follow(block)
    } catch (error) {
      if (asking.signal.aborted) return
      this.#blockError = error instanceof Error ? error : new Error(String(error))
    } finally {
      block.asking = undefined
    }
    this.#tell()
  }

  #follow(block: Block): void {
    block.unfollow?.()
    const changes = this.#sources.follow(block.rows.map(({ id }) => id))
    const forget = changes.onChanges((told) => {
      const current = new Map<string, TableRow>()
      for (const change of told) {
        if (change.type === 'REMOVED') block.isStale = true
        else current.set(change.id, change.row)
      }
      block.rows = block.rows.map((row) => {
        const next = current.get(row.id)
        noteChanges(row, next)
        return next ?? row
      })
      this.#tell()
    })
    block.unfollow = () => {
      forget()
      changes.close()
    }
  }

  #forget(wanted: ReadonlySet<number>): void {
    for (const at of this.#blocks.keys()) {
      if (this.#blocks.size <= keptBlocks) return
      if (!wanted.has(at)) this.#blocks.delete(at)
    }
  }

  #rest(): void {
    this.#leaveHead?.()
    this.#leaveHead = undefined
    clearTimeout(this.#settling)
    clearInterval(this.#rounds)
    this.#rounds = undefined
    for (const block of this.#blocks.values()) leave(block)
  }

  #makeSnapshot(): RowsSnapshot {
    const { status, staleSince, error, incomplete } = this.#page
    const shown = this.#shown
    const gone = this.#gone
    const blocks = new Map([...this.#blocks].map(([at, { rows }]) => [at, rows]))
    let indexes: Map<string, number> | undefined
    return {
      count: this.#count,
      at: (index) =>
        index < shown.length
          ? shown[index]
          : blocks.get(Math.floor(index / blockRows))?.[index % blockRows],
      indexOf(id) {
        indexes ??= new Map([
          ...[...blocks].flatMap(([at, rows]) =>
            rows.map((row, index) => [row.id, at * blockRows + index] as const),
          ),
          ...shown.map((row, index) => [row.id, index] as const),
        ])
        return indexes.get(id) ?? -1
      },
      isGone: (id) => gone.has(id),
      newAbove: this.#newAbove(),
      status,
      error: error ?? this.#blockError,
      staleSince,
      incomplete,
    }
  }

  #newAbove(): number {
    if (!this.#held || this.#shown === this.#page.rows) return 0
    const shown = new Set(this.#shown.map(({ id }) => id))
    const inView = this.#page.rows.slice(0, this.#view.last + 1)
    return inView.filter(({ id }) => !shown.has(id)).length
  }

  #tell(): void {
    this.#snapshot = undefined
    for (const listener of this.#listeners) listener()
  }
}

function leave(block: Block): void {
  block.asking?.abort()
  block.unfollow?.()
  block.unfollow = undefined
}

/** Cells of a row that have changed, and when, by `performance.now()`. */
interface RowChanges {
  readonly columns: ReadonlySet<string>
  readonly at: number
}

const changes = new WeakMap<TableRow, RowChanges>()

/** How a row differs from the one that was shown before it; `undefined` for a row that has not changed. */
export function changesOf(row: TableRow): RowChanges | undefined {
  return changes.get(row)
}

function noteChanges(before: TableRow | undefined, row: TableRow | undefined): void {
  if (before === undefined || row === undefined || before === row) return
  const values = new Map(before.printerColumns?.map((column) => [column.name, column]))
  const columns = new Set<string>()
  for (const { name, value, since } of row.printerColumns ?? []) {
    const known = values.get(name)
    if (known?.value !== value || known?.since !== since) columns.add(name)
  }
  if (before.health?.status !== row.health?.status) columns.add('health')
  if (columns.size > 0) changes.set(row, { columns, at: performance.now() })
}
