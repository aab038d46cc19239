import type { ObjectId } from '../../informer/store/store-view.ts'
import {
  type Condition,
  hasValue,
  type OriginView,
  scopeCondition,
} from '../condition/condition.ts'
import { bindCondition } from '../condition/id-set.ts'
import type { Relation, RelationOrigin } from './relation.ts'
import type { OwnedRelation, OwnerRelation } from './relation-definition.ts'

/** The objects of any kind that the object owns. Owners are matched by UID, never by name. */
export function ownedBy(view: OriginView, id: ObjectId): Condition {
  return hasValue('ownerUid', view.index('uid').valuesOf(id))
}

/** The owners of the object, of any kind. Owners may be cluster-scoped. */
export function ownersOf(view: OriginView, id: ObjectId): Condition {
  return hasValue('uid', view.index('ownerUid').valuesOf(id))
}

/** Follows owner UIDs downwards, through the types in between. */
export function compileOwned(definition: OwnedRelation): Relation {
  const { through = [], to } = definition
  const down = { of: 'ownerUid', give: 'uid' } as const
  return {
    definition,
    reads: [...through, to],
    indexers: {},
    follow: (origin) =>
      hasValue(
        'ownerUid',
        hop(origin, through, down, origin.view.index('uid').valuesOf(origin.id)),
      ),
  }
}

/** Follows owner UIDs upwards, through the types in between. */
export function compileOwner(definition: OwnerRelation): Relation {
  const { through = [], to } = definition
  const up = { of: 'uid', give: 'ownerUid' } as const
  return {
    definition,
    reads: [...through, to],
    indexers: {},
    follow: (origin) =>
      hasValue('uid', hop(origin, through, up, origin.view.index('ownerUid').valuesOf(origin.id))),
  }
}

/** One step: the visible objects with one of the UIDs in one index give their values in the other. */
function hop(
  { part, budget }: RelationOrigin,
  through: readonly string[],
  { of, give }: { readonly of: string; readonly give: string },
  start: readonly string[],
): readonly string[] {
  let uids = start
  for (const type of through) {
    const { view, scope } = part(type)
    const seen =
      scope.form === 'all' ? undefined : bindCondition(scopeCondition(scope), view, budget)
    const [having, giving] = [view.index(of), view.index(give)]
    const next = new Set<string>()
    for (const uid of uids) {
      const posting = having.posting(uid)
      if (posting === undefined) continue
      budget.spend('examined', posting.size)
      for (const id of posting) {
        if (seen !== undefined && !seen.has(id)) continue
        for (const given of giving.valuesOf(id)) next.add(given)
      }
    }
    uids = [...next]
  }
  return uids
}
