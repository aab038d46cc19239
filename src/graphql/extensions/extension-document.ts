/*
 * Reads extensions before there is a schema. It parses their SDL, finds the resolver of each field and the price of its
 * calls, and refuses parts that can never be served, such as a field on a gateway's type without a resolver, or a
 * resolver without a field.
 */

import {
  type ConstDirectiveNode,
  type DocumentNode,
  type EnumTypeDefinitionNode,
  type FieldDefinitionNode,
  GraphQLError,
  GraphQLScalarType,
  type InputObjectTypeDefinitionNode,
  type InterfaceTypeDefinitionNode,
  Kind as NodeKind,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  parse,
  type ScalarTypeDefinitionNode,
  type UnionTypeDefinitionNode,
} from 'graphql'
import { isRecord } from '../../lib/json.ts'
import {
  aList,
  anObject,
  aString,
  checkedOptions,
  InvalidOptionError,
  nearestName,
  type OptionChecks,
  optionsOf,
} from '../../lib/options.ts'
import type { ExtensionField } from '../schema/field-source.ts'
import {
  ExtensionError,
  type FieldResolver,
  type GatewayExtension,
  type SubscriptionResolver,
} from './extension.ts'

/** A definition that an extension may have. */
export type ExtensionDefinition =
  | ObjectTypeExtensionNode
  | ObjectTypeDefinitionNode
  | InterfaceTypeDefinitionNode
  | UnionTypeDefinitionNode
  | EnumTypeDefinitionNode
  | InputObjectTypeDefinitionNode
  | ScalarTypeDefinitionNode

/** A field of an extension, with its resolver. */
export interface ReadField extends ExtensionField {
  readonly subscribe: SubscriptionResolver['subscribe'] | undefined
}

/** An extension, parsed and checked as far as possible without a schema. */
export interface ReadExtension {
  readonly name: string
  readonly definitions: readonly ExtensionDefinition[]
  /** By coordinate: `Pod.cost`. */
  readonly fields: ReadonlyMap<string, ReadField>
  readonly scalars: ReadonlyMap<string, GraphQLScalarType>
  /** By the name of an interface or union. */
  readonly resolveTypes: ReadonlyMap<string, FieldResolver>
  readonly required: readonly string[]
}

const defaultWeight = 10

/** Parses extensions and matches their resolvers. Throws {@link ExtensionError}, the first problem. */
export function readExtensions(extensions: readonly GatewayExtension[]): readonly ReadExtension[] {
  const read = extensions.map(readExtension)
  const types = new Map<string, string>()
  const fields = new Map<string, string>()
  for (const one of read) {
    for (const definition of one.definitions) {
      if (definition.kind === NodeKind.OBJECT_TYPE_EXTENSION) continue
      claim(types, definition.name.value, `type ${definition.name.value}`, one.name)
    }
    for (const coordinate of one.fields.keys()) claim(fields, coordinate, coordinate, one.name)
  }
  return read
}

function claim(taken: Map<string, string>, key: string, what: string, extension: string): void {
  const other = taken.get(key)
  if (other !== undefined) {
    const message = `${what} is also defined by ${other}`
    throw new ExtensionError('taken', extension, key, message, 'rename one of them')
  }
  taken.set(key, extension)
}

const extensionChecks: OptionChecks<GatewayExtension> = {
  name: aString,
  typeDefs(option, value) {
    if (typeof value === 'string' || (isRecord(value) && Array.isArray(value['definitions'])))
      return
    throw new InvalidOptionError(option, value, 'SDL, or a document that GraphQL has parsed')
  },
  resolvers: anObject,
  needs: optionsOf<Required<NonNullable<GatewayExtension['needs']>>>({
    kinds: aList,
    required: aList,
  }),
}

/** Also throws `InvalidOptionError`. */
function readExtension(options: GatewayExtension, at: number): ReadExtension {
  const extension = checkedOptions(`extend[${at}]`, options, extensionChecks)
  const { name = `extend[${at}]`, typeDefs, resolvers = {}, needs = {} } = extension
  extensionChecks.typeDefs('typeDefs', typeDefs)
  const definitions = definitionsOf(name, typeDefs)
  const fields = new Map<string, ReadField>()
  const read = { kinds: [...(needs.kinds ?? []), ...(needs.required ?? [])] }
  for (const definition of definitions) {
    for (const field of fieldsOf(definition)) {
      const coordinate = `${definition.name.value}.${field.name.value}`
      const cost = field.directives?.find(isCost)
      const given = cost?.arguments?.find((argument) => argument.name.value === 'weight')?.value
      const priced = given?.kind === NodeKind.INT ? Number(given.value) : -1
      const weight = cost === undefined ? defaultWeight : priced
      if (weight < 0) {
        const message = `${coordinate}: @cost needs a weight that is a whole number`
        throw new ExtensionError('sdl', name, coordinate, message, 'write @cost(weight: 50)')
      }
      fields.set(coordinate, {
        coordinate,
        weight,
        needs: read.kinds,
        ...resolverOf(name, definition, coordinate, resolvers),
      })
    }
  }
  return {
    name,
    definitions: definitions.map(withoutCosts),
    fields,
    ...resolversOfTypes(name, definitions, fields, resolvers),
    required: needs.required ?? [],
  }
}

const allowed: ReadonlySet<string> = new Set([
  NodeKind.OBJECT_TYPE_EXTENSION,
  NodeKind.OBJECT_TYPE_DEFINITION,
  NodeKind.INTERFACE_TYPE_DEFINITION,
  NodeKind.UNION_TYPE_DEFINITION,
  NodeKind.ENUM_TYPE_DEFINITION,
  NodeKind.INPUT_OBJECT_TYPE_DEFINITION,
  NodeKind.SCALAR_TYPE_DEFINITION,
])

const roots: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription'])

function definitionsOf(
  name: string,
  typeDefs: string | DocumentNode,
): readonly ExtensionDefinition[] {
  let document: DocumentNode
  try {
    document = typeof typeDefs === 'string' ? parse(typeDefs) : typeDefs
  } catch (cause) {
    if (!(cause instanceof GraphQLError)) throw cause
    const [place] = cause.locations ?? []
    const message = `typeDefs, line ${place?.line ?? 1}: ${cause.message}`
    throw new ExtensionError('sdl', name, 'typeDefs', message, 'write SDL of GraphQL', cause)
  }
  for (const definition of document.definitions) {
    const own = 'name' in definition ? (definition.name?.value ?? '') : ''
    const isRoot = definition.kind === NodeKind.OBJECT_TYPE_DEFINITION && roots.has(own)
    if (allowed.has(definition.kind) && !isRoot) continue
    const message = isRoot
      ? `typeDefs defines type ${own}, which the gateway has`
      : `typeDefs has a definition that extensions cannot have: ${definition.kind} ${own}`.trimEnd()
    const hint = isRoot
      ? `write \`extend type ${own}\``
      : 'define types, and extend Query, Mutation, Subscription and the types of kinds'
    throw new ExtensionError('unsupported', name, own, message, hint)
  }
  return document.definitions as readonly ExtensionDefinition[]
}

/** The fields of an object type, an interface, or an extension of an object type. */
export function fieldsOf(definition: ExtensionDefinition): readonly FieldDefinitionNode[] {
  switch (definition.kind) {
    case NodeKind.OBJECT_TYPE_EXTENSION:
    case NodeKind.OBJECT_TYPE_DEFINITION:
    case NodeKind.INTERFACE_TYPE_DEFINITION:
      return definition.fields ?? []
    default:
      return []
  }
}

function isCost({ name }: ConstDirectiveNode): boolean {
  return name.value === 'cost'
}

/** Removes `@cost`, which belongs to the extension, not to the schema. */
function withoutCosts(definition: ExtensionDefinition): ExtensionDefinition {
  if (!('fields' in definition) || definition.kind === NodeKind.INPUT_OBJECT_TYPE_DEFINITION) {
    return definition
  }
  const fields = fieldsOf(definition).map((field) => ({
    ...field,
    directives: field.directives?.filter((directive) => !isCost(directive)) ?? [],
  }))
  return { ...definition, fields }
}

/** Throws for a field of the gateway's types without a resolver. */
function resolverOf(
  extension: string,
  definition: ExtensionDefinition,
  coordinate: string,
  resolvers: NonNullable<GatewayExtension['resolvers']>,
): Pick<ReadField, 'resolve' | 'subscribe'> {
  const typeName = definition.name.value
  const ofType = resolvers[typeName]
  const given = isRecord(ofType) ? ofType[coordinate.slice(typeName.length + 1)] : undefined
  const resolve = typeof given === 'function' ? given : undefined
  const both = isRecord(given) ? (given as unknown as SubscriptionResolver) : undefined
  const isRoot = typeName === 'Subscription'
  if (isRoot && typeof both?.subscribe !== 'function') {
    const message = `${coordinate} has no resolver that subscribes`
    const hint = 'add { subscribe(_, args, context) { … } }, which returns an async iterable'
    throw new ExtensionError('no-resolver', extension, coordinate, message, hint)
  }
  if (isRoot) return { resolve: both?.resolve, subscribe: both?.subscribe }
  if (resolve === undefined && definition.kind === NodeKind.OBJECT_TYPE_EXTENSION) {
    const message = `${coordinate} has no resolver`
    const hint = `add resolvers: { ${typeName}: { ${coordinate.slice(typeName.length + 1)}(…) { … } } }`
    throw new ExtensionError('no-resolver', extension, coordinate, message, hint)
  }
  return { resolve, subscribe: undefined }
}

/** The resolvers of scalars, interfaces and unions. Throws for any resolver without a field. */
function resolversOfTypes(
  extension: string,
  definitions: readonly ExtensionDefinition[],
  fields: ReadonlyMap<string, ReadField>,
  resolvers: NonNullable<GatewayExtension['resolvers']>,
): Pick<ReadExtension, 'scalars' | 'resolveTypes'> {
  const scalars = new Map<string, GraphQLScalarType>()
  const resolveTypes = new Map<string, FieldResolver>()
  const has = (name: string, ...kinds: readonly string[]): boolean =>
    definitions.some((one) => one.name.value === name && kinds.includes(one.kind))
  const unknown = (coordinate: string): ExtensionError => {
    const nearest = nearestName(coordinate, fields.keys())
    const hint = nearest === undefined ? 'declare it in typeDefs' : `did you mean ${nearest}?`
    const message = `there is a resolver of ${coordinate}, which typeDefs does not declare`
    return new ExtensionError('no-field', extension, coordinate, message, hint)
  }
  for (const [typeName, given] of Object.entries(resolvers)) {
    if (given instanceof GraphQLScalarType) {
      if (!has(typeName, NodeKind.SCALAR_TYPE_DEFINITION)) throw unknown(typeName)
      scalars.set(typeName, given)
      continue
    }
    for (const [fieldName, resolver] of Object.entries(given)) {
      const isAbstract = has(
        typeName,
        NodeKind.INTERFACE_TYPE_DEFINITION,
        NodeKind.UNION_TYPE_DEFINITION,
      )
      const coordinate = `${typeName}.${fieldName}`
      const isBoth = isRecord(resolver) && typeof resolver['subscribe'] === 'function'
      if (typeof resolver !== 'function' && !isBoth) {
        const message = `the resolver of ${coordinate} is not a function`
        const hint = 'write (source, args, context) => …, or { subscribe } for a subscription'
        throw new ExtensionError('no-resolver', extension, coordinate, message, hint)
      }
      if (fieldName === '__resolveType' && isAbstract) {
        resolveTypes.set(typeName, resolver as FieldResolver)
      } else if (!fields.has(coordinate)) throw unknown(coordinate)
    }
  }
  return { scalars, resolveTypes }
}
