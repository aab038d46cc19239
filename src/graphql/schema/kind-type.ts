import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql'
import { parsePath, valueAt } from '../../query/index/path.ts'
import { graphqlNameOf } from '../naming/field-name.ts'
import { eventArguments, ownedArguments, relationArguments, usedByArguments } from './arguments.ts'
import type { Definitions } from '../model/definitions.ts'
import type {
  Kind,
  PolymorphicRelationField,
  ObjectRefField,
  RelationField,
} from '../model/kind.ts'
import { usedByField } from '../model/uses.ts'
import { nativePropertiesOf } from '../model/native-properties.ts'
import { objectFields } from './object-fields.ts'
import { describeRelation } from './relation-description.ts'
import { reportingFailures } from './report-failures.ts'
import { objectRefOfKindAt, objectRefsAt, ownerChainOf, topmostBuiltIn } from './object-ref.ts'
import type { OpenApiTypes } from './open-api-types.ts'
import { fromSource } from './field-source.ts'
import { propertyReader } from './property-resolver.ts'
import type { OwnedArguments, RelationArguments, UsedByArguments } from './read-arguments.ts'
import type { ResolverContext, Row } from './read-context.ts'
import type { SchemaTypes } from './schema-types.ts'
import { secretFields } from './secret-fields.ts'

/** What {@link buildKindType} needs. */
export interface KindTypeOptions {
  readonly types: SchemaTypes
  readonly definitions: Definitions
  readonly openApiTypes: OpenApiTypes
}

/** The type of a kind: what every object has, the fields of its API, its relations. Its source is a {@link Row}. */
export function buildKindType(kind: Kind, options: KindTypeOptions): GraphQLObjectType {
  const { types, definitions, openApiTypes } = options
  return new GraphQLObjectType<Row, ResolverContext>({
    name: kind.typeName,
    description:
      definitions.schemaOf(kind.resource)?.description ??
      `${kind.resource.kind} of ${kind.apiVersion}.`,
    interfaces: () => [types.kubernetesObject],
    fields: () => ({
      ...objectFields(types, kind),
      ...partOf(kind, types, {
        ...nativeFields(kind, definitions, openApiTypes),
        ...(types.secretData ? secretFields(kind) : {}),
        ...Object.fromEntries(
          kind.relations.map((relation) => [
            relation.definition.name,
            relationField(kind, relation, types),
          ]),
        ),
        ...usedByFieldOf(kind, types),
        ...Object.fromEntries(
          kind.objectRefs.map((field) => [field.name, objectRefField(field, types)]),
        ),
        ...Object.fromEntries(
          kind.mixed.map((field) => [field.name, polymorphicField(field, types)]),
        ),
      }),
    }),
  })
}

/** Those of the fields that are a part of the schema. */
function partOf(
  { typeName }: Kind,
  { hasField }: SchemaTypes,
  fields: GraphQLFieldConfigMap<Row, ResolverContext>,
): GraphQLFieldConfigMap<Row, ResolverContext> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => hasField(typeName, name)))
}

function nativeFields(
  kind: Kind,
  definitions: Definitions,
  openApiTypes: OpenApiTypes,
): GraphQLFieldConfigMap<Row, ResolverContext> {
  const fields: GraphQLFieldConfigMap<Row, ResolverContext> = {}
  const { resource, typeName } = kind
  const place = {
    scope: definitions.scopeOf(resource),
    group: resource.group,
    parent: typeName,
  }
  const parent = definitions.schemaOf(resource) ?? {}
  for (const property of nativePropertiesOf(kind, definitions)) {
    const config = openApiTypes.fieldOf(property, parent, { ...place, property })
    const { resolve } = config
    const read = propertyReader(property)
    fields[graphqlNameOf(property)] = {
      ...config,
      resolve:
        resolve === undefined
          ? (row) => read(row.object)
          : (row, args: unknown, context, info) => resolve(row.object, args, context, info),
    }
  }
  return fields
}

function relationField(
  from: Kind,
  relation: RelationField,
  types: SchemaTypes,
): GraphQLFieldConfig<Row, ResolverContext> {
  const to = types.kind(relation.definition.to)
  const description = describeRelation(relation)
  if (!relation.many) {
    return {
      type: types.objectType(to),
      description,
      resolve: (row, _args, { read }) => read.followOne(row, relation),
      ...fromSource({ form: 'relation', relation }),
    }
  }
  return {
    type: types.connectionType(to),
    description,
    args: isOfEvents(relation) ? eventArguments(to, types) : relationArguments(from, to, types),
    resolve: (row, args: RelationArguments, { read }) => read.follow(row, relation, args),
    ...fromSource({ form: 'relation', relation }),
  }
}

/** Whether a relation over several steps ends at the Events of what it comes to. */
function isOfEvents({ definition }: RelationField): boolean {
  return definition.form === 'through' && definition.steps.at(-1)?.endsWith('.events') === true
}

function polymorphicField(
  field: PolymorphicRelationField,
  types: SchemaTypes,
): GraphQLFieldConfig<Row, ResolverContext> {
  const { description } = field
  return {
    type: types.kubernetesObjectConnection,
    description,
    args: ownedArguments,
    resolve: (row, args: OwnedArguments, context, info) =>
      reportingFailures(context.read.followPolymorphic(row, field, args), context, info),
    ...fromSource({ form: 'mixed', field }),
  }
}

function usedByFieldOf(
  kind: Kind,
  types: SchemaTypes,
): GraphQLFieldConfigMap<Row, ResolverContext> {
  if (kind.usedBy.length === 0) return {}
  return {
    [usedByField]: {
      type: types.usedByConnection,
      description:
        'What makes use of the object, as long as it has not ended. Null where a kind that may do so cannot be read: `kinds` leaves it out.',
      args: usedByArguments,
      resolve: (row, args: UsedByArguments, { read }) => read.usedBy(row, args),
      ...fromSource({ form: 'usedBy', kind }),
    },
  }
}

function objectRefField(
  field: ObjectRefField,
  types: SchemaTypes,
): GraphQLFieldConfig<Row, ResolverContext> {
  const { many } = field
  const description =
    field.description ??
    `${many ? 'The objects' : 'The object'} that it means: ${field.paths.map((path) => `\`${path}\``).join(', ')}.`
  const paths = field.paths.map(parsePath)
  const config = { description, ...fromSource({ form: 'objectRef', field }) }
  if (many) {
    return {
      ...config,
      type: new GraphQLList(new GraphQLNonNull(types.objectRef)),
      resolve: (row) => objectRefsAt(paths, row, types.kindOf),
    }
  }
  if (field.isTopmost === true) {
    return {
      ...config,
      type: types.objectRef,
      resolve: (row, _args, { read }) => {
        return topmostBuiltIn(ownerChainOf(row, read, types.kindOf))
      },
    }
  }
  if (field.kindAt !== undefined) {
    const { relation, path: kindPath } = field.kindAt
    const kindAt = parsePath(kindPath)
    return {
      ...config,
      type: types.objectRef,
      resolve(row, _args, { read }) {
        const other = read.followOne(row, relation)
        return other && objectRefOfKindAt(paths, row, valueAt(kindAt, other.object), types)
      },
    }
  }
  return {
    ...config,
    type: types.objectRef,
    resolve: (row) => objectRefsAt(paths, row, types.kindOf)[0] ?? null,
  }
}
