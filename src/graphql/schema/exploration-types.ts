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
import { buildConnectionType, severalKindsFields } from './connection-type.ts'
import { fromSource, ownFields } from './field-source.ts'
import { idOfObjectRef } from './object-ref.ts'
import type { GraphArguments, SearchArguments } from './read-arguments.ts'
import type {
  GraphEdgeSource,
  GraphNodeSource,
  GraphSource,
  ResolverContext,
  SearchCount,
  SearchResultSource,
  SearchSource,
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
    description: 'The `id`s of the objects to start from.',
  },
  depth: {
    type: GraphQLInt,
    description: 'The number of steps from the roots, at most; 3 if absent.',
  },
  relations: {
    type: new GraphQLList(text),
    description:
      'The relations to follow, by the names of fields: `Pod.node`, or `pods` of every type. If absent, all relations between kinds in memory, except those to Namespaces and Events, those by a common text, and those of several steps.',
  },
  maxNodes: { type: GraphQLInt, description: 'The number of objects, at most; 500 if absent.' },
}

/** `Query.graph`. */
export function graphField(types: SchemaTypes): GraphQLFieldConfig<unknown, ResolverContext> {
  return {
    type: buildGraphType(types),
    description:
      'The objects around some objects, of any kind, and their relations. The gateway follows relations in both directions, the nearest first.',
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
    description: 'Objects, and the relations between them.',
    fields: ownFields<'graph', GraphSource, ResolverContext>('graph', {
      nodes: {
        type: listOf(node),
        description: 'The objects, the roots included, the nearest first.',
        resolve: (graph) => graph.nodes(),
      },
      edges: {
        type: listOf(edge),
        description: 'The relations between the objects, each once.',
        resolve: (graph) => graph.edges(),
      },
      truncated: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description: 'Whether there are more objects than `maxNodes`.',
      },
      kinds: {
        type: listOf(GraphQLString),
        description: 'The types that the gateway looked into.',
      },
      notFollowed: {
        type: listOf(GraphQLString),
        description:
          'Relations to kinds that are not in memory. Name them in `relations` to load the kinds.',
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
          description: 'The `id` in `from` and `to` of edges.',
          resolve: ({ ref }) => idOfObjectRef(ref),
        },
        clusterName: {
          type: text,
          description: 'The name of the cluster of the object.',
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
          description: 'The number of steps from the nearest root.',
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
      to: { type: id, description: 'The `id` of the object that it leads to.' },
      relation: { type: text, description: 'The relation, in either direction: `Pod.node`.' },
    }),
  })
}

const texts = new GraphQLList(text)

const searchArguments: GraphQLFieldConfigArgumentMap = {
  text: { type: text, description: 'The text to find. Case does not matter.' },
  kinds: {
    type: texts,
    description:
      'The types to look into: `["Pod", "Service"]`. If absent, the kinds in memory except Events.',
  },
  namespaces: { type: texts, description: 'Only objects of these namespaces.' },
  cluster: {
    type: GraphQLString,
    description: 'The name of the cluster; the default cluster if absent.',
  },
  first: { type: GraphQLInt, description: 'The number of results, at most; 100 if absent.' },
  after: {
    type: GraphQLString,
    description: 'Only results after this cursor, which is the `endCursor` of a page.',
  },
}

/** `Query.search`. */
export function searchField(types: SchemaTypes): GraphQLFieldConfig<unknown, ResolverContext> {
  return {
    type: buildSearchType(types),
    description:
      'Objects of any kind with a text in the name, a label or a searchable index. Names come first; whole values come before beginnings, and beginnings before parts.',
    args: searchArguments,
    resolve: (_source, args: SearchArguments, context, info) =>
      reportingFailures(context.read.search(args), context, info),
    ...fromSource({ form: 'search' }),
  }
}

function buildSearchType(types: SchemaTypes): GraphQLObjectType {
  const result = buildResultType(types)
  const count = new GraphQLObjectType<SearchCount, ResolverContext>({
    name: 'SearchCount',
    description: 'The number of results of one kind.',
    fields: ownFields<'searchCount', SearchCount, ResolverContext>('searchCount', {
      kind: { type: text, description: 'The type of the kind.' },
      count: { type: new GraphQLNonNull(GraphQLInt), description: 'The number of objects.' },
    }),
  })
  return buildConnectionType({
    typeName: 'SearchResult',
    pageInfo: types.pageInfo,
    nodeType: () => result,
    further: {
      counts: {
        type: listOf(count),
        description: 'The number of results of each kind, the most frequent first.',
        resolve: (found) => (found as unknown as SearchSource).counts(),
      },
      ...severalKindsFields,
    },
  })
}

function buildResultType(types: SchemaTypes): GraphQLObjectType {
  return new GraphQLObjectType<SearchResultSource, ResolverContext>({
    name: 'SearchResult',
    description: 'One object, and the value with the text.',
    fields: () =>
      ownFields<'searchResult', SearchResultSource, ResolverContext>('searchResult', {
        object: {
          type: new GraphQLNonNull(types.objectRef),
          description: 'The object.',
        },
        matched: {
          type: text,
          description: 'The place of the text: `name`, `labels["app"]`, or the name of an index.',
        },
        value: { type: text, description: 'The value with the text.' },
      }),
  })
}
