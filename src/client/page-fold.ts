import type { ClusterGap } from './frame-fold.ts'

/** One step of a live page, as the gateway sends it. */
export interface PageStep<T> {
  readonly step: 'REMOVE' | 'MOVE' | 'INSERT' | 'UPDATE'
  readonly index: number
  /** For a MOVE. */
  readonly from?: number | null
  readonly objectId: string
  /** For an INSERT or UPDATE. */
  readonly object?: T | null
}

/** A frame of a live page; select at least these fields. */
export interface PageFrame<T> {
  /** Drop all rows before applying the steps. */
  readonly reset: boolean
  /** Whether the page is complete: true from then on until the next reset. */
  readonly synced: boolean
  readonly totalCount: number
  readonly changes: readonly PageStep<T>[]
  readonly resumeToken?: string
  /** Since when the rows may be out of date; `null` while they are not. */
  readonly staleSince?: string | null
  /** The clusters that are missing at this time, or whose rows may be out of date. */
  readonly incomplete?: readonly ClusterGap[]
}

interface Entry<T> {
  readonly id: string
  readonly row: T
}

/**
 * Folds the frames of a live page into its sorted rows. Never shows a partial page: after a reset, new rows are
 * collected while the old rows stay, and replace them when the page is complete.
 */
export class PageFold<T> {
  #entries: Entry<T>[] = []
  #rows: readonly T[] = []
  #totalCount: number | undefined
  #synced = false

  /** The same array until something changes. */
  get rows(): readonly T[] {
    return this.#rows
  }

  /** The number of objects on all pages of the list; `undefined` before the first page is complete. */
  get totalCount(): number | undefined {
    return this.#totalCount
  }

  /** Whether the rows are complete and followed. */
  get synced(): boolean {
    return this.#synced
  }

  /**
   * Applies a frame. Returns `false` if a step does not fit the rows: a frame was lost. The rows then stay as they
   * were, and only a frame with `reset` may follow.
   */
  apply({ reset, synced, totalCount, changes }: PageFrame<T>): boolean {
    const entries = reset ? [] : [...this.#entries]
    if (!changes.every((step) => applyStep(entries, step))) {
      this.#synced = false
      return false
    }
    this.#entries = entries
    if (reset) this.#synced = false
    this.#synced ||= synced
    if (!this.#synced) return true
    if (reset || changes.length > 0 || this.#rows.length !== entries.length) {
      this.#rows = entries.map(({ row }) => row)
    }
    this.#totalCount = totalCount
    return true
  }
}

/** Applies a step. Returns whether it fits. */
function applyStep<T>(entries: Entry<T>[], change: PageStep<T>): boolean {
  const { step, index, objectId: id, object } = change
  const from = step === 'MOVE' ? (change.from ?? -1) : index
  if (step === 'INSERT') {
    if (index > entries.length || object === undefined || object === null) return false
    entries.splice(index, 0, { id, row: object })
    return true
  }
  const entry = entries[from]
  if (entry === undefined || entry.id !== id || index >= entries.length) return false
  if (step === 'REMOVE') entries.splice(index, 1)
  else if (step === 'MOVE') entries.splice(index, 0, ...entries.splice(from, 1))
  else if (object === undefined || object === null) return false
  else entries[index] = { id, row: object }
  return true
}
