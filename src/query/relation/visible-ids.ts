import type { ObjectId } from '../../informer/store/store-view.ts'
import { allOf, type Condition } from '../condition/condition.ts'
import { bindCondition } from '../condition/id-set.ts'
import type { RelatedPart } from '../condition/related-by.ts'
import { scopeCondition } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

/** The objects of a kind on the way of a relation that meet a condition, and that the viewer may see; paid for. */
export function visibleIds(
  condition: Condition,
  { view, scope }: RelatedPart,
  budget: WorkBudget,
): readonly ObjectId[] {
  const set = bindCondition(allOf([condition, scopeCondition(scope)]), view, budget)
  const candidates = set.candidates(view.size)
  const ids: ObjectId[] = []
  budget.spend('examined', candidates?.size ?? view.size)
  for (const id of candidates?.ids() ?? view.ids()) {
    if (candidates?.exact === true || set.has(id)) ids.push(id)
  }
  return ids
}
