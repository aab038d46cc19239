import type { GraphQLSchema } from 'graphql'
import { cachedTypes, type CachedType, kindNames, listFields } from './cached-types.ts'

/**
 * A module in TypeScript with the `possibleTypes` and `typePolicies` of Apollo Client's InMemoryCache: objects by their `id`, parts
 * of objects joined, lists kept as pages, frames never joined with the ones before.
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
