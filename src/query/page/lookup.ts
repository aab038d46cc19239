import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { isInScope, type NameGate, type Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

export interface LookupOptions {
  readonly view: StoreView
  readonly scope: Scope
  /** Further objects that the viewer may look up by name. */
  readonly byName?: NameGate | undefined
  readonly budget: WorkBudget
}

/** The object with a key; `undefined` if it does not exist or is not visible. */
export function objectByKey(options: LookupOptions, key: string): ObjectId | undefined {
  // Visibility is checked first, so that the time of the answer does not reveal whether the object exists.
  return found(options, isVisible(options, key) ? options.view.idOf(key) : undefined)
}

/** The object with a UID; otherwise like {@link objectByKey}. `''` is not a UID. */
export function objectByUid(options: LookupOptions, uid: string): ObjectId | undefined {
  const { view } = options
  const id = uid === '' ? undefined : view.idOfUid(uid)
  return found(options, id !== undefined && isVisible(options, view.keyOf(id)) ? id : undefined)
}

/**
 * The object with a UID and a key, whether or not the viewer may see it. A namesake that was created later does not count.
 * Kinds without UIDs have only the key.
 */
export function sameObject(view: StoreView, uid: string, key: string): ObjectId | undefined {
  return uid === '' ? view.idOf(key) : view.idOfUid(uid)
}

function isVisible({ scope, byName }: LookupOptions, key: string): boolean {
  return isInScope(scope, key) || byName?.allows(key) === true
}

function found({ budget, view }: LookupOptions, id: ObjectId | undefined): ObjectId | undefined {
  budget.report?.reading(view)
  budget.report?.reached('key')
  budget.spend('examined', 1)
  if (id !== undefined) budget.report?.returned(1)
  return id
}
