import type { GraphQLFieldResolver } from 'graphql'
import { graphqlNameOf } from '../naming/field-name.ts'
import type { ResolverContext } from './read-context.ts'

/** Turns a JSON value, never null, into the source of its type. */
export type Convert = (value: unknown) => unknown

type PropertyResolver = GraphQLFieldResolver<unknown, ResolverContext>

/**
 * The resolver of a field of plain JSON; `undefined` where GraphQL's default one does, which reads the property by the
 * field's name. It does not where the names differ, where the value is converted, and where every JavaScript object
 * inherits something of the name.
 */
export function propertyResolver(
  property: string,
  convert: Convert | undefined,
): PropertyResolver | undefined {
  const read = propertyReader(property)
  if (convert !== undefined) {
    return (source) => {
      const value = read(source)
      return value === undefined || value === null ? null : convert(value)
    }
  }
  const readByDefault = graphqlNameOf(property) === property && !(property in Object.prototype)
  return readByDefault ? undefined : read
}

/** Reads a property of a JSON object; what JavaScript lets it inherit is not there. */
export function propertyReader(property: string): Convert {
  if (property in Object.prototype) {
    return (source) =>
      Object.hasOwn(source as object, property)
        ? (source as Readonly<Record<string, unknown>>)[property]
        : undefined
  }
  return (source) => (source as Readonly<Record<string, unknown>>)[property]
}

/** The entries of a map, in the order of the document. */
export function entriesOf(
  map: unknown,
  convert: Convert | undefined,
): readonly { key: string; value: unknown }[] | null {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return null
  return Object.entries(map).map(([key, value]: [string, unknown]) => ({
    key,
    value: convert === undefined || value === null ? value : convert(value),
  }))
}
