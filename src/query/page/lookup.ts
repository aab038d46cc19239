import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { bindCondition } from '../condition/id-set.ts'
import { type Scope, scopeCondition } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

/** Where one object is looked for. */
export interface LookupOptions {
  readonly view: StoreView
  /** What the viewer may see. */
  readonly scope: Scope
  readonly budget: WorkBudget
}

/** The object with a key, straight from the store; `undefined` where there is none or it may not be seen. */
export function objectByKey(options: LookupOptions, key: string): ObjectId | undefined {
  return found(options, () => options.view.idOf(key))
}

/** The object with a UID, as {@link objectByKey}. `''` is no UID. */
export function objectByUid(options: LookupOptions, uid: string): ObjectId | undefined {
  return found(options, () => (uid === '' ? undefined : options.view.idOfUid(uid)))
}

/**
 * The object that was read as `metadata` at some time, if it still is the same one: a namesake that was created after it
 * is not. Kinds without UIDs have nothing but the key.
 */
export function sameObject(
  view: StoreView,
  metadata: { readonly uid?: string },
  key: string,
): ObjectId | undefined {
  const { uid = '' } = metadata
  return uid === '' ? view.idOf(key) : view.idOfUid(uid)
}

function found(options: LookupOptions, read: () => ObjectId | undefined): ObjectId | undefined {
  const { budget, view } = options
  budget.report?.reading(view)
  budget.report?.reached('key')
  budget.spend('examined', 1)
  const id = visible(options, read())
  if (id !== undefined) budget.report?.returned(1)
  return id
}

function visible(
  { view, scope, budget }: LookupOptions,
  id: ObjectId | undefined,
): ObjectId | undefined {
  if (id === undefined || scope.form === 'all') return id
  return bindCondition(scopeCondition(scope), view, budget).has(id) ? id : undefined
}
