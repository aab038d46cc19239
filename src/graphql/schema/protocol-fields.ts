/*
 * The fields that protocols demand of a schema. A router of Apollo Federation 2 reads the gateway as a subgraph by
 * `_service` (its SDL) and `_entities` (objects by representations, which `reads/object-read.ts` answers): every kind is an
 * entity, with the keys that the profile leaves it, `id` and `clusterName namespace name`. Relay fetches an object of a
 * type again by `fetch__Pod(id:)`.
 */

import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
  GraphQLUnionType,
  DirectiveLocation,
  GraphQLDirective,
  GraphQLID,
} from 'graphql'
import type { Kind } from '../model/kind.ts'
import { type FieldConfigs, fromSource } from './field-source.ts'
import type { SchemaTypes } from './own-types.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'

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
  const service = new GraphQLObjectType({
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
  return {
    _service: {
      type: new GraphQLNonNull(service),
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

/**
 * `@fetchable`, as relay-compiler reads it: an object of the type is fetched again by `fetch__Pod(id:)`. Relay's other
 * way, an interface `Node`, is not open here, since `Node` is a Kubernetes node.
 */
export const fetchableDirective: GraphQLDirective = new GraphQLDirective({
  name: 'fetchable',
  description: 'For Relay: `fetch__` and the name of the type fetch an object by this field.',
  locations: [DirectiveLocation.OBJECT],
  args: { field_name: { type: new GraphQLNonNull(GraphQLString) } },
})

/** `fetch__Pod` and the like, which relay-compiler's refetchable fragments select. */
export function relayFields(kinds: readonly Kind[], types: SchemaTypes): FieldConfigs {
  const fields: FieldConfigs = {}
  for (const kind of kinds) {
    fields[fetchFieldOf(kind.typeName)] = {
      type: types.objectType(kind),
      description: `One ${kind.resource.kind} of ${kind.apiVersion} by its \`id\`, for Relay; null where it is gone.`,
      args: { id: { type: new GraphQLNonNull(GraphQLID) } },
      deprecationReason: kind.deprecation,
      ...fromSource({ form: 'objectById' }),
    }
  }
  return fields
}

/** The error of a field for objects of one type, with the `id` of an object of another type. */
export function ofAnotherKind(id: string, typeName: string): ArgumentError {
  return new ArgumentError('id', `is that of an object of another kind than ${typeName}`, {
    value: id,
    hint: '`object(id:)` finds objects of any kind',
  })
}

/** Whether Relay may fetch objects of the type again: whether `Query` has the field for it. */
export function isFetchable(
  typeName: string,
  query: GraphQLObjectType | null | undefined,
): boolean {
  return query?.getFields()[fetchFieldOf(typeName)] !== undefined
}

function fetchFieldOf(typeName: string): string {
  return `fetch__${typeName}`
}

/** The keys of entities by type name, each the names of its fields: `clusterName namespace name`. */
export type EntityKeys = ReadonlyMap<string, readonly string[]>
