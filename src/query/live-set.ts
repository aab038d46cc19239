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
  // Visibility comes first: of a hidden object, not even its deletion may be sent.
  if (!isInScope(scope, key)) return 'hidden'
  const id = view.idOf(key)
  // Another object under the same key does not count.
  return id === undefined || view.uidOf(id) !== uid ? 'gone' : 'unmatched'
}

export interface LiveSetOptions {
  readonly condition: Condition
  readonly scope: Scope
  /** The stores for conditions on related objects; called for each read. */
  readonly related?: () => RelatedStores
}

/**
 * The objects that a subscriber holds: those that matched and were visible when the last changes were sent. Given the
 * keys that changed, it computes what to send, so that a fold of all changes equals a fresh list. It keeps a key and a
 * UID per object, both shared with the store.
 */
export class LiveSet {
  readonly #condition: Condition
  readonly #related: LiveSetOptions['related']
  #scope: Scope
  readonly #uidByKey = new Map<string, string>()

  constructor(options: LiveSetOptions) {
    this.#condition = options.condition
    this.#related = options.related
    this.#scope = options.scope
  }

  /** The number of objects that the subscriber holds. */
  get size(): number {
    return this.#uidByKey.size
  }

  /**
   * Starts again after a `reset`: all matching objects are ADDED. Throws as {@link matching} does; then nothing is
   * held.
   */
  reset(view: StoreView, budget: WorkBudget): LiveChange[] {
    this.#uidByKey.clear()
    return this.changes(view, this.matching(view, budget), budget)
  }

  /**
   * The keys for a subscriber that holds nothing. {@link changes} checks each of them again when it is sent. Examines
   * the whole store if no index narrows the condition. Throws `QueryTooCostlyError`.
   */
  matching(view: StoreView, budget: WorkBudget): string[] {
    const set = this.#bind(view, budget)
    const keys: string[] = []
    for (const id of this.#examined(view, set, budget)) {
      if (set.has(id)) keys.push(view.keyOf(id))
    }
    return keys
  }

  /**
   * What to send for keys that were added, modified or deleted; each key once. An object that was recreated under its
   * key is DELETED, then ADDED. Throws `QueryTooCostlyError`.
   */
  changes(view: StoreView, keys: Iterable<string>, budget: WorkBudget): LiveChange[] {
    const changes = this.due(view, keys, budget)
    this.sent(changes)
    return changes
  }

  /** The same, before it is sent: it is due until {@link sent} is called. */
  due(view: StoreView, keys: Iterable<string>, budget: WorkBudget): LiveChange[] {
    const set = this.#bind(view, budget)
    const changes: LiveChange[] = []
    for (const key of keys) {
      budget.spend('examined', 1)
      const id = view.idOf(key)
      const held = this.#uidByKey.get(key)
      if (id === undefined || !set.has(id)) {
        if (held !== undefined) changes.push(this.#removal(view, key, held))
        continue
      }
      const uid = view.uidOf(id)
      if (held === undefined) {
        changes.push({ type: 'ADDED', key, uid, id })
        continue
      }
      if (uid === held) {
        changes.push({ type: 'MODIFIED', key, uid, id })
        continue
      }
      const gone = { type: 'DELETED', key, uid: held, cause: 'gone' } as const
      changes.push(gone, { type: 'ADDED', key, uid, id })
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

  /** What to send after the viewer's access has changed. Objects that stay are not mentioned. */
  rescope(view: StoreView, scope: Scope, budget: WorkBudget): LiveChange[] {
    return this.changes(view, this.affectedBy(view, scope, budget), budget)
  }

  /**
   * Replaces the viewer's Scope. Returns the keys that it affects, those no longer visible first; {@link changes}
   * computes what to send for them. Examines all held and all visible objects.
   */
  affectedBy(view: StoreView, scope: Scope, budget: WorkBudget): string[] {
    this.#scope = scope
    return this.changedMatches(view, budget)
  }

  /**
   * The keys of all objects whose match has changed: held but not matching first, then matching but not held. Examines
   * both.
   */
  changedMatches(view: StoreView, budget: WorkBudget): string[] {
    const set = this.#bind(view, budget)
    budget.spend('examined', this.size)
    const affected: string[] = []
    for (const key of this.#uidByKey.keys()) {
      const id = view.idOf(key)
      if (id === undefined || !set.has(id)) affected.push(key)
    }
    for (const id of this.#examined(view, set, budget)) {
      if (!set.has(id)) continue
      const key = view.keyOf(id)
      if (!this.#uidByKey.has(key)) affected.push(key)
    }
    return affected
  }

  /** Those of `keys` whose match has changed. */
  changedMatchesOf(keys: Iterable<string>, view: StoreView, budget: WorkBudget): string[] {
    const set = this.#bind(view, budget)
    const changed: string[] = []
    for (const key of keys) {
      budget.spend('examined', 1)
      const id = view.idOf(key)
      const isMatch = id !== undefined && set.has(id)
      if (isMatch !== this.#uidByKey.has(key)) changed.push(key)
    }
    return changed
  }

  #bind(view: StoreView, budget: WorkBudget): IdSet {
    const condition = allOf([this.#condition, scopeCondition(this.#scope)])
    return bindCondition(condition, view, budget, this.#related?.())
  }

  #examined(view: StoreView, set: IdSet, budget: WorkBudget): Iterable<ObjectId> {
    const candidates = set.candidates(view.size)
    budget.spend('examined', candidates?.size ?? view.size)
    return candidates?.ids() ?? view.ids()
  }

  #removal(view: StoreView, key: string, uid: string): LiveChange {
    const cause = removalCause({ view, scope: this.#scope }, { key, uid })
    return { type: 'DELETED', key, uid, cause }
  }
}
