import {
  GraphQLEnumType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { ownFields } from './field-source.ts'
import type { ClusterState, PermissionState, ResourceState } from './read-context.ts'

const text = new GraphQLNonNull(GraphQLString)

const clusterState = new GraphQLEnumType({
  name: 'GatewayClusterState',
  description: 'Whether a cluster can be read.',
  values: {
    CONNECTED: { description: 'What it serves is known.' },
    UNREACHABLE: { description: 'It could not be asked yet, or does not let the gateway in.' },
  } satisfies Record<ClusterState['state'], object>,
})

const resourceState = new GraphQLEnumType({
  name: 'GatewayResourceState',
  description: 'What a cache is doing.',
  values: {
    IDLE: { description: 'It has not begun.' },
    LISTING: { description: 'It is being filled for the first time.' },
    WAITING: { description: 'Its first list has failed, and is tried again in a moment.' },
    WATCHING: { description: 'Its first list is there, and is being taken in.' },
    SYNCED: { description: 'It follows the API server.' },
    RECONNECTING: {
      description: 'It has lost the API server, and shows what it knew last.',
    },
    STOPPED: { description: 'It has ended.' },
  } satisfies Record<ResourceState['state'], object>,
})

const permissionState = new GraphQLEnumType({
  name: 'GatewayPermissionState',
  description: 'How soon a change of permissions is noticed.',
  values: {
    FOLLOWING: { description: 'Every change of RBAC has been seen, and asked after.' },
    SETTLING: {
      description:
        'RBAC has changed a moment ago: what is asked now is asked again in a moment, when every API server has heard of it.',
    },
    EXPIRING: {
      description:
        'Not all of RBAC can be watched: a change is noticed when what is known has grown old.',
    },
  } satisfies Record<PermissionState['state'], object>,
})

function permissionsType(): GraphQLObjectType {
  const followed = new GraphQLObjectType({
    name: 'GatewayPermissionResource',
    description: 'A resource that decides about permissions.',
    fields: ownFields('permissionResource', {
      resource: { type: text, description: '`roles.rbac.authorization.k8s.io`.' },
      resourceVersion: {
        type: GraphQLString,
        description: 'All changes up to this one have been taken into account.',
      },
    }),
  })
  return new GraphQLObjectType({
    name: 'GatewayPermissions',
    description: 'How permissions are kept up with.',
    fields: ownFields('permissionState', {
      state: {
        type: new GraphQLNonNull(permissionState),
        description: 'Whether changes of permissions are heard of.',
      },
      resources: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(followed))),
        description:
          'The resources that say what is permitted, and how far each has been followed.',
      },
    }),
  })
}

/** `GatewayCluster` and `GatewayResource`: the truth about the caches. Their sources are `ClusterState` and `ResourceState`. */
export function buildGatewayClusterType(): GraphQLObjectType {
  const resource = new GraphQLObjectType({
    name: 'GatewayResource',
    description: 'The cache of one kind of one cluster.',
    fields: ownFields('resourceState', {
      kind: { type: text, description: 'The type name of the kind in this schema.' },
      state: { type: new GraphQLNonNull(resourceState), description: 'How the cache is.' },
      objects: { type: GraphQLInt, description: 'The number of objects in the cache.' },
      resourceVersion: {
        type: GraphQLString,
        description: 'The position in the history of the resource that the cache shows.',
      },
      lagMs: {
        type: GraphQLInt,
        description: 'How long ago the API server was last heard of this kind, in milliseconds.',
      },
      lastError: {
        type: GraphQLString,
        description:
          'What keeps the cache from being up to date, in words; null where nothing does.',
      },
    }),
  })
  return new GraphQLObjectType({
    name: 'GatewayCluster',
    description: 'One cluster, as this gateway sees it.',
    fields: ownFields('clusterState', {
      name: { type: text, description: 'What arguments `cluster` and `clusterName` call it.' },
      state: {
        type: new GraphQLNonNull(clusterState),
        description: 'Whether its API server answers.',
      },
      version: { type: GraphQLString, description: 'The version of Kubernetes.' },
      uid: {
        type: GraphQLString,
        description:
          'The UID of its namespace `kube-system`, by which clusters are told apart; null where the gateway may not read it.',
      },
      permissions: {
        type: permissionsType(),
        description:
          'How permissions are kept up with; null where nobody has been asked about yet.',
      },
      resources: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(resource))),
        description: 'The caches of kinds of which something may be listed by whoever asks.',
      },
    }),
  })
}
