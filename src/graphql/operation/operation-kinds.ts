import {
  type DocumentNode,
  type GraphQLSchema,
  Kind as NodeKind,
  type OperationDefinitionNode,
  TypeInfo,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { relationName } from '../../query/relation/relation-definition.ts'
import type { Kind } from '../model/kind.ts'
import type { KindAt } from './prepared-kinds.ts'
import type { ServedSchema } from './served-schema.ts'

/**
 * The kinds that an operation touches, as far as its text and variables tell: those of its root fields, in their
 * clusters, and those that its relations read. What depends on data (`owners`, `object(id:)`) is found while executing.
 */
export function kindsOf(
  served: ServedSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): KindAt[] {
  const names = documentKinds(served, document)
  const clusters = clustersOf(served, operation, variables)
  return clusters.flatMap((cluster) => names.map((kind) => ({ cluster, kind })))
}

const known = new WeakMap<DocumentNode, { schema: GraphQLSchema; kinds: readonly Kind[] }>()

/** All kinds in the document, whatever the operation and the cluster. */
function documentKinds(served: ServedSchema, document: DocumentNode): readonly Kind[] {
  const cached = known.get(document)
  if (cached?.schema === served.schema) return cached.kinds
  const kinds = new Set<Kind>()
  const roots = rootKinds(served)
  const typeInfo = new TypeInfo(served.schema)
  const read = (type: string) => {
    const kind = served.kinds.get(type)
    if (kind !== undefined) kinds.add(kind)
  }
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field({ name: { value: field } }) {
        const parent = typeInfo.getParentType()
        if (
          parent === served.schema.getQueryType() ||
          parent === served.schema.getSubscriptionType()
        ) {
          const kind = roots.get(field)
          if (kind !== undefined) kinds.add(kind)
          return
        }
        const kind =
          parent === undefined || parent === null ? undefined : served.kinds.get(parent.name)
        if (kind === undefined) return
        const relation =
          field === 'events'
            ? kind.events
            : kind.relations.find((one) => one.definition.name === field)
        if (relation === undefined) return
        served.relations.get(relationName(relation.definition))?.reads.forEach(read)
      },
    }),
  )
  const found = [...kinds]
  known.set(document, { schema: served.schema, kinds: found })
  return found
}

const rootsBySchema = new WeakMap<GraphQLSchema, ReadonlyMap<string, Kind>>()

function rootKinds(served: ServedSchema): ReadonlyMap<string, Kind> {
  let roots = rootsBySchema.get(served.schema)
  if (roots === undefined) {
    const fields = [...served.kinds.values()].flatMap((kind): [string, Kind][] => [
      [kind.listField, kind],
      [kind.lookupField, kind],
    ])
    rootsBySchema.set(served.schema, (roots = new Map(fields)))
  }
  return roots
}

/** The clusters that the root fields name; unknown ones are refused by the fields themselves. */
function clustersOf(
  { clusters }: ServedSchema,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): string[] {
  const names = new Set<string>()
  const [first] = clusters.keys()
  for (const selection of operation.selectionSet.selections) {
    const argument =
      selection.kind === NodeKind.FIELD
        ? selection.arguments?.find(({ name }) => name.value === 'cluster')
        : undefined
    const value: unknown =
      argument === undefined ? undefined : valueFromASTUntyped(argument.value, variables)
    const name = typeof value === 'string' ? value : first
    if (name !== undefined && clusters.has(name)) names.add(name)
  }
  return [...names]
}
