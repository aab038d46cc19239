/*
 * The fields of every object, for the type of one kind and for the interface `KubernetesObject`. One table has their
 * sources; `schema/gateway/kinds.graphql` has their definitions.
 */

import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { Fields } from '../../kubernetes/fields.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { type FieldConfigs, type FieldSource, fromSource, type ScalarForm } from './field-source.ts'
import { unstoredMetadata } from './open-api-types.ts'
import { isUsed, type Kind, usedByField } from '../model/kind.ts'
import type { PrinterColumn } from './gateway-types.ts'
import type { FieldConfig, SchemaTypes } from './own-types.ts'

/** A stand-in for the interface, where the kind of each row counts. */
const anyKind = { group: '', kind: '' }

export function objectFields(types: SchemaTypes, kind: Kind | 'any'): FieldConfigs {
  const isAny = kind === 'any'
  const { own } = types
  const sources: Readonly<Record<string, FieldSource>> = {
    id: { form: 'id' },
    clusterName: { form: 'clusterName' },
    cluster: { form: 'cluster' },
    apiVersion: { form: 'constant', value: isAny ? '' : kind.apiVersion },
    kind: { form: 'constant', value: isAny ? '' : kind.resource.kind },
    metadata: { form: 'property', property: 'metadata', shape: { form: 'object' } },
    name: metadata('name', 'string'),
    namespace: metadata('namespace', 'string'),
    uid: metadata('uid', 'string'),
    creationTimestamp: metadata('creationTimestamp', 'dateTime'),
    labels: metadata('labels', 'stringMap'),
    json: { form: 'json', argument: 'path' },
    health: { form: 'health', rule: healthRuleOf(isAny ? anyKind : kind.resource) },
    printerColumns: {
      form: 'printerColumns',
      argument: 'wide',
      printed: isAny ? undefined : kind.printed,
    },
    owners: { form: 'owners' },
    ownerChain: { form: 'ownerChain' },
    rootOwner: { form: 'rootOwner' },
    can: { form: 'can' },
    owned: { form: 'owned' },
    [usedByField]: !isAny && isUsed(kind) ? { form: 'usedBy', kind } : { form: 'ofRowType' },
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

/** A member of `metadata` as a field of the object itself. */
function metadata(property: string, scalar: ScalarForm): FieldSource {
  const shape = { form: 'scalar', scalar } as const
  const otherwise = unstoredMetadata.get(property)
  const member = { form: 'property', property, within: ['metadata'], shape } as const
  return otherwise === undefined ? member : { ...member, otherwise }
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
