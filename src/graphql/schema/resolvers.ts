import { type GraphQLFieldResolver, type GraphQLResolveInfo, locatedError } from 'graphql'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import { parsePath, type Path, PathError, valueAt, valuesAt } from '../../query/index/path.ts'
import { graphqlNameOf } from '../naming/field-name.ts'
import type { ValueShape } from './field-source.ts'
import type { ConnectionSource, ResolverContext } from './read-context.ts'

type Convert = (value: unknown) => unknown

type PropertyResolver = GraphQLFieldResolver<unknown, ResolverContext>

/**
 * The resolver of a field of plain JSON. It is `undefined` if GraphQL's default resolver does the same: that reads the
 * property by the field's name. It does not if the names differ, if the value needs a conversion, or if every
 * JavaScript object inherits a member of the name.
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

/** Reads an own property of a JSON object. */
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
 * The conversion of a JSON value into the source of its GraphQL type: maps become lists of entries, in the order of the
 * document. `undefined` if the value is the source.
 */
function conversionOf(shape: ValueShape): Convert | undefined {
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

/** Parsed paths, or their errors, by text: a list uses the same few paths for all objects. A full cache is emptied. */
const known = new Map<string, Path | ArgumentError>()
const maxKnownLength = 100_000
let knownLength = 0

/**
 * The value at a path of an object: the object itself without a path, a list for a path with `[*]`, null if the path
 * leads to nothing. Throws {@link ArgumentError} for a path that cannot be parsed.
 */
export function jsonAt(object: object, path: string | null | undefined): unknown {
  if (path === undefined || path === null) return object
  const read = readPath(path)
  return read.many ? valuesAt(read, object) : valueAt(read, object)
}

/** A path. Throws {@link ArgumentError} if it cannot be parsed. */
export function readPath(text: string): Path {
  const read = known.get(text) ?? remembered(text)
  if (read instanceof ArgumentError) throw read
  return read
}

function remembered(text: string): Path | ArgumentError {
  if (knownLength + text.length > maxKnownLength) {
    known.clear()
    knownLength = 0
  }
  const path = pathOf(text)
  known.set(text, path)
  knownLength += text.length
  return path
}

function pathOf(text: string): Path | ArgumentError {
  try {
    return parsePath(text)
  } catch (error) {
    if (!(error instanceof PathError)) throw error
    const { message, hint } = error
    return new ArgumentError('path', message, {
      value: text,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}

/** Reports the failures of a read as entries of `errors`, and returns the read as the value of the field. */
export function reportingFailures<T extends { readonly failures: readonly Error[] }>(
  found: T,
  { report }: ResolverContext,
  { fieldNodes, path }: GraphQLResolveInfo,
): T {
  for (const error of found.failures) report(locatedError(error, fieldNodes, pathToArray(path)))
  return found
}

/** Reports why clusters are missing in a list, if it is one over clusters, and returns the list. */
export function reportingGaps(
  list: ConnectionSource | null,
  context: ResolverContext,
  info: GraphQLResolveInfo,
): ConnectionSource | null {
  if (list?.failures === undefined) return list
  reportingFailures({ failures: list.failures }, context, info)
  return list
}

/**
 * Yields what is read of each item, or the Error. graphql-js turns an Error in a list into the error of that item. The
 * generator reads the items one by one, so that too many errors end the list.
 */
export function* eachOrError<T, R>(
  items: readonly T[],
  read: (item: T) => R,
): IterableIterator<R | Error> {
  for (const item of items) {
    try {
      yield read(item)
    } catch (error) {
      yield error instanceof Error ? error : new Error(String(error))
    }
  }
}

/** Reports the error of a refused object as an entry of `errors`, beside the value of the field. */
export function refusedAt(
  context: ResolverContext,
  info: GraphQLResolveInfo,
): (error: Error) => void {
  return (error) => void reportingFailures({ failures: [error] }, context, info)
}

function pathToArray(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = []
  for (let at: typeof path | undefined = path; at !== undefined; at = at.prev) keys.push(at.key)
  return keys.toReversed()
}
