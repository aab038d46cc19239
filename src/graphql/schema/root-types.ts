import { type GraphQLFieldConfigMap, GraphQLObjectType } from 'graphql'
import {
  listArguments,
  listSubscriptionArguments,
  livePageArguments,
  lookupArguments,
  lookupSubscriptionArguments,
} from './arguments.ts'
import { fromSource } from './field-source.ts'
import type { Kind } from '../model/kind.ts'
import type { ListFieldArguments, LookupArguments } from './read-arguments.ts'
import type { ResolverContext } from './read-context.ts'
import type { SchemaTypes } from './schema-types.ts'

type RootFields = GraphQLFieldConfigMap<unknown, ResolverContext>

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
      const fields = types.own.queryFields()
      for (const kind of kinds) Object.assign(fields, queryFields(kind, types))
      Object.assign(fields, further())
      return rootFieldsOf('Query', fields, types)
    },
  })
}

function rootFieldsOf(typeName: string, fields: RootFields, { hasField }: SchemaTypes): RootFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => hasField(typeName, name)))
}

function queryFields(kind: Kind, types: SchemaTypes): RootFields {
  return {
    [kind.listField]: {
      type: types.own.object('KindConnection', kind),
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
    type: types.own.object('KindLivePage', kind),
    description: `The first ${kind.resource.resource} in an order, then their changes: see docs/subscriptions.md.`,
    args: livePageArguments(kind, types),
    deprecationReason: kind.deprecation,
    ...fromSource({ form: 'livePages', kind }),
  }
}

function subscriptionFields(kind: Kind, types: SchemaTypes): RootFields {
  return {
    [kind.listField]: {
      type: types.own.object('KindFrame', kind),
      description: `The ${kind.resource.resource} that match, then their changes.`,
      args: listSubscriptionArguments(kind, types),
      deprecationReason: kind.deprecation,
      ...fromSource({ form: 'listFrames', kind }),
    },
    [kind.lookupField]: {
      type: types.own.object('KindFrame', kind),
      description: `One ${kind.resource.kind}, then its changes.`,
      args: lookupSubscriptionArguments(kind),
      deprecationReason: kind.deprecation,
      ...fromSource({ form: 'lookupFrames', kind }),
    },
  }
}
