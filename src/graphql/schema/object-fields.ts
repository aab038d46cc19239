import {
  type GraphQLFieldConfigMap,
  type GraphQLFieldResolver,
  GraphQLInterfaceType,
} from 'graphql'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { Fields } from '../../kubernetes/fields.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { objectKey, type Unstructured } from '../../kubernetes/object.ts'
import { type FieldSource, fromSource, type ScalarForm } from './field-source.ts'
import { unstoredMetadata } from './open-api-types.ts'
import { jsonAt, refusedAt, reportingFailures } from './resolvers.ts'
import { isUsed, type Kind, usedByField } from '../model/kind.ts'
import { objectIdOf } from '../model/object-id.ts'
import type {
  ObjectCanArguments,
  OwnedArguments,
  RelationArguments,
  UsedByArguments,
} from './read-arguments.ts'
import type { PrinterColumn, ResolverContext, Row } from './read-context.ts'
import type { FieldConfig, SchemaTypes } from './own-types.ts'

/** The kind of the interface: each row's own kind counts instead. */
const anyKind = { group: '', kind: '' }

/** The `id` of a row's object. */
export function idOfRow(row: Row): string {
  const { metadata } = row.object
  return objectIdOf(row, { key: objectKey(metadata), uid: metadata.uid ?? '' })
}

/** The fields of every kind, for the type of one kind or for the interface. Their source is a {@link Row}. */
export function objectFields(
  types: SchemaTypes,
  kind: Kind | 'any',
): GraphQLFieldConfigMap<Row, ResolverContext> {
  const isAny = kind === 'any'
  const field = (
    name: string,
    source: FieldSource,
    resolve: GraphQLFieldResolver<Row, ResolverContext>,
  ): GraphQLFieldConfigMap<Row, ResolverContext> => ({
    [name]: {
      ...types.own.objectField(name),
      resolve,
      ...fromSource(isAny ? { form: 'ofRowType' } : source),
    },
  })
  const ofMetadata = (
    property: 'name' | 'namespace' | 'uid' | 'creationTimestamp' | 'labels',
    scalar: ScalarForm,
  ): GraphQLFieldConfigMap<Row, ResolverContext> => {
    const shape = { form: 'scalar', scalar } as const
    const otherwise = unstoredMetadata.get(property)
    return field(
      property,
      {
        form: 'property',
        property,
        within: ['metadata'],
        shape,
        ...(otherwise === undefined ? {} : { otherwise }),
      },
      ({ object }) => object.metadata[property] ?? otherwise ?? null,
    )
  }
  const fields: GraphQLFieldConfigMap<Row, ResolverContext> = {
    ...field('id', { form: 'id' }, idOfRow),
    ...field('clusterName', { form: 'clusterName' }, (row) => row.cluster),
    ...field('cluster', { form: 'cluster' }, (row, _args, { read }) => read.cluster(row)),
    ...field(
      'apiVersion',
      { form: 'constant', value: isAny ? '' : kind.apiVersion },
      (row) => row.kind.apiVersion,
    ),
    ...field(
      'kind',
      { form: 'constant', value: isAny ? '' : kind.resource.kind },
      (row) => row.kind.resource.kind,
    ),
    ...field(
      'metadata',
      { form: 'property', property: 'metadata', shape: { form: 'object' } },
      (row) => row.object.metadata,
    ),
    ...ofMetadata('name', 'string'),
    ...ofMetadata('namespace', 'string'),
    ...ofMetadata('uid', 'string'),
    ...ofMetadata('creationTimestamp', 'dateTime'),
    ...ofMetadata('labels', 'stringMap'),
    ...field(
      'json',
      { form: 'json', argument: 'path' },
      (row, { path }: { readonly path?: string | null }) => jsonAt(row.object, path),
    ),
    ...field(
      'health',
      { form: 'health', rule: healthRuleOf(isAny ? anyKind : kind.resource) },
      (row) => ruledHealth(healthRuleOf(row.kind.resource), row.object as Unstructured),
    ),
    ...field(
      'printerColumns',
      { form: 'printerColumns', argument: 'wide', printed: isAny ? undefined : kind.printed },
      (row, { wide }: { readonly wide?: boolean | null }, { read }) => {
        const { printed } = row.kind
        return printed === undefined
          ? read.printerColumns(row, wide === true)
          : printedColumns(printed, row.object as Unstructured, wide)
      },
    ),
    ...field('owners', { form: 'owners' }, (row, _args, context, info) =>
      context.read.owners(row, refusedAt(context, info)),
    ),
    ...field('ownerChain', { form: 'ownerChain' }, (row, _args, context, info) =>
      context.read.ownerChain(row, refusedAt(context, info)),
    ),
    ...field(
      'rootOwner',
      { form: 'rootOwner' },
      (row, _args, context, info) =>
        context.read.ownerChain(row, refusedAt(context, info)).at(-1) ?? null,
    ),
    ...field('can', { form: 'can' }, (row, args: ObjectCanArguments, { read }) =>
      read.can(row, args),
    ),
    ...field('owned', { form: 'owned' }, (row, args: OwnedArguments, context, info) =>
      reportingFailures(context.read.owned(row, args), context, info),
    ),
    ...field(
      usedByField,
      !isAny && isUsed(kind) ? { form: 'usedBy', kind } : { form: 'ofRowType' },
      (row, args: UsedByArguments, { read }) => (isUsed(row.kind) ? read.usedBy(row, args) : null),
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
): GraphQLFieldConfigMap<Row, ResolverContext> {
  const relation = kind === 'any' ? undefined : kind.events
  return {
    events: {
      ...eventsConfig(event, types),
      resolve: (row, args: RelationArguments, { read }) =>
        row.kind.events === undefined ? null : read.follow(row, row.kind.events, args),
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
  fields: () => GraphQLFieldConfigMap<Row, ResolverContext>,
): GraphQLInterfaceType {
  return new GraphQLInterfaceType({
    name: 'KubernetesObject',
    description: 'An object of any kind.',
    fields,
    resolveType: (row: Row) => row.kind.typeName,
  })
}
