import {
  getNamedType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { type FieldSource, fieldSourceOf } from '../../graphql/schema/field-source.ts'

/**
 * How a normalising cache stores the objects of a type: `keyed` objects by one of their fields, others as a part of
 * their parent. Fields of a `value` may be merged, those of a `frame` or page may not.
 */
export type CachedForm =
  | { readonly form: 'keyed'; readonly by: 'id' | 'name' }
  | { readonly form: 'value' | 'page' | 'frame' }

/** A type of a schema, for a normalising cache. */
export interface CachedType {
  readonly name: string
  readonly cached: CachedForm
  /** Fields that are paged lists. */
  readonly lists: readonly string[]
}

const keyed = (by: 'id' | 'name'): CachedForm => ({ form: 'keyed', by })

const formOfSource: Partial<Readonly<Record<FieldSource['form'], CachedForm>>> = {
  id: keyed('id'),
  ofRowType: keyed('id'),
  clusterState: keyed('name'),
  frame: { form: 'frame' },
  change: { form: 'frame' },
  livePage: { form: 'frame' },
  livePageChange: { form: 'frame' },
  connection: { form: 'page' },
  edge: { form: 'page' },
  pageInfo: { form: 'page' },
}

/** The types of a schema, without its root types, sorted by name. */
export function cachedTypes(schema: GraphQLSchema): readonly CachedType[] {
  return Object.values(schema.getTypeMap())
    .filter(
      (type) =>
        (isObjectType(type) || isInterfaceType(type)) &&
        !type.name.startsWith('__') &&
        type !== schema.getQueryType() &&
        type !== schema.getSubscriptionType(),
    )
    .map((type) => cachedType(type as GraphQLObjectType | GraphQLInterfaceType))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The possible types of `KubernetesObject`. */
export function kindNames(schema: GraphQLSchema): readonly string[] {
  const type = schema.getType('KubernetesObject')
  if (!isInterfaceType(type)) return []
  return schema
    .getPossibleTypes(type)
    .map(({ name }) => name)
    .toSorted()
}

/** The fields of a type that are paged lists. */
export function listFields(
  type: GraphQLObjectType | GraphQLInterfaceType | null | undefined,
): readonly string[] {
  return Object.values(type?.getFields() ?? {})
    .filter(({ type: answered }) => {
      const named = getNamedType(answered)
      return isObjectType(named) && cachedForm(named).form === 'page'
    })
    .map(({ name }) => name)
    .toSorted()
}

function cachedType(type: GraphQLObjectType | GraphQLInterfaceType): CachedType {
  const cached = cachedForm(type)
  // The pages in an edge are parts of its connection.
  return { name: type.name, cached, lists: cached.form === 'keyed' ? listFields(type) : [] }
}

function cachedForm(type: GraphQLObjectType | GraphQLInterfaceType): CachedForm {
  const fields = type.getFields()
  // The first field of a kind says nothing about it, but its `id` does. A profile cannot leave `id` out.
  const field = isKind(type) ? fields['id'] : Object.values(fields)[0]
  const source = field === undefined ? undefined : fieldSourceOf(field).form
  return (source === undefined ? undefined : formOfSource[source]) ?? { form: 'value' }
}

function isKind(type: GraphQLObjectType | GraphQLInterfaceType): boolean {
  const name = 'KubernetesObject'
  return type.name === name || type.getInterfaces().some((one) => one.name === name)
}
