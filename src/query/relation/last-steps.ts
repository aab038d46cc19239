import type { ObjectId } from '../../informer/store/store-view.ts'
import type { Condition } from '../condition/condition.ts'
import type { OriginView, RelatedPart } from '../condition/related-by.ts'
import type { Relation, RelationOrigin } from './relation.ts'
import type { RelationDefinition } from './relation-definition.ts'
import { visibleIds } from './visible-ids.ts'

/** Where a relation led from an object, and by which parts, as another field may see less of a kind. */
interface Step {
  readonly view: OriginView
  readonly id: ObjectId
  readonly condition: Condition
  readonly ways: ReadonlyMap<string, RelatedPart>
  seen?: { readonly part: RelatedPart; readonly ids: readonly ObjectId[] }
}

/**
 * Where relations led from the last object that each was followed from, within one tick: the fields of a row that are behind the
 * same step (a Deployment's Services and Events, both behind its pods) take it once.
 */
export class LastSteps {
  readonly #steps = new Map<RelationDefinition, Step>()

  /** As `relation.follow`; paid for where it is new. */
  follow(relation: Relation, origin: RelationOrigin): Condition {
    return this.#step(relation, origin).condition
  }

  /** The objects that it leads to in a part, as `visibleIds`. */
  ids(relation: Relation, origin: RelationOrigin, part: RelatedPart): readonly ObjectId[] {
    const step = this.#step(relation, origin)
    if (step.seen?.part !== part) {
      step.seen = { part, ids: visibleIds(step.condition, part, origin.budget) ?? [] }
    }
    return step.seen.ids
  }

  #step(relation: Relation, origin: RelationOrigin): Step {
    const { view, id } = origin
    const last = this.#steps.get(relation.definition)
    if (last?.view === view && last.id === id && isSameWay(last.ways, origin)) return last
    const ways = new Map<string, RelatedPart>()
    const part = (type: string): RelatedPart => {
      const found = origin.part(type)
      ways.set(type, found)
      return found
    }
    const step = { view, id, condition: relation.follow({ ...origin, part }), ways }
    this.#steps.set(relation.definition, step)
    return step
  }
}

function isSameWay(ways: ReadonlyMap<string, RelatedPart>, { part }: RelationOrigin): boolean {
  for (const [type, before] of ways) if (part(type) !== before) return false
  return true
}
