/*
 * The fields of every object, for the type of one kind and for the interface `KubernetesObject`, and those of workloads.
 * Tables here have their sources; `schema/gateway/kinds.graphql` has their definitions.
 *
 * `Workload` has the common fields of the kinds that run pods from a template. Their APIs have the same facts in different
 * places (`status.readyReplicas` of a Deployment is `status.numberReady` of a DaemonSet), so that a page would have to
 * select each kind apart. Here each kind gets them, read from its own places. The interface has these, the fields of every
 * object, and the relations that all these kinds have, `pods` first. It does not implement `KubernetesObject`: it would
 * lack the fields that other subgraphs add there.
 */

import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { Fields } from '../../kubernetes/fields.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { type FieldConfigs, type FieldSource, fromSource, shapeOf } from './field-source.ts'
import { unstoredMetadata } from './open-api-types.ts'
import { isNamespace, type Kind, usedByField } from '../model/kind.ts'
import type { PrinterColumn } from './gateway-types.ts'
import type { FieldConfig, SchemaTypes } from './own-types.ts'
import { GraphQLInterfaceType } from 'graphql'

/** A stand-in for the interface, where the kind of each row counts. */
const anyKind = { group: '', kind: '' }

export function objectFields(types: SchemaTypes, kind: Kind | 'any'): FieldConfigs {
  const isAny = kind === 'any'
  const { own } = types
  const sources: Readonly<Record<string, FieldSource>> = {
    id: { form: 'id' },
    nameId: { form: 'nameId' },
    clusterName: { form: 'clusterName' },
    cluster: { form: 'cluster' },
    apiVersion: { form: 'constant', value: isAny ? '' : kind.apiVersion },
    kind: { form: 'constant', value: isAny ? '' : kind.resource.kind },
    metadata: { form: 'property', property: 'metadata', shape: { form: 'object' } },
    ...Object.fromEntries(
      ['name', 'namespace', 'uid', 'creationTimestamp', 'labels'].map((property) => {
        const otherwise = unstoredMetadata.get(property)
        const shape = shapeOf(own.objectField(property).type)
        const source = { form: 'property', property, within: ['metadata'], shape } as const
        return [property, otherwise === undefined ? source : { ...source, otherwise }]
      }),
    ),
    json: { form: 'json', argument: 'path' },
    health:
      !isAny && isNamespace(kind)
        ? { form: 'namespaceHealth' }
        : { form: 'health', rule: healthRuleOf(isAny ? anyKind : kind.resource) },
    printerColumns: {
      form: 'printerColumns',
      argument: 'wide',
      printed: isAny ? undefined : kind.printed,
    },
    owners: { form: 'owners' },
    ownerChain: { form: 'ownerChain' },
    rootOwner: { form: 'rootOwner' },
    managedBy: { form: 'managedBy' },
    can: { form: 'can' },
    history: { form: 'history' },
    owned: { form: 'owned' },
    [usedByField]: isAny ? { form: 'ofRowType' } : { form: 'usedBy', kind },
  }
  const fields: FieldConfigs = Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [
      name,
      { ...own.objectField(name), ...fromSource(isAny ? { form: 'ofRowType' } : source) },
    ]),
  )
  if (types.event !== undefined) {
    const relation = isAny ? undefined : kind.events
    fields['events'] = {
      ...eventsConfig(types.event, types),
      ...fromSource(
        relation === undefined ? { form: 'ofRowType' } : { form: 'relation', relation },
      ),
    }
  }
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => types.hasField('KubernetesObject', name)),
  )
}

/** The field `events`. The oldest come first by default, so that `last: 3` are the newest three. */
export function eventsConfig(event: Kind, { own }: SchemaTypes): FieldConfig {
  const config = own.kindField('events', event)
  const { orderBy } = config.args
  if (orderBy === undefined || !event.indexes.some(({ name }) => name === 'lastSeen')) return config
  const oldestFirst = { ...orderBy, default: { value: [{ lastSeen: 'ASC' }] } }
  return { ...config, args: { ...config.args, orderBy: oldestFirst } }
}

/** The columns of an object in `kubectl get`, or in `kubectl get -o wide`. */
export function printedColumns(
  { columns }: PrintedKind,
  object: Fields,
  wide: boolean | null | undefined,
): readonly PrinterColumn[] {
  return columns.flatMap(({ name, type, format, priority, cell }) => {
    if (priority > 0 && wide !== true) return []
    const { value, since = null } = cell(object)
    const shown = type === 'date' ? since : (value ?? null)
    return [{ name, type, format, priority, value: shown, since }]
  })
}

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
