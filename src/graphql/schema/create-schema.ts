import {
  type GraphQLInputObjectType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  GraphQLSchema,
  specifiedDirectives,
} from 'graphql'
import { buildConnectionType, buildPageInfoType } from './connection-type.ts'
import { buildFacetType } from './facet-type.ts'
import { buildLivePageType, buildPageStepType } from './live-page-type.ts'
import { buildChangeType, buildFrameType, buildRemovalType } from './frame-type.ts'
import { buildGatewayClusterType } from './gateway-cluster-type.ts'
import { buildHealthType } from './health-type.ts'
import { atOnce } from '../../lib/event-loop.ts'
import type { Kind } from '../model/kind.ts'
import { buildKindType } from './kind-type.ts'
import { buildKubernetesObjectType, objectFields } from './object-fields.ts'
import { objectMetaType } from './object-meta-type.ts'
import { buildObjectRefType } from './object-ref-type.ts'
import { OpenApiTypes } from './open-api-types.ts'
import { buildOrderType } from './order-type.ts'
import { buildPrinterColumnType } from './printer-column-type.ts'
import { buildQueryType, buildSubscriptionType } from './root-types.ts'
import { fieldsOfProfile } from '../model/schema-profile.ts'
import { fetchableDirective, relayFields } from './relay-fields.ts'
import { resolveFields } from './resolved-fields.ts'
import type { SchemaModel } from '../model/schema-model.ts'
import type { SchemaTypes } from './schema-types.ts'
import { TypeNames } from './type-names.ts'
import { semanticNonNullDirective } from './semantic-non-null.ts'
import {
  buildUsedByWhereType,
  buildWhereManyType,
  buildWhereOneType,
} from './related-where-type.ts'
import { buildUsedByType } from './used-by-type.ts'
import { buildWhereType } from './where-type.ts'
import { withoutDescriptions } from './without-descriptions.ts'

/** What a schema has besides what its model says. */
export interface SchemaOptions {
  /** Whether Relay can fetch objects again: `fetch__Pod(id:)`. Off by default. */
  readonly relay?: boolean | undefined
  /** Whether Secrets have `data` and `type`, which are read for each answer as whoever asks. Off by default. */
  readonly secretData?: boolean | undefined
}

/**
 * The GraphQL schema of a model, complete with resolvers. Operations need a `ResolverContext` as their `contextValue`;
 * the root value is not used.
 */
export function createSchema(model: SchemaModel, options: SchemaOptions = {}): GraphQLSchema {
  return atOnce(schemaInSteps(model, options))
}

/** The same, in steps between which others may have their turn. */
export function* schemaInSteps(
  model: SchemaModel,
  { relay = false, secretData = false }: SchemaOptions = {},
): Generator<void, GraphQLSchema> {
  const { kinds, profile } = model
  const types = schemaTypes(model, secretData)
  const query = buildQueryType(kinds, types, relay ? () => relayFields(kinds, types) : undefined)
  const subscription = kinds.length === 0 ? undefined : buildSubscriptionType(kinds, types)
  yield* resolveFields([query, ...(subscription === undefined ? [] : [subscription])])
  const schema = new GraphQLSchema({
    directives: [
      ...specifiedDirectives,
      semanticNonNullDirective,
      ...(relay ? [fetchableDirective] : []),
    ],
    query,
    ...(subscription === undefined ? {} : { subscription }),
    types: kinds.map((kind) => types.objectType(kind)),
  })
  return profile.descriptions === false ? withoutDescriptions(schema) : schema
}

function schemaTypes(model: SchemaModel, secretData: boolean): SchemaTypes {
  const { kinds, definitions, aliases, profile } = model
  const hasField = fieldsOfProfile(profile) ?? (() => true)
  const names = new TypeNames(
    definitions,
    aliases,
    kinds.map(({ typeName }) => typeName),
  )
  const metadata = (name: string, named: boolean): GraphQLObjectType =>
    objectMetaType({
      name,
      named,
      scope: definitions.shared,
      openApiTypes: () => openApiTypes,
      hasField,
    })
  const openApiTypes = new OpenApiTypes({
    names,
    embeddedObjectMeta: metadata(names.claimOwn('EmbeddedObjectMeta'), false),
    hasField,
  })
  const pageInfo = buildPageInfoType()
  const facet = buildFacetType()
  const objectType = memoised((kind: Kind): GraphQLObjectType =>
    buildKindType(kind, { types, definitions, openApiTypes }),
  )
  const usedBy = buildUsedByType(() => types)
  const types: SchemaTypes = {
    event: kinds.find(({ events }) => events !== undefined) && model.kindOfType('Event'),
    kubernetesObject: buildKubernetesObjectType(() => objectFields(types, 'any')),
    objectRef: buildObjectRefType(() => types),
    health: buildHealthType(),
    printerColumn: buildPrinterColumnType(),
    gatewayCluster: buildGatewayClusterType(),
    kubernetesObjectConnection: buildConnectionType({
      typeName: 'KubernetesObject',
      pageInfo,
      facet,
      of: 'loadedKinds',
      nodeType: (): GraphQLInterfaceType => types.kubernetesObject,
    }),
    usedByConnection: buildConnectionType({
      typeName: 'UsedBy',
      pageInfo,
      facet,
      of: 'severalKinds',
      nodeType: () => usedBy,
    }),
    usedByWhereMany: buildUsedByWhereType(),
    objectMeta: metadata(names.claimOwn('ObjectMeta'), true),
    pageInfo,
    changeType: buildChangeType(),
    removal: buildRemovalType(),
    hasField,
    secretData,
    kindOf: (group, kind) => model.kindOf(group, kind),
    kind(typeName) {
      const kind = model.kindOfType(typeName)
      if (kind === undefined) throw new TypeError(`the model has no kind ${typeName}`)
      return kind
    },
    objectType,
    connectionType: memoised((kind: Kind): GraphQLObjectType =>
      buildConnectionType({
        typeName: kind.typeName,
        pageInfo,
        facet,
        of: 'oneKind',
        nodeType: () => objectType(kind),
      }),
    ),
    whereType: memoised((kind: Kind): GraphQLInputObjectType => buildWhereType(kind, types)),
    whereManyType: memoised((kind: Kind): GraphQLInputObjectType =>
      buildWhereManyType(kind, types),
    ),
    whereOneType: memoised((kind: Kind): GraphQLInputObjectType => buildWhereOneType(kind, types)),
    orderType: memoised((kind: Kind): GraphQLInputObjectType => buildOrderType(kind)),
    frameType: memoised((kind: Kind): GraphQLObjectType => buildFrameType(kind, types)),
    pageStep: buildPageStepType(),
    livePageType: memoised((kind: Kind): GraphQLObjectType => buildLivePageType(kind, types)),
  }
  return types
}

/** Kinds are compared by identity: a model has one object per kind. */
function memoised<T>(build: (kind: Kind) => T): (kind: Kind) => T {
  const built = new Map<Kind, T>()
  return (kind) => {
    let value = built.get(kind)
    if (value === undefined) built.set(kind, (value = build(kind)))
    return value
  }
}
