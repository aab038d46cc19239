/*
 * `Workload`: the common fields of the kinds that run pods from a template. Their APIs have the same facts in different
 * places (`status.readyReplicas` of a Deployment is `status.numberReady` of a DaemonSet), so that a page would have to
 * select each kind apart. Here each kind gets `replicas`, `readyReplicas`, `updatedReplicas`, `podTemplate`, `strategy`
 * and `conditions`, read from its own places. The interface has these, the fields of every object, and the relations that
 * all these kinds have, `pods` first. It does not implement `KubernetesObject`: it would lack the fields that other
 * subgraphs add there.
 */

import { GraphQLInterfaceType, GraphQLList, GraphQLNonNull } from 'graphql'
import type { OpenApiSchema } from '../../kubernetes/open-api.ts'
import type { Definitions } from '../model/definitions.ts'
import type { Kind } from '../model/kind.ts'
import { type FieldConfigs, fromSource } from './field-source.ts'
import { objectFields } from './object-fields.ts'
import type { OpenApiTypes, Output } from './open-api-types.ts'
import type { SchemaTypes } from './own-types.ts'

const descriptions = {
  replicas: 'The number of pods that should run. Null for a CronJob.',
  readyReplicas: 'The number of pods that are ready; null if the API has not counted any yet.',
  updatedReplicas:
    'The number of pods of the current pod template; null for kinds that replace none.',
  podTemplate: 'What its pods are made from.',
  strategy:
    'How pods are replaced when the pod template changes; null for kinds that replace none.',
  conditions: 'What the controller says about the workload.',
} as const

type WorkloadField = keyof typeof descriptions

const workloadFields = Object.keys(descriptions) as WorkloadField[]

type Places = Readonly<Record<WorkloadField, string>>

/** The places of the fields in the API of each kind. A field without a value is null: a CronJob has no replicas. */
const places: Places = {
  replicas: 'spec.replicas',
  readyReplicas: 'status.readyReplicas',
  updatedReplicas: 'status.updatedReplicas',
  podTemplate: 'spec.template',
  strategy: 'spec.strategy',
  conditions: 'status.conditions',
}

const placesOfKinds: ReadonlyMap<string, Places> = new Map([
  ['apps/Deployment', places],
  ['apps/StatefulSet', { ...places, strategy: 'spec.updateStrategy' }],
  ['apps/ReplicaSet', places],
  ['/ReplicationController', places],
  [
    'apps/DaemonSet',
    {
      ...places,
      replicas: 'status.desiredNumberScheduled',
      readyReplicas: 'status.numberReady',
      updatedReplicas: 'status.updatedNumberScheduled',
      strategy: 'spec.updateStrategy',
    },
  ],
  ['batch/Job', { ...places, replicas: 'spec.parallelism', readyReplicas: 'status.ready' }],
  ['batch/CronJob', { ...places, podTemplate: 'spec.jobTemplate.spec.template' }],
])

const text: OpenApiSchema = { type: 'string' }
const integer: OpenApiSchema = { type: 'integer', format: 'int32' }
const intOrString: OpenApiSchema = { 'x-kubernetes-int-or-string': true }

const strategySchema: OpenApiSchema = {
  description: 'How pods are replaced when the pod template changes.',
  properties: {
    type: { ...text, description: '`RollingUpdate`, `Recreate` or `OnDelete`.' },
    rollingUpdate: {
      description: 'The steps of a RollingUpdate.',
      properties: {
        maxSurge: { ...intOrString, description: 'The pods beyond `replicas`, at most.' },
        maxUnavailable: { ...intOrString, description: 'The pods that may be missing, at most.' },
        partition: {
          ...integer,
          description: 'The lowest ordinal that is replaced. Only StatefulSets have it.',
        },
      },
    },
  },
}

const conditionSchema: OpenApiSchema = {
  description: 'One condition of a workload.',
  properties: {
    type: { ...text, description: 'The name of the condition: `Progressing`.' },
    status: { ...text, description: '`True`, `False` or `Unknown`.' },
    reason: { ...text, description: 'Why, in one word.' },
    message: { ...text, description: 'Why, in a sentence.' },
    lastTransitionTime: {
      ...text,
      format: 'date-time',
      description: 'When `status` last changed.',
    },
  },
}

function placesOf({ resource: { group, kind } }: Kind): Places | undefined {
  return placesOfKinds.get(`${group}/${kind}`)
}

/** The interface of one schema, and the fields that a workload has by it. */
export interface WorkloadTypes {
  readonly type: GraphQLInterfaceType
  /** `undefined` if the kind is no workload. */
  fieldsOf(kind: Kind): FieldConfigs | undefined
}

export function workloadTypes(
  kinds: readonly Kind[],
  options: {
    readonly types: SchemaTypes
    readonly definitions: Definitions
    readonly openApiTypes: OpenApiTypes
  },
): WorkloadTypes {
  const { types, definitions, openApiTypes } = options
  const place = { scope: definitions.shared, group: 'apps', parent: 'Workload', property: '' }
  const json = (schema: OpenApiSchema): Output => openApiTypes.outputOf(schema, place)
  const condition = openApiTypes.objectType('WorkloadCondition', conditionSchema, place)
  const outputs: Readonly<Record<WorkloadField, Output>> = {
    replicas: json(integer),
    readyReplicas: json(integer),
    updatedReplicas: json(integer),
    podTemplate: json({ $ref: '#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec' }),
    strategy: {
      type: openApiTypes.objectType('WorkloadStrategy', strategySchema, place),
      shape: { form: 'object' },
    },
    conditions: {
      type: new GraphQLList(new GraphQLNonNull(condition)),
      shape: { form: 'list', items: { form: 'object' } },
    },
  }
  const type = new GraphQLInterfaceType({
    name: 'Workload',
    description: 'An object that runs pods made from a template.',
    fields() {
      const [first = {}, ...others] = kinds
        .filter((kind) => placesOf(kind) !== undefined)
        .map((kind) => types.objectType(kind).getFields())
      const shared = Object.values(first).filter((field) =>
        others.every((fields) => String(fields[field.name]?.type) === String(field.type)),
      )
      const fields = shared.map(({ name, type: output, description, args }) => {
        const taken = Object.fromEntries(args.map((argument) => [argument.name, argument]))
        const config = { type: output, description, args: taken }
        return [name, { ...config, ...fromSource({ form: 'ofRowType' }) }] as const
      })
      return { ...Object.fromEntries(fields), ...objectFields(types, 'any') }
    },
  })
  return {
    type,
    fieldsOf(kind) {
      const at = placesOf(kind)
      if (at === undefined) return undefined
      const field = (name: WorkloadField): FieldConfigs[string] => {
        const { type: output, shape } = outputs[name]
        const within = at[name].split('.')
        const property = within.pop() ?? ''
        return {
          type: output,
          description: descriptions[name],
          ...fromSource({ form: 'property', property, within, shape }),
        }
      }
      return Object.fromEntries(workloadFields.map((name) => [name, field(name)]))
    },
  }
}
