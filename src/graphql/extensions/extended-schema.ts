/*
 * How extensions join the schema. `partsIn` checks each of their definitions against the present kinds: a part that the
 * schema already has clashes, and a part that needs an unserved type stays dormant until a cluster serves the type.
 * The remaining parts extend the schema, and `resolve` gives their fields sources and resolvers. A change of the schema
 * repeats all of this.
 */

import {
  type FieldDefinitionNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isInputType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  Kind as NodeKind,
  type NamedTypeNode,
  type ObjectTypeDefinitionNode,
  OperationTypeNode,
  type SchemaExtensionNode,
  visit,
} from 'graphql'
import type { Kind } from '../model/kind.ts'
import { type FieldSource, fromSource } from '../schema/field-source.ts'
import { extendedBySdl } from '../schema/scalars.ts'
import { ExtensionError } from './extension.ts'
import { kindByName } from './kind-caches.ts'
import { type ExtensionDefinition, fieldsOf, type ReadExtension } from './extension-document.ts'

export interface DormantPart {
  readonly extension: string
  /** `Pod.cost`, or the type. */
  readonly about: string
  readonly typeName: string
}

export interface ExtendedSchema {
  readonly schema: GraphQLSchema
  /** The parts that clash with the gateway's own. */
  readonly problems: readonly ExtensionError[]
  readonly dormant: readonly DormantPart[]
}

/**
 * Adds extensions to a schema. Leaves out parts that the schema already has, since a later CustomResourceDefinition may
 * bring them, and parts that need unserved types. Throws {@link ExtensionError} for SDL that is not valid.
 */
export function extendedSchema(
  base: GraphQLSchema,
  kinds: ReadonlyMap<string, Kind>,
  extensions: readonly ReadExtension[],
): ExtendedSchema {
  const { parts, problems, dormant } = partsIn(base, kinds, extensions)
  const definitions = parts.map(({ definition }) => definition)
  const names = extensions.map(({ name }) => name).join(', ')
  const hasMutation = (base.getMutationType() ?? null) !== null
  const whole = hasMutation ? definitions : withMutationRoot(definitions)
  let schema: GraphQLSchema
  try {
    schema = extendedBySdl(base, { kind: NodeKind.DOCUMENT, definitions: whole })
  } catch (cause) {
    const message = `typeDefs is not valid: ${(cause as Error).message}`
    throw new ExtensionError('sdl', names, 'typeDefs', message, 'correct typeDefs', cause)
  }
  const own = definedIn(definitions)
  const isGiven = (type: GraphQLNamedType): boolean =>
    kinds.has(type.name) ||
    type.name === 'KubernetesObject' ||
    (own.has(type.name) &&
      !(isAbstractType(type) && schema.getPossibleTypes(type).some(({ name }) => !own.has(name))))
  for (const part of parts) resolve(schema, part, isGiven)
  return { schema, problems, dormant }
}

/** The errors of required kinds that are not served. */
export function missingKinds(
  extensions: readonly ReadExtension[],
  kinds: Iterable<Kind>,
): readonly ExtensionError[] {
  const served = [...kinds]
  return extensions.flatMap(({ name, required }) =>
    required
      .filter((one) => kindByName(served, one) === undefined)
      .map((one) => {
        const message = `no cluster serves ${one}, which it requires`
        const hint = 'install its CustomResourceDefinition, or name it in needs.kinds'
        return new ExtensionError('missing-kind', name, one, message, hint)
      }),
  )
}

/** In a gateway without mutations, the first `extend type Mutation` defines the type, and further ones extend it. */
function withMutationRoot(
  definitions: readonly ExtensionDefinition[],
): readonly TypeSystemExtensionOrDefinition[] {
  const first = definitions.find(
    ({ kind, name }) => kind === NodeKind.OBJECT_TYPE_EXTENSION && name.value === 'Mutation',
  )
  if (first === undefined) return definitions
  const root = { ...first, kind: NodeKind.OBJECT_TYPE_DEFINITION } as ObjectTypeDefinitionNode
  const type: NamedTypeNode = { kind: NodeKind.NAMED_TYPE, name: first.name }
  const operationTypes = [
    {
      kind: NodeKind.OPERATION_TYPE_DEFINITION,
      operation: OperationTypeNode.MUTATION,
      type,
    } as const,
  ]
  const rest = definitions.filter((one) => one !== first)
  return [root, { kind: NodeKind.SCHEMA_EXTENSION, operationTypes }, ...rest]
}

type TypeSystemExtensionOrDefinition = ExtensionDefinition | SchemaExtensionNode

/** A definition of an extension, without the parts that the schema cannot have. */
interface ServedPart {
  readonly extension: ReadExtension
  readonly definition: ExtensionDefinition
}

/** The parts that the schema can have: first without those that it has already, then without those that need a type. */
function partsIn(
  base: GraphQLSchema,
  kinds: ReadonlyMap<string, Kind>,
  extensions: readonly ReadExtension[],
): Omit<ExtendedSchema, 'schema'> & { readonly parts: readonly ServedPart[] } {
  const problems: ExtensionError[] = []
  const dormant: DormantPart[] = []
  const roots = [base.getQueryType(), base.getMutationType(), base.getSubscriptionType()]
  // Types that an extension defines and the gateway already has. They are left out with all their fields.
  const takenBy = new Map(
    extensions.map(({ name, definitions }) => [
      name,
      new Set([...definedIn(definitions)].filter((one) => base.getType(one))),
    ]),
  )
  const isTaken = (extension: string, type: string): boolean =>
    takenBy.get(extension)?.has(type) === true

  const unlessTaken = (
    extension: string,
    definition: ExtensionDefinition,
  ): ExtensionDefinition | undefined => {
    const name = definition.name.value
    const present = base.getType(name)
    if (present === undefined) return definition
    const clash = (about: string, hint: string): void => {
      const message = `the gateway has ${about}`
      problems.push(new ExtensionError('taken', extension, about, message, hint))
    }
    if (definition.kind !== NodeKind.OBJECT_TYPE_EXTENSION) {
      clash(name, 'give the type another name')
      return undefined
    }
    if (isTaken(extension, name)) return undefined
    const isExtensible = kinds.has(name) || roots.some((root) => root?.name === name)
    if (!isObjectType(present) || !isExtensible) {
      const message = `${name} is a type of the gateway that cannot be extended`
      const hint = 'extend Query, Mutation, Subscription or the type of a kind'
      problems.push(new ExtensionError('unsupported', extension, name, message, hint))
      return undefined
    }
    const taken = present.getFields()
    return withFields(definition, (field) => {
      const isFree = taken[field.name.value] === undefined
      if (!isFree) clash(`${name}.${field.name.value}`, 'give the field another name')
      return isFree
    })
  }

  const unlessDormant = (
    extension: string,
    definition: ExtensionDefinition,
    own: ReadonlySet<string>,
  ): ExtensionDefinition | undefined => {
    const { name, kind } = definition
    const isServed = (type: string): boolean =>
      !isTaken(extension, type) &&
      (own.has(type) || base.getType(type) !== undefined || scalars.has(type))
    const hasTypes = (about: string, types: readonly string[]): boolean => {
      const typeName = types.find((type) => !isServed(type))
      if (typeName === undefined) return true
      if (isTaken(extension, typeName)) {
        const message = `${about} needs its type ${typeName}, and the gateway has another ${typeName}`
        const hint = 'give the type another name'
        problems.push(new ExtensionError('taken', extension, about, message, hint))
      } else dormant.push({ extension, about, typeName })
      return false
    }
    const extended =
      kind === NodeKind.OBJECT_TYPE_EXTENSION && name.value !== 'Mutation' ? [name.value] : []
    if (!hasTypes(name.value, extended)) return undefined
    if (!('fields' in definition) || kind === NodeKind.INPUT_OBJECT_TYPE_DEFINITION) {
      return hasTypes(name.value, namedTypesIn(definition)) ? definition : undefined
    }
    return withFields(definition, (field) =>
      hasTypes(`${name.value}.${field.name.value}`, namedTypesIn(field)),
    )
  }

  let parts = extensions.flatMap((extension) =>
    extension.definitions.flatMap((one): ServedPart[] => {
      const definition = unlessTaken(extension.name, one)
      return definition === undefined ? [] : [{ extension, definition }]
    }),
  )
  // A type may depend on another one, so the search goes on until it finds nothing more to leave out.
  const left = (): number => dormant.length + problems.length
  for (let before = -1; before !== left();) {
    before = left()
    const own = definedIn(parts.map(({ definition }) => definition))
    parts = parts.flatMap(({ extension, definition: one }) => {
      const definition = unlessDormant(extension.name, one, own)
      return definition === undefined ? [] : [{ extension, definition }]
    })
  }
  return { parts, problems, dormant }
}

/** A definition with the fields that are accepted; `undefined` without any. */
function withFields(
  definition: ExtensionDefinition,
  accepts: (field: FieldDefinitionNode) => boolean,
): ExtensionDefinition | undefined {
  const fields = fieldsOf(definition).filter(accepts)
  return fields.length === 0 ? undefined : ({ ...definition, fields } as ExtensionDefinition)
}

function definedIn(definitions: readonly ExtensionDefinition[]): ReadonlySet<string> {
  return new Set(
    definitions.flatMap(({ kind, name }) =>
      kind === NodeKind.OBJECT_TYPE_EXTENSION ? [] : [name.value],
    ),
  )
}

const scalars: ReadonlySet<string> = new Set(['String', 'Int', 'Float', 'Boolean', 'ID'])

function namedTypesIn(node: Parameters<typeof visit>[0]): readonly string[] {
  const names: string[] = []
  visit(node, {
    NamedType({ name }: NamedTypeNode) {
      names.push(name.value)
    },
    Directive: () => false,
  })
  return names
}

/** Gives the fields of a definition their sources and resolvers. Throws for a type that no resolver can give. */
function resolve(
  schema: GraphQLSchema,
  { extension, definition }: ServedPart,
  isGiven: (type: GraphQLNamedType) => boolean,
): void {
  const typeName = definition.name.value
  const type = schema.getType(typeName)
  const scalar = extension.scalars.get(typeName)
  if (isScalarType(type) && scalar !== undefined) {
    const { coerceOutputValue, coerceInputValue, coerceInputLiteral, valueToLiteral } = scalar
    Object.assign(type, { coerceOutputValue, coerceInputValue, coerceInputLiteral, valueToLiteral })
  }
  if (isAbstractType(type)) {
    // A value names its type by `__typename`, unless a resolver says otherwise.
    const given = extension.resolveTypes.get(typeName)
    const info = { typeName, fieldName: '__resolveType', fieldNodes: [] }
    type.resolveType = (value: unknown) =>
      (given === undefined
        ? (value as { readonly __typename?: string }).__typename
        : given(value, {}, undefined as never, info)) as string
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return
  for (const node of fieldsOf(definition)) {
    const coordinate = `${typeName}.${node.name.value}`
    const field = type.getFields()[node.name.value]
    const read = extension.fields.get(coordinate)
    if (field === undefined || read === undefined) continue
    const of = getNamedType(field.type)
    if (!isInputType(of) && !isGiven(of)) {
      const message = isAbstractType(of)
        ? `${coordinate} is of ${of.name}, which contains types of the gateway`
        : `${coordinate} is of ${of.name}, which only the gateway can make`
      const hint =
        'use types of its own, scalars, the types of kinds, and KubernetesObject for any kind'
      throw new ExtensionError('unsupported', extension.name, coordinate, message, hint)
    }
    const { subscribe, ...own } = read
    const source: FieldSource =
      subscribe === undefined
        ? { form: 'extension', field: own }
        : { form: 'extensionEvents', field: own, subscribe }
    Object.assign(field, fromSource(source))
  }
}
