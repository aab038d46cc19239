import {
  getNamedType,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  specifiedDirectives,
} from 'graphql'
import { atOnce } from '../../lib/event-loop.ts'
import type { Kind } from '../model/kind.ts'
import { buildKindType } from './kind-type.ts'
import { buildKubernetesObjectType, objectFields } from './object-fields.ts'
import { objectMetaType, OpenApiTypes, semanticNonNullDirective } from './open-api-types.ts'
import { buildMutationType, buildQueryType, buildSubscriptionType } from './root-types.ts'
import { fieldsOfProfile } from '../model/schema-profile.ts'
import { federationFields, type FederationOptions } from './federation-fields.ts'
import { fetchableDirective, relayFields } from './relay-fields.ts'
import type { SchemaModel } from '../model/schema-model.ts'
import { OwnTypes, type SchemaTypes } from './own-types.ts'
import { sortedSchema } from './scalars.ts'
import { TypeNames } from './type-names.ts'
import {
  buildOrderType,
  buildWhereType,
  objectOrderType,
  objectWhereType,
  sortDirection,
} from './where-type.ts'
import { workloadTypes } from './workload-type.ts'

/** Additions to the content of the model. */
export interface SchemaOptions {
  /** Whether Relay can fetch objects again: `fetch__Pod(id:)`. Off by default. */
  readonly relay?: boolean | undefined
  /** Makes it a subgraph of Apollo Federation 2. Absent: it is none. */
  readonly federation?: FederationOptions | undefined
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
  { relay = false, federation, secretData = false, writes = false }: SchemaOptions = {},
): Generator<void, GraphQLSchema> {
  const { kinds, profile } = model
  const types = schemaTypes(model, secretData)
  const query = buildQueryType(kinds, types, {
    ...(relay && { further: () => relayFields(kinds, types) }),
    ...(federation && { protocol: () => federationFields(kinds, types, federation) }),
  })
  const subscription =
    kinds.length === 0 ? undefined : buildSubscriptionType(kinds, types, { writes })
  const mutation = writes && kinds.length > 0 ? buildMutationType(types) : undefined
  yield* resolveFields([query, mutation, subscription].filter((root) => root !== undefined))
  const schema = new GraphQLSchema({
    description,
    directives: [
      ...specifiedDirectives,
      semanticNonNullDirective,
      ...(relay ? [fetchableDirective] : []),
    ],
    query,
    ...(mutation === undefined ? {} : { mutation }),
    ...(subscription === undefined ? {} : { subscription }),
    types: kinds.map((kind) => types.objectType(kind)),
  })
  return profile.descriptions === false ? withoutDescriptions(schema) : schema
}

const description = [
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
    kinds.map(({ typeName }) => typeName),
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
    if (name === 'KubernetesObjectWhere') return objectWhereType(own.input('HealthStatusFilter'))
    if (name === 'KubernetesObjectOrder') return objectOrderType
    if (name === 'SortDirection') return sortDirection
    if (kind !== undefined && name === 'Kind') return objectType(kind)
    if (kind !== undefined && name === 'KindWhere') return types.whereType(kind)
    if (kind !== undefined && name === 'KindOrder') return types.orderType(kind)
    throw new TypeError(`there is no type ${name}`)
  })
  const types: SchemaTypes = {
    event: kinds.find(({ events }) => events !== undefined) && model.kindOfType('Event'),
    kubernetesObject: buildKubernetesObjectType(() => objectFields(types, 'any')),
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
  const workload = workloadTypes(kinds, { types, definitions, openApiTypes })
  return types
}

/** Builds a type once for each kind. A model has one object per kind, so identity compares kinds. */
function memoised<T>(build: (kind: Kind) => T): (kind: Kind) => T {
  const built = new Map<Kind, T>()
  return (kind) => {
    let value = built.get(kind)
    if (value === undefined) built.set(kind, (value = build(kind)))
    return value
  }
}

/**
 * Builds the fields of all types that the roots lead to, and yields after each type. Types build their fields on first
 * use, so the constructor of the schema would otherwise build all of them at once.
 */
function* resolveFields(roots: readonly GraphQLNamedType[]): Generator<void, void> {
  const seen = new Set<GraphQLNamedType>(roots)
  // The loop also visits the types that it adds.
  for (const type of seen) {
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const one of type.getInterfaces()) seen.add(one)
      for (const field of Object.values(type.getFields())) {
        seen.add(getNamedType(field.type))
        for (const argument of field.args) seen.add(getNamedType(argument.type))
      }
    } else if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) seen.add(getNamedType(field.type))
    }
    yield
  }
}

interface Described {
  description: string | null | undefined
}

/** A copy of the schema without descriptions, except those of scalars. */
function withoutDescriptions(schema: GraphQLSchema): GraphQLSchema {
  // The sort copies all types except scalars. Schemas share the types of filters and enumerations, so they must not change.
  const copy = sortedSchema(schema)
  silence(copy)
  for (const type of Object.values(copy.getTypeMap())) {
    if (isIntrospectionType(type) || isScalarType(type)) continue
    silence(type)
    if (isEnumType(type)) type.getValues().forEach(silence)
    if (isInputObjectType(type)) Object.values(type.getFields()).forEach(silence)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const field of Object.values(type.getFields())) {
      silence(field)
      field.args.forEach(silence)
    }
  }
  return copy
}

function silence(described: Described): void {
  described.description = undefined
}
