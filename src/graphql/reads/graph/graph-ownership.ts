import type { ObjectId } from '../../../informer/store/store-view.ts'
import { hasValue } from '../../../query/condition/condition.ts'
import type { Lead, WalkStep } from '../../../query/relation/graph-walk.ts'
import type { Kind } from '../../model/kind.ts'
import type { GraphLink } from './graph-links.ts'
import type { GraphPicks } from './graph-request.ts'
import type { KindView } from '../../prepare/kind-view.ts'

export interface CommonStepsOptions {
  /** The kinds in memory in the cluster where the steps begin. */
  readonly inMemory: readonly KindView[]
  /** The part where the steps begin. */
  readonly part: KindView
  readonly picks: GraphPicks | undefined
  /** The owners and owned objects that relations of the schema already reach from here. */
  readonly declared: readonly { readonly link: GraphLink; readonly to: KindView }[]
}

/**
 * The steps of `owners` and `owned`, which every object has, among the kinds in memory. They reach owners that no
 * relation of the schema declares. An edge leads from the object to its owner.
 */
export function commonSteps(options: CommonStepsOptions): {
  readonly steps: readonly WalkStep<KindView>[]
  readonly kinds: readonly Kind[]
} {
  const { part, picks, declared, inMemory: others } = options
  const { kind, view } = part
  const steps: WalkStep<KindView>[] = []
  const kinds: Kind[] = []
  const isPicked = (field: 'owners' | 'owned'): boolean => picks?.hasCommon(field, kind) ?? true
  if (isPicked('owners') && view.index('ownerUid').objectCount > 0) {
    const above = declared.filter(({ link }) => link.ownership === 'up').map(({ to }) => to)
    steps.push({
      relation: `${kind.typeName}.owners`,
      backwards: false,
      leads: (id) => ownersOf(part, id, above, others),
    })
  }
  if (isPicked('owned')) {
    const below = new Set(
      declared.filter(({ link }) => link.ownership === 'down').map(({ to }) => to.view),
    )
    for (const to of others) {
      const index = to.view.index('ownerUid')
      const isOwned = index.objectCount > 0
      // Names a kind in any case if some of its objects may be hidden, so that the answer does not reveal whether these
      // have owners.
      if (below.has(to.view) || (!isOwned && to.scope.form === 'all')) continue
      kinds.push(to.kind)
      if (!isOwned) continue
      steps.push({
        relation: `${to.kind.typeName}.owners`,
        backwards: true,
        to,
        index,
        value: (id) => view.uidOf(id),
      })
    }
  }
  return { steps, kinds }
}

function* ownersOf(
  { view }: KindView,
  id: ObjectId,
  known: readonly KindView[],
  others: readonly KindView[],
): IterableIterator<Lead<KindView>> {
  for (const uid of view.index('ownerUid').valuesOf(id)) {
    const has = (one: KindView): boolean => one.view.idOfUid(uid) !== undefined
    if (known.some(has)) continue
    const to = others.find(has)
    if (to !== undefined) yield { to, condition: hasValue('uid', [uid]) }
  }
}
