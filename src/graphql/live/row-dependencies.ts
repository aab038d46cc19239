import type { Change } from '../../informer/store/change.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { FollowedRelation } from '../reads/read-run.ts'

/** The memory of one dependency, about: an anchor, a row in its set, and the way back. */
const dependencyBytes = 300

/**
 * Which rows are written from which other objects, to find the rows that a change of such an object affects. A relation to an
 * object that the row names is known by key, even if no such object exists yet; owned objects are known by their owner. Of any
 * other relation only the kinds are known that it reads: a change of those affects all rows.
 */
export class RowDependencies {
  /** By type name, then by {@link anchorOfKey} or {@link anchorOfOwner}: the keys of the rows. */
  readonly #rowsOf = new Map<string, Map<string, Set<string>>>()
  readonly #ofRow = new Map<string, (readonly [type: string, anchor: string])[]>()
  readonly #wide = new Set<string>()
  /** The types whose objects are looked at for their owners. */
  readonly #owned = new Set<string>()
  /** By type: rows that were written while changes waited. A listener merges these, so an owner in between may be missed. */
  readonly #doubtful = new Map<string, Set<string>>()
  #size = 0
  #hasWaiting: (type: string) => boolean = () => false

  /** `hasWaiting`: whether changes of a type wait in its listener. */
  listen(hasWaiting: (type: string) => boolean): void {
    this.#hasWaiting = hasWaiting
  }

  /** The memory that it takes, about. */
  get bytes(): number {
    return this.#size * dependencyBytes
  }

  /** Forgets a row: it is about to be written anew, or is gone. */
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

  /** A relation has been followed for a row. */
  add(row: string, { reads, condition, isSaid, owner }: FollowedRelation): void {
    const [only] = reads
    const isOne = isSaid && reads.length === 1
    if (condition.form === 'nothing' && (isOne || owner !== undefined)) return
    if (owner !== undefined) {
      for (const { typeName } of reads) this.#addOwner(row, typeName, owner)
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

  /** The rows that are written from an object as it was before a change, or as it is now. */
  affectedBy(type: string, change: Change): ReadonlySet<string> {
    const rowsOf = this.#rowsOf.get(type)
    if (rowsOf === undefined) return none
    const rows = rowsOf.get(anchorOfKey(change.key)) ?? none
    if (!this.#owned.has(type)) return rows
    const all = new Set(rows)
    const add = (anchor: string): void => {
      for (const row of rowsOf.get(anchor) ?? none) all.add(row)
    }
    if (change.type === 'MODIFIED' && change.previousHeld === undefined) {
      // Its owners before the change are not known.
      for (const anchor of rowsOf.keys()) if (isOfOwner(anchor)) add(anchor)
    } else {
      for (const uid of [...ownersOf(change.object), ...ownersOf(change.previous)]) {
        add(anchorOfOwner(uid))
      }
    }
    return all
  }

  /** Takes the rows that have to be written anew when the listener of a type has changes. */
  takeDoubtful(type: string): Iterable<string> {
    const rows = this.#doubtful.get(type) ?? none
    this.#doubtful.delete(type)
    return rows
  }

  #addOwner(row: string, type: string, uid: string): void {
    this.#owned.add(type)
    this.#add(row, type, anchorOfOwner(uid))
    if (!this.#hasWaiting(type)) return
    const rows = this.#doubtful.get(type)
    if (rows === undefined) this.#doubtful.set(type, new Set([row]))
    else rows.add(row)
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

const none: ReadonlySet<string> = new Set()

function anchorOfKey(key: string): string {
  return `key ${key}`
}

const ownerAnchor = 'owner '

function anchorOfOwner(uid: string): string {
  return ownerAnchor + uid
}

function isOfOwner(anchor: string): boolean {
  return anchor.startsWith(ownerAnchor)
}

function ownersOf(object: KubernetesObject | undefined): readonly string[] {
  return object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? []
}
