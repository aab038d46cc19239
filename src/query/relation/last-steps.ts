/*
 * Remembers where each relation led from the last object, within one tick. Fields of a row that share a step (a Deployment's
 * Services and Events both go through its pods) take it once.
 */

import type { ObjectId } from '../../informer/store/store-view.ts'
import {
  allOf,
  type Allowance,
  type Condition,
  type OriginView,
  type RelatedPart,
  scopeCondition,
} from '../condition/condition.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type {
  FollowedStep,
  Relation,
  RelationBase,
  RelationOrigin,
  RelationSteps,
} from './relation.ts'
import { eachMember } from '../condition/candidates.ts'
import { bindCondition } from '../condition/id-set.ts'

export class LastSteps implements RelationSteps {
  readonly #steps = new Map<RelationBase, Step>()

  take(relation: Relation, origin: RelationOrigin): FollowedStep {
    const last = this.#steps.get(relation.definition)
    if (last?.isFrom(origin) === true) return last
    const step = new Step(relation, origin)
    this.#steps.set(relation.definition, step)
    return step
  }
}

/** A step from one object. Keeps ids by part, because another field may see less of a kind. */
class Step implements FollowedStep {
  readonly condition: Condition
  readonly #view: OriginView
  readonly #id: ObjectId
  readonly #ways: [type: string, part: RelatedPart][] = []
  #part: RelatedPart | undefined
  #ids: readonly ObjectId[] = []

  constructor(relation: Relation, origin: RelationOrigin) {
    this.#view = origin.view
    this.#id = origin.id
    const part = (type: string): RelatedPart => {
      const found = origin.part(type)
      this.#ways.push([type, found])
      return found
    }
    this.condition = relation.follow({ ...origin, part })
  }

  isFrom({ view, id, part }: RelationOrigin): boolean {
    return (
      view === this.#view &&
      id === this.#id &&
      this.#ways.every(([type, before]) => part(type) === before)
    )
  }

  ids(part: RelatedPart, budget: WorkBudget): readonly ObjectId[] {
    if (this.#part !== part) {
      this.#ids = visibleIds(this.condition, part, budget) ?? []
      this.#part = part
    }
    return this.#ids
  }
}

/**
 * The visible objects that meet a condition, in the middle of a chain. The budget pays. `undefined` if more objects
 * would be examined than the allowance permits.
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
