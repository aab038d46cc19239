import type { ObjectId } from '../../informer/store/store-view.ts'
import { eachMember } from '../condition/candidates.ts'
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
  if (allowance !== undefined && (allowance.left -= candidates?.size ?? view.size) < 0) {
    return undefined
  }
  const ids: ObjectId[] = []
  eachMember({ set, candidates, view, budget }, (id) => ids.push(id))
  return ids
}
