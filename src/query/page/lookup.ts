import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { isInScope, type NameGate, type Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

/** Where one object is looked for. */
export interface LookupOptions {
  readonly view: StoreView
  /** What the viewer may list. */
  readonly scope: Scope
  /** What the viewer may look up besides. */
  readonly byName?: NameGate | undefined
  readonly budget: WorkBudget
}

/** The object with a key, straight from the store; `undefined` where there is none or it may not be seen. */
export function objectByKey(options: LookupOptions, key: string): ObjectId | undefined {
  // Asked first, so that the answer takes the same time whether there is such an object or not.
  return found(options, () => (isVisible(options, key) ? options.view.idOf(key) : undefined))
}

/** The object with a UID, as {@link objectByKey}. `''` is no UID. */
export function objectByUid(options: LookupOptions, uid: string): ObjectId | undefined {
  const { view } = options
  return found(options, () => {
    const id = uid === '' ? undefined : view.idOfUid(uid)
    return id !== undefined && isVisible(options, view.keyOf(id)) ? id : undefined
  })
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
  const id = read()
  if (id !== undefined) budget.report?.returned(1)
  return id
}

function isVisible({ scope, byName }: LookupOptions, key: string): boolean {
  return isInScope(scope, key) || byName?.allows(key) === true
}
