/*
 * The objects that each row of a list was written from, and so the rows that a change of an object affects. A row depends
 * on the objects that it names, by their keys, even if they do not exist yet, and on owned objects, by their owner. For
 * any other relation only the kinds are known: a change of any object of these kinds affects all rows.
 */

import type { Change } from '../../../informer/store/change.ts'
import type { KubernetesObject } from '../../../kubernetes/object.ts'
import type { FollowedRelation } from '../../reads/read-run.ts'

/** The approximate memory of one dependency: an anchor, a row in its set, and the reverse entry. */
const dependencyBytes = 430

export class RowDependencies {
  /** By type name, then by {@link anchorOfKey} or {@link anchorOfOwner}: the keys of the rows. */
  readonly #rowsOf = new Map<string, Map<string, Set<string>>>()
  readonly #ofRow = new Map<string, (readonly [type: string, anchor: string])[]>()
  readonly #wide = new Set<string>()
  /** The types on whose owned objects rows depend. */
  readonly #owned = new Set<string>()
  /** By type: rows written while changes waited. A listener merges changes, which may hide an owner in between. */
  readonly #doubtful = new Map<string, Set<string>>()
  #size = 0
  #hasWaiting: (type: string) => boolean = () => false

  /** `hasWaiting`: whether changes of a type wait in its listener. */
  listen(hasWaiting: (type: string) => boolean): void {
    this.#hasWaiting = hasWaiting
  }

  get bytes(): number {
    return this.#size * dependencyBytes
  }

  /** Removes a row that is about to be rewritten, or was removed. */
  forget(row: string): void {
    const dependencies = this.#ofRow.get(row) ?? []
    this.#size -= dependencies.length
    for (const [type, anchor] of dependencies) {
      const rows = this.#rowsOf.get(type)?.get(anchor)
      rows?.delete(row)
      if (rows?.size === 0) this.#rowsOf.get(type)?.delete(anchor)
    }
    this.#ofRow.delete(row)
  }

  /** Records a relation that was followed for a row. */
  add(row: string, { reads, condition, isSaid, owner }: FollowedRelation): void {
    const [only] = reads
    const isOne = isSaid && reads.length === 1
    if (condition.form === 'nothing' && (isOne || owner !== undefined)) return
    if (owner !== undefined) {
      for (const { typeName: type } of reads) {
        this.#owned.add(type)
        this.#add(row, type, anchorOfOwner(owner))
        if (!this.#hasWaiting(type)) continue
        const rows = this.#doubtful.get(type)
        if (rows === undefined) this.#doubtful.set(type, new Set([row]))
        else rows.add(row)
      }
      return
    }
    if (!isOne || only === undefined || condition.form !== 'keys') {
      for (const { typeName } of reads) this.#wide.add(typeName)
      return
    }
    for (const key of condition.keys) this.#add(row, only.typeName, anchorOfKey(key))
  }

  /** Whether a change of an object of this type may affect any row. */
  isWide(type: string): boolean {
    return this.#wide.has(type)
  }

  /** The rows that depend on an object as it was before a change, or as it is now. */
  affectedBy(type: string, change: Change): ReadonlySet<string> {
    const rowsOf = this.#rowsOf.get(type)
    if (rowsOf === undefined) return noRows
    const rows = rowsOf.get(anchorOfKey(change.key)) ?? noRows
    if (!this.#owned.has(type)) return rows
    const all = new Set(rows)
    const add = (anchor: string): void => {
      for (const row of rowsOf.get(anchor) ?? noRows) all.add(row)
    }
    if (change.type === 'MODIFIED' && change.previousHeld === undefined) {
      // The owners before the change are unknown.
      for (const anchor of rowsOf.keys()) if (anchor.startsWith(ownerAnchor)) add(anchor)
    } else {
      for (const uid of [...ownersOf(change.object), ...ownersOf(change.previous)]) {
        add(anchorOfOwner(uid))
      }
    }
    return all
  }

  /** Takes the rows to rewrite with the next changes of a type. */
  takeDoubtful(type: string): Iterable<string> {
    const rows = this.#doubtful.get(type) ?? noRows
    this.#doubtful.delete(type)
    return rows
  }

  #add(row: string, type: string, anchor: string): void {
    let rowsOf = this.#rowsOf.get(type)
    if (rowsOf === undefined) this.#rowsOf.set(type, (rowsOf = new Map()))
    let ofRow = this.#ofRow.get(row)
    if (ofRow === undefined) this.#ofRow.set(row, (ofRow = []))
    const rows = rowsOf.get(anchor)
    if (rows === undefined) rowsOf.set(anchor, new Set([row]))
    else rows.add(row)
    ofRow.push([type, anchor])
    this.#size += 1
  }
}

const noRows: ReadonlySet<string> = new Set()

function anchorOfKey(key: string): string {
  return `key ${key}`
}

const ownerAnchor = 'owner '

function anchorOfOwner(uid: string): string {
  return ownerAnchor + uid
}

function ownersOf(object: KubernetesObject | undefined): readonly string[] {
  return object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? []
}
