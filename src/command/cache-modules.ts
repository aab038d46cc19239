import {
  getNamedType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
} from 'graphql'

/**
 * A TypeScript module with the `possibleTypes` and `typePolicies` of Apollo Client's InMemoryCache. They key objects by
 * `id`, merge the parts of an object, keep lists as pages, and replace each frame by the next.
 */
export function apolloModule(schema: GraphQLSchema): string {
  const policies = cachedTypes(schema).map((type) => `  ${type.name}: ${policyOf(type)},`)
  const query = listFields(schema.getQueryType())
  const streams = Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).toSorted()
  return `${[
    '// Written by `informerql schema --for apollo`. Run it again when the schema changes.',
    "import type { TypePolicies } from '@apollo/client'",
    "import { connectionPages as pages } from '@informerql/client'",
    '',
    'export const possibleTypes: Record<string, string[]> = {',
    ...possibleTypes(schema, newerType),
    `  ${newerType}: ['[A-Z].*'],`,
    '}',
    '',
    '/** A type that is newer than this file: a kind, if it has an `id`, or a part of one. */',
    "const newer = { keyFields: ({ id }: Record<string, unknown>) => (typeof id === 'string' ? ['id'] : false), merge: true } as const",
    '/** A part of an object. The fields that several queries read are merged. An `id` in it is not a cache key. */',
    'const value = { keyFields: false, merge: true } as const',
    '/** A new result replaces the old one as a whole. */',
    'const whole = { merge: false } as const',
    '/** The cache keeps only the latest frame, for all arguments together: clients apply each frame on arrival. */',
    'const frames = { keyArgs: false, merge: false } as const',
    '',
    'export const typePolicies: TypePolicies = {',
    ...rootOf('Query', query, 'pages'),
    ...rootOf('Subscription', streams, 'frames'),
    ...policies,
    `  ${newerType}: newer,`,
    '}',
  ].join('\n')}\n`
}

/** The type of all types that a schema does not have: Apollo Client takes its subtypes by a pattern. */
const newerType = '_NewerType'

function rootOf(name: string, fields: readonly string[], policy: string): readonly string[] {
  if (fields.length === 0) return []
  return [
    `  ${name}: {`,
    '    fields: {',
    ...fields.map((field) => `      ${field}: ${policy},`),
    '    },',
    '  },',
  ]
}

function policyOf({ cached, lists }: CachedType): string {
  switch (cached) {
    case 'id':
    case 'name': {
      const fields = lists.map((list) => `${list}: pages`).join(', ')
      const rest = lists.length === 0 ? '' : `, fields: { ${fields} }`
      return `{ keyFields: ['${cached}']${rest} }`
    }
    case 'value':
      return 'value'
    case 'page':
    case 'frame':
      return 'whole'
  }
}

/**
 * A TypeScript module with the `keys` of urql's normalised cache: objects are keyed by `id`, other values are parts of
 * their object. It also has `possibleTypes`, for fragments on the interface; `withNewerKinds` of `@informerql/client` makes
 * them match objects of newer kinds, too.
 */
export function urqlModule(schema: GraphQLSchema): string {
  return `${[
    '// Written by `informerql schema --for urql`. Run it again when the schema changes.',
    "import type { KeyingConfig } from '@urql/exchange-graphcache'",
    '',
    '/** A part of the object that it is read from. */',
    'const part = (): null => null',
    "const byId: KeyingConfig[string] = ({ id }) => (typeof id === 'string' ? id : null)",
    "const byName: KeyingConfig[string] = ({ name }) => (typeof name === 'string' ? name : null)",
    '',
    'const known: KeyingConfig = {',
    ...cachedTypes(schema).map((type) => `  ${type.name}: ${keyOf(type)},`),
    '}',
    '/** A type that is newer than this file is a kind, if it has an `id`, or a part of one. */',
    'export const keys: KeyingConfig = new Proxy(known, {',
    '  get: (_, type: string) => known[type] ?? byId,',
    '})',
    '',
    'export const possibleTypes: Record<string, string[]> = {',
    ...possibleTypes(schema),
    '}',
  ].join('\n')}\n`
}

function keyOf({ cached }: CachedType): string {
  return cached === 'id' ? 'byId' : cached === 'name' ? 'byName' : 'part'
}

/**
 * How a normalising cache stores the objects of a type: by their `id` or `name`, others as a part of their parent.
 * Fields of a `value` may be merged, those of a `frame` or `page` may not.
 */
type CachedForm = 'id' | 'name' | 'value' | 'page' | 'frame'

/** A type of a schema, for a normalising cache. */
interface CachedType {
  readonly name: string
  readonly cached: CachedForm
  /** Fields that are paged lists. */
  readonly lists: readonly string[]
}

/** The types of a schema, without its root types, sorted by name. */
function cachedTypes(schema: GraphQLSchema): readonly CachedType[] {
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

/** The lines with the possible types of `KubernetesObject`, and further ones. */
function possibleTypes(schema: GraphQLSchema, ...further: readonly string[]): readonly string[] {
  const type = schema.getType('KubernetesObject')
  const types = isInterfaceType(type) ? schema.getPossibleTypes(type) : []
  const names = [...types.map(({ name }) => name).toSorted(), ...further]
  return ['  KubernetesObject: [', ...names.map((name) => `    '${name}',`), '  ],']
}

/** The fields of a type that are paged lists. */
function listFields(
  type: GraphQLObjectType | GraphQLInterfaceType | null | undefined,
): readonly string[] {
  return Object.values(type?.getFields() ?? {})
    .filter(({ type: answered }) => {
      const named = getNamedType(answered)
      return isObjectType(named) && cachedForm(named) === 'page'
    })
    .map(({ name }) => name)
    .toSorted()
}

function cachedType(type: GraphQLObjectType | GraphQLInterfaceType): CachedType {
  const cached = cachedForm(type)
  // The pages in an edge are parts of its connection.
  return {
    name: type.name,
    cached,
    lists: cached === 'id' || cached === 'name' ? listFields(type) : [],
  }
}

/** The form of a type by its fields. The gateway's own types have fields that types of Kubernetes do not have together. */
function cachedForm(type: GraphQLObjectType | GraphQLInterfaceType): CachedForm {
  if (isKind(type)) return 'id'
  const fields = type.getFields()
  const has = (...names: readonly string[]): boolean => names.every((name) => name in fields)
  if (type.name === 'GatewayCluster') return 'name'
  if (has('nodes', 'pageInfo') || has('cursor', 'node') || has('hasNextPage', 'endCursor'))
    return 'page'
  if (
    has('reset', 'synced', 'changes') ||
    has('type', 'objectId', 'removal') ||
    has('step', 'objectId')
  )
    return 'frame'
  return 'value'
}

function isKind(type: GraphQLObjectType | GraphQLInterfaceType): boolean {
  const name = 'KubernetesObject'
  return type.name === name || type.getInterfaces().some((one) => one.name === name)
}
