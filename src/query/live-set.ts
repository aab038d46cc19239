import type { ObjectId, StoreView } from '../informer/store/store-view.ts'
import { allOf, type Condition } from './condition/condition.ts'
import { bindCondition, type IdSet } from './condition/id-set.ts'
import type { RelatedStores } from './condition/related-by.ts'
import { isInScope, type Scope, scopeCondition } from './condition/scope.ts'
import type { WorkBudget } from './condition/work-budget.ts'

/** What to tell a subscriber about one object. */
export type LiveChange =
  /** `id` is valid within the tick. */
  | {
      readonly type: 'ADDED' | 'MODIFIED'
      readonly key: string
      readonly uid: string
      readonly id: ObjectId
    }
  /**
   * `cause`: the object is no more (`gone`), or still there and visible but no longer asked for (`unmatched`), or no
   * longer to be seen, when nothing of it but its identity may be sent (`hidden`).
   */
  | {
      readonly type: 'DELETED'
      readonly key: string
      readonly uid: string
      readonly cause: RemovalCause
    }

export type RemovalCause = 'gone' | 'unmatched' | 'hidden'

/** Why an object is removed that was held and does not match in this tick. */
export function removalCause(
  { view, scope }: { readonly view: StoreView; readonly scope: Scope },
  { key, uid }: { readonly key: string; readonly uid: string },
): RemovalCause {
  // Also of one that has gone meanwhile nothing but its identity may be sent.
  if (!isInScope(scope, key)) return 'hidden'
  const id = view.idOf(key)
  // Of an object that came after the held one under its key nothing is to be told.
  return id === undefined || view.uidOf(id) !== uid ? 'gone' : 'unmatched'
}

export interface LiveSetOptions {
  readonly condition: Condition
  readonly scope: Scope
  /** What a condition on related objects reads at the moment; asked for each time. */
  readonly related?: () => RelatedStores
}

/**
 * The objects that a subscriber holds: those that met the condition, and that the viewer might see, when it was last told.
 * Given the keys that something happened to, it says what to send, so that a fold of all changes always equals a fresh
 * list. It keeps a key and a UID for each object, both strings that the store holds anyway.
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
   * Begins anew: the subscriber is to forget what it holds, and then to be told of all these as ADDED. Throws as
   * {@link matching} does, and then nothing is held.
   */
  reset(view: StoreView, budget: WorkBudget): LiveChange[] {
    this.#uidByKey.clear()
    return this.changes(view, this.matching(view, budget), budget)
  }

  /**
   * The keys of what is to be told to a subscriber who holds nothing: {@link changes} says of each, when it is to be sent, whether
   * it still is. Examines the whole store where no index narrows the condition. Throws `QueryTooCostlyError`.
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
   * What to send for keys that were added, modified or deleted since they were last asked for, each of them once. An object
   * that was created anew under its key is DELETED, then ADDED. Throws `QueryTooCostlyError`, and then is of no more use.
   */
  changes(view: StoreView, keys: Iterable<string>, budget: WorkBudget): LiveChange[] {
    const set = this.#bind(view, budget)
    const changes: LiveChange[] = []
    for (const key of keys) {
      budget.spend('examined', 1)
      const id = view.idOf(key)
      const held = this.#uidByKey.get(key)
      if (id === undefined || !set.has(id)) {
        if (held !== undefined) changes.push(this.#remove(view, key, held))
        continue
      }
      if (held === undefined) {
        changes.push(this.#add(view, id, key))
        continue
      }
      const uid = view.uidOf(id)
      if (uid === held) {
        changes.push({ type: 'MODIFIED', key, uid, id })
        continue
      }
      this.#uidByKey.delete(key)
      changes.push({ type: 'DELETED', key, uid: held, cause: 'gone' }, this.#add(view, id, key))
    }
    return changes
  }

  /** What to send when the viewer may from now on see something else. Objects that stay are not mentioned. */
  rescope(view: StoreView, scope: Scope, budget: WorkBudget): LiveChange[] {
    return this.changes(view, this.affectedBy(view, scope, budget), budget)
  }

  /**
   * The viewer may from now on see something else: the keys that this matters to, those first that are held and not to be seen
   * any more; {@link changes} says what to send of each. Examines what is held and what may be seen now.
   */
  affectedBy(view: StoreView, scope: Scope, budget: WorkBudget): string[] {
    this.#scope = scope
    return this.turned(view, budget)
  }

  /** The keys of all that match now and are not held, or are held and match no more, those first. Examines both. */
  turned(view: StoreView, budget: WorkBudget): string[] {
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

  /** Those of these keys of which the same is to be said. */
  turnedOf(keys: Iterable<string>, view: StoreView, budget: WorkBudget): string[] {
    const set = this.#bind(view, budget)
    const turned: string[] = []
    for (const key of keys) {
      budget.spend('examined', 1)
      const id = view.idOf(key)
      const isMatch = id !== undefined && set.has(id)
      if (isMatch !== this.#uidByKey.has(key)) turned.push(key)
    }
    return turned
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

  #add(view: StoreView, id: ObjectId, key: string): LiveChange {
    const uid = view.uidOf(id)
    this.#uidByKey.set(key, uid)
    return { type: 'ADDED', key, uid, id }
  }

  #remove(view: StoreView, key: string, uid: string): LiveChange {
    this.#uidByKey.delete(key)
    const cause = removalCause({ view, scope: this.#scope }, { key, uid })
    return { type: 'DELETED', key, uid, cause }
  }
}
