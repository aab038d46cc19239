import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { fromSource, ownFields } from './field-source.ts'
import type { CanArguments, ObjectCanArguments } from './read-arguments.ts'
import type {
  ClusterState,
  PermissionState,
  ResolverContext,
  ResourceState,
  Row,
} from './read-context.ts'

const text = new GraphQLNonNull(GraphQLString)

const clusterState = new GraphQLEnumType({
  name: 'GatewayClusterState',
  description: 'Whether a cluster can be read.',
  values: {
    CONNECTED: { description: 'The gateway knows the APIs that the cluster serves.' },
    UNREACHABLE: {
      description: 'The gateway has not reached the cluster yet, or the cluster refuses it.',
    },
  } satisfies Record<ClusterState['state'], object>,
})

const resourceState = new GraphQLEnumType({
  name: 'GatewayResourceState',
  description: 'The state of a cache.',
  values: {
    IDLE: { description: 'The cache has not started.' },
    LISTING: { description: 'The first list is on its way.' },
    WAITING: { description: 'The first list has failed, and the gateway will try again.' },
    WATCHING: { description: 'The first list has arrived, and the gateway is storing it.' },
    SYNCED: { description: 'The cache follows the API server.' },
    RECONNECTING: {
      description: 'The gateway has lost the API server; the cache has the last known state.',
    },
    STOPPED: { description: 'The cache has stopped.' },
  } satisfies Record<ResourceState['state'], object>,
})

const permissionState = new GraphQLEnumType({
  name: 'GatewayPermissionState',
  description: 'How soon the gateway notices a change of permissions.',
  values: {
    FOLLOWING: {
      description: 'The gateway has seen every change of RBAC, and has reviewed access again.',
    },
    SETTLING: {
      description:
        'RBAC has just changed: the gateway reviews access now, and once more when all API servers know of the change.',
    },
    EXPIRING: {
      description:
        'The gateway cannot watch all of RBAC: it notices a change when its cached reviews expire.',
    },
  } satisfies Record<PermissionState['state'], object>,
})

function permissionsType(): GraphQLObjectType {
  const followed = new GraphQLObjectType({
    name: 'GatewayPermissionResource',
    description: 'A resource that permissions depend on.',
    fields: ownFields('permissionResource', {
      resource: { type: text, description: 'Its name: `roles.rbac.authorization.k8s.io`.' },
      resourceVersion: {
        type: GraphQLString,
        description: 'The gateway has applied all changes up to this one.',
      },
    }),
  })
  return new GraphQLObjectType({
    name: 'GatewayPermissions',
    description: 'How the gateway follows permissions.',
    fields: ownFields('permissionState', {
      state: {
        type: new GraphQLNonNull(permissionState),
        description: 'How soon the gateway notices a change.',
      },
      resources: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(followed))),
        description:
          'The resources that permissions depend on, and how far the gateway has followed each.',
      },
    }),
  })
}

/** `GatewayCluster` and `GatewayResource`, whose sources are `ClusterState` and `ResourceState`. */
export function buildGatewayClusterType(): GraphQLObjectType {
  const resource = new GraphQLObjectType({
    name: 'GatewayResource',
    description: 'The cache of one kind of one cluster.',
    fields: ownFields('resourceState', {
      kind: { type: text, description: 'The type name of the kind in this schema.' },
      state: { type: new GraphQLNonNull(resourceState), description: 'The state of the cache.' },
      objects: { type: GraphQLInt, description: 'The number of objects in the cache.' },
      resourceVersion: {
        type: GraphQLString,
        description: 'The position of the cache in the history of the resource.',
      },
      lagMs: {
        type: GraphQLInt,
        description:
          'The time since the API server last sent anything about this kind, in milliseconds.',
      },
      lastError: {
        type: GraphQLString,
        description: 'Why the cache is not up to date, as text; null if it is.',
      },
    }),
  })
  return new GraphQLObjectType({
    name: 'GatewayCluster',
    description: 'One cluster, as this gateway sees it.',
    fields: ownFields('clusterState', {
      name: { type: text, description: 'The name in arguments `cluster` and in `clusterName`.' },
      state: {
        type: new GraphQLNonNull(clusterState),
        description: 'Whether the gateway can read the cluster.',
      },
      version: { type: GraphQLString, description: 'The version of Kubernetes.' },
      uid: {
        type: GraphQLString,
        description:
          'The UID of its namespace `kube-system`, which identifies the cluster; null if the gateway may not read it.',
      },
      permissions: {
        type: permissionsType(),
        description: 'How the gateway follows permissions; null if it has not reviewed access yet.',
      },
      resources: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(resource))),
        description: 'The caches of the kinds of which the viewer may list any objects.',
      },
    }),
  })
}

const verb = {
  type: text,
  description: 'The verb: `get`, `list`, `create`, `update`, `patch`, `delete`, …',
}
const subresource = {
  type: GraphQLString,
  description: 'The subresource: `log`, `exec`, `scale`, …',
}

/** `viewer` and `can` of `Query`. */
export function permissionRootFields(): GraphQLFieldConfigMap<unknown, ResolverContext> {
  const viewer = new GraphQLObjectType({
    name: 'Viewer',
    description: 'The user that sent the request.',
    fields: ownFields('viewer', {
      username: { type: text, description: 'The name that permissions refer to.' },
      groups: {
        type: new GraphQLNonNull(new GraphQLList(text)),
        description: 'The groups that permissions refer to, by their names in the cluster.',
      },
    }),
  })
  return {
    viewer: {
      type: viewer,
      description:
        'The user that sent the request; null if the gateway does not authenticate users.',
      resolve: (_source, _args, { permissions }) => permissions.viewer,
      ...fromSource({ form: 'whoAsks' }),
    },
    can: {
      type: GraphQLBoolean,
      description:
        'Whether the viewer may do something, as the API server decides; null if it does not answer. If the gateway does not authenticate users, the viewer may only read.',
      args: {
        verb,
        kind: { type: GraphQLString, description: 'The name of a type: `Deployment`.' },
        resource: {
          type: GraphQLString,
          description: 'The resource as kubectl writes it, instead of `kind`: `deployments.apps`.',
        },
        subresource,
        namespace: { type: GraphQLString, description: 'The namespace; all namespaces if absent.' },
        name: { type: GraphQLString, description: 'The name of the object; any object if absent.' },
        cluster: {
          type: GraphQLString,
          description: 'The name of the cluster; the default cluster if absent.',
        },
      },
      resolve: (_source, args: CanArguments, { permissions }) => permissions.can(args),
      ...fromSource({ form: 'canAnywhere' }),
    },
  }
}

/** `can` of every object. */
export function canField(): GraphQLFieldConfig<Row, ResolverContext> {
  return {
    type: GraphQLBoolean,
    description:
      'Whether the viewer may do this to the object, as the API server decides; null if it does not answer. If the gateway does not authenticate users, the viewer may only read.',
    args: { verb, subresource },
    resolve: (row, args: ObjectCanArguments, { permissions }) => permissions.canDo(row, args),
  }
}
