import type { FollowedRelation } from '../plan/plan-run.ts'

/**
 * Which rows have been written from which other objects, so that those can be found that a change of such an object concerns. A
 * relation to one that is looked up by keys is known to the key, also where nothing is there yet; of any other relation it is
 * only known which kinds it reads, and a change of those concerns all rows.
 */
export class RowDependencies {
  /** By type name, then by the other object's key: the keys of the rows. */
  readonly #rowsOf = new Map<string, Map<string, Set<string>>>()
  readonly #ofRow = new Map<string, (readonly [type: string, key: string])[]>()
  readonly #wide = new Set<string>()

  /** A row is about to be written anew, or is gone. */
  forget(row: string): void {
    for (const [type, key] of this.#ofRow.get(row) ?? []) {
      const rows = this.#rowsOf.get(type)?.get(key)
      rows?.delete(row)
      if (rows?.size === 0) this.#rowsOf.get(type)?.delete(key)
    }
    this.#ofRow.delete(row)
  }

  /** A relation has been followed for a row. */
  add(row: string, { reads, condition, isSaid }: FollowedRelation): void {
    const [only] = reads
    const isOne = isSaid && reads.length === 1
    if (isOne && condition.form === 'nothing') return
    if (!isOne || only === undefined || condition.form !== 'keys') {
      for (const { typeName } of reads) this.#wide.add(typeName)
      return
    }
    const { typeName } = only
    let rowsOf = this.#rowsOf.get(typeName)
    if (rowsOf === undefined) this.#rowsOf.set(typeName, (rowsOf = new Map()))
    let ofRow = this.#ofRow.get(row)
    if (ofRow === undefined) this.#ofRow.set(row, (ofRow = []))
    for (const key of condition.keys) {
      const rows = rowsOf.get(key)
      if (rows === undefined) rowsOf.set(key, new Set([row]))
      else rows.add(row)
      ofRow.push([typeName, key])
    }
  }

  /** Whether a change of an object of a kind may concern any row. */
  isWide(type: string): boolean {
    return this.#wide.has(type)
  }

  /** The rows that were written from an object. */
  rowsOf(type: string, key: string): Iterable<string> {
    return this.#rowsOf.get(type)?.get(key) ?? none
  }
}

const none: ReadonlySet<string> = new Set()
