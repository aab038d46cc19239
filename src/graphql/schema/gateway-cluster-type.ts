import { GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql'
import { ownFields } from './field-source.ts'

const text = new GraphQLNonNull(GraphQLString)

/** `GatewayCluster` and `GatewayResource`: the truth about the caches. Their sources are `ClusterState` and `ResourceState`. */
export function buildGatewayClusterType(): GraphQLObjectType {
  const resource = new GraphQLObjectType({
    name: 'GatewayResource',
    description: 'The cache of one kind of one cluster.',
    fields: ownFields('resourceState', {
      kind: { type: text, description: 'The type name of the kind in this schema.' },
      state: { type: text },
      objects: { type: GraphQLInt, description: 'The number of objects in the cache.' },
      resourceVersion: {
        type: GraphQLString,
        description: 'The position in the history of the resource that the cache shows.',
      },
      lagMs: {
        type: GraphQLInt,
        description: 'How long ago the API server was last heard of this kind, in milliseconds.',
      },
      lastError: { type: GraphQLString },
    }),
  })
  return new GraphQLObjectType({
    name: 'GatewayCluster',
    description: 'One cluster, as this gateway sees it.',
    fields: ownFields('clusterState', {
      name: { type: text },
      state: { type: text },
      version: { type: GraphQLString, description: 'The version of Kubernetes.' },
      resources: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(resource))) },
    }),
  })
}
