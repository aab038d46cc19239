import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { fromSource, ownFields } from './field-source.ts'
import { idOfObjectRef } from './object-ref.ts'
import type { GraphArguments } from './read-arguments.ts'
import type {
  GraphEdgeSource,
  GraphNodeSource,
  GraphSource,
  ResolverContext,
} from './read-context.ts'
import { reportingFailures } from './resolvers.ts'
import type { SchemaTypes } from './schema-types.ts'

const text = new GraphQLNonNull(GraphQLString)
const id = new GraphQLNonNull(GraphQLID)
const listOf = (type: GraphQLObjectType | typeof GraphQLString) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)))

const graphArguments: GraphQLFieldConfigArgumentMap = {
  roots: {
    type: new GraphQLNonNull(new GraphQLList(id)),
    description: 'The `id`s of the objects to begin at.',
  },
  depth: { type: GraphQLInt, description: 'How many steps from them at most: 3 if absent.' },
  relations: {
    type: new GraphQLList(text),
    description:
      'The relations to follow, by the names of fields: `Pod.node`, or `pods` for those of every type. If absent, all between kinds that are in memory, except to namespaces, to what was reported, to what says the same, and over several steps.',
  },
  maxNodes: { type: GraphQLInt, description: 'At most so many objects: 500 if absent.' },
}

/** `Query.graph`: the objects around some, and how they are related. */
export function graphField(types: SchemaTypes): GraphQLFieldConfig<unknown, ResolverContext> {
  return {
    type: buildGraphType(types),
    description:
      'The objects around some, of whatever kind, and how they are related: relations are followed both ways, nearest first.',
    args: graphArguments,
    resolve: (_source, args: GraphArguments, context, info) =>
      reportingFailures(context.read.graph(args), context, info),
    ...fromSource({ form: 'aroundObjects' }),
  }
}

function buildGraphType(types: SchemaTypes): GraphQLObjectType {
  const node = buildNodeType(types)
  const edge = buildEdgeType()
  return new GraphQLObjectType<GraphSource, ResolverContext>({
    name: 'Graph',
    description: 'Objects, and how they are related.',
    fields: ownFields<'graph', GraphSource, ResolverContext>('graph', {
      nodes: {
        type: listOf(node),
        description: 'The objects, the nearest first; the roots are among them.',
        resolve: (graph) => graph.nodes(),
      },
      edges: {
        type: listOf(edge),
        description: 'How they are related: each relation between two of them once.',
        resolve: (graph) => graph.edges(),
      },
      truncated: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description: 'Whether there is more than `maxNodes`.',
      },
      kinds: { type: listOf(GraphQLString), description: 'The types that were looked into.' },
      notFollowed: {
        type: listOf(GraphQLString),
        description:
          'Relations that may lead on, but to kinds that are not in memory: they are loaded where `relations` names them.',
      },
    }),
  })
}

function buildNodeType(types: SchemaTypes): GraphQLObjectType {
  return new GraphQLObjectType<GraphNodeSource, ResolverContext>({
    name: 'GraphNode',
    description: 'One object of a graph.',
    fields: () =>
      ownFields<'graphNode', GraphNodeSource, ResolverContext>('graphNode', {
        id: {
          type: id,
          description: 'What `from` and `to` of edges call it.',
          resolve: ({ ref }) => idOfObjectRef(ref),
        },
        clusterName: {
          type: text,
          description: 'The name of the cluster that the object is in.',
          resolve: ({ ref }) => ref.cluster,
        },
        apiVersion: {
          type: text,
          description: 'The group and version that the object is served in: `apps/v1`, `v1`.',
          resolve: ({ ref }) => ref.apiVersion,
        },
        kind: {
          type: text,
          description: 'The kind as the API writes it: `Deployment`.',
          resolve: ({ ref }) => ref.kind,
        },
        namespace: {
          type: GraphQLString,
          description: 'Null for cluster-scoped objects.',
          resolve: ({ ref }) => ref.namespace,
        },
        name: {
          type: text,
          description: 'The `metadata.name` of the object.',
          resolve: ({ ref }) => ref.name,
        },
        depth: {
          type: new GraphQLNonNull(GraphQLInt),
          description: 'How many steps it is from a root.',
        },
        object: {
          type: types.kubernetesObject,
          description: 'The object itself.',
          resolve: ({ ref }, _args, { read }) => read.referenced(ref),
        },
      }),
  })
}

function buildEdgeType(): GraphQLObjectType {
  return new GraphQLObjectType<GraphEdgeSource, ResolverContext>({
    name: 'GraphEdge',
    description: 'One relation between two objects of a graph.',
    fields: ownFields<'graphEdge', GraphEdgeSource, ResolverContext>('graphEdge', {
      from: { type: id, description: 'The `id` of the object that has the relation.' },
      to: { type: id, description: 'The `id` of the one that it leads to.' },
      relation: { type: text, description: '`Pod.node`, whichever way it was followed.' },
    }),
  })
}
