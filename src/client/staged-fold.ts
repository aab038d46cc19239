import type { Frame, Removal } from './frame-fold.ts'

/** A change of a shown row. */
export type RowChange<Row> =
  | { readonly type: 'ADDED'; readonly id: string; readonly row: Row }
  | { readonly type: 'MODIFIED'; readonly id: string; readonly row: Row; readonly previous: Row }
  | {
      readonly type: 'REMOVED'
      readonly id: string
      readonly previous: Row
      /** `undefined` if a new snapshot lacks the row. */
      readonly removal: Removal | undefined
    }

/**
 * Folds frames without ever showing a partial snapshot: after a reset, new rows are collected while the old rows stay,
 * and replace them when the snapshot is complete. The first snapshot is shown as it arrives.
 */
export class StagedFold<Row> {
  #rows = new Map<string, Row>()
  #staged: Map<string, Row> | undefined
  #synced = false
  #hasBeenSynced = false

  get rows(): ReadonlyMap<string, Row> {
    return this.#rows
  }

  /** Whether the rows are complete and followed. */
  get synced(): boolean {
    return this.#synced
  }

  /** Applies a frame. Returns the changes of the shown rows. */
  apply({ reset, synced, changes }: Frame<Row>): readonly RowChange<Row>[] {
    const told: RowChange<Row>[] = []
    if (reset) {
      this.#synced = false
      this.#staged = new Map()
      // Drops an incomplete first snapshot.
      if (!this.#hasBeenSynced) told.push(...this.#removals(this.#staged))
    }
    const staged = this.#hasBeenSynced ? this.#staged : undefined
    for (const change of changes) {
      const { type, objectId, object } = change
      if (type === 'REMOVED') {
        if (staged === undefined) told.push(...this.#remove(objectId, change.removal ?? undefined))
        else staged.delete(objectId)
      } else if (object !== undefined && object !== null) {
        if (staged === undefined) told.push(this.#set(objectId, object))
        else staged.set(objectId, object)
      }
    }
    if (synced && !this.#synced) {
      this.#synced = true
      this.#hasBeenSynced = true
      this.#staged = undefined
      if (staged !== undefined) told.push(...this.#removals(staged))
      for (const [id, row] of staged ?? []) told.push(this.#set(id, row))
    }
    return told
  }

  #set(id: string, row: Row): RowChange<Row> {
    const previous = this.#rows.get(id)
    this.#rows.set(id, row)
    return previous === undefined
      ? { type: 'ADDED', id, row }
      : { type: 'MODIFIED', id, row, previous }
  }

  #remove(id: string, removal: Removal | undefined): RowChange<Row>[] {
    const previous = this.#rows.get(id)
    if (previous === undefined) return []
    this.#rows.delete(id)
    return [{ type: 'REMOVED', id, previous, removal }]
  }

  #removals(staying: ReadonlyMap<string, Row>): RowChange<Row>[] {
    return [...this.#rows.keys()]
      .filter((id) => !staying.has(id))
      .flatMap((id) => this.#remove(id, undefined))
  }
}
