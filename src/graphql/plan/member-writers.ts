import type { FieldNode, GraphQLObjectType } from 'graphql'
import { NotCoveredError } from '../errors/not-covered.ts'

/** Writes the selected members of a plain object. Throws {@link NotCoveredError} for other fields. */
export function memberWriters<T extends object>(
  type: GraphQLObjectType,
  fields: Iterable<readonly [string, readonly FieldNode[]]>,
  members: readonly (keyof T & string)[],
): (source: T) => string {
  const writers = Array.from(fields, ([key, [node]]) => {
    const name = node?.name.value ?? ''
    const before = `${JSON.stringify(key)}:`
    if (name === '__typename') {
      const text = before + JSON.stringify(type.name)
      return () => text
    }
    const member = members.find((one) => one === name)
    if (member === undefined) throw new NotCoveredError(`${type.name}.${name}`)
    return (source: T) => before + JSON.stringify(source[member] ?? null)
  })
  return (source) => `{${writers.map((write) => write(source)).join(',')}}`
}
