/*
 * `Workload`: the common fields of the kinds that run pods from a template. Their APIs have the same facts in different
 * places (`status.readyReplicas` of a Deployment is `status.numberReady` of a DaemonSet), so that a page would have to
 * select each kind apart. Here each kind gets `replicas`, `readyReplicas`, `updatedReplicas`, `podTemplate`, `strategy`
 * and `conditions` (`schema/gateway/kinds.graphql`), read from its own places. The interface has these, the fields of every object, and the relations that
 * all these kinds have, `pods` first. It does not implement `KubernetesObject`: it would lack the fields that other
 * subgraphs add there.
 */

import { GraphQLInterfaceType } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { type FieldConfigs, fromSource, shapeOf } from './field-source.ts'
import { objectFields } from './object-fields.ts'
import type { SchemaTypes } from './own-types.ts'

type WorkloadField =
  | 'replicas'
  | 'readyReplicas'
  | 'updatedReplicas'
  | 'podTemplate'
  | 'strategy'
  | 'conditions'

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

function placesOf({ resource: { group, kind } }: Kind): Places | undefined {
  return placesOfKinds.get(`${group}/${kind}`)
}

/** The interface of one schema, and the fields that a workload has by it. */
export interface WorkloadTypes {
  readonly type: GraphQLInterfaceType
  /** `undefined` if the kind is no workload. */
  fieldsOf(kind: Kind): FieldConfigs | undefined
}

export function workloadTypes(kinds: readonly Kind[], types: SchemaTypes): WorkloadTypes {
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
      return Object.fromEntries(
        Object.entries(at).map(([name, place]) => {
          const field = types.own.workloadField(name)
          const within = place.split('.')
          const property = within.pop() ?? ''
          const shape = shapeOf(field.type)
          return [name, { ...field, ...fromSource({ form: 'property', property, within, shape }) }]
        }),
      )
    },
  }
}
