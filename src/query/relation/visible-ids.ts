import type { ObjectId } from '../../informer/store/store-view.ts'
import { allOf, type Condition } from '../condition/condition.ts'
import { bindCondition } from '../condition/id-set.ts'
import type { Allowance, RelatedPart } from '../condition/related-by.ts'
import { scopeCondition } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

/**
 * The objects of a kind on the way of a relation that meet a condition, and that the viewer may see; paid for. `undefined` where more
 * would have to be looked at than still may be.
 */
export function visibleIds(
  condition: Condition,
  { view, scope }: RelatedPart,
  budget: WorkBudget,
  allowance?: Allowance,
): readonly ObjectId[] | undefined {
  const set = bindCondition(allOf([condition, scopeCondition(scope)]), view, budget)
  const candidates = set.candidates(Math.min(view.size, allowance?.left ?? view.size))
  const size = candidates?.size ?? view.size
  if (allowance !== undefined && (allowance.left -= size) < 0) return undefined
  const ids: ObjectId[] = []
  budget.spend('examined', size)
  for (const id of candidates?.ids() ?? view.ids()) {
    if (candidates?.exact === true || set.has(id)) ids.push(id)
  }
  return ids
}
