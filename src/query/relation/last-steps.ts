import type { ObjectId } from '../../informer/store/store-view.ts'
import type { Condition } from '../condition/condition.ts'
import type { OriginView, RelatedPart } from '../condition/related-by.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import type { FollowedStep, Relation, RelationOrigin, RelationSteps } from './relation.ts'
import type { RelationDefinition } from './relation-definition.ts'
import { visibleIds } from './visible-ids.ts'

/**
 * Where relations led from the last object that each was followed from, within one tick: the fields of a row that are behind the
 * same step (a Deployment's Services and Events, both behind its pods) take it once.
 */
export class LastSteps implements RelationSteps {
  readonly #steps = new Map<RelationDefinition, Step>()

  take(relation: Relation, origin: RelationOrigin): FollowedStep {
    const last = this.#steps.get(relation.definition)
    if (last?.isFrom(origin) === true) return last
    const step = new Step(relation, origin)
    this.#steps.set(relation.definition, step)
    return step
  }
}

/** A step from one object, and by which parts it went: another field may see less of a kind. */
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
