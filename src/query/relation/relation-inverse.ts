import type { StoreView } from '../../informer/store/store-view.ts'
import { type Condition, hasKey, hasValue, type RelatedHop } from '../condition/condition.ts'
import { aboutEvent } from './events-relation.ts'
import {
  compileNumbered,
  compileReference,
  compileReverseNumbered,
  compileReverseReference,
  compileReverseUid,
  compileUid,
} from './reference-relation.ts'
import { compileOwned, compileOwner, ownedBy, ownersOf } from './ownership-relation.ts'
import {
  originObject,
  type Relation,
  type RelationContext,
  type RelationInverse,
  type RelationOrigin,
} from './relation.ts'
import type { RelationDefinition, ThroughRelation } from './relation-definition.ts'
import { compileReverseSame, compileSame } from './same-relation.ts'
import { compileReverseSelects, compileSelects } from './selects-relation.ts'
import { throughBackwards } from './through-relation.ts'

type Backwards = Omit<RelationInverse, 'hops'>

/** Reads a relation backwards, whether or not SDL declares a field for that. */
export function inverseOf(
  relation: Relation,
  compiled: ReadonlyMap<string, Relation>,
  context: RelationContext,
): RelationInverse {
  const inverse = backwardsOf(relation, compiled, context)
  return { ...inverse, hops: hopsOf(relation, inverse, compiled, context) }
}

function hopsOf(
  { definition }: Relation,
  { followBack }: Backwards,
  compiled: ReadonlyMap<string, Relation>,
  context: RelationContext,
): readonly RelatedHop[] {
  const { from, to } = definition
  switch (definition.form) {
    case 'through':
      return stepsOf(definition, compiled).flatMap((step) =>
        hopsOf(step, backwardsOf(step, compiled, context), compiled, context),
      )
    case 'owned':
    case 'owner': {
      const types = [from, ...(definition.through ?? []), to]
      const leading = definition.form === 'owned' ? ownersOf : ownedBy
      return types.slice(1).map((type, before) => ({
        from: types[before] ?? from,
        to: type,
        followBack: ({ view, id }) => leading(view, id),
      }))
    }
    case 'reference':
    case 'numbered':
    case 'uid':
    case 'reverse':
    case 'selects':
    case 'same':
    case 'events':
      return [{ from, to, followBack }]
  }
}

function stepsOf(
  { steps }: ThroughRelation,
  compiled: ReadonlyMap<string, Relation>,
): readonly Relation[] {
  return steps.flatMap((name) => compiled.get(name) ?? [])
}

function backwardsOf(
  { definition, indexers }: Relation,
  compiled: ReadonlyMap<string, Relation>,
  context: RelationContext,
): Backwards {
  const { name, from, to } = definition
  const turned = { name, from: to, to: from }
  const isLocal = staysInNamespace(definition, compiled, context)
  const reverse = { form: 'reverse', of: '', ...turned } as const
  const inverse = (relation: Relation): Backwards => ({
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
      // For references to any kind, the index holds the keys of all referenced objects.
      const [found] = Object.entries(indexers[to] ?? {})
      if (found === undefined) return { isLocal }
      const [index, valuesOf] = found
      return {
        isLocal,
        followBack: (target) =>
          hasKey(
            target.view.hasIndex(index)
              ? target.view.index(index).valuesOf(target.id)
              : valuesOf(originObject(target)),
          ),
      }
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
    case 'through': {
      const steps = stepsOf(definition, compiled).map((step) => ({
        from: step.definition.from,
        ...backwardsOf(step, compiled, context),
      }))
      return { isLocal, ...throughBackwards(steps) }
    }
  }
}

/** The inverse needs its indexes on the store that it leads to. */
function backwards(
  inverse: Relation,
  type: string,
): Pick<Required<Backwards>, 'followBack' | 'backIndexers'> {
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

function involvedObject(origin: RelationOrigin, { resource }: StoreView): Condition | undefined {
  const about = aboutEvent(origin)
  if (about === undefined) return hasKey([])
  if ('uid' in about) return hasValue('uid', [about.uid])
  const isSame = about.kind === resource.kind && (about.group ?? resource.group) === resource.group
  return hasKey(isSame ? [about.key] : [])
}
