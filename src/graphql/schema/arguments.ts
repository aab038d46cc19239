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
    description: 'The name of the cluster; the default one if absent.',
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
      'The `resumeToken` of the last frame that was applied, or of a connection. Where it cannot be honoured, the first frame resets.',
  },
  coalesceMs: {
    type: GraphQLInt,
    description:
      'Collect changes for so many milliseconds, and send only the last state of each object.',
  },
}

/** Which part of a list: `first` and `after`, or `last` and `before`. */
const pageArguments: GraphQLFieldConfigArgumentMap = {
  first: {
    type: GraphQLInt,
    description: 'The first objects, at most so many; 100 where `last` is absent, too.',
  },
  after: { type: GraphQLString, description: 'Behind this cursor: the `endCursor` of a page.' },
  last: { type: GraphQLInt, description: 'The last objects, at most so many. Not with `first`.' },
  before: {
    type: GraphQLString,
    description: 'Ahead of this cursor: the `startCursor` of a page.',
  },
}

/** The arguments of `owned`. */
export const ownedArguments: GraphQLFieldConfigArgumentMap = {
  kinds: {
    type: new GraphQLList(requiredString),
    description: 'Names of types whose objects to look into besides: `["Pod", "ConfigMap"]`.',
  },
  ...pageArguments,
}

/** The arguments of `usedBy`. */
export const usedByArguments: GraphQLFieldConfigArgumentMap = {
  kinds: {
    type: new GraphQLList(requiredString),
    description: 'Names of types whose objects to look into; all that may use it if absent.',
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
      description: 'The keys of the order, the weightiest first; by namespace and name if absent.',
    },
  }
}

function matchArguments(kind: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  return {
    labelSelector: {
      type: GraphQLString,
      description: 'As kubectl writes it: `app=web,tier!=cache,env in (dev,prod)`.',
    },
    where: {
      type: types.whereType(kind),
      description: 'What the objects must meet, all of it. Answered by indexes.',
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
      description: 'Read it from the API server instead of the cache.',
    },
  }
}

function objectArguments(kind: Kind): GraphQLFieldConfigArgumentMap {
  return {
    ...clusterArgument,
    ...(kind.resource.namespaced
      ? { namespace: { type: requiredString, description: 'The namespace of the object.' } }
      : {}),
    name: { type: requiredString, description: 'Its `metadata.name`.' },
  }
}

/** The arguments of `objectByRef`. */
export const objectByRefArguments: GraphQLFieldConfigArgumentMap = {
  ...clusterArgument,
  apiVersion: { type: requiredString, description: 'Any version of the API group will do.' },
  kind: { type: requiredString, description: 'As the API writes it: `Deployment`.' },
  namespace: { type: GraphQLString, description: 'Needed for namespaced kinds.' },
  name: { type: requiredString, description: 'Its `metadata.name`.' },
}

/** The arguments of a subscription to one object. */
export function lookupSubscriptionArguments(kind: Kind): GraphQLFieldConfigArgumentMap {
  return { ...objectArguments(kind), ...streamArguments }
}

/** The arguments of `events`: the oldest first, so that `last: 3` are the newest three. */
export function eventArguments(event: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  const { orderBy } = orderArguments(event, types)
  const isOrdered = event.indexes.some(({ name }) => name === 'lastSeen')
  return {
    related: {
      type: GraphQLBoolean,
      description: 'Also events about something else that name the object as related to it.',
    },
    ...matchArguments(event, types),
    orderBy: isOrdered ? { ...orderBy, default: { value: [{ lastSeen: 'ASC' }] } } : orderBy,
    ...pageArguments,
  }
}

/** The arguments of a to-many relation; the namespace is open only from a cluster-scoped kind to a namespaced one. */
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
