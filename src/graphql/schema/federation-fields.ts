/*
 * The fields by which a router of Apollo Federation 2 reads the gateway as a subgraph: `_service` (its SDL) and
 * `_entities` (objects by representations). Every kind is an entity, with the keys that the profile leaves it: `id`, and
 * `clusterName namespace name`. `reads/entity-read.ts` answers the representations.
 */

import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
  GraphQLUnionType,
} from 'graphql'
import type { Kind } from '../model/kind.ts'
import { type FieldConfigs, fromSource } from './field-source.ts'
import type { SchemaTypes } from './own-types.ts'
import type { EntityKeys } from './print-schema.ts'

/** Any value: routers send objects with `__typename` and the fields of one key. */
const any = new GraphQLScalarType({
  name: '_Any',
  description: 'A representation of an object: its `__typename` and the fields of one `@key`.',
})

/**
 * `_service` and `_entities`, by which a router of Apollo Federation 2 reads a subgraph
 * (https://www.apollographql.com/docs/graphos/schema-design/federated-schemas/reference/subgraph-spec). Every kind is an
 * entity. `_Entity` says in its extensions which keys each type has.
 */
export function federationFields(kinds: readonly Kind[], types: SchemaTypes): FieldConfigs {
  const entity = new GraphQLUnionType({
    name: '_Entity',
    description: 'An object that other subgraphs may refer to, or add fields to.',
    types: () => kinds.map((kind) => types.objectType(kind)),
    extensions: { keys: keysOf(kinds, types) },
  })
  return {
    _service: {
      type: new GraphQLNonNull(serviceType()),
      description: 'The schema of this subgraph, for the composition of a supergraph.',
      ...fromSource({ form: 'value' }),
    },
    ...(kinds.length > 0 && {
      _entities: {
        type: new GraphQLNonNull(new GraphQLList(entity)),
        description:
          'The objects that representations name, in their order, read from the caches as the caller may see them. For routers: a client asks for lists and look-ups.',
        args: {
          representations: {
            type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(any))),
            description:
              '`{ __typename: "Pod", id }`, or `{ __typename: "Pod", clusterName, namespace, name }`.',
          },
        },
        ...fromSource({ form: 'entities' }),
      },
    }),
  }
}

export interface EntitiesArguments {
  readonly representations: readonly unknown[]
}

/** The keys of the kinds' types, as far as the profile has their fields. `KubernetesObject` has the `id` of all kinds. */
function keysOf(kinds: readonly Kind[], { hasField }: SchemaTypes): EntityKeys {
  const has = (field: string): boolean => hasField('KubernetesObject', field)
  const byId = has('id') ? ['id'] : []
  const keyOf = ({ resource }: Kind): readonly string[] => {
    const fields = ['clusterName', ...(resource.namespaced ? ['namespace'] : []), 'name']
    return fields.every(has) ? [...byId, fields.join(' ')] : byId
  }
  return new Map([
    ['KubernetesObject', byId],
    ...kinds.map((kind) => [kind.typeName, keyOf(kind)] as const),
  ])
}

function serviceType(): GraphQLObjectType {
  return new GraphQLObjectType({
    name: '_Service',
    description: 'A subgraph as composition reads it.',
    fields: {
      sdl: {
        type: GraphQLString,
        description: 'The schema as SDL, with the keys of its entities.',
        ...fromSource({ form: 'value' }),
      },
    },
  })
}
