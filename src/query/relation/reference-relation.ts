import type { IndexFunction } from '../../informer/store/store-view.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { hasKey, hasValue } from '../condition/condition.ts'
import { parsePath, type Path, valueAt, valuesAt } from '../index/path.ts'
import { originObject, type Relation, type RelationContext } from './relation.ts'
import {
  type ReferenceRelation,
  RelationDefinitionError,
  relationName,
  type ReverseRelation,
} from './relation-definition.ts'

/** The index of a reference on the store of the referring type, from the key of an object to those that mean it. */
export function referenceIndexName(definition: ReferenceRelation): string {
  return `ref:${relationName(definition)}`
}

/**
 * A reference is followed by the keys in the object itself; where its reverse is declared, the index has them at hand. Throws
 * `PathError` and `RelationDefinitionError`.
 */
export function compileReference(
  definition: ReferenceRelation,
  context: RelationContext,
): Relation {
  const keysOf = referencedKeys(definition, context)
  const index = reverseIndexOf(definition, context)
  return {
    definition,
    reads: [definition.to],
    indexers: {},
    follow(origin) {
      const { view, id } = origin
      const keys = view.hasIndex(index)
        ? view.index(index).valuesOf(id)
        : keysOf(originObject(origin))
      return hasKey(keys)
    },
  }
}

/** A reference read backwards: the index of the referring store, asked for the key of the object. */
export function compileReverseReference(
  definition: ReverseRelation,
  reference: ReferenceRelation,
  context: RelationContext,
): Relation {
  const index = reverseIndexOf(reference, context)
  const indexer = index === namespaceIndex ? {} : { [index]: referencedKeys(reference, context) }
  return {
    definition,
    reads: [definition.to],
    indexers: { [definition.to]: indexer },
    follow: ({ view, id }) => hasValue(index, [view.keyOf(id)]),
  }
}

const namespaceIndex = 'namespace'

/** From an object to its Namespace every store has an index anyway. */
function reverseIndexOf(reference: ReferenceRelation, context: RelationContext): string {
  const { paths, to } = reference
  const isOwn = paths.length === 1 && paths[0] === 'metadata.namespace' && !context.isNamespaced(to)
  return isOwn ? namespaceIndex : referenceIndexName(reference)
}

/**
 * The keys of the objects that an object means. A namespaced one is looked for in the namespace that stands beside the
 * name or else in the object's own; without either, it means none.
 */
function referencedKeys(definition: ReferenceRelation, context: RelationContext): IndexFunction {
  const { namespacePaths } = definition
  if (namespacePaths !== undefined && namespacePaths.length !== definition.paths.length) {
    throw new RelationDefinitionError(
      relationName(definition),
      'has not as many namespace paths as paths',
      'give each path its own',
    )
  }
  const isNamespaced = context.isNamespaced(definition.to)
  const places = definition.paths.map((path, at) =>
    placeOf(definition, parsePath(path), namespacePaths?.[at]),
  )
  return (object) => {
    const keys: string[] = []
    for (const { items, name: namePath, namespace: namespacePath } of places) {
      for (const item of items === undefined ? [object] : valuesAt(items, object)) {
        const name = namePath === undefined ? item : valueAt(namePath, item)
        if (typeof name !== 'string' || name === '') continue
        if (!isNamespaced) {
          keys.push(name)
          continue
        }
        const said = namespacePath === undefined ? undefined : valueAt(namespacePath, item)
        const namespace = typeof said === 'string' && said !== '' ? said : object.metadata.namespace
        if (namespace !== undefined) keys.push(objectKey({ namespace, name }))
      }
    }
    return keys
  }
}

/** Where references stand: the items, and within each item its name and namespace. */
interface Place {
  /** `undefined`: the object itself is the only item. */
  readonly items: Path | undefined
  /** `undefined`: the item itself is the name. */
  readonly name: Path | undefined
  readonly namespace: Path | undefined
}

function placeOf(
  definition: ReferenceRelation,
  path: Path,
  namespaceText: string | undefined,
): Place {
  const itemSteps = path.steps.findLastIndex(({ form }) => form !== 'field') + 1
  const items = itemSteps === 0 ? undefined : part(path, 0, itemSteps)
  const name = itemSteps === path.steps.length ? undefined : part(path, itemSteps)
  if (namespaceText === undefined) return { items, name, namespace: undefined }
  const namespacePath = parsePath(namespaceText)
  const shared = JSON.stringify(namespacePath.steps.slice(0, itemSteps))
  const namespace = part(namespacePath, itemSteps)
  if (
    shared !== JSON.stringify(path.steps.slice(0, itemSteps)) ||
    namespace.many ||
    namespace.steps.length === 0
  ) {
    throw new RelationDefinitionError(
      relationName(definition),
      `the namespace at ${namespaceText} does not stand beside the name at ${path.text}`,
      'let both paths share all up to the last [*]',
    )
  }
  return { items, name, namespace }
}

function part({ text, steps }: Path, from: number, to?: number): Path {
  const some = steps.slice(from, to)
  return { text, steps: some, many: some.some(({ form }) => form !== 'field') }
}
