import {
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import type { Fields } from '../../kubernetes/fields.ts'
import type { Health, HealthStatus } from '../../kubernetes/health/health.ts'
import type { ObjectMeta } from '../../kubernetes/object.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import { type DefinitionScope, objectMetaDefinition } from '../model/definitions.ts'
import type { HasField } from '../model/schema-profile.ts'
import { fromSource, ownFields } from './field-source.ts'
import { idOfObjectRef } from './object-ref.ts'
import type { OpenApiTypes } from './open-api-types.ts'
import type { ObjectRef, PrinterColumn, ResolverContext, UseSource } from './read-context.ts'
import { GraphQLDateTime, GraphQLJson } from './scalars.ts'
import type { SchemaTypes } from './schema-types.ts'

const text = new GraphQLNonNull(GraphQLString)

/** The options of {@link objectMetaType}. */
export interface ObjectMetaOptions {
  readonly name: string
  readonly scope: DefinitionScope
  /** Whether objects always have a name. Templates need none. */
  readonly named: boolean
  readonly openApiTypes: () => OpenApiTypes
  readonly hasField: HasField
}

/** The caches leave these properties out. */
const dropped = new Set(['managedFields'])

/** The type of `metadata`: the server's fields, and `label` and `annotation` by key. */
export function objectMetaType({
  name,
  scope,
  named,
  openApiTypes,
  hasField,
}: ObjectMetaOptions): GraphQLObjectType {
  const schema = scope.find(objectMetaDefinition) ?? {}
  const properties = Object.keys(schema.properties ?? {}).filter(
    (property) => !dropped.has(property) && hasField(name, property),
  )
  return new GraphQLObjectType<ObjectMeta, ResolverContext>({
    name,
    description: schema.description,
    fields() {
      const fields: GraphQLFieldConfigMap<unknown, ResolverContext> = {}
      const place = { scope, group: '', parent: name, property: '' }
      for (const property of properties)
        fields[property] = openApiTypes().fieldOf(property, schema, place)
      if (named && fields['name'] !== undefined) fields['name'] = { ...fields['name'], type: text }
      return {
        ...fields,
        label: mapField('labels', 'The value of one label; null if the object lacks it.'),
        annotation: mapField(
          'annotations',
          'The value of one annotation; null if the object lacks it.',
        ),
      }
    },
  })
}

function mapField(
  map: 'labels' | 'annotations',
  description: string,
): GraphQLFieldConfigMap<ObjectMeta, ResolverContext>[string] {
  return {
    type: GraphQLString,
    description,
    args: {
      key: { type: text, description: 'The whole key: `app.example/tier`.' },
    },
    resolve(metadata, { key }: { readonly key: string }) {
      const values = metadata[map]
      return values !== undefined && values !== null && Object.hasOwn(values, key)
        ? values[key]
        : null
    },
    ...fromSource({ form: 'mapValue', property: map, argument: 'key' }),
  }
}

/** `ObjectRef`, whose source is an {@link ObjectRef}. */
export function buildObjectRefType(types: () => SchemaTypes): GraphQLObjectType {
  return new GraphQLObjectType<ObjectRef, ResolverContext>({
    name: 'ObjectRef',
    description: 'A reference to an object of any kind, whether or not the object exists.',
    fields: () =>
      ownFields<'objectRef', ObjectRef, ResolverContext>('objectRef', {
        id: {
          type: new GraphQLNonNull(GraphQLID),
          description:
            'Finds the object by `object(id:)`. It differs from the `id` of the object if only its name is known.',
          resolve: idOfObjectRef,
        },
        apiVersion: { type: GraphQLString, description: 'Null if only the group is known.' },
        kind: { type: text, description: 'The kind as the API writes it: `Deployment`.' },
        namespace: { type: GraphQLString, description: 'Null for cluster-scoped objects.' },
        name: { type: text, description: 'The `metadata.name` of the object.' },
        object: {
          type: types().kubernetesObject,
          description: 'The object itself; null if it does not exist or its kind is not served.',
          resolve: (ref, _args, { read }) => read.referenced(ref),
        },
      }),
  })
}

/** `UsedBy`, whose source is a {@link UseSource}. */
export function buildUsedByType(types: () => SchemaTypes): GraphQLObjectType {
  return new GraphQLObjectType<UseSource, ResolverContext>({
    name: 'UsedBy',
    description: 'An object that uses another one.',
    fields: () =>
      ownFields<'use', UseSource, ResolverContext>('use', {
        object: {
          type: new GraphQLNonNull(types().objectRef),
          description: 'The using object.',
        },
        paths: {
          type: new GraphQLNonNull(new GraphQLList(text)),
          description:
            'Where the using object names the other one: `spec.containers[0].envFrom[1].configMapRef.name`.',
          resolve: (use) => use.paths(),
        },
      }),
  })
}

const healthStatus = new GraphQLEnumType({
  name: 'HealthStatus',
  description: 'The health of an object.',
  values: {
    HEALTHY: { description: 'The object is in its desired state, or done.' },
    SUSPENDED: { description: 'The object is stopped on purpose.' },
    TERMINATING: { description: 'The object is being deleted.' },
    PROGRESSING: { description: 'The object is moving to its desired state.' },
    UNKNOWN: { description: 'The component that reports about the object has stopped reporting.' },
    DEGRADED: { description: 'Something is wrong, and waiting alone does not repair it.' },
  } satisfies Record<HealthStatus, object>,
})

/** `Health`, whose source is a {@link Health}. */
export function buildHealthType(): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'Health',
    description:
      'The health of an object, read from the object alone: from its status, as `kubectl rollout status` reads it, or from its conditions.',
    fields: ownFields<'healthPart', Health, unknown>('healthPart', {
      status: { type: new GraphQLNonNull(healthStatus), description: 'The health itself.' },
      reason: {
        type: GraphQLString,
        description: 'The reason in one word: `CrashLoopBackOff`. Null if there is none.',
      },
      message: { type: GraphQLString, description: 'The reason as text for people.' },
    }),
  })
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

/** `PrinterColumn`, whose source is a {@link PrinterColumn}. */
export function buildPrinterColumnType(): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'PrinterColumn',
    description: 'One column of an object in `kubectl get`.',
    fields: ownFields<'printerColumn', PrinterColumn, unknown>('printerColumn', {
      name: { type: text, description: 'The heading of the column: `READY`, `Age`.' },
      type: {
        type: text,
        description:
          '`string`, `integer`, `number`, `boolean` or `date`; kubectl shows the age of a date.',
      },
      format: { type: text, description: "`name` for the object's own name, or empty." },
      priority: {
        type: new GraphQLNonNull(GraphQLInt),
        description: '0, or more for a column that only `kubectl get -o wide` shows.',
      },
      value: { type: GraphQLJson, description: 'The value of the column; for a date, the time.' },
      since: {
        type: GraphQLDateTime,
        description:
          'The time from which kubectl counts until now: for the age of a date, for the duration of an unfinished job, or for the `(5m ago)` after a value.',
      },
    }),
  })
}
