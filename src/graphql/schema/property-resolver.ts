import type { GraphQLFieldResolver } from 'graphql'
import { graphqlNameOf } from '../naming/field-name.ts'
import type { ValueShape } from './field-source.ts'
import type { ResolverContext } from './read-context.ts'

/** Turns one JSON value into another. */
type Convert = (value: unknown) => unknown

type PropertyResolver = GraphQLFieldResolver<unknown, ResolverContext>

/**
 * The resolver of a field of plain JSON; `undefined` where GraphQL's default one does, which reads the property by the
 * field's name. It does not where the names differ, where the value is converted, and where every JavaScript object
 * inherits something of the name.
 */
export function propertyResolver(
  property: string,
  shape: ValueShape,
): PropertyResolver | undefined {
  const read = propertyReader(property)
  const convert = conversionOf(shape)
  if (convert !== undefined) return (source) => convert(read(source))
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

/**
 * How a value of the shape becomes the source of its GraphQL type: maps become lists of entries, in the order of the
 * document. `undefined` where it is the source already.
 */
export function conversionOf(shape: ValueShape): Convert | undefined {
  switch (shape.form) {
    case 'scalar':
    case 'object':
      return undefined
    case 'list': {
      const convert = conversionOf(shape.items)
      if (convert === undefined) return undefined
      return (list) => (Array.isArray(list) ? list.map(convert) : list)
    }
    case 'entries': {
      const convert = conversionOf(shape.value) ?? ((value) => value)
      return (map) =>
        typeof map !== 'object' || map === null || Array.isArray(map)
          ? null
          : Object.entries(map).map(([key, value]) => ({ key, value: convert(value) }))
    }
  }
}
