import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import type { Kind } from '../model/kind.ts'
import type { SchemaTypes } from './schema-types.ts'

const requiredString = new GraphQLNonNull(GraphQLString)

const clusterArgument: GraphQLFieldConfigArgumentMap = {
  cluster: {
    type: GraphQLString,
    description: 'The name of the cluster; the default cluster if absent.',
  },
}

const namespaceArguments: GraphQLFieldConfigArgumentMap = {
  namespace: { type: GraphQLString, description: 'Only objects of this namespace.' },
  namespaces: {
    type: new GraphQLList(requiredString),
    description: 'Only objects of these namespaces.',
  },
}

const streamArguments: GraphQLFieldConfigArgumentMap = {
  resumeFrom: {
    type: GraphQLString,
    description:
      'The `resumeToken` of the last applied frame, or of a connection. If the gateway cannot continue there, the first frame resets.',
  },
  coalesceMs: {
    type: GraphQLInt,
    description:
      'Collects changes for this many milliseconds, and sends only the last state of each object.',
  },
}

const pageArguments: GraphQLFieldConfigArgumentMap = {
  first: {
    type: GraphQLInt,
    description: 'The number of objects from the beginning, at most; 100 if `last` is absent, too.',
  },
  after: {
    type: GraphQLString,
    description: 'Only objects after this cursor, which is the `endCursor` of a page.',
  },
  last: {
    type: GraphQLInt,
    description: 'The number of objects from the end, at most. Not with `first`.',
  },
  before: {
    type: GraphQLString,
    description: 'Only objects before this cursor, which is the `startCursor` of a page.',
  },
}

/** The arguments of `owned`. */
export const ownedArguments: GraphQLFieldConfigArgumentMap = {
  kinds: {
    type: new GraphQLList(requiredString),
    description: 'Further types to look into: `["Pod", "ConfigMap"]`.',
  },
  ...pageArguments,
}

/** The arguments of `usedBy`. */
export const usedByArguments: GraphQLFieldConfigArgumentMap = {
  kinds: {
    type: new GraphQLList(requiredString),
    description: 'The types to look into; all types that may use the object if absent.',
  },
  ...pageArguments,
}

function orderArguments(
  kind: Kind,
  types: SchemaTypes,
): Record<'orderBy', GraphQLFieldConfigArgumentMap[string]> {
  return {
    orderBy: {
      type: new GraphQLList(new GraphQLNonNull(types.orderType(kind))),
      description:
        'The keys of the order, the most significant first; namespace and name if absent.',
    },
  }
}

function matchArguments(kind: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  return {
    labelSelector: {
      type: GraphQLString,
      description: 'A selector in the syntax of kubectl: `app=web,tier!=cache,env in (dev,prod)`.',
    },
    where: {
      type: types.whereType(kind),
      description: 'Conditions that the objects must all meet. Indexes answer them.',
    },
  }
}

function filterArguments(kind: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  return {
    ...clusterArgument,
    ...(kind.resource.namespaced ? namespaceArguments : {}),
    ids: {
      type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
      description: 'Only the objects with these `id`s.',
    },
    ...matchArguments(kind, types),
  }
}

/** The arguments of a root list field. */
export function listArguments(kind: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  return { ...filterArguments(kind, types), ...orderArguments(kind, types), ...pageArguments }
}

/** The arguments of a subscription to a list. */
export function listSubscriptionArguments(
  kind: Kind,
  types: SchemaTypes,
): GraphQLFieldConfigArgumentMap {
  return { ...filterArguments(kind, types), ...streamArguments }
}

/** The arguments of a live page. */
export function livePageArguments(kind: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  const { first } = pageArguments
  return {
    ...filterArguments(kind, types),
    ...orderArguments(kind, types),
    ...(first === undefined ? {} : { first }),
    ...streamArguments,
  }
}

/** The arguments of a root look-up field of `Query`. */
export function lookupArguments(kind: Kind): GraphQLFieldConfigArgumentMap {
  return {
    ...objectArguments(kind),
    live: {
      type: GraphQLBoolean,
      description: 'Whether to read the object from the API server instead of the cache.',
    },
  }
}

function objectArguments(kind: Kind): GraphQLFieldConfigArgumentMap {
  return {
    ...clusterArgument,
    ...(kind.resource.namespaced
      ? { namespace: { type: requiredString, description: 'The namespace of the object.' } }
      : {}),
    name: { type: requiredString, description: 'The `metadata.name` of the object.' },
  }
}

/** The arguments of a subscription to one object. */
export function lookupSubscriptionArguments(kind: Kind): GraphQLFieldConfigArgumentMap {
  return { ...objectArguments(kind), ...streamArguments }
}

/** The arguments of `events`. The oldest come first by default, so that `last: 3` are the newest three. */
export function eventArguments(event: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  const { orderBy } = orderArguments(event, types)
  const isOrdered = event.indexes.some(({ name }) => name === 'lastSeen')
  return {
    related: {
      type: GraphQLBoolean,
      description: 'Whether to include events about other objects that name this one as related.',
    },
    ...matchArguments(event, types),
    orderBy: isOrdered ? { ...orderBy, default: { value: [{ lastSeen: 'ASC' }] } } : orderBy,
    ...pageArguments,
  }
}

/** The arguments of a to-many relation. Only one from a cluster-scoped to a namespaced kind takes namespaces. */
export function relationArguments(
  from: Kind,
  to: Kind,
  types: SchemaTypes,
): GraphQLFieldConfigArgumentMap {
  const acrossNamespaces = to.resource.namespaced && !from.resource.namespaced
  return {
    ...(acrossNamespaces ? namespaceArguments : {}),
    ...matchArguments(to, types),
    ...orderArguments(to, types),
    ...pageArguments,
  }
}
