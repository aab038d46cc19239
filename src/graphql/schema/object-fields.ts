/*
 * The fields of every object, for the type of one kind and for the interface `KubernetesObject`. One table has their
 * sources; `schema/gateway/kinds.graphql` has their definitions.
 */

import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { Fields } from '../../kubernetes/fields.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { type FieldConfigs, type FieldSource, fromSource, shapeOf } from './field-source.ts'
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
    ...Object.fromEntries(
      ['name', 'namespace', 'uid', 'creationTimestamp', 'labels'].map((property) => {
        const otherwise = unstoredMetadata.get(property)
        const shape = shapeOf(own.objectField(property).type)
        const source = { form: 'property', property, within: ['metadata'], shape } as const
        return [property, otherwise === undefined ? source : { ...source, otherwise }]
      }),
    ),
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
