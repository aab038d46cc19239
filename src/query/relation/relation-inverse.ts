import type { StoreView } from '../../informer/store/store-view.ts'
import { type Condition, hasKey, hasValue } from '../condition/condition.ts'
import { aboutEvent } from './events-relation.ts'
import { compileOwned, compileOwner } from './ownership-relation.ts'
import { compileReference, compileReverseReference } from './reference-relation.ts'
import type { Relation, RelationContext, RelationOrigin } from './relation.ts'
import type { RelationDefinition } from './relation-definition.ts'
import { compileReverseSelects, compileSelects } from './selects-relation.ts'

/** A relation read the other way, from an object that it leads to. */
export interface RelationInverse {
  /** Whether it never leaves the namespace of the object that it starts from. */
  readonly isLocal: boolean
  /**
   * Which objects lead to this one: a condition on the store of `from`. `undefined` where that store has no index to tell; absent
   * where no store has.
   */
  readonly followBack?: (target: RelationOrigin, from: StoreView) => Condition | undefined
}

/** How a relation is read backwards, whether or not the SDL declares a field for that. */
export function inverseOf(
  definition: RelationDefinition,
  byName: ReadonlyMap<string, RelationDefinition>,
  context: RelationContext,
): RelationInverse {
  const { from, to } = definition
  const turned = { name: definition.name, from: to, to: from }
  const isLocal = context.isNamespaced(from) && context.isNamespaced(to)
  switch (definition.form) {
    case 'reference': {
      const reverse = { form: 'reverse', of: '', ...turned } as const
      const followBack = byIndexes(compileReverseReference(reverse, definition, context), from)
      return { isLocal: isLocal && definition.namespacePaths === undefined, followBack }
    }
    case 'selects': {
      const reverse = { form: 'reverse', of: '', ...turned } as const
      return {
        isLocal,
        followBack: byIndexes(compileReverseSelects(reverse, definition, context), from),
      }
    }
    case 'reverse': {
      const forward = byName.get(definition.of)
      if (forward?.form === 'selects') {
        return { isLocal, followBack: followed(compileSelects(forward, context)) }
      }
      if (forward?.form !== 'reference') return { isLocal: false }
      const followBack = followed(compileReference(forward, context))
      return { isLocal: isLocal && forward.namespacePaths === undefined, followBack }
    }
    case 'owned':
    case 'owner': {
      const { through } = definition
      const upside = {
        ...turned,
        ...(through === undefined ? {} : { through: through.toReversed() }),
      }
      const inverse =
        definition.form === 'owned'
          ? compileOwner({ form: 'owner', ...upside })
          : compileOwned({ form: 'owned', ...upside })
      return { isLocal, followBack: followed(inverse) }
    }
    case 'events':
      return { isLocal, followBack: involvedObject }
  }
}

type FollowBack = NonNullable<RelationInverse['followBack']>

function followed(inverse: Relation): FollowBack {
  return (target) => inverse.follow(target)
}

/** A relation that needs indexes on the store that it leads to, which has them where the SDL declares it. */
function byIndexes(inverse: Relation, type: string): FollowBack {
  const needed = Object.keys(inverse.indexers[type] ?? {})
  return (target, from) =>
    needed.every((name) => from.hasIndex(name)) ? inverse.follow(target) : undefined
}

/** The objects of a store that an Event is about. */
function involvedObject(
  { view, id }: RelationOrigin,
  { resource }: StoreView,
): Condition | undefined {
  const about = aboutEvent(view, id)
  if (about === undefined) return hasKey([])
  if ('uid' in about) return hasValue('uid', [about.uid])
  const isSame = about.kind === resource.kind && (about.group ?? resource.group) === resource.group
  return hasKey(isSame ? [about.key] : [])
}
