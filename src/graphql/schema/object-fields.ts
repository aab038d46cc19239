import {
  type GraphQLFieldConfigMap,
  GraphQLBoolean,
  GraphQLID,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { Fields } from '../../kubernetes/fields.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { objectKey, type Unstructured } from '../../kubernetes/object.ts'
import { GraphQLJson } from './scalars.ts'
import { eventArguments, ownedArguments } from './arguments.ts'
import { type FieldSource, fromSource } from './field-source.ts'
import { ownerChainOf, rootOwnerOf } from './object-ref.ts'
import { jsonAt, pathArgument, reportingFailures } from './resolvers.ts'
import type { Kind } from '../model/kind.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { ObjectCanArguments, OwnedArguments, RelationArguments } from './read-arguments.ts'
import type { PrinterColumn, ResolverContext, Row } from './read-context.ts'
import type { SchemaTypes } from './schema-types.ts'

/** The kind of the interface: each row's own kind counts instead. */
const anyKind = { group: '', kind: '' }
const text = new GraphQLNonNull(GraphQLString)

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
  const from = (source: FieldSource): ReturnType<typeof fromSource> =>
    fromSource(kind === 'any' ? { form: 'ofRowType' } : source)
  const fields: GraphQLFieldConfigMap<Row, ResolverContext> = {
    id: {
      type: new GraphQLNonNull(GraphQLID),
      description: 'An opaque id. A recreated object has another id.',
      resolve: idOfRow,
      ...from({ form: 'id' }),
    },
    clusterName: {
      type: text,
      description: 'The name of the cluster that the object is in.',
      resolve: (row) => row.cluster,
      ...from({ form: 'clusterName' }),
    },
    cluster: {
      type: types.own.object('GatewayCluster'),
      description: 'The cluster that the object is in.',
      resolve: (row, _args, { fleet }) => fleet.cluster(row.cluster),
      ...from({ form: 'cluster' }),
    },
    apiVersion: {
      type: text,
      description: 'The group and version that the object is served in: `apps/v1`, `v1`.',
      resolve: (row) => row.kind.apiVersion,
      ...from({ form: 'constant', value: kind === 'any' ? '' : kind.apiVersion }),
    },
    kind: {
      type: text,
      description: 'The kind as the API writes it: `Deployment`.',
      resolve: (row) => row.kind.resource.kind,
      ...from({ form: 'constant', value: kind === 'any' ? '' : kind.resource.kind }),
    },
    metadata: {
      type: new GraphQLNonNull(types.objectMeta),
      description: 'The metadata of the object: name, labels, owners.',
      resolve: (row) => row.object.metadata,
      ...from({ form: 'property', property: 'metadata', shape: { form: 'object' } }),
    },
    json: {
      type: GraphQLJson,
      description:
        'The object as the gateway caches it, or the value at a path of it: `spec.containers[*].image`, `metadata.labels["app.example/tier"]`.',
      args: { path: pathArgument },
      resolve: (row, { path }: { readonly path?: string | null }) => jsonAt(row.object, path),
      ...from({ form: 'json', argument: 'path' }),
    },
    health: {
      type: new GraphQLNonNull(types.own.object('Health')),
      description:
        'The health of the object, read from the object alone: from its status, as `kubectl rollout status` reads it, or from its conditions.',
      resolve: (row) => ruledHealth(healthRuleOf(row.kind.resource), row.object as Unstructured),
      ...from({ form: 'health', rule: healthRuleOf(kind === 'any' ? anyKind : kind.resource) }),
    },
    printerColumns: {
      type: new GraphQLList(new GraphQLNonNull(types.own.object('PrinterColumn'))),
      description: 'The columns of the object in `kubectl get`.',
      args: {
        wide: {
          type: GraphQLBoolean,
          description: 'Whether to include the columns of `kubectl get -o wide`.',
        },
      },
      resolve: (row, { wide }: { readonly wide?: boolean | null }, { read }) => {
        const { printed } = row.kind
        return printed === undefined
          ? read.printerColumns(row, wide === true)
          : printedColumns(printed, row.object as Unstructured, wide)
      },
      ...from({
        form: 'printerColumns',
        argument: 'wide',
        printed: kind === 'any' ? undefined : kind.printed,
      }),
    },
    owners: {
      type: new GraphQLList(new GraphQLNonNull(types.kubernetesObject)),
      description: 'The objects that own this one.',
      resolve: (row, _args, { read }) => read.owners(row),
      ...from({ form: 'owners' }),
    },
    ownerChain: {
      type: new GraphQLList(new GraphQLNonNull(types.own.object('ObjectRef'))),
      description:
        'The chain of owners, the nearest first. Each step leads to the controller, or to the first owner if none is the controller.',
      resolve: (row, _args, { read }) => ownerChainOf(row, read, types.kindOf),
      ...from({ form: 'ownerChain' }),
    },
    rootOwner: {
      type: types.own.object('ObjectRef'),
      description: 'The last of `ownerChain`; null if the object has no owner.',
      resolve: (row, _args, { read }) => rootOwnerOf(row, read, types.kindOf),
      ...from({ form: 'rootOwner' }),
    },
    can: {
      type: GraphQLBoolean,
      description:
        'Whether the viewer may do this to the object, as the API server decides; null if it does not answer. If the gateway does not authenticate users, the viewer may only read.',
      args: {
        verb: {
          type: text,
          description: 'The verb: `get`, `list`, `create`, `update`, `patch`, `delete`, …',
        },
        subresource: {
          type: GraphQLString,
          description: 'The subresource: `log`, `exec`, `scale`, …',
        },
      },
      resolve: (row, args: ObjectCanArguments, { permissions }) => permissions.canDo(row, args),
      ...from({ form: 'can' }),
    },
    owned: {
      type: types.own.object('KubernetesObjectConnection'),
      description:
        'The objects that this one owns directly. The gateway looks into the kinds that its kind is known to own, the cached kinds, and the kinds in `kinds`.',
      args: ownedArguments,
      resolve: (row, args: OwnedArguments, context, info) =>
        reportingFailures(context.read.owned(row, args), context, info),
      ...from({ form: 'owned' }),
    },
    ...(types.event === undefined ? {} : eventsField(types.event, types, kind)),
  }
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => types.hasField('KubernetesObject', name)),
  )
}

function eventsField(
  event: Kind,
  types: SchemaTypes,
  kind: Kind | 'any',
): GraphQLFieldConfigMap<Row, ResolverContext> {
  const relation = kind === 'any' ? undefined : kind.events
  return {
    events: {
      type: types.own.object('KindConnection', event),
      description: 'The Events about the object.',
      args: eventArguments(event, types),
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
