/*
 * How extensions join the schema. `PartSearch` checks each of their definitions against the present kinds: a part that
 * the schema already has clashes, and a part that needs an unserved type stays dormant until a cluster serves the type.
 * The remaining parts extend the schema, and `resolve` gives their fields sources and resolvers. A change of the schema
 * repeats all of this.
 */

import {
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
  const search = new PartSearch(base, kinds)
  const parts = search.of(extensions)
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
  const { problems, dormant } = search
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

class PartSearch {
  readonly problems: ExtensionError[] = []
  readonly dormant: DormantPart[] = []
  readonly #base: GraphQLSchema
  readonly #kinds: ReadonlyMap<string, Kind>
  /** By extension: types that it defines and the gateway already has. They are left out with all their fields. */
  readonly #taken = new Map<string, ReadonlySet<string>>()

  constructor(base: GraphQLSchema, kinds: ReadonlyMap<string, Kind>) {
    this.#base = base
    this.#kinds = kinds
  }

  of(extensions: readonly ReadExtension[]): readonly ServedPart[] {
    for (const { name, definitions } of extensions) {
      const taken = [...definedIn(definitions)].filter((one) => this.#base.getType(one))
      this.#taken.set(name, new Set(taken))
    }
    let all = extensions.flatMap((extension) =>
      extension.definitions.flatMap((definition): ServedPart[] => {
        const part = this.#unlessTaken(extension.name, definition)
        return part === undefined ? [] : [{ extension, definition: part }]
      }),
    )
    // A type may depend on another one, so the search goes on until it finds nothing more to leave out.
    const left = (): number => this.dormant.length + this.problems.length
    for (let before = -1; before !== left();) {
      before = left()
      const own = definedIn(all.map(({ definition }) => definition))
      all = all.flatMap(({ extension, definition }) => {
        const part = this.#unlessDormant(extension.name, definition, own)
        return part === undefined ? [] : [{ extension, definition: part }]
      })
    }
    return all
  }

  #unlessTaken(
    extension: string,
    definition: ExtensionDefinition,
  ): ExtensionDefinition | undefined {
    const name = definition.name.value
    const present = this.#base.getType(name)
    const clash = (about: string, hint: string): void => {
      const message = `the gateway has ${about}`
      this.problems.push(new ExtensionError('taken', extension, about, message, hint))
    }
    if (definition.kind !== NodeKind.OBJECT_TYPE_EXTENSION) {
      if (present === undefined) return definition
      clash(name, 'give the type another name')
      return undefined
    }
    if (present === undefined) return definition
    if (this.#taken.get(extension)?.has(name) === true) return undefined
    const roots = [
      this.#base.getQueryType(),
      this.#base.getMutationType(),
      this.#base.getSubscriptionType(),
    ]
    const isExtensible = this.#kinds.has(name) || roots.some((root) => root?.name === name)
    if (!isObjectType(present) || !isExtensible) {
      const message = `${name} is a type of the gateway that cannot be extended`
      const hint = 'extend Query, Mutation, Subscription or the type of a kind'
      this.problems.push(new ExtensionError('unsupported', extension, name, message, hint))
      return undefined
    }
    const taken = present.getFields()
    const fields = fieldsOf(definition).filter((field) => {
      const isFree = taken[field.name.value] === undefined
      if (!isFree) clash(`${name}.${field.name.value}`, 'give the field another name')
      return isFree
    })
    return fields.length === 0 ? undefined : { ...definition, fields }
  }

  #unlessDormant(
    extension: string,
    definition: ExtensionDefinition,
    own: ReadonlySet<string>,
  ): ExtensionDefinition | undefined {
    const isTaken = (name: string): boolean => this.#taken.get(extension)?.has(name) === true
    const isServed = (name: string): boolean =>
      !isTaken(name) &&
      (own.has(name) || this.#base.getType(name) !== undefined || scalars.has(name))
    const { name, kind } = definition
    const waits = (about: string, typeName: string): void => {
      if (!isTaken(typeName)) return void this.dormant.push({ extension, about, typeName })
      const message = `${about} needs its type ${typeName}, and the gateway has another ${typeName}`
      const hint = 'give the type another name'
      this.problems.push(new ExtensionError('taken', extension, about, message, hint))
    }
    const isExtension = kind === NodeKind.OBJECT_TYPE_EXTENSION
    if (isExtension && name.value !== 'Mutation' && !isServed(name.value)) {
      waits(name.value, name.value)
      return undefined
    }
    if (!('fields' in definition) || kind === NodeKind.INPUT_OBJECT_TYPE_DEFINITION) {
      const missing = namedTypesIn(definition).find((one) => !isServed(one))
      if (missing === undefined) return definition
      waits(name.value, missing)
      return undefined
    }
    const fields = fieldsOf(definition).filter((field) => {
      const missing = namedTypesIn(field).find((one) => !isServed(one))
      if (missing !== undefined) waits(`${name.value}.${field.name.value}`, missing)
      return missing === undefined
    })
    return fields.length === 0 ? undefined : { ...definition, fields }
  }
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
