/*
 * The objects that a subscriber holds: those that matched and were visible when the last changes were sent. Given the keys
 * that changed, it computes what to send, so that a fold of all changes equals a fresh list. It keeps a key and a UID per
 * object, both shared with the store. Reading throws `QueryTooCostlyError`.
 */

import type { ObjectId, StoreView } from '../informer/store/store-view.ts'
import { allOf, type Condition, type RelatedStores, scopeCondition } from './condition/condition.ts'
import { bindCondition } from './condition/id-set.ts'
import type { IdSet } from './condition/candidates.ts'
import { isInScope, type Scope } from './condition/scope.ts'
import type { WorkBudget } from './condition/work-budget.ts'

/** A change to send to a subscriber. */
export type LiveChange =
  /** `id` is valid within the tick. */
  | {
      readonly type: 'ADDED' | 'MODIFIED'
      readonly key: string
      readonly uid: string
      readonly id: ObjectId
    }
  /**
   * `cause`: the object no longer exists (`gone`), is still visible but no longer matches (`unmatched`), or is no
   * longer visible, so that only its identity may be sent (`hidden`).
   */
  | {
      readonly type: 'DELETED'
      readonly key: string
      readonly uid: string
      readonly cause: RemovalCause
    }

export type RemovalCause = 'gone' | 'unmatched' | 'hidden'

/** Why an object was removed from a list in this tick. */
export function removalCause(
  { view, scope }: { readonly view: StoreView; readonly scope: Scope },
  { key, uid }: { readonly key: string; readonly uid: string },
): RemovalCause {
  // Visibility comes first: not even the deletion of a hidden object may be sent.
  if (!isInScope(scope, key)) return 'hidden'
  const id = view.idOf(key)
  // Another object under the same key does not count.
  return id === undefined || view.uidOf(id) !== uid ? 'gone' : 'unmatched'
}

/** What one call reads, within one tick. */
export interface LiveRead {
  readonly view: StoreView
  readonly scope: Scope
  readonly budget: WorkBudget
  /** The stores that conditions on related objects read. */
  readonly related?: RelatedStores
}

export class LiveSet {
  readonly #condition: Condition
  readonly #uidByKey = new Map<string, string>()

  constructor(condition: Condition) {
    this.#condition = condition
  }

  get size(): number {
    return this.#uidByKey.size
  }

  keys(): Iterable<string> {
    return this.#uidByKey.keys()
  }

  /**
   * The keys for a subscriber that holds nothing. {@link due} checks each of them again when it is sent. Examines the
   * whole store if no index narrows the condition.
   */
  matching(read: LiveRead): string[] {
    const set = this.#bind(read)
    const keys: string[] = []
    for (const id of this.#examined(read, set)) if (set.has(id)) keys.push(read.view.keyOf(id))
    return keys
  }

  /**
   * What to send for keys that were added, modified or deleted; each key once. It is due until {@link sent} is called.
   * An object that was recreated under its key is DELETED, then ADDED.
   */
  due(read: LiveRead, keys: Iterable<string>): LiveChange[] {
    const { view, budget } = read
    const set = this.#bind(read)
    const changes: LiveChange[] = []
    for (const key of keys) {
      budget.spend('examined', 1)
      const id = view.idOf(key)
      const held = this.#uidByKey.get(key)
      if (id === undefined || !set.has(id)) {
        if (held === undefined) continue
        const cause = removalCause(read, { key, uid: held })
        changes.push({ type: 'DELETED', key, uid: held, cause })
        continue
      }
      const uid = view.uidOf(id)
      if (uid === held) {
        changes.push({ type: 'MODIFIED', key, uid, id })
        continue
      }
      if (held !== undefined) changes.push({ type: 'DELETED', key, uid: held, cause: 'gone' })
      changes.push({ type: 'ADDED', key, uid, id })
    }
    return changes
  }

  /** The subscriber holds what these changes lead to. */
  sent(changes: readonly LiveChange[]): void {
    for (const { type, key, uid } of changes) {
      if (type === 'DELETED') this.#uidByKey.delete(key)
      else this.#uidByKey.set(key, uid)
    }
  }

  /**
   * The keys among `keys` whose match has changed. Without `keys`, among all keys: first held objects that no longer match,
   * then matching objects that are not held. That examines both.
   */
  changedMatches(read: LiveRead, keys?: Iterable<string>): string[] {
    const { view, budget } = read
    const set = this.#bind(read)
    const changed: string[] = []
    const isMatch = (key: string): boolean => {
      const id = view.idOf(key)
      return id !== undefined && set.has(id)
    }
    if (keys !== undefined) {
      for (const key of keys) {
        budget.spend('examined', 1)
        if (isMatch(key) !== this.#uidByKey.has(key)) changed.push(key)
      }
      return changed
    }
    budget.spend('examined', this.size)
    for (const key of this.#uidByKey.keys()) if (!isMatch(key)) changed.push(key)
    for (const id of this.#examined(read, set)) {
      if (!set.has(id)) continue
      const key = view.keyOf(id)
      if (!this.#uidByKey.has(key)) changed.push(key)
    }
    return changed
  }

  #bind({ view, scope, budget, related }: LiveRead): IdSet {
    return bindCondition(allOf([this.#condition, scopeCondition(scope)]), view, budget, related)
  }

  #examined({ view, budget }: LiveRead, set: IdSet): Iterable<ObjectId> {
    const candidates = set.candidates(view.size)
    budget.spend('examined', candidates?.size ?? view.size)
    return candidates?.ids() ?? view.ids()
  }
}
