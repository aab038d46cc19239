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
 * What a normalising cache does with the objects of a type: `keyed` ones are known by fields of theirs wherever they are met; the
 * others are a part of what they are read from. Of these, `value`s of one place are the same thing at two times, so that their
 * fields may be joined; `frame`s and pages are not.
 */
export type CachedForm =
  | { readonly form: 'keyed'; readonly by: 'id' | 'name' }
  | { readonly form: 'value' | 'page' | 'frame' }

/** One type of a schema as a normalising cache sees it. */
export interface CachedType {
  readonly name: string
  readonly cached: CachedForm
  /** Fields that are lists in pages. */
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

/** The types of a schema but for its root types, in the order of their names. */
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

/** The kinds: what a `KubernetesObject` may be. */
export function kindNames(schema: GraphQLSchema): readonly string[] {
  const type = schema.getType('KubernetesObject')
  if (!isInterfaceType(type)) return []
  return schema
    .getPossibleTypes(type)
    .map(({ name }) => name)
    .toSorted()
}

/** The fields of a type that are lists in pages. */
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
  // The page of an edge is a part of its connection.
  return { name: type.name, cached, lists: cached.form === 'keyed' ? listFields(type) : [] }
}

function cachedForm(type: GraphQLObjectType | GraphQLInterfaceType): CachedForm {
  const fields = type.getFields()
  // A kind has all sorts of fields; its `id` says what it is. A profile may leave out fields, but not this one.
  const field = isKind(type) ? fields['id'] : Object.values(fields)[0]
  const source = field === undefined ? undefined : fieldSourceOf(field).form
  return (source === undefined ? undefined : formOfSource[source]) ?? { form: 'value' }
}

function isKind(type: GraphQLObjectType | GraphQLInterfaceType): boolean {
  const name = 'KubernetesObject'
  return type.name === name || type.getInterfaces().some((one) => one.name === name)
}
