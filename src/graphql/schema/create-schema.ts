/*
 * The GraphQL schema of a model: a type for each kind, with the fields of every object, of its API and of its relations;
 * `Query` and `Subscription` with the fields of each kind; the gateway's own types from `schema/gateway/`. Types build
 * their fields on first use. The build visits those of built-in kinds one by one, so that other work can run in between; those
 * of custom kinds are made when they are first named (`lazy-schema.ts`). Fields have no
 * resolvers: the extensions of each field say what plans read for it.
 */

import {
  getNamedType,
  type GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLSchema,
  isIntrospectionType,
  isScalarType,
  specifiedDirectives,
} from 'graphql'
import { atOnce } from '../../lib/event-loop.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import {
  describeRelation,
  filteringRelations,
  type Kind,
  type ObjectRefField,
  type RelationField,
  usageKindOf,
} from '../model/kind.ts'
import { eventsConfig, objectFields, workloadTypes, type WorkloadTypes } from './object-fields.ts'
import {
  objectMetaType,
  OpenApiTypes,
  semanticNonNullDirective,
  TypeNames,
} from './open-api-types.ts'
import { fieldsOfProfile } from '../model/schema-profile.ts'
import { federationFields, fetchableDirective, relayFields } from './protocol-fields.ts'
import type { SchemaModel } from '../model/schema-model.ts'
import { OwnTypes, type SchemaTypes, without } from './own-types.ts'
import { sortedSchema } from './scalars.ts'
import {
  buildOrderType,
  buildWhereType,
  objectOrderType,
  objectWhereType,
  sortDirection,
  stringFilter,
} from './where-type.ts'
import { elementsOf, type FieldConfigs, type FieldSource, fromSource } from './field-source.ts'
import { graphqlNameOf, kindTypeEndings } from '../naming/kind-name.ts'
import { isBuiltInGroup } from '../../kubernetes/api-resource.ts'
import { LazySchema, type RootField, RootType, type SchemaPart } from './lazy-schema.ts'
import type { Definitions } from '../model/definitions.ts'
import type { OpenApiSchema } from '../../kubernetes/open-api.ts'
import { nativePropertiesOf } from '../model/kind-catalog.ts'

export interface SchemaOptions {
  /** Whether Relay can fetch objects again: `fetch__Pod(id:)`. Off by default. */
  readonly relay?: boolean | undefined
  /** Whether the schema is a subgraph of Apollo Federation 2. Off by default. */
  readonly federation?: boolean | undefined
  /** Whether Secrets have `data` and `type`, which each answer reads with the viewer's token. Off by default. */
  readonly secretData?: boolean | undefined
  /** Whether there are mutations. Off by default. */
  readonly writes?: boolean | undefined
}

/** The GraphQL schema of a model. Its fields have sources instead of resolvers: plans answer them. */
export function createSchema(model: SchemaModel, options: SchemaOptions = {}): GraphQLSchema {
  return atOnce(schemaInSteps(model, options))
}

/** {@link createSchema} in steps: it yields so that the event loop can run between them. */
export function* schemaInSteps(
  model: SchemaModel,
  { relay = false, federation = false, secretData = false, writes = false }: SchemaOptions = {},
): Generator<void, GraphQLSchema> {
  const { kinds, profile } = model
  const types = schemaTypes(model, secretData)
  const query = rootType('Query', kinds, types, {
    description:
      'Lists and look-ups of every kind. A field whose kind or cluster cannot be read is null and has an error; the other fields have their values.',
    forms: { list: listName, lookup: lookupName },
    logs: 'value',
    further: () => (relay ? relayFields(kinds, types) : {}),
    protocol: () => (federation ? federationFields(kinds, types) : {}),
  })
  const subscription = rootType('Subscription', kinds, types, {
    description:
      'The matching objects, then their changes. The snapshot comes in frames: the first one resets, the last one is synced.',
    forms: {
      listFrames: listName,
      lookupFrames: lookupName,
      livePages: ({ listField }) => `${listField}Page`,
      facetFrames: ({ lookupField }) => `${lookupField}Facets`,
    },
    logs: 'logFrames',
    further: () => (writes ? types.own.rootFields('WriteSubscription') : {}),
  })
  const mutation =
    writes && kinds.length > 0
      ? new GraphQLObjectType({
          name: 'Mutation',
          description:
            'Writes, each with the credentials of the caller. They are made one after the other, in the order of the document; a write that fails has an error, and is null unless `errors` of its payload is selected; those after it are made all the same.',
          fields: () => fieldsIn('Mutation', types.own.rootFields('Mutation'), types),
        })
      : undefined
  for (const kind of kinds) {
    types.objectType(kind)
    yield
  }
  const byName = new Map(kinds.map((kind) => [kind.typeName, kind]))
  const related = relatedWheres(kinds, types)
  const schema = new LazySchema({
    description: schemaDescription,
    directives: [
      ...specifiedDirectives,
      semanticNonNullDirective,
      ...(relay ? [fetchableDirective] : []),
    ],
    query,
    mutation,
    subscription: kinds.length === 0 ? undefined : subscription,
    kinds: kinds.map((kind) => types.objectType(kind)),
    types: kinds.filter((kind) => !isCustom(kind)).map((kind) => types.objectType(kind)),
    parts: new Map(
      kinds
        .filter(isCustom)
        .map((kind) => [
          kind.typeName,
          partOf(kind, { model, types, query, subscription, related }),
        ]),
    ),
    kindOf: (typeName) => kindOfType(typeName, byName),
  })
  yield* schema.lazy.beginInSteps()
  if (profile.descriptions !== false) return schema
  yield* schema.lazy.makeAllInSteps()
  return withoutDescriptions(schema)
}

/** Whether the types of a kind are made when they are first named: those of custom kinds. */
function isCustom({ resource }: Kind): boolean {
  return !isBuiltInGroup(resource.group)
}

/** The kind of one of its own types: `Pod` of `PodPageChange`. */
function kindOfType(typeName: string, kinds: ReadonlyMap<string, Kind>): string | undefined {
  let name = typeName
  while (!kinds.has(name)) {
    const shorter = name.replace(kindTypeEndings, '')
    if (shorter === name) return undefined
    name = shorter
  }
  return name
}

interface PartOptions {
  readonly model: SchemaModel
  readonly types: SchemaTypes
  readonly query: GraphQLObjectType
  readonly subscription: GraphQLObjectType
  /** The filters on related objects of each kind. */
  readonly related: ReadonlyMap<string, ReadonlySet<string>>
}

/** The filters by which other kinds filter by their relations to a kind, by its type name: `KindWhereMany`, `KindWhereOne`. */
function relatedWheres(
  kinds: readonly Kind[],
  { hasField }: SchemaTypes,
): ReadonlyMap<string, ReadonlySet<string>> {
  const related = new Map<string, Set<string>>()
  for (const kind of kinds) {
    for (const { definition, many } of filteringRelations(kind)) {
      if (!hasField(kind.typeName, definition.name)) continue
      const known = getOrInsert(related, definition.to, () => new Set())
      known.add(many ? 'KindWhereMany' : 'KindWhereOne')
    }
  }
  return related
}

/** The part of a kind: its type, and those of its fields of `Query` and `Subscription`. */
function partOf(
  kind: Kind,
  { model, types, query, subscription, related }: PartOptions,
): SchemaPart {
  const { listField, lookupField } = kind
  return {
    // What is not data of the kind itself is the same for a whole gateway, or described only.
    madeOf: () => JSON.stringify([model.definitions.heldSchemaOf(kind.resource)?.madeOf, kind]),
    types() {
      const names = [listField, lookupField, `${listField}Page`, `${lookupField}Facets`]
      const fields = [query.getFields(), subscription.getFields()].flatMap((all) =>
        names.flatMap((name) => all[name] ?? []),
      )
      return [
        types.objectType(kind),
        ...Array.from(related.get(kind.typeName) ?? [], (name) => types.own.input(name, kind)),
        ...fields.flatMap((field) => [
          getNamedType(field.type),
          ...field.args.map((argument) => getNamedType(argument.type)),
        ]),
      ]
    },
  }
}

const schemaDescription = [
  "The objects of Kubernetes clusters as a typed API, served from informer caches. A viewer sees what the cluster's RBAC lets them see.",
  'Each kind has a list (`pods`) and a look-up (`pod`), relations lead from object to object (`pod.node`), and the same fields of `Subscription` bring the objects and then every change.',
  '`gatewayClusters { resources { listField } }` lists the kinds; the guides are at https://github.com/informerql/informerql#readme.',
].join(' ')

function schemaTypes(model: SchemaModel, secretData: boolean): SchemaTypes {
  const { kinds, definitions, aliases, profile } = model
  const hasField = fieldsOfProfile(profile) ?? (() => true)
  const names = new TypeNames(
    definitions,
    aliases,
    kinds.map(({ typeName, resource }) => {
      const { structures } = definitions.scopeOf(resource)
      return { typeName, structures }
    }),
  )
  const metadata = (name: string, isOfObjects: boolean): GraphQLObjectType =>
    objectMetaType({
      name,
      isOfObjects,
      scope: definitions.shared,
      openApiTypes: () => openApiTypes,
      hasField,
    })
  const openApiTypes = new OpenApiTypes({
    names,
    embeddedObjectMeta: metadata(names.claimOwn('EmbeddedObjectMeta'), false),
    hasField,
  })
  const objectType = memoised((kind: Kind): GraphQLObjectType =>
    buildKindType(kind, { types, definitions, openApiTypes, workload }),
  )
  const own = new OwnTypes((name, kind) => {
    if (name === 'KubernetesObject') return types.kubernetesObject
    if (name === 'ObjectMeta') return types.objectMeta
    if (name === 'KubernetesObjectWhere') return objectWhereType(types)
    if (name === 'KubernetesObjectOrder') return objectOrderType
    if (name === 'SortDirection') return sortDirection
    if (name === 'StringFilter') return stringFilter
    if (name === 'PodTemplateSpec') {
      const place = { scope: definitions.shared, group: 'apps', parent: 'Workload', property: '' }
      const { type } = openApiTypes.outputOf({ $ref: podTemplateReference }, place)
      return getNamedType(type)
    }
    if (kind !== undefined && name === 'Kind') return objectType(kind)
    if (kind !== undefined && name === 'KindWhere') return types.whereType(kind)
    if (kind !== undefined && name === 'KindOrder') return types.orderType(kind)
    throw new TypeError(`there is no type ${name}`)
  }, hasField)
  const types: SchemaTypes = {
    event: kinds.find(({ events }) => events !== undefined) && model.kindOfType('Event'),
    kubernetesObject: new GraphQLInterfaceType({
      name: 'KubernetesObject',
      description: 'An object of any kind.',
      fields: () => objectFields(types, 'any'),
    }),
    objectMeta: metadata(names.claimOwn('ObjectMeta'), true),
    own,
    hasField,
    secretData,
    kindOf: (group, kind) => model.kindOf(group, kind),
    kind(typeName) {
      const kind = model.kindOfType(typeName)
      if (kind === undefined) throw new TypeError(`the model has no kind ${typeName}`)
      return kind
    },
    objectType,
    whereType: memoised((kind: Kind): GraphQLInputObjectType => buildWhereType(kind, types)),
    orderType: memoised((kind: Kind): GraphQLInputObjectType => buildOrderType(kind)),
  }
  const workload = workloadTypes(kinds, types)
  return types
}

const podTemplateReference = '#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec'

/** Builds a type once for each kind. A model has one object per kind, so identity compares kinds. */
function memoised<T>(build: (kind: Kind) => T): (kind: Kind) => T {
  const built = new Map<Kind, T>()
  return (kind) => {
    return getOrInsert(built, kind, () => build(kind))
  }
}

/** A copy of the schema in which only scalars have descriptions. */
function withoutDescriptions(schema: GraphQLSchema): GraphQLSchema {
  // The sort copies all types except scalars. Schemas share types of filters and enumerations, so the originals must not
  // change.
  const copy = sortedSchema(schema)
  const types = Object.values(copy.getTypeMap())
  const own = types.filter((type) => !isIntrospectionType(type) && !isScalarType(type))
  for (const described of [copy, ...own.flatMap(elementsOf)]) described.description = undefined
  return copy
}

const listName = ({ listField }: Kind): string => listField
const lookupName = ({ lookupField }: Kind): string => lookupField

/** The fields of a root type besides the gateway's own. */
interface RootFields {
  readonly description: string
  /** The fields of each kind, by their form, which is also their name in `KindFields`. The earlier one of a name wins. */
  readonly forms: Readonly<Record<string, (kind: Kind) => string>>
  readonly logs: 'value' | 'logFrames'
  readonly further: () => FieldConfigs
  /** Fields that a protocol demands. No profile leaves them out. */
  readonly protocol?: () => FieldConfigs
}

/** `Query` or `Subscription`: the fields of every kind, the gateway's own fields, and further ones. */
function rootType(
  name: 'Query' | 'Subscription',
  kinds: readonly Kind[],
  types: SchemaTypes,
  { description, forms, logs, further, protocol }: RootFields,
): RootType {
  const { own } = types
  return new RootType(name, description, () => {
    const pods = kinds.find(({ resource }) => resource.group === '' && resource.resource === 'pods')
    const others = {
      ...own.rootFields(name),
      ...further(),
      ...(pods && { podLogs: { ...own.kindField('logs', pods), ...fromSource({ form: logs }) } }),
    }
    const fields = new Map<string, RootField>(
      Object.entries(others).map(([field, config]) => [field, { config: () => config }]),
    )
    for (const [form, nameOf] of Object.entries(forms)) {
      for (const kind of kinds) {
        const config = (): FieldConfigs[string] => ({
          ...own.kindField(form, kind),
          deprecationReason: kind.deprecation,
          ...fromSource({ form, kind } as FieldSource),
        })
        const field = nameOf(kind)
        const isOfPart = isCustom(kind)
        if (!fields.has(field)) fields.set(field, { config, isOfPart })
      }
    }
    for (const field of fields.keys()) if (!types.hasField(name, field)) fields.delete(field)
    for (const [field, config] of Object.entries(protocol?.() ?? {}))
      fields.set(field, { config: () => config })
    return fields
  })
}

function fieldsIn(typeName: string, fields: FieldConfigs, { hasField }: SchemaTypes): FieldConfigs {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => hasField(typeName, name)))
}

interface KindTypeOptions {
  readonly types: SchemaTypes
  readonly definitions: Definitions
  readonly openApiTypes: OpenApiTypes
  readonly workload: WorkloadTypes
}

/** The type of a kind: the fields of every object, of its API and of its relations. */
function buildKindType(kind: Kind, options: KindTypeOptions): GraphQLObjectType {
  const { types, definitions, openApiTypes, workload } = options
  const { resource, typeName, apiVersion } = kind
  // Read again for the fields, and not held.
  const api = (): OpenApiSchema => definitions.schemaOf(resource) ?? {}
  const place = {
    scope: definitions.scopeOf(resource),
    group: resource.group,
    kind: typeName,
    parent: typeName,
  }
  return new GraphQLObjectType({
    name: typeName,
    description:
      definitions.outlineOf(resource)?.description ?? `${resource.kind} of ${apiVersion}.`,
    interfaces: () =>
      workload.fieldsOf(kind) === undefined
        ? [types.kubernetesObject]
        : [types.kubernetesObject, workload.type],
    fields: () => ({
      ...objectFields(types, kind),
      ...fieldsIn(
        kind.typeName,
        {
          ...Object.fromEntries(
            nativePropertiesOf(kind, definitions).map((property) => [
              graphqlNameOf(property),
              openApiTypes.fieldOf(property, api(), { ...place, property }),
            ]),
          ),
          ...workload.fieldsOf(kind),
          ...ownFieldsOf(kind, types),
          ...Object.fromEntries(
            kind.relations.map((relation) => [
              relation.definition.name,
              relationField(kind, relation, types),
            ]),
          ),
          ...Object.fromEntries(
            kind.objectRefs.map((field) => [field.name, objectRefField(field, types)]),
          ),
          ...Object.fromEntries(
            kind.polymorphic.map((field) => {
              const { name, description } = field
              const source = fromSource({ form: 'polymorphic', field })
              return [name, { ...types.own.objectField('owned'), description, ...source }]
            }),
          ),
        },
        types,
      ),
    }),
  })
}

/** Only relations from a cluster-scoped to a namespaced kind take namespaces. */
function relationField(
  from: Kind,
  relation: RelationField,
  types: SchemaTypes,
): FieldConfigs[string] {
  const { definition, many } = relation
  const to = types.kind(definition.to)
  const described = {
    description: describeRelation(relation, to),
    ...fromSource({ form: 'relation', relation }),
  }
  if (!many) return { type: types.objectType(to), ...described }
  const isOfEvents =
    definition.form === 'through' && definition.steps.at(-1)?.endsWith('.events') === true
  if (isOfEvents) return { ...eventsConfig(to, types), ...described }
  const config = types.own.kindField('relation', to)
  const { args } = config
  const taken = from.resource.namespaced ? without(args, ['namespace', 'namespaces']) : args
  return { ...config, args: taken, ...described }
}

function objectRefField(field: ObjectRefField, types: SchemaTypes): FieldConfigs[string] {
  const { many } = field
  const description =
    field.description ??
    `${many ? 'The objects' : 'The object'} that it refers to: ${field.paths.map((path) => `\`${path}\``).join(', ')}.`
  const type = types.own.object('ObjectRef')
  return {
    type: many ? new GraphQLList(new GraphQLNonNull(type)) : type,
    description,
    ...fromSource({ form: 'objectRef', field }),
  }
}

/** What the gateway reads for some kinds: usage, the amounts of a Pod, and the content of Secrets, which caches leave out. */
function ownFieldsOf(kind: Kind, { own, secretData }: SchemaTypes): FieldConfigs {
  const { group, kind: name } = kind.resource
  const isSecret = group === '' && name === 'Secret' && kind.metadataOnly
  const isPod = group === '' && name === 'Pod'
  const isMeasured = usageKindOf(kind) !== undefined
  const pods = kind.relations.find(
    ({ many, isHidden, definition }) =>
      many && isHidden !== true && definition.name === 'pods' && definition.to === 'Pod',
  )
  const sources: Readonly<Record<string, FieldSource>> = {
    ...(isSecret && {
      ...(secretData && { data: { form: 'secretContents' } }),
      keys: { form: 'secretOutline' },
      keyCount: { form: 'secretOutline' },
      type: { form: 'secretOutline' },
    }),
    ...(isPod && {
      requests: { form: 'podAmounts', list: 'requests' },
      limits: { form: 'podAmounts', list: 'limits' },
    }),
    ...(isMeasured && { usage: { form: 'usage' } }),
    ...((isMeasured || pods !== undefined) && {
      usageHistory: { form: 'usageHistory', pods: isMeasured ? undefined : pods },
    }),
  }
  return Object.fromEntries(
    Object.entries(sources).map(([field, source]) => [
      field,
      { ...own.kindField(field, kind), ...fromSource(source) },
    ]),
  )
}
