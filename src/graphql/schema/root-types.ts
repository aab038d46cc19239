import {
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql'
import {
  listArguments,
  listSubscriptionArguments,
  livePageArguments,
  lookupArguments,
  lookupSubscriptionArguments,
  objectByRefArguments,
} from './arguments.ts'
import { fromSource } from './field-source.ts'
import { graphField, searchField } from './exploration-types.ts'
import type { Kind } from '../model/kind.ts'
import type { ListFieldArguments, LookupArguments, ObjectByRefArguments } from './read-arguments.ts'
import type { ResolverContext, StoreReads } from './read-context.ts'
import { permissionRootFields } from './gateway-types.ts'
import type { SchemaTypes } from './schema-types.ts'

type RootFields = GraphQLFieldConfigMap<unknown, ResolverContext>

const ids = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLID)))

/** `Query`: lists and look-ups of every kind, the gateway's own fields, and `further` ones. */
export function buildQueryType(
  kinds: readonly Kind[],
  types: SchemaTypes,
  further: () => RootFields = () => ({}),
): GraphQLObjectType {
  return new GraphQLObjectType<unknown, ResolverContext>({
    name: 'Query',
    description:
      'Lists and look-ups of every kind. A field whose kind or cluster cannot be read is null and has an error; the other fields have their values.',
    fields(): RootFields {
      const fields: RootFields = {
        ...permissionRootFields(),
        gatewayClusters: {
          type: new GraphQLList(new GraphQLNonNull(types.gatewayCluster)),
          description: 'The clusters, and the state of their caches.',
          resolve: (_source, _args, { fleet }) => fleet.clusters(),
          ...fromSource({ form: 'clusterStates' }),
        },
        object: {
          type: types.kubernetesObject,
          description: 'One object by its `id`; null if it no longer exists.',
          args: {
            id: { type: new GraphQLNonNull(GraphQLID), description: 'The `id` of the object.' },
          },
          resolve: (_source, { id }: { readonly id: string }, { read }) => read.object(id),
          ...fromSource({ form: 'objectById' }),
        },
        objects: {
          type: new GraphQLList(types.kubernetesObject),
          description:
            'Objects by their `id`s, in the same order; null for objects that no longer exist.',
          args: { ids: { type: ids, description: 'The `id`s of the objects.' } },
          resolve: (_source, { ids: wanted }: ObjectsArguments, { read }) =>
            objectsOrErrors(read, wanted),
          ...fromSource({ form: 'objectsByIds' }),
        },
        objectByRef: {
          type: types.kubernetesObject,
          description:
            'One object by API group, kind, namespace and name; null if it does not exist.',
          args: objectByRefArguments,
          resolve: (_source, args: ObjectByRefArguments, { read }) => read.objectByRef(args),
          ...fromSource({ form: 'objectByRef' }),
        },
        graph: graphField(types),
        search: searchField(types),
      }
      for (const kind of kinds) Object.assign(fields, queryFields(kind, types))
      Object.assign(fields, further())
      return rootFieldsOf('Query', fields, types)
    },
  })
}

function rootFieldsOf(typeName: string, fields: RootFields, { hasField }: SchemaTypes): RootFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => hasField(typeName, name)))
}

interface ObjectsArguments {
  readonly ids: readonly string[]
}

/**
 * Yields each object or its Error. graphql-js turns an Error in a list into the error of that item. The generator reads the items
 * one by one, so that too many errors end the list.
 */
function* objectsOrErrors(
  read: StoreReads,
  wanted: readonly string[],
): IterableIterator<ReturnType<StoreReads['object']> | Error> {
  for (const id of wanted) {
    try {
      yield read.object(id)
    } catch (error) {
      yield error instanceof Error ? error : new Error(String(error))
    }
  }
}

function queryFields(kind: Kind, types: SchemaTypes): RootFields {
  return {
    [kind.listField]: {
      type: types.connectionType(kind),
      description: `Lists ${kind.resource.resource} of ${kind.apiVersion}.`,
      args: listArguments(kind, types),
      deprecationReason: kind.deprecation,
      resolve: (_source, args: ListFieldArguments, { read }) => read.list(kind, args),
      ...fromSource({ form: 'list', kind }),
    },
    [kind.lookupField]: {
      type: types.objectType(kind),
      description: `One ${kind.resource.kind} of ${kind.apiVersion}; null if it does not exist.`,
      args: lookupArguments(kind),
      deprecationReason: kind.deprecation,
      resolve: (_source, args: LookupArguments, { read }) => read.lookup(kind, args),
      ...fromSource({ form: 'lookup', kind }),
    },
  }
}

/** `Subscription`: every list and look-up, and live pages. Plans answer it: its fields have no resolvers. */
export function buildSubscriptionType(
  kinds: readonly Kind[],
  types: SchemaTypes,
): GraphQLObjectType {
  return new GraphQLObjectType<unknown, ResolverContext>({
    name: 'Subscription',
    description:
      'The matching objects, then their changes. The snapshot comes in frames: the first one resets, the last one is synced.',
    fields(): RootFields {
      const fields: RootFields = {}
      for (const kind of kinds) Object.assign(fields, subscriptionFields(kind, types))
      for (const kind of kinds) {
        // A field of a kind keeps the name.
        fields[`${kind.listField}Page`] ??= livePageField(kind, types)
      }
      return rootFieldsOf('Subscription', fields, types)
    },
  })
}

function livePageField(kind: Kind, types: SchemaTypes): RootFields[string] {
  return {
    type: types.livePageType(kind),
    description: `The first ${kind.resource.resource} in an order, then their changes: see docs/subscriptions.md.`,
    args: livePageArguments(kind, types),
    deprecationReason: kind.deprecation,
    ...fromSource({ form: 'livePages', kind }),
  }
}

function subscriptionFields(kind: Kind, types: SchemaTypes): RootFields {
  return {
    [kind.listField]: {
      type: types.frameType(kind),
      description: `The ${kind.resource.resource} that match, then their changes.`,
      args: listSubscriptionArguments(kind, types),
      deprecationReason: kind.deprecation,
      ...fromSource({ form: 'listFrames', kind }),
    },
    [kind.lookupField]: {
      type: types.frameType(kind),
      description: `One ${kind.resource.kind}, then its changes.`,
      args: lookupSubscriptionArguments(kind),
      deprecationReason: kind.deprecation,
      ...fromSource({ form: 'lookupFrames', kind }),
    },
  }
}
