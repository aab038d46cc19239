/*
 * A schema whose types are made when they are first named. A cluster may have a thousand custom kinds, and its clients read
 * a few of them: the types of a kind are kept apart (`SchemaPart`), and of the fields of `Query` and `Subscription` that
 * lead to them, only the names are there from the beginning. graphql-js makes the fields of a type when something reads them. So a document
 * that selects a kind's fields makes the types on its way. A fragment or a variable names a type: it makes all types of
 * the kind whose name the type's begins with. Introspection, and a print of the schema, make all types.
 *
 * graphql-js collects all types of a schema in its constructor. This class has none for it, and answers for the types itself.
 */

import {
  getNamedType,
  type GraphQLDirective,
  type GraphQLError,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isUnionType,
  validateSchema,
} from 'graphql'
import { atOnce, inSlices } from '../../lib/event-loop.ts'
import type { FieldConfigs } from './field-source.ts'

/** The types of one kind. */
export interface SchemaPart {
  /** Equal for parts of two schemas whose types are equal. */
  readonly madeOf: () => string
  /** The types that lead to all others of the part. */
  readonly types: () => readonly GraphQLNamedType[]
}

/** A field of a root type. */
export interface RootField {
  readonly config: () => FieldConfigs[string]
  /** Whether it leads to a part. Such fields are made when something reads them. */
  readonly isOfPart?: boolean
}

/** `Query` or `Subscription`: there are six fields of each kind, with a dozen arguments each. */
export class RootType extends GraphQLObjectType {
  /** Not private: graphql-js gets objects whose prototype is a type. */
  readonly lazy: LazyFields

  constructor(name: string, description: string, fields: () => ReadonlyMap<string, RootField>) {
    super({ name, description, fields: {} })
    this.lazy = new LazyFields(name, fields)
  }

  /** All fields. Reading one makes it; listing the names makes none. */
  override getFields(): FieldMap {
    return this.lazy.all
  }
}

type FieldMap = ReturnType<GraphQLObjectType['getFields']>

class LazyFields {
  readonly all: FieldMap
  /** The fields that are made. */
  readonly made: FieldMap = Object.create(null) as FieldMap
  readonly #type: string
  readonly #read: () => ReadonlyMap<string, RootField>
  #fields: ReadonlyMap<string, RootField> | undefined

  constructor(type: string, read: () => ReadonlyMap<string, RootField>) {
    this.#type = type
    this.#read = read
    this.all = new Proxy(this.made, {
      get: (_, name) => this.find(String(name)),
      has: (_, name) => this.#known().has(String(name)),
      ownKeys: () => [...this.#known().keys()],
      getOwnPropertyDescriptor: (_, name) =>
        this.#known().has(String(name))
          ? { get: () => this.find(String(name)), enumerable: true, configurable: true }
          : undefined,
    })
  }

  find(name: string): FieldMap[string] | undefined {
    const known = this.made[name]
    const field = known === undefined ? this.#known().get(name) : undefined
    if (field === undefined) return known
    // graphql-js makes fields only with a type.
    const fields = { [name]: field.config() }
    const made = new GraphQLObjectType({ name: this.#type, fields }).getFields()[name]
    if (made !== undefined) this.made[name] = made
    return made
  }

  /** Makes the fields that lead to no part, and returns all that are made. */
  begun(): FieldMap {
    for (const [name, { isOfPart = false }] of this.#known()) if (!isOfPart) this.find(name)
    return this.made
  }

  #known(): ReadonlyMap<string, RootField> {
    return (this.#fields ??= this.#read())
  }
}

export interface LazySchemaConfig {
  readonly description: string
  readonly directives: readonly GraphQLDirective[]
  readonly query: GraphQLObjectType
  readonly mutation: GraphQLObjectType | undefined
  readonly subscription: GraphQLObjectType | undefined
  /** Types that no field leads to. */
  readonly types: readonly GraphQLNamedType[]
  /** The types of all kinds, those of parts included: they implement the interfaces. */
  readonly kinds: readonly GraphQLObjectType[]
  /** By the type name of their kind. */
  readonly parts: ReadonlyMap<string, SchemaPart>
  /** The kind that a type is one of: `PodConnection` is one of `Pod`. */
  readonly kindOf: (typeName: string) => string | undefined
}

export class LazySchema extends GraphQLSchema {
  /** Not private: graphql-js gets objects whose prototype is a schema. */
  readonly lazy: LazyTypes

  constructor(config: LazySchemaConfig) {
    const { description, directives } = config
    // Checked in slices instead: `schemaProblemInSteps`.
    super({ description, directives, assumeValid: true })
    this.lazy = new LazyTypes(config, Object.values(super.getTypeMap()))
  }

  override getQueryType(): GraphQLObjectType {
    return this.lazy.config.query
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return this.lazy.config.mutation
  }

  override getSubscriptionType(): GraphQLObjectType | undefined {
    return this.lazy.config.subscription
  }

  override getType(name: string): GraphQLNamedType | undefined {
    return this.lazy.find(name)
  }

  /** All types. Reading one of them makes its part, listing them makes all. */
  override getTypeMap(): Record<string, GraphQLNamedType> {
    return this.lazy.all
  }

  override getImplementations(of: GraphQLInterfaceType): Implementations {
    return this.lazy.implementations(of)
  }
}

type Implementations = ReturnType<GraphQLSchema['getImplementations']>
type TypeMap = Record<string, GraphQLNamedType>

/** The types of a schema: those that are made, and the parts that are not. */
class LazyTypes {
  readonly config: LazySchemaConfig
  readonly all: TypeMap
  /** The types by name that are made. */
  readonly made: TypeMap = Object.create(null) as TypeMap
  readonly #parts: Map<string, SchemaPart>
  /** The kinds of the types of parts. */
  readonly #kinds = new Map<string, string>()
  readonly #implementations = new Map<string, { objects: GraphQLObjectType[]; interfaces: [] }>()

  constructor(config: LazySchemaConfig, own: readonly GraphQLNamedType[]) {
    this.config = config
    this.#parts = new Map(config.parts)
    for (const type of own) this.made[type.name] = type
    for (const kind of config.kinds) {
      for (const { name } of kind.getInterfaces()) {
        const known = this.#implementations.get(name)
        if (known === undefined)
          this.#implementations.set(name, { objects: [kind], interfaces: [] })
        else known.objects.push(kind)
      }
    }
    this.all = new Proxy(this.made, {
      get: (made, name) => (typeof name === 'string' ? this.find(name) : Reflect.get(made, name)),
      has: (_, name) => typeof name === 'string' && this.find(name) !== undefined,
      getOwnPropertyDescriptor: (made, name) => {
        if (typeof name === 'string') this.find(name)
        return Reflect.getOwnPropertyDescriptor(made, name)
      },
      ownKeys: (made) => {
        atOnce(this.makeAllInSteps())
        return Reflect.ownKeys(made)
      },
    })
  }

  /** The kind of whose part a made type is; empty for types of no part. */
  partOf(typeName: string): string {
    return this.#kinds.get(typeName) ?? ''
  }

  get isWhole(): boolean {
    return this.#parts.size === 0
  }

  implementations({ name }: GraphQLInterfaceType): Implementations {
    return this.#implementations.get(name) ?? { objects: [], interfaces: [] }
  }

  /** A type by its name, with its part. */
  find(name: string): GraphQLNamedType | undefined {
    const known = this.made[name]
    if (known !== undefined || this.isWhole) return known
    const kind = this.config.kindOf(name)
    if (kind !== undefined) atOnce(this.makeInSteps(kind))
    // The name of a nested type begins with that of its kind.
    for (let length = 1; length < name.length && this.made[name] === undefined; length += 1) {
      atOnce(this.makeInSteps(name.slice(0, length)))
    }
    return this.made[name]
  }

  /** Makes all types that do not belong to parts. Yields after each. */
  *beginInSteps(): Generator<void, void> {
    const { query, mutation, subscription, types } = this.config
    const roots = [query, mutation, subscription].filter((one) => one !== undefined)
    yield* this.#collectInSteps([...types, ...roots], undefined)
  }

  /** Makes the types of one part; none if there is no such part, or it is made. */
  *makeInSteps(kind: string): Generator<void, void> {
    const part = this.#parts.get(kind)
    if (part === undefined) return
    yield* this.#collectInSteps(part.types(), kind)
    this.#parts.delete(kind)
  }

  *makeAllInSteps(): Generator<void, void> {
    for (const kind of this.config.parts.keys()) yield* this.makeInSteps(kind)
  }

  /**
   * Adds types, and those that they lead to, in the order of graphql-js. Types of parts that are not made are left to these.
   */
  *#collectInSteps(
    from: readonly GraphQLNamedType[],
    part: string | undefined,
  ): Generator<void, void> {
    const seen = new Set<GraphQLNamedType>()
    const rest = from.toReversed()
    for (let type = rest.pop(); type !== undefined; type = rest.pop()) {
      const kind = this.config.kindOf(type.name)
      const isOfOther = kind !== undefined && kind !== part && this.#parts.has(kind)
      if (isOfOther || seen.has(type)) continue
      seen.add(type)
      if (this.made[type.name] === undefined) {
        this.made[type.name] = type
        const of = kind !== undefined && this.config.parts.has(kind) ? kind : part
        if (of !== undefined) this.#kinds.set(type.name, of)
      }
      for (const next of referredTypes(type).toReversed()) {
        if (this.made[next.name] === undefined) rest.push(next)
      }
      yield
    }
  }
}

/** The types of a type's fields, arguments and interfaces, or of a union. */
function referredTypes(type: GraphQLNamedType): readonly GraphQLNamedType[] {
  if (isUnionType(type)) return type.getTypes()
  if (isInputObjectType(type)) {
    return Object.values(type.getFields()).map((field) => getNamedType(field.type))
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  const fields = type instanceof RootType ? type.lazy.begun() : type.getFields()
  const ofFields = Object.values(fields).flatMap((field) => [
    getNamedType(field.type),
    ...field.args.map((argument) => getNamedType(argument.type)),
  ])
  return [...type.getInterfaces(), ...ofFields]
}

/** Makes the types of a schema that are not made yet, in slices; `undefined` if all are made by then. */
export function makeTypes(schema: GraphQLSchema): Promise<void> | undefined {
  if (!(schema instanceof LazySchema) || schema.lazy.isWhole) return undefined
  const making = inSlices(schema.lazy.makeAllInSteps(), () => false)
  return making instanceof Promise ? making : undefined
}

/** All types of a schema. Yields between those that are not made yet. */
export function* typesInSteps(schema: GraphQLSchema): Generator<void, TypeMap> {
  if (schema instanceof LazySchema) yield* schema.lazy.makeAllInSteps()
  return schema.getTypeMap()
}

/** Types that are checked in one step. */
const checkedTypes = 50

/** The first problem of the types that are made, or of a whole schema. Yields every few types. */
export function* schemaProblemInSteps(
  schema: GraphQLSchema,
): Generator<void, GraphQLError | undefined> {
  if (!(schema instanceof LazySchema)) return validateSchema(schema)[0]
  const own = Object.entries(schema.lazy.made).filter(([, type]) => !isIntrospectionType(type))
  for (let at = 0; at < own.length; at += checkedTypes) {
    const some = Object.fromEntries(
      own.slice(at, at + checkedTypes).map(([name, type]) => [name, withMadeFields(type)]),
    )
    const part = Object.create(schema, {
      getTypeMap: { value: () => some },
      __validationErrors: { value: undefined, writable: true },
    }) as GraphQLSchema
    const [problem] = validateSchema(part)
    if (problem !== undefined) return problem
    yield
  }
  return undefined
}

/** A type as far as it is made. */
function withMadeFields(type: GraphQLNamedType): GraphQLNamedType {
  if (!(type instanceof RootType)) return type
  return Object.create(type, { getFields: { value: () => type.lazy.made } }) as GraphQLNamedType
}
