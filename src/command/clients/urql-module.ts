import type { GraphQLSchema } from 'graphql'
import { cachedTypes, type CachedType, kindNames } from './cached-types.ts'

/**
 * A module in TypeScript with the `keys` of urql's normalised cache: objects are known by their `id`, all else is a part of what it
 * is read from; and with `possibleTypes`, for fragments on the interface.
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
