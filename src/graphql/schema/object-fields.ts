import { type GraphQLFieldConfigMap, GraphQLInterfaceType } from 'graphql'
import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { Fields } from '../../kubernetes/fields.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { type FieldSource, fromSource, type ScalarForm } from './field-source.ts'
import { unstoredMetadata } from './open-api-types.ts'
import { isUsed, type Kind, usedByField } from '../model/kind.ts'
import type { PrinterColumn } from './read-context.ts'
import type { FieldConfig, SchemaTypes } from './own-types.ts'

/** The kind of the interface: each row's own kind counts instead. */
const anyKind = { group: '', kind: '' }

/** The fields of every kind, for the type of one kind or for the interface. */
export function objectFields(
  types: SchemaTypes,
  kind: Kind | 'any',
): GraphQLFieldConfigMap<unknown, unknown> {
  const isAny = kind === 'any'
  const field = (name: string, source: FieldSource): GraphQLFieldConfigMap<unknown, unknown> => ({
    [name]: {
      ...types.own.objectField(name),
      ...fromSource(isAny ? { form: 'ofRowType' } : source),
    },
  })
  const ofMetadata = (
    property: 'name' | 'namespace' | 'uid' | 'creationTimestamp' | 'labels',
    scalar: ScalarForm,
  ): GraphQLFieldConfigMap<unknown, unknown> => {
    const shape = { form: 'scalar', scalar } as const
    const otherwise = unstoredMetadata.get(property)
    return field(property, {
      form: 'property',
      property,
      within: ['metadata'],
      shape,
      ...(otherwise === undefined ? {} : { otherwise }),
    })
  }
  const fields: GraphQLFieldConfigMap<unknown, unknown> = {
    ...field('id', { form: 'id' }),
    ...field('clusterName', { form: 'clusterName' }),
    ...field('cluster', { form: 'cluster' }),
    ...field('apiVersion', { form: 'constant', value: isAny ? '' : kind.apiVersion }),
    ...field('kind', { form: 'constant', value: isAny ? '' : kind.resource.kind }),
    ...field('metadata', { form: 'property', property: 'metadata', shape: { form: 'object' } }),
    ...ofMetadata('name', 'string'),
    ...ofMetadata('namespace', 'string'),
    ...ofMetadata('uid', 'string'),
    ...ofMetadata('creationTimestamp', 'dateTime'),
    ...ofMetadata('labels', 'stringMap'),
    ...field('json', { form: 'json', argument: 'path' }),
    ...field('health', { form: 'health', rule: healthRuleOf(isAny ? anyKind : kind.resource) }),
    ...field('printerColumns', {
      form: 'printerColumns',
      argument: 'wide',
      printed: isAny ? undefined : kind.printed,
    }),
    ...field('owners', { form: 'owners' }),
    ...field('ownerChain', { form: 'ownerChain' }),
    ...field('rootOwner', { form: 'rootOwner' }),
    ...field('can', { form: 'can' }),
    ...field('owned', { form: 'owned' }),
    ...field(
      usedByField,
      !isAny && isUsed(kind) ? { form: 'usedBy', kind } : { form: 'ofRowType' },
    ),
    ...(types.event === undefined ? {} : eventsField(types.event, types, kind)),
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

function eventsField(
  event: Kind,
  types: SchemaTypes,
  kind: Kind | 'any',
): GraphQLFieldConfigMap<unknown, unknown> {
  const relation = kind === 'any' ? undefined : kind.events
  return {
    events: {
      ...eventsConfig(event, types),
      ...fromSource(
        relation === undefined ? { form: 'ofRowType' } : { form: 'relation', relation },
      ),
    },
  }
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

/** `KubernetesObject`: the common fields of all kinds. */
export function buildKubernetesObjectType(
  fields: () => GraphQLFieldConfigMap<unknown, unknown>,
): GraphQLInterfaceType {
  return new GraphQLInterfaceType({
    name: 'KubernetesObject',
    description: 'An object of any kind.',
    fields,
  })
}
