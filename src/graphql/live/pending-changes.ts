import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { Change } from '../../informer/store/change.ts'
import type { SeenChanges } from './group-content.ts'
import type { Positions } from '../reads/resume-token.ts'
import type { RowDependencies } from './row-dependencies.ts'

/** What is to be written, and the position that this leads to. */
export interface TakenChanges extends SeenChanges {
  readonly keys: ReadonlySet<string>
  readonly positions: Positions
}

/** What has happened since a group last wrote a frame: the keys of rows, each once however often. */
export class PendingChanges {
  #keys = new Set<string>()
  #unseen = new Set<string>()
  #previous = new Map<string, HeldObject | undefined>()
  readonly #keepsPrevious: boolean
  #positions: Record<string, string> = {}
  /** Positions of kinds of which any change may concern any row. */
  #widePositions: Record<string, string> = {}
  #isWide = false

  /** `keepsPrevious`: whether frames say how objects were before. */
  constructor(keepsPrevious: boolean) {
    this.#keepsPrevious = keepsPrevious
  }

  get isEmpty(): boolean {
    const { size } = this.#keys
    return size === 0 && Object.keys(this.#positions).length === 0 && !this.#isWide
  }

  /** Whether all rows are to be written anew. */
  get isWide(): boolean {
    return this.#isWide
  }

  /** Objects of the followed kind have changed. {@link addRelated} is called, too: it takes the position, and further rows. */
  add(changes: readonly Change[]): void {
    for (const { key, uid, type: what, finalStateKnown, previousHeld } of changes) {
      this.#keys.add(key)
      if (this.#keepsPrevious && !this.#previous.has(uid)) this.#previous.set(uid, previousHeld)
      if (what === 'DELETED' && !finalStateKnown) this.#unseen.add(uid)
    }
  }

  /** Objects that rows may be written from have changed. */
  addRelated(
    type: string,
    position: string,
    changes: readonly Change[],
    dependencies: RowDependencies,
  ): void {
    if (dependencies.isWide(type)) {
      this.#isWide = true
      this.#widePositions[type] = position
      return
    }
    for (const change of changes) {
      for (const row of dependencies.affectedBy(type, change)) this.#keys.add(row)
    }
    for (const row of dependencies.takeDoubtful(type)) this.#keys.add(row)
    this.#positions[type] = position
  }

  /** Rows have to be written anew. */
  addRows(keys: Iterable<string>): void {
    for (const key of keys) this.#keys.add(key)
  }

  /** Something else has changed that any row may be written from. */
  addAll(): void {
    this.#isWide = true
  }

  /** Takes what is pending. What needs all rows is left unless `withWide`. */
  take(withWide: boolean): TakenChanges {
    const [keys, unseen, previous] = [this.#keys, this.#unseen, this.#previous]
    const positions = { ...this.#positions, ...(withWide ? this.#widePositions : {}) }
    this.#keys = new Set()
    this.#unseen = new Set()
    this.#previous = new Map()
    this.#positions = {}
    if (withWide) {
      this.#isWide = false
      this.#widePositions = {}
    }
    return {
      keys,
      positions,
      isFinalStateKnown: (uid) => !unseen.has(uid),
      previousOf: (uid) => previous.get(uid),
    }
  }
}
