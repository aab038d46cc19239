/*
 * GraphQL types from OpenAPI schemas. A scalar becomes a GraphQL scalar, an object with properties a type of its own, a
 * map of objects a list of entries; a place without a schema, or with a recursive one, is JSON. Besides its type, each
 * field has the shape of its value, by which projections write it.
 *
 * The names of nested types are assigned once (`TypeNames`). Kinds win over nested types. A definition of Kubernetes itself
 * has one name for all groups; any other definition has a name for each group, with the group's prefix; a schema without a
 * name is named after its place. A taken or reserved name gets a trailing `_`.
 */

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import { isBuiltInGroup } from '../../kubernetes/api-resource.ts'
import {
  definitionNameOf,
  hasProperties,
  type OpenApiSchema,
  scalarFormOf,
  type SchemaScalar,
} from '../../kubernetes/open-api.ts'
import { type SharedSchema, structureIndexOf } from '../../kubernetes/open-api-structures.ts'
import {
  graphqlNameOf,
  prefixOfGroup,
  type GroupAliases,
  unreservedTypeName,
} from '../naming/kind-name.ts'
import {
  GraphQLDateTime,
  GraphQLExactFloat,
  GraphQLInt64,
  GraphQLIntOrString,
  GraphQLJson,
  GraphQLQuantity,
  GraphQLQuantityMap,
  GraphQLStringMap,
} from './scalars.ts'
import {
  type DefinitionScope,
  deprecationOf,
  objectMetaDefinition,
  type Definitions,
} from '../model/definitions.ts'
import { packageSchemaDirectory } from '../sdl/sdl-source.ts'
import type { HasField } from '../model/schema-profile.ts'
import {
  type FieldConfigs,
  fromSource,
  noExtensions,
  type ScalarForm,
  type ValueShape,
} from './field-source.ts'
import { compareVersions } from '../../kubernetes/version-priority.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { capitalised } from '../../lib/letter-case.ts'
import { nestedTypeName, nestedTypeNameByPath, splitDefinitionName } from '../naming/nested-name.ts'

export type JsonFieldConfig = FieldConfigs[string]

/** The GraphQL type of a schema, and the form of its values. */
export interface Output {
  readonly type: GraphQLOutputType
  readonly shape: ValueShape
  /** The levels of list items that are never null; absent if there are none. */
  readonly itemLevels?: readonly number[]
}

export interface SchemaPlace {
  readonly scope: DefinitionScope
  /** The API group of its kind. */
  readonly group: string
  /** The type name of the kind whose structures the scope has; absent where it has none. */
  readonly kind?: string | undefined
  /** The name of the type that has the property. */
  readonly parent: string
  /** The JSON name of the property. */
  readonly property: string
}

const scalar = <T extends GraphQLOutputType>(
  type: T,
  form: ScalarForm,
): Output & { readonly type: T } => ({
  type,
  shape: { form: 'scalar', scalar: form },
})

const json = scalar(GraphQLJson, 'json')
const text = scalar(GraphQLString, 'string')
const time = scalar(GraphQLDateTime, 'dateTime')
const object: ValueShape = { form: 'object' }

export interface OpenApiTypesOptions {
  readonly names: TypeNames
  readonly embeddedObjectMeta: GraphQLObjectType
  readonly hasField: HasField
}

/** Builds GraphQL types from OpenAPI schemas: each type once, its fields on first use. */
export class OpenApiTypes {
  readonly #names: TypeNames
  readonly #embeddedObjectMeta: GraphQLObjectType
  readonly #hasField: HasField
  readonly #types = new Map<string, GraphQLObjectType>()
  readonly #entries = new Map<string, GraphQLObjectType>()

  constructor({ names, embeddedObjectMeta, hasField }: OpenApiTypesOptions) {
    this.#names = names
    this.#hasField = hasField
    this.#embeddedObjectMeta = embeddedObjectMeta
  }

  outputOf(schema: OpenApiSchema, place: SchemaPlace): Output {
    const form = scalarFormOf(schema)
    if (form !== undefined) return scalar(scalars[form], form)
    const definition = definitionNameOf(schema)
    if (definition !== undefined) return this.#outputOfDefinition(definition, place)
    if (schema.type === 'array') {
      const { items } = schema
      const {
        type,
        shape,
        itemLevels = [],
      } = items === undefined ? json : this.outputOf(items, place)
      const levels = itemLevels.map((level) => level + 1)
      // Without a schema, an item may be null.
      const isPromised = type !== GraphQLJson && items?.nullable !== true
      return {
        type: new GraphQLList(type),
        shape: { form: 'list', items: shape },
        itemLevels: isPromised ? [1, ...levels] : levels,
      }
    }
    if (hasProperties(schema)) {
      const name = this.#names.claimByPath(place.parent, place.property)
      return this.#outputOfObject(name, schema, () => this.objectType(name, () => schema, place))
    }
    if (typeof schema.additionalProperties === 'object')
      return this.#outputOfMap(schema.additionalProperties, place)
    return json
  }

  fieldOf(property: string, parent: OpenApiSchema, place: SchemaPlace): JsonFieldConfig {
    const schema = parent.properties?.[property] ?? {}
    const { type, shape, itemLevels = [] } = this.outputOf(schema, { ...place, property })
    const deprecationReason = deprecationOf(schema)
    const description = schema.description ?? ownDescription(place, property)
    const levels = isNeverNull(parent, property, { group: place.group, shape })
      ? [0, ...itemLevels]
      : itemLevels
    return {
      type,
      ...(description === undefined ? {} : { description }),
      ...(deprecationReason === undefined ? {} : { deprecationReason }),
      ...fromSource(
        { form: 'property', property, shape },
        levels.length === 0 ? {} : { semanticNonNull: levels },
      ),
    }
  }

  /** An object type. The caller must have claimed the name. The schema is read again for the fields, and not held. */
  objectType(
    name: string,
    read: () => OpenApiSchema | undefined,
    { scope, group, kind }: Pick<SchemaPlace, 'scope' | 'group' | 'kind'>,
  ): GraphQLObjectType {
    return new GraphQLObjectType({
      name,
      extensions: noExtensions,
      description: read()?.description,
      fields: () => {
        const schema = read() ?? {}
        const at = { scope, group, kind, parent: name, property: '' }
        const fields: Record<string, JsonFieldConfig> = {}
        for (const property of this.#propertiesOf(name, schema))
          fields[graphqlNameOf(property)] = this.fieldOf(property, schema, at)
        return fields
      },
    })
  }

  #propertiesOf(typeName: string, { properties = {} }: OpenApiSchema): readonly string[] {
    return Object.keys(properties).filter((property) =>
      this.#hasField(typeName, graphqlNameOf(property)),
    )
  }

  /** If the profile leaves no field of a type, the value is JSON instead. */
  #outputOfObject(name: string, schema: OpenApiSchema, make: () => GraphQLObjectType): Output {
    return this.#propertiesOf(name, schema).length === 0 ? json : { type: make(), shape: object }
  }

  #outputOfDefinition(definition: string, place: SchemaPlace): Output {
    if (definition === objectMetaDefinition)
      return { type: this.#embeddedObjectMeta, shape: object }
    const schema = place.scope.find(definition)
    if (schema === undefined || place.scope.isRecursive(definition)) return json
    if (!hasProperties(schema)) return this.outputOf(schema, place)
    const name = this.#names.nameOfDefinition(definition, place)
    return this.#outputOfObject(name, schema, () => {
      return getOrInsert(this.#types, name, () =>
        this.objectType(name, () => place.scope.find(definition), place),
      )
    })
  }

  #outputOfMap(values: OpenApiSchema, place: SchemaPlace): Output {
    const value = this.outputOf(values, place)
    const { type } = value
    if (type === GraphQLQuantity) return scalar(GraphQLQuantityMap, 'quantityMap')
    if (type === GraphQLString || type === GraphQLDateTime)
      return scalar(GraphQLStringMap, 'stringMap')
    if (type instanceof GraphQLObjectType) return this.#entriesOutput(type.name, value)
    if (!(type instanceof GraphQLList)) return json
    const item: unknown = type.ofType
    // A list of lists has no name for the type of its entries.
    if (item instanceof GraphQLList || item instanceof GraphQLNonNull) return json
    return this.#entriesOutput(`${String(item)}List`, value)
  }

  #entriesOutput(valueName: string, { type, shape }: Output): Output {
    let entry = this.#entries.get(valueName)
    if (entry === undefined) {
      entry = new GraphQLObjectType({
        name: this.#names.nameOfEntry(valueName),
        description: `One entry of a map of ${valueName}.`,
        fields: {
          key: {
            type: new GraphQLNonNull(GraphQLString),
            description: 'The key in the map.',
            ...fromSource({ form: 'entryKey' }),
          },
          value: {
            type,
            description: 'The value in the map.',
            ...fromSource({ form: 'entryValue', shape }),
          },
        },
      })
      this.#entries.set(valueName, entry)
    }
    return {
      type: new GraphQLList(new GraphQLNonNull(entry)),
      shape: { form: 'entries', value: shape },
    }
  }
}

const scalars: Readonly<Record<SchemaScalar, GraphQLScalarType>> = {
  string: GraphQLString,
  boolean: GraphQLBoolean,
  int: GraphQLInt,
  int64: GraphQLInt64,
  float: GraphQLExactFloat,
  dateTime: GraphQLDateTime,
  quantity: GraphQLQuantity,
  intOrString: GraphQLIntOrString,
}

/** `@semanticNonNull`, as the tools of Apollo and Relay read it. */
export const semanticNonNullDirective: GraphQLDirective = new GraphQLDirective({
  name: 'semanticNonNull',
  description: 'The field is null only if it has an error.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLInt))),
      default: { value: [0] },
    },
  },
})

/**
 * Whether the API promises that a property is never null: it is required and not nullable. The Go types of Kubernetes
 * itself write an empty list, map or time as null, so that required properties of these types may be null.
 */
function isNeverNull(
  parent: OpenApiSchema,
  property: string,
  { group, shape }: { readonly group: string; readonly shape: ValueShape },
): boolean {
  if (parent.required?.includes(property) !== true) return false
  if (parent.properties?.[property]?.nullable === true) return false
  if (!isBuiltInGroup(group)) return true
  if (shape.form === 'list' || shape.form === 'entries') return false
  if (shape.form === 'object') return true
  return !['dateTime', 'json', 'stringMap', 'quantityMap'].includes(shape.scalar)
}

export interface ObjectMetaOptions {
  readonly name: string
  readonly scope: DefinitionScope
  /** Whether the metadata is of objects, not of templates, which need no name and get no UID. */
  readonly isOfObjects: boolean
  readonly openApiTypes: () => OpenApiTypes
  readonly hasField: HasField
}

/** The caches leave these properties out. */
const dropped = new Set(['managedFields'])

/** The type of `metadata`: the server's fields, and `label` and `annotation` by key. */
export function objectMetaType({
  name,
  scope,
  isOfObjects,
  openApiTypes,
  hasField,
}: ObjectMetaOptions): GraphQLObjectType {
  const schema = scope.find(objectMetaDefinition) ?? {}
  const properties = Object.keys(schema.properties ?? {}).filter(
    (property) => !dropped.has(property) && hasField(name, property),
  )
  return new GraphQLObjectType({
    name,
    description: schema.description,
    fields() {
      const fields: FieldConfigs = {}
      const place = { scope, group: '', parent: name, property: '' }
      for (const property of properties)
        fields[property] = openApiTypes().fieldOf(property, schema, place)
      for (const property of isOfObjects ? ['name', 'uid', 'creationTimestamp'] : []) {
        const field = fields[property]
        if (field === undefined) continue
        const { type, shape } = property === 'creationTimestamp' ? time : text
        const otherwise = unstoredMetadata.get(property)
        fields[property] = {
          ...field,
          type: new GraphQLNonNull(type),
          ...(otherwise !== undefined &&
            fromSource({ form: 'property', property, shape, otherwise })),
        }
      }
      return {
        ...fields,
        label: mapField('labels', 'The value of one label; null if the object lacks it.'),
        annotation: mapField(
          'annotations',
          'The value of one annotation; null if the object lacks it.',
        ),
      }
    },
  })
}

/**
 * The metadata of objects that the server does not store, such as PodMetrics and ComponentStatus. Properties that only
 * stored objects have get the zero value of Kubernetes' Go types.
 */
export const unstoredMetadata: ReadonlyMap<string, string> = new Map([
  ['uid', ''],
  ['creationTimestamp', '0001-01-01T00:00:00Z'],
])

function mapField(map: 'labels' | 'annotations', description: string): JsonFieldConfig {
  return {
    type: GraphQLString,
    description,
    args: {
      key: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'The whole key: `app.example/tier`.',
      },
    },
    ...fromSource({ form: 'mapValue', property: map, argument: 'key' }),
  }
}

type DescriptionsOfType = Readonly<Record<string, string>>
let descriptions: Readonly<Record<string, DescriptionsOfType>> | undefined

/** The description of a field of Kubernetes' own types from `schema/descriptions.yaml`, for clusters that publish none. */
function ownDescription({ group, parent }: SchemaPlace, property: string): string | undefined {
  if (!isBuiltInGroup(group)) return undefined
  descriptions ??= parse(
    readFileSync(new URL('descriptions.yaml', packageSchemaDirectory), 'utf8'),
  ) as Record<string, DescriptionsOfType>
  const common = parent.endsWith('Condition') ? '*Condition' : '*'
  return descriptions[parent]?.[property] ?? descriptions[common]?.[property]
}

/** A kind whose nested types are named by the paths of its structures. */
export interface StructuredKind {
  readonly typeName: string
  /** `undefined` for kinds whose nested types are definitions with names. */
  readonly structures: (() => SharedSchema) | undefined
}

export class TypeNames {
  readonly #definitions: Definitions
  readonly #aliases: GroupAliases
  readonly #taken: Set<string>
  readonly #ofDefinitions = new Map<string, string>()
  readonly #kinds: ReadonlyMap<string, StructuredKind>
  /** The names of the structures of a kind, by its type name. */
  readonly #ofStructures = new Map<string, readonly string[]>()
  readonly #ofEntries = new Map<string, string>()

  /** `kinds` are all kinds. Their names win over those of nested types. */
  constructor(definitions: Definitions, aliases: GroupAliases, kinds: readonly StructuredKind[]) {
    this.#definitions = definitions
    this.#aliases = aliases
    this.#kinds = new Map(kinds.map((kind) => [kind.typeName, kind]))
    this.#taken = new Set(this.#kinds.keys())
  }

  /** The name of a definition that a schema at a place refers to. */
  nameOfDefinition(
    definition: string,
    { group, kind = '' }: Pick<SchemaPlace, 'group' | 'kind'>,
  ): string {
    const index = structureIndexOf(definition)
    if (index !== undefined) return this.#structuresOf(kind)[index] ?? kind
    const { builtIn } = splitDefinitionName(definition)
    const key = builtIn ? definition : `${group}/${definition}`
    return getOrInsert(this.#ofDefinitions, key, () =>
      this.#claim(builtIn ? this.#builtInName(definition) : this.#foreignName(definition, group)),
    )
  }

  /**
   * The names of a kind's structures, then of the entries of its maps, all at once: they do not depend on what is asked
   * first. A name can only be that of a nested type of another kind if the name of one kind begins with that of the other.
   * The shorter kind then keeps it.
   */
  #structuresOf(typeName: string): readonly string[] {
    const known = this.#ofStructures.get(typeName)
    if (known !== undefined) return known
    for (let length = 1; length < typeName.length; length += 1) {
      const shorter = typeName.slice(0, length)
      if (this.#kinds.get(shorter)?.structures !== undefined) this.#structuresOf(shorter)
    }
    const shared = this.#kinds.get(typeName)?.structures?.()
    if (shared === undefined) return []
    const byPath = new Map<string, string>()
    // The structure that has the last property of a path comes first: its own path is shorter.
    const names = shared.structures.map(({ path }) => {
      const parent = byPath.get(JSON.stringify(path.slice(0, -1))) ?? typeName
      const name = this.#claim(nestedTypeNameByPath(parent, path.at(-1) ?? ''))
      byPath.set(JSON.stringify(path), name)
      return name
    })
    this.#ofStructures.set(typeName, names)
    for (const { schema } of [{ schema: shared.root }, ...shared.structures]) {
      for (const part of Object.values(schema.properties ?? {})) {
        for (const valueName of valuesOfMaps(part, names)) this.nameOfEntry(valueName)
      }
    }
    return names
  }

  /** The name of the type of a map's entries: `CounterEntry`. */
  nameOfEntry(valueName: string): string {
    return getOrInsert(this.#ofEntries, valueName, () => this.#claim(`${valueName}Entry`))
  }

  /** A name for a schema without a name, after its place. */
  claimByPath(parent: string, property: string): string {
    return this.#claim(nestedTypeNameByPath(parent, property))
  }

  /** A name for a type of the gateway: `ObjectMeta`. */
  claimOwn(name: string): string {
    return this.#claim(name)
  }

  #foreignName(definition: string, group: string): string {
    const { name } = splitDefinitionName(definition)
    const prefix = prefixOfGroup(group, this.#aliases)
    if (prefix === '') return nestedTypeName(group.split('.', 1)[0] ?? '', name, [])
    return `${prefix}${graphqlNameOf(capitalised(name))}`
  }

  /** The highest version of a group has the bare name; the names of lower versions end in the version. */
  #builtInName(definition: string): string {
    const { label, name, version } = splitDefinitionName(definition)
    const namesakes = this.#definitions.namesakes(name).map(splitDefinitionName)
    const bare = nestedTypeName(
      label,
      name,
      namesakes.map((one) => one.label),
    )
    const versions = namesakes.filter((one) => one.label === label).map((one) => one.version)
    const [highest] = versions.toSorted(compareVersions)
    return highest === undefined || highest === version ? bare : `${bare}${capitalised(version)}`
  }

  #claim(name: string): string {
    let free = unreservedTypeName(name)
    while (this.#taken.has(free)) free = `${free}_`
    this.#taken.add(free)
    return free
  }
}

/** The names of the values of all maps of objects in a schema, as {@link TypeNames.nameOfEntry} takes them. */
function valuesOfMaps(schema: OpenApiSchema, names: readonly string[]): readonly string[] {
  const { items, additionalProperties: values } = schema
  if (items !== undefined) return valuesOfMaps(items, names)
  if (typeof values !== 'object') return []
  const nameOf = (value: OpenApiSchema): string | undefined =>
    names[structureIndexOf(definitionNameOf(value) ?? '') ?? -1]
  const ofList = values.items && nameOf(values.items)
  const own = nameOf(values) ?? (ofList === undefined ? undefined : `${ofList}List`)
  return [...(own === undefined ? [] : [own]), ...valuesOfMaps(values, names)]
}
