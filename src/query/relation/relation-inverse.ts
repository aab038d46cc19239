import type { StoreView } from '../../informer/store/store-view.ts'
import { type Condition, hasKey, hasValue } from '../condition/condition.ts'
import { aboutEvent } from './events-relation.ts'
import { compileNumbered, compileReverseNumbered } from './numbered-relation.ts'
import { compileOwned, compileOwner } from './ownership-relation.ts'
import {
  compileReference,
  compileReverseReference,
  compileReverseUid,
  compileUid,
} from './reference-relation.ts'
import type { IndexersByType, Relation, RelationContext, RelationOrigin } from './relation.ts'
import type { RelationDefinition } from './relation-definition.ts'
import { compileReverseSame, compileSame } from './same-relation.ts'
import { compileReverseSelects, compileSelects } from './selects-relation.ts'

/** A relation read the other way, from an object that it leads to. */
export interface RelationInverse {
  /** Whether it never leaves the namespace of the object that it starts from. */
  readonly isLocal: boolean
  /**
   * Which objects lead to this one: a condition on the store of `from`. `undefined` where that store lacks the index to tell;
   * absent where no index tells.
   */
  readonly followBack?: (target: RelationOrigin, from: StoreView) => Condition | undefined
  /** The indexes that it needs for that. */
  readonly backIndexers?: IndexersByType
}

/** How a relation is read backwards, whether or not the SDL declares a field for that. */
export function inverseOf(
  { definition, indexers }: Relation,
  compiled: ReadonlyMap<string, Relation>,
  context: RelationContext,
): RelationInverse {
  const { name, from, to } = definition
  const turned = { name, from: to, to: from }
  const isLocal = staysInNamespace(definition, compiled, context)
  const reverse = { form: 'reverse', of: '', ...turned } as const
  const inverse = (relation: Relation): RelationInverse => ({
    isLocal,
    ...backwards(relation, from),
  })
  switch (definition.form) {
    case 'reference':
      return inverse(compileReverseReference(reverse, definition, context))
    case 'uid':
      return inverse(compileReverseUid(reverse, definition))
    case 'numbered':
      return inverse(compileReverseNumbered(reverse, definition, context))
    case 'selects':
      return inverse(compileReverseSelects(reverse, definition, context))
    case 'same':
      return inverse(compileReverseSame(reverse, definition, context))
    case 'reverse': {
      const forward = compiled.get(definition.of)?.definition
      if (forward?.form === 'reference') return inverse(compileReference(forward, context))
      if (forward?.form === 'uid') return inverse(compileUid(forward))
      if (forward?.form === 'numbered') return inverse(compileNumbered(forward, context))
      if (forward?.form === 'selects') return inverse(compileSelects(forward, context))
      if (forward?.form === 'same') return inverse(compileSame(forward, context))
      // References to whatever kind: the index has the keys of those of this one.
      const [index] = Object.keys(indexers[to] ?? {})
      if (index === undefined) return { isLocal }
      return { isLocal, followBack: ({ view, id }) => hasKey(view.index(index).valuesOf(id)) }
    }
    case 'owned':
    case 'owner': {
      const { through } = definition
      const upside = {
        ...turned,
        ...(through === undefined ? {} : { through: through.toReversed() }),
      }
      return inverse(
        definition.form === 'owned'
          ? compileOwner({ form: 'owner', ...upside })
          : compileOwned({ form: 'owned', ...upside }),
      )
    }
    case 'events':
      return { isLocal, followBack: involvedObject }
    case 'through':
      return { isLocal }
  }
}

/** What leads the other way needs its indexes on the store that it leads to. */
function backwards(
  inverse: Relation,
  type: string,
): Pick<Required<RelationInverse>, 'followBack' | 'backIndexers'> {
  const needed = Object.keys(inverse.indexers[type] ?? {})
  return {
    backIndexers: inverse.indexers,
    followBack: (target, from) =>
      needed.every((name) => from.hasIndex(name)) ? inverse.follow(target) : undefined,
  }
}

function staysInNamespace(
  definition: RelationDefinition,
  compiled: ReadonlyMap<string, Relation>,
  context: RelationContext,
): boolean {
  if (!context.isNamespaced(definition.from) || !context.isNamespaced(definition.to)) return false
  switch (definition.form) {
    case 'reference': {
      const { namespacePaths, refPaths = [], names } = definition
      return namespacePaths === undefined && refPaths.length === 0 && isOwnNamespace(names)
    }
    case 'numbered':
      return isOwnNamespace(definition.names)
    case 'selects':
      return definition.namespacesPath === undefined && definition.namespaceLabelsPath === undefined
    case 'reverse': {
      const forward = compiled.get(definition.of)?.definition
      return forward !== undefined && staysInNamespace(forward, compiled, context)
    }
    case 'owned':
    case 'owner':
    case 'events':
      return true
    case 'through':
      return definition.steps.every((step) => {
        const one = compiled.get(step)?.definition
        return one !== undefined && staysInNamespace(one, compiled, context)
      })
    case 'uid':
    case 'same':
      return false
  }
}

function isOwnNamespace(
  names: { readonly namespace?: string; readonly namespacePath?: string } = {},
): boolean {
  return names.namespace === undefined && names.namespacePath === undefined
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
