import {
  type GraphQLFieldConfigArgumentMap,
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
    description: 'The `resumeToken` of the last frame that was applied.',
  },
  coalesceMs: {
    type: GraphQLInt,
    description: 'Collect changes for this long, and send only the last state of each object.',
  },
}

/** Which part of a list: `first`, `after`. */
const pageArguments: GraphQLFieldConfigArgumentMap = {
  first: { type: GraphQLInt, description: 'At most so many objects; 100 if absent.' },
  after: { type: GraphQLString, description: 'The `endCursor` of the page before.' },
}

/** The arguments of `owned`. */
export const ownedArguments: GraphQLFieldConfigArgumentMap = {
  ...pageArguments,
  kinds: {
    type: new GraphQLList(requiredString),
    description: 'Names of types whose objects to look into besides: `["Pod", "ConfigMap"]`.',
  },
}

function matchArguments(kind: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  return {
    labelSelector: {
      type: GraphQLString,
      description: 'As kubectl writes it: `app=web,tier!=cache,env in (dev,prod)`.',
    },
    where: { type: types.whereType(kind) },
  }
}

function filterArguments(kind: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  return {
    ...clusterArgument,
    ...(kind.resource.namespaced ? namespaceArguments : {}),
    ...matchArguments(kind, types),
  }
}

/** The arguments of a root list field. */
export function listArguments(kind: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  return { ...filterArguments(kind, types), ...pageArguments }
}

/** The arguments of a subscription to a list. */
export function listSubscriptionArguments(
  kind: Kind,
  types: SchemaTypes,
): GraphQLFieldConfigArgumentMap {
  return { ...filterArguments(kind, types), ...streamArguments }
}

/** The arguments of a root look-up field. */
export function lookupArguments(kind: Kind): GraphQLFieldConfigArgumentMap {
  return {
    ...clusterArgument,
    ...(kind.resource.namespaced ? { namespace: { type: requiredString } } : {}),
    name: { type: requiredString },
  }
}

/** The arguments of a subscription to one object. */
export function lookupSubscriptionArguments(kind: Kind): GraphQLFieldConfigArgumentMap {
  return { ...lookupArguments(kind), ...streamArguments }
}

/** The arguments of `events`. */
export function eventArguments(event: Kind, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  return { ...matchArguments(event, types), ...pageArguments }
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
    ...pageArguments,
  }
}
