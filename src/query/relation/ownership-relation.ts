/*
 * Relations between owners and owned objects, by UID and never by name. A relation may lead through types in between: each
 * step takes the visible objects that have one of the UIDs in one index (`uid`, `ownerUid`), and reads their values in the
 * other. Downwards and upwards are one mechanism with the indexes swapped, and each is the inverse of the other.
 */

import type { ObjectId } from '../../informer/store/store-view.ts'
import {
  type Condition,
  hasValue,
  type OriginView,
  type RelatedHop,
  scopeCondition,
} from '../condition/condition.ts'
import { bindCondition } from '../condition/id-set.ts'
import {
  type Declaration,
  followedBack,
  type Relation,
  type RelationBase,
  type RelationForm,
  type RelationOrigin,
} from './relation.ts'

/** The objects that have this one among their owners: `Deployment.pods` through `ReplicaSet`. */
export interface OwnedRelation extends RelationBase {
  readonly form: 'owned'
  /** The types in between, from this one downwards. */
  readonly through?: readonly string[]
}

/** The owners of the object: `Pod.deployment` through `ReplicaSet`. */
export interface OwnerRelation extends RelationBase {
  readonly form: 'owner'
  /** The types in between, from this one upwards. */
  readonly through?: readonly string[]
}

/** The objects of any kind that the object owns. */
export function ownedBy(view: OriginView, id: ObjectId): Condition {
  return hasValue('ownerUid', view.index('uid').valuesOf(id))
}

/** The owners of the object, of any kind. Owners may be cluster-scoped. */
export function ownersOf(view: OriginView, id: ObjectId): Condition {
  return hasValue('uid', view.index('ownerUid').valuesOf(id))
}

export const ownedForm: RelationForm<OwnedRelation> = {
  directives: { owned: { read: ownedOf } },
  compile: compileOwned,
  backwards: (definition) =>
    followedBack(compileOwner({ ...turned(definition), form: 'owner' }), definition.from),
  hops: (definition) => hopsOf(definition, ownersOf),
  staysInNamespace: () => true,
  isVague: ({ through = [] }) => through.length > 0,
  words: ({ through }) => `that it owns${by(through)}`,
}

export const ownerForm: RelationForm<OwnerRelation> = {
  directives: { owner: { read: ownerOf } },
  compile: compileOwner,
  backwards: (definition) =>
    followedBack(compileOwned({ ...turned(definition), form: 'owned' }), definition.from),
  hops: (definition) => hopsOf(definition, ownedBy),
  staysInNamespace: () => true,
  isVague: ({ through = [] }) => through.length > 0,
  words: ({ through }, many) => `that ${many ? 'own' : 'owns'} it${by(through)}`,
}

interface OwnershipArguments {
  readonly through?: readonly string[] | null
}

function ownedOf(args: OwnershipArguments, declaration: Declaration): OwnedRelation {
  declaration.needConnection()
  return { form: 'owned', ...typesOf(args, declaration) }
}

function ownerOf(args: OwnershipArguments, declaration: Declaration): OwnerRelation {
  return { form: 'owner', ...typesOf(args, declaration) }
}

function typesOf(
  { through }: OwnershipArguments,
  declaration: Declaration,
): Omit<OwnedRelation, 'form'> {
  const { name, from, to } = declaration
  declaration.needTypes(through ?? [])
  return { name, from, to, ...(through ? { through } : {}) }
}

function compileOwned(definition: OwnedRelation): Relation {
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

function compileOwner(definition: OwnerRelation): Relation {
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

/** The same relation from its other end. */
function turned({
  name,
  from,
  to,
  through,
}: OwnedRelation | OwnerRelation): Omit<OwnedRelation, 'form'> {
  const between = through === undefined ? {} : { through: through.toReversed() }
  return { name, from: to, to: from, ...between }
}

function hopsOf(
  { from, to, through = [] }: OwnedRelation | OwnerRelation,
  leading: typeof ownersOf,
): readonly RelatedHop[] {
  const types = [from, ...through, to]
  return types.slice(1).map((type, before) => ({
    from: types[before] ?? from,
    to: type,
    followBack: ({ view, id }) => leading(view, id),
  }))
}

function by(through: readonly string[] = []): string {
  return through.length === 0 ? '' : `, by ${through.join(', ')}`
}

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
