import type { GraphQLSchema } from 'graphql'
import { type CachedType, cachedTypes, kindNames, listFields } from './cached-types.ts'

/**
 * A TypeScript module with the `possibleTypes` and `typePolicies` of Apollo Client's InMemoryCache: objects are keyed
 * by `id`, parts of objects are merged, lists are kept as pages, and frames are not merged.
 */
export function apolloModule(schema: GraphQLSchema): string {
  const policies = cachedTypes(schema).map((type) => `  ${type.name}: ${policyOf(type)},`)
  const query = listFields(schema.getQueryType())
  const streams = Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).toSorted()
  return `${[
    '// Written by `informerql schema --for apollo`. Write it anew when the schema changes.',
    "import type { TypePolicies } from '@apollo/client'",
    "import { connectionPages as pages } from 'informerql/client'",
    '',
    'export const possibleTypes: Record<string, string[]> = {',
    `  KubernetesObject: ${wrapped(kindNames(schema))},`,
    '}',
    '',
    '/** Parts of an object: what several queries read of them is joined. An `id` of theirs is no key. */',
    'const value = { keyFields: false, merge: true } as const',
    '/** Replaced as a whole. */',
    'const whole = { merge: false } as const',
    '/** Only the latest frame is kept; the arguments do not matter to whoever folds frames as they come. */',
    'const frames = { keyArgs: false, merge: false } as const',
    '',
    'export const typePolicies: TypePolicies = {',
    ...rootOf('Query', query, 'pages'),
    ...rootOf('Subscription', streams, 'frames'),
    ...policies,
    '}',
  ].join('\n')}\n`
}

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
  switch (cached.form) {
    case 'keyed': {
      const fields = lists.map((list) => `${list}: pages`).join(', ')
      const rest = lists.length === 0 ? '' : `, fields: { ${fields} }`
      return `{ keyFields: ['${cached.by}']${rest} }`
    }
    case 'value':
      return 'value'
    case 'page':
    case 'frame':
      return 'whole'
  }
}

function wrapped(names: readonly string[]): string {
  return `[\n${names.map((name) => `    '${name}',\n`).join('')}  ]`
}

/**
 * A TypeScript module with the `keys` of urql's normalised cache: objects are keyed by `id`, other values are parts of
 * their object. It also has `possibleTypes`, for fragments on the interface.
 */
export function urqlModule(schema: GraphQLSchema): string {
  return `${[
    '// Written by `informerql schema --for urql`. Write it anew when the schema changes.',
    "import type { KeyingConfig } from '@urql/exchange-graphcache'",
    '',
    '/** A part of the object that it is read from. */',
    'const part = (): null => null',
    "const byId: KeyingConfig[string] = ({ id }) => (typeof id === 'string' ? id : null)",
    "const byName: KeyingConfig[string] = ({ name }) => (typeof name === 'string' ? name : null)",
    '',
    'export const keys: KeyingConfig = {',
    ...cachedTypes(schema).map((type) => `  ${type.name}: ${keyOf(type)},`),
    '}',
    '',
    'export const possibleTypes: Record<string, string[]> = {',
    '  KubernetesObject: [',
    ...kindNames(schema).map((name) => `    '${name}',`),
    '  ],',
    '}',
  ].join('\n')}\n`
}

function keyOf({ cached }: CachedType): string {
  if (cached.form !== 'keyed') return 'part'
  return cached.by === 'id' ? 'byId' : 'byName'
}
