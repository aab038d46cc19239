import {
  type GraphQLFieldConfigMap,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import type { ObjectMeta } from '../../kubernetes/object.ts'
import type { DefinitionScope } from '../model/definitions.ts'
import type { HasField } from '../model/schema-profile.ts'
import { objectMetaDefinition } from '../model/definitions.ts'
import { fromSource } from './field-source.ts'
import type { OpenApiTypes } from './open-api-types.ts'
import type { ResolverContext } from './read-context.ts'

/** What {@link objectMetaType} needs. */
export interface ObjectMetaOptions {
  readonly name: string
  readonly scope: DefinitionScope
  /** `false` for the metadata of templates, which have no name of their own. */
  readonly named: boolean
  readonly openApiTypes: () => OpenApiTypes
  /** Whether a field is a part of the schema. */
  readonly hasField: HasField
}

/** Dropped before objects are parsed, so always absent. */
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
      if (named && fields['name'] !== undefined)
        fields['name'] = { ...fields['name'], type: new GraphQLNonNull(GraphQLString) }
      return {
        ...fields,
        label: mapField(
          'labels',
          'The value of one label; null where the object does not have it.',
        ),
        annotation: mapField(
          'annotations',
          'The value of one annotation; null where the object does not have it.',
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
      key: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'The whole key: `app.example/tier`.',
      },
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
