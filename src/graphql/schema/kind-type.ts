import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLFieldResolver,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import type { Unstructured } from '../../kubernetes/object.ts'
import { parsePath, type Path, valueAt } from '../../query/index/path.ts'
import { podAmountsOf } from '../../query/index/pod-total.ts'
import { graphqlNameOf } from '../naming/field-name.ts'
import type { Definitions } from '../model/definitions.ts'
import type {
  Kind,
  PolymorphicRelationField,
  ObjectRefField,
  RelationField,
} from '../model/kind.ts'
import { describeRelation } from '../model/kind.ts'
import { usageKindOf } from '../model/usage-kind.ts'
import { nativePropertiesOf } from '../model/kind-catalog.ts'
import { eventsConfig, objectFields } from './object-fields.ts'
import { propertyReader, refusedAt, reportingFailures } from './resolvers.ts'
import { objectRefOfKindAt, objectRefsAt, topmostBuiltIn } from './object-ref.ts'
import type { OpenApiTypes } from './open-api-types.ts'
import { fromSource } from './field-source.ts'
import type { OwnedArguments, RelationArguments } from './read-arguments.ts'
import type { ResolverContext, Row } from './read-context.ts'
import { GraphQLStringMap } from './scalars.ts'
import { type FieldConfig, type SchemaTypes, without } from './own-types.ts'
import type { WorkloadTypes } from './workload-type.ts'

/** The options of {@link buildKindType}. */
export interface KindTypeOptions {
  readonly types: SchemaTypes
  readonly definitions: Definitions
  readonly openApiTypes: OpenApiTypes
  readonly workload: WorkloadTypes
}

/** The type of a kind: the fields of every object, those of its API, and its relations. Its source is a {@link Row}. */
export function buildKindType(kind: Kind, options: KindTypeOptions): GraphQLObjectType {
  const { types, definitions, openApiTypes, workload } = options
  return new GraphQLObjectType<Row, ResolverContext>({
    name: kind.typeName,
    description:
      definitions.schemaOf(kind.resource)?.description ??
      `${kind.resource.kind} of ${kind.apiVersion}.`,
    interfaces: () =>
      workload.fieldsOf(kind) === undefined
        ? [types.kubernetesObject]
        : [types.kubernetesObject, workload.type],
    fields: () => ({
      ...objectFields(types, kind),
      ...partOf(kind, types, {
        ...nativeFields(kind, definitions, openApiTypes),
        ...workload.fieldsOf(kind),
        ...(types.secretData ? secretFields(kind) : {}),
        ...amountFields(kind, types),
        ...usageField(kind, types),
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
          kind.polymorphic.map((field) => [field.name, polymorphicField(field, types)]),
        ),
      }),
    }),
  })
}

/** The fields that the profile includes. */
function partOf(
  { typeName }: Kind,
  { hasField }: SchemaTypes,
  fields: GraphQLFieldConfigMap<Row, ResolverContext>,
): GraphQLFieldConfigMap<Row, ResolverContext> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => hasField(typeName, name)))
}

function nativeFields(
  kind: Kind,
  definitions: Definitions,
  openApiTypes: OpenApiTypes,
): GraphQLFieldConfigMap<Row, ResolverContext> {
  const fields: GraphQLFieldConfigMap<Row, ResolverContext> = {}
  const { resource, typeName } = kind
  const place = {
    scope: definitions.scopeOf(resource),
    group: resource.group,
    parent: typeName,
  }
  const parent = definitions.schemaOf(resource) ?? {}
  for (const property of nativePropertiesOf(kind, definitions)) {
    const config = openApiTypes.fieldOf(property, parent, { ...place, property })
    const { resolve } = config
    const read = propertyReader(property)
    fields[graphqlNameOf(property)] = {
      ...config,
      resolve:
        resolve === undefined
          ? (row) => read(row.object)
          : (row, args: unknown, context, info) => resolve(row.object, args, context, info),
    }
  }
  return fields
}

function relationField(
  from: Kind,
  relation: RelationField,
  types: SchemaTypes,
): GraphQLFieldConfig<Row, ResolverContext> {
  const to = types.kind(relation.definition.to)
  const description = describeRelation(relation, to)
  if (!relation.many) {
    return {
      type: types.objectType(to),
      description,
      resolve: (row, _args, context, info) =>
        context.read.followOne(row, relation, refusedAt(context, info)),
      ...fromSource({ form: 'relation', relation }),
    }
  }
  return {
    ...(isOfEvents(relation) ? eventsConfig(to, types) : relationConfig(from, to, types)),
    description,
    resolve: (row, args: RelationArguments, { read }) => read.follow(row, relation, args),
    ...fromSource({ form: 'relation', relation }),
  }
}

/** Only relations from a cluster-scoped to a namespaced kind take namespaces. */
function relationConfig(from: Kind, to: Kind, { own }: SchemaTypes): FieldConfig {
  const config = own.kindField('relation', to)
  if (!from.resource.namespaced) return config
  return { ...config, args: without(config.args, ['namespace', 'namespaces']) }
}

/** Whether the last step of a relation is `events`. */
function isOfEvents({ definition }: RelationField): boolean {
  return definition.form === 'through' && definition.steps.at(-1)?.endsWith('.events') === true
}

function polymorphicField(
  field: PolymorphicRelationField,
  types: SchemaTypes,
): GraphQLFieldConfig<Row, ResolverContext> {
  const { description } = field
  return {
    ...types.own.objectField('owned'),
    description,
    resolve: (row, args: OwnedArguments, context, info) =>
      reportingFailures(context.read.followPolymorphic(row, field, args), context, info),
    ...fromSource({ form: 'polymorphic', field }),
  }
}

function objectRefField(
  field: ObjectRefField,
  types: SchemaTypes,
): GraphQLFieldConfig<Row, ResolverContext> {
  const { many } = field
  const description =
    field.description ??
    `${many ? 'The objects' : 'The object'} that it refers to: ${field.paths.map((path) => `\`${path}\``).join(', ')}.`
  const paths = field.paths.map(parsePath)
  const config = { description, ...fromSource({ form: 'objectRef', field }) }
  const type = types.own.object('ObjectRef')
  if (many) {
    return {
      ...config,
      type: new GraphQLList(new GraphQLNonNull(type)),
      resolve: (row) => objectRefsAt(paths, row, types.kindOf),
    }
  }
  return { ...config, type, resolve: oneObjectRef(field, paths, types) }
}

function oneObjectRef(
  { isTopmost, kindAt }: ObjectRefField,
  paths: readonly Path[],
  types: SchemaTypes,
): GraphQLFieldResolver<Row, ResolverContext> {
  if (isTopmost === true) {
    return (row, _args, context, info) =>
      topmostBuiltIn(context.read.ownerChain(row, refusedAt(context, info)))
  }
  if (kindAt === undefined) return (row) => objectRefsAt(paths, row, types.kindOf)[0] ?? null
  const kindPath = parsePath(kindAt.path)
  return (row, _args, context, info) => {
    const other = context.read.followOne(row, kindAt.relation, refusedAt(context, info))
    return other && objectRefOfKindAt(paths, row, valueAt(kindPath, other.object), types)
  }
}

/** The fields `requests` and `limits` of pods. */
function amountFields(
  { resource }: Kind,
  { own }: SchemaTypes,
): GraphQLFieldConfigMap<Row, ResolverContext> {
  if (resource.group !== '' || resource.kind !== 'Pod') return {}
  const field = (
    list: 'requests' | 'limits',
    description: string,
  ): GraphQLFieldConfig<Row, ResolverContext> => ({
    type: own.object('ResourceAmounts'),
    description,
    resolve: ({ object }) => podAmountsOf(list, object as Unstructured),
    ...fromSource({ form: 'podAmounts', list }),
  })
  return {
    requests: field(
      'requests',
      'What the scheduler reserves for the pod as a whole: the values of `cpuRequests` and `memoryRequests`.',
    ),
    limits: field(
      'limits',
      'The limits of the pod as a whole: the values of `cpuLimits` and `memoryLimits`. Containers without a limit count nothing.',
    ),
  }
}

/** The field `usage` of the kinds that metrics.k8s.io measures. Others have none. */
function usageField(kind: Kind, { own }: SchemaTypes): GraphQLFieldConfigMap<Row, ResolverContext> {
  if (usageKindOf(kind) === undefined) return {}
  return {
    usage: {
      type: own.object('ResourceUsage'),
      description:
        'What it used when it was last measured, by metrics.k8s.io. The gateway reads the measurements of a cluster at an interval while they are asked for. Null if there is none, as of a pod that has just started, and with an error if the cluster does not serve them or the viewer may not see them.',
      resolve: (row, _args, context, info) => context.read.usage(row, refusedAt(context, info)),
      ...fromSource({ form: 'usage' }),
    },
  }
}

/** The fields `data` and `type` of Secrets, which the caches leave out. Other kinds have none of them. */
function secretFields({
  resource,
  metadataOnly,
}: Kind): GraphQLFieldConfigMap<Row, ResolverContext> {
  if (!metadataOnly || resource.group !== '' || resource.kind !== 'Secret') return {}
  return {
    data: {
      type: GraphQLStringMap,
      description:
        'The values of the Secret in base64, by key. The gateway reads them from the API server for each answer, with the bearer token of the caller. Null if the Secret is gone.',
      resolve: (row, _args, { read }) => read.secret(row)?.data ?? null,
      ...fromSource({ form: 'secretContents' }),
    },
    type: {
      type: GraphQLString,
      description:
        'The purpose of `data`: `kubernetes.io/tls`. The gateway reads it as it reads `data`.',
      resolve: (row, _args, { read }) => read.secret(row)?.type ?? null,
      ...fromSource({ form: 'secretContents' }),
    },
  }
}
