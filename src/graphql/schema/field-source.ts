/*
 * The sources of fields: what plans read for each. `createSchema` puts a source into the extensions of every field, and
 * the compilers of `plan/` and `live/` switch on its form.
 */

import {
  type FieldNode,
  type GraphQLField,
  type GraphQLFieldConfigMap,
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql'
import type { HealthRule } from '../../kubernetes/health/health.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import type { SchemaScalar } from '../../kubernetes/open-api.ts'
import type {
  Kind,
  PolymorphicRelationField,
  ObjectRefField,
  RelationField,
} from '../model/kind.ts'

/** The scalars of values in objects. Each has its own check and its own text. */
export type ScalarForm = SchemaScalar | 'json' | 'stringMap' | 'quantityMap'

/** The expected form of a JSON value, and how to write it. A null or missing value is null at every level. */
export type ValueShape =
  | { readonly form: 'scalar'; readonly scalar: ScalarForm }
  /** A JSON object whose members are the fields of the type. */
  | { readonly form: 'object' }
  | { readonly form: 'list'; readonly items: ValueShape }
  /** A JSON object, written as a list of `{ key, value }` in the order of the document. */
  | { readonly form: 'entries'; readonly value: ValueShape }

/** The shape of the JSON values of a type. */
export function shapeOf(type: GraphQLOutputType): ValueShape {
  const nullable = getNullableType(type)
  if (isListType(nullable)) return { form: 'list', items: shapeOf(nullable.ofType) }
  if (!isLeafType(nullable)) return { form: 'object' }
  const { name } = nullable
  const scalar = name === 'JSON' ? 'json' : `${name.charAt(0).toLowerCase()}${name.slice(1)}`
  return { form: 'scalar', scalar: scalar as ScalarForm }
}

/** Fields of `Subscription`. The arguments name the kind, or the field is one of a kind. */
export type FollowSource =
  | {
      readonly form: 'listFrames' | 'lookupFrames' | 'livePages' | 'facetFrames'
      readonly kind: Kind
    }
  | {
      readonly form:
        | 'objectFrames'
        | 'objectsFrames'
        | 'objectByRefFrames'
        | 'objectListFrames'
        | 'objectListPages'
        | 'kubernetesObjectsFrames'
        | 'kubernetesObjectsPages'
        | 'clusterFrames'
        | 'objectListFacetFrames'
        | 'problemFrames'
        | 'changeFrames'
        | 'drainFrames'
        | 'logFrames'
    }
  /** The events of an extension. */
  | {
      readonly form: 'extensionEvents'
      readonly field: ExtensionField
      readonly subscribe: SubscribeExtension
    }

/** Fields of `Query` and `Subscription`. */
type RootSource =
  | FollowSource
  | { readonly form: 'list' | 'lookup'; readonly kind: Kind }
  /** Members of `Query` whose arguments name kinds. `entities` is `_entities` of a federated schema. */
  | {
      readonly form:
        | 'objectById'
        | 'objectsByIds'
        | 'objectByRef'
        | 'objectList'
        | 'kubernetesObjects'
        | 'aroundObjects'
        | 'entities'
    }
  /** A field of `Mutation`. */
  | { readonly form: 'write' }

/** Fields of a kind's type, whose source is a `Row`. The object's own properties are of the form `property`. */
type RowSource =
  | {
      readonly form:
        | 'id'
        | 'nameId'
        | 'clusterName'
        | 'owners'
        | 'ownerChain'
        | 'rootOwner'
        | 'managedBy'
        | 'owned'
    }
  /** The state of the object's cluster. */
  | { readonly form: 'cluster' }
  /** One value for all rows of the type: `apiVersion`, `kind`. */
  | { readonly form: 'constant'; readonly value: string }
  /** The object, or the value at a path of it. */
  | { readonly form: 'json'; readonly argument: 'path' }
  /** The health of the object by the rule of its kind. */
  | { readonly form: 'health'; readonly rule: HealthRule }
  /** The health of a Namespace, which is that of what is in it. */
  | { readonly form: 'namespaceHealth' }
  /** The columns of `kubectl get`. Without `printed`, they come from the API server. */
  | {
      readonly form: 'printerColumns'
      readonly argument: 'wide'
      readonly printed: PrintedKind | undefined
    }
  /** The content of a Secret, which is never cached: it is read from the API server with the viewer's token. */
  | { readonly form: 'secretContents' }
  | { readonly form: 'secretOutline' }
  /** What the object used, by the measurements of metrics.k8s.io. */
  | { readonly form: 'usage' }
  /** What the object used until now, or with a relation the pods that it leads to. */
  | { readonly form: 'usageHistory'; readonly pods: RelationField | undefined }
  /** What a pod requests, or its limits. */
  | { readonly form: 'podAmounts'; readonly list: 'requests' | 'limits' }
  | { readonly form: 'relation'; readonly relation: RelationField }
  /** The reference at a path of the object: an `ObjectRef`, or with `many` a list of them. */
  | { readonly form: 'objectRef'; readonly field: ObjectRefField }
  /** A relation to objects of several kinds. */
  | { readonly form: 'polymorphic'; readonly field: PolymorphicRelationField }
  /** Whether the viewer may do something to the object. */
  | { readonly form: 'can' }
  /** The changes of the object, from the archive. */
  | { readonly form: 'history' }
  | { readonly form: 'usedBy'; readonly kind: Kind }
  /** A field of an interface: the field of the row's type has the actual source. */
  | { readonly form: 'ofRowType' }

/** The member of this JSON name, which may differ from the GraphQL name. */
export interface PropertySource {
  readonly form: 'property'
  readonly property: string
  readonly shape: ValueShape
  /** The path to the object that holds the member, the outermost first. Absent: the source itself holds it. */
  readonly within?: readonly string[]
  /** The value if there is none; if absent, null. */
  readonly otherwise?: string
}

/** Fields of types whose source is plain JSON. */
type JsonSource =
  | PropertySource
  /** The string under the argument's key, in the map `property`. */
  | { readonly form: 'mapValue'; readonly property: string; readonly argument: 'key' }
  | { readonly form: 'entryKey' }
  | { readonly form: 'entryValue'; readonly shape: ValueShape }

/** A field of an own type that leads to rows, where page sizes are checked. `part`: the name of the field. */
export interface OwnSource {
  readonly form: 'connection' | 'problem' | 'graph' | 'graphNode'
  readonly part: string
}

/** The field that a resolver of an extension is called for: its `info`. */
export interface ExtensionFieldInfo {
  readonly typeName: string
  readonly fieldName: string
  /** The nodes of the document that select it. */
  readonly fieldNodes: readonly FieldNode[]
  /** The cluster of the object that it belongs to; absent for fields of other types. */
  readonly cluster?: string | undefined
}

/** Computes a field of an extension. Its context is an `ExtensionContext`. */
export type ResolveExtension = (
  source: unknown,
  args: Readonly<Record<string, unknown>>,
  context: never,
  info: ExtensionFieldInfo,
) => unknown

/** Begins a subscription of an extension. */
type SubscribeExtension = (
  source: undefined,
  args: Readonly<Record<string, unknown>>,
  context: never,
  info: ExtensionFieldInfo,
) => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>

/** A field that a program adds to the schema. */
export interface ExtensionField {
  /** `Pod.cost`. */
  readonly coordinate: string
  /** The price of one call of its resolver, in fields of the work budget. */
  readonly weight: number
  /** Absent: the value is the source's member of the field's name. */
  readonly resolve: ResolveExtension | undefined
  /** The kinds that its extension reads from caches, by list field or type. */
  readonly needs: readonly string[]
}

/**
 * The source of a field's value, which plans compile. Every field that `createSchema` builds has one in
 * `extensions.source`.
 */
export type FieldSource =
  | RootSource
  | RowSource
  | JsonSource
  | OwnSource
  | { readonly form: 'extension'; readonly field: ExtensionField }
  /** The member of a value with the field's name: see `plan/value-writer.ts`. */
  | { readonly form: 'value' }

export type FieldConfigs = GraphQLFieldConfigMap<unknown, unknown>

/** No extensions: graphql-js would make an object of its own for each argument and type. */
export const noExtensions: Readonly<Record<string, never>> = Object.freeze(
  Object.create(null) as Record<string, never>,
)

interface SourceExtensions {
  readonly source: FieldSource
  /** The levels of `@semanticNonNull`: 0 is the field, 1 an item of its list. */
  readonly semanticNonNull?: readonly number[]
}

export function fromSource(
  source: FieldSource,
  rest: Omit<SourceExtensions, 'source'> = {},
): { readonly extensions: { readonly [E in keyof SourceExtensions]: SourceExtensions[E] } } {
  // graphql-js copies objects with a prototype into one without.
  return { extensions: Object.assign(Object.create(null) as object, { source, ...rest }) }
}

/** The source of a field. Throws `TypeError` for a field that `createSchema` has not built. */
export function fieldSourceOf({ name, extensions }: GraphQLField<unknown, unknown>): FieldSource {
  const { source } = extensions as Partial<SourceExtensions>
  if (source === undefined) throw new TypeError(`field ${name} has no source`)
  return source
}

/** The source of a field of `Subscription`; `undefined` for any other field. */
export function followSourceOf(field: GraphQLField<unknown, unknown>): FollowSource | undefined {
  const source = fieldSourceOf(field)
  // Their forms, and no others, end in these words.
  return /(?:Frames|Pages|Events)$/.test(source.form) ? (source as FollowSource) : undefined
}

/** A type with its fields, arguments and values: all that may have a description. */
export function elementsOf(
  type: GraphQLNamedType,
): readonly { description?: string | null | undefined }[] {
  if (isEnumType(type)) return [type, ...type.getValues()]
  if (!('getFields' in type)) return [type]
  const fields = Object.values(type.getFields())
  return [type, ...fields.flatMap((field) => ('args' in field ? [field, ...field.args] : [field]))]
}

/**
 * The levels at which a field is null only if it has an error, although its type allows null: 0 is the field, 1 an item of
 * its list. Pages of lists and frames are never null by themselves. `fails`: fields of the type fail as a whole, and the
 * items of their lists, as those of mutations and subscriptions do.
 */
export function semanticNonNullLevels(
  { type, extensions }: GraphQLField<unknown, unknown>,
  fails = false,
): readonly number[] {
  if (fails) {
    const levels = isListType(type) ? [type, type.ofType] : [type]
    return levels.flatMap((one, level) => (isNonNullType(one) ? [] : [level]))
  }
  const { source, semanticNonNull } = extensions as Partial<SourceExtensions>
  if (semanticNonNull !== undefined) return semanticNonNull
  if (!isObjectType(type) || source?.form === 'property' || source?.form === 'ofRowType') return []
  const fields = type.getFields()
  const isWhole = ('nodes' in fields && 'pageInfo' in fields) || 'synced' in fields
  return isWhole ? [0] : []
}
