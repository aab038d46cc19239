import { GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql'
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
import type { OpenApiTypes } from './open-api-types.ts'
import { type FieldConfigs, fromSource } from './field-source.ts'
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

/** The type of a kind: the fields of every object, those of its API, and its relations. */
export function buildKindType(kind: Kind, options: KindTypeOptions): GraphQLObjectType {
  const { types, definitions, openApiTypes, workload } = options
  return new GraphQLObjectType({
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
function partOf({ typeName }: Kind, { hasField }: SchemaTypes, fields: FieldConfigs): FieldConfigs {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => hasField(typeName, name)))
}

function nativeFields(
  kind: Kind,
  definitions: Definitions,
  openApiTypes: OpenApiTypes,
): FieldConfigs {
  const fields: FieldConfigs = {}
  const { resource, typeName } = kind
  const place = {
    scope: definitions.scopeOf(resource),
    group: resource.group,
    parent: typeName,
  }
  const parent = definitions.schemaOf(resource) ?? {}
  for (const property of nativePropertiesOf(kind, definitions)) {
    fields[graphqlNameOf(property)] = openApiTypes.fieldOf(property, parent, { ...place, property })
  }
  return fields
}

function relationField(
  from: Kind,
  relation: RelationField,
  types: SchemaTypes,
): FieldConfigs[string] {
  const to = types.kind(relation.definition.to)
  const description = describeRelation(relation, to)
  if (!relation.many) {
    return {
      type: types.objectType(to),
      description,
      ...fromSource({ form: 'relation', relation }),
    }
  }
  return {
    ...(isOfEvents(relation) ? eventsConfig(to, types) : relationConfig(from, to, types)),
    description,
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
): FieldConfigs[string] {
  const { description } = field
  return {
    ...types.own.objectField('owned'),
    description,
    ...fromSource({ form: 'polymorphic', field }),
  }
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

/** The fields `requests` and `limits` of pods. */
function amountFields({ resource }: Kind, { own }: SchemaTypes): FieldConfigs {
  if (resource.group !== '' || resource.kind !== 'Pod') return {}
  const field = (list: 'requests' | 'limits', description: string): FieldConfigs[string] => ({
    type: own.object('ResourceAmounts'),
    description,
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
function usageField(kind: Kind, { own }: SchemaTypes): FieldConfigs {
  if (usageKindOf(kind) === undefined) return {}
  return {
    usage: {
      type: own.object('ResourceUsage'),
      description:
        'What it used when it was last measured, by metrics.k8s.io. The gateway reads the measurements of a cluster at an interval while they are asked for. Null if there is none, as of a pod that has just started, and with an error if the cluster does not serve them or the viewer may not see them.',
      ...fromSource({ form: 'usage' }),
    },
  }
}

/** The fields `data` and `type` of Secrets, which the caches leave out. Other kinds have none of them. */
function secretFields({ resource, metadataOnly }: Kind): FieldConfigs {
  if (!metadataOnly || resource.group !== '' || resource.kind !== 'Secret') return {}
  return {
    data: {
      type: GraphQLStringMap,
      description:
        'The values of the Secret in base64, by key. The gateway reads them from the API server for each answer, with the bearer token of the caller. Null if the Secret is gone.',
      ...fromSource({ form: 'secretContents' }),
    },
    type: {
      type: GraphQLString,
      description:
        'The purpose of `data`: `kubernetes.io/tls`. The gateway reads it as it reads `data`.',
      ...fromSource({ form: 'secretContents' }),
    },
  }
}
