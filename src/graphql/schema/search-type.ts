import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { fromSource, ownFields } from './field-source.ts'
import type { SearchArguments } from './read-arguments.ts'
import type {
  ResolverContext,
  SearchCount,
  SearchResultSource,
  SearchSource,
} from './read-context.ts'
import { reportingFailures } from './resolvers.ts'
import type { SchemaTypes } from './schema-types.ts'

const text = new GraphQLNonNull(GraphQLString)
const texts = new GraphQLList(text)
const listOf = (type: GraphQLObjectType | typeof GraphQLString) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)))

const searchArguments: GraphQLFieldConfigArgumentMap = {
  text: { type: text, description: 'A part of what is looked for, in upper or lower case.' },
  kinds: {
    type: texts,
    description:
      'The types to look into: `["Pod", "Service"]`. If absent, those of the kinds that are in memory, but not what was reported about objects.',
  },
  namespaces: { type: texts, description: 'Only objects of these namespaces.' },
  cluster: {
    type: GraphQLString,
    description: 'The name of the cluster; the default one if absent.',
  },
  first: { type: GraphQLInt, description: 'The best, at most so many: 100 if absent.' },
  after: { type: GraphQLString, description: 'Behind this cursor: the `endCursor` of a page.' },
}

/** `Query.search`: objects of any kind by their names, labels and searchable indexes. */
export function searchField(types: SchemaTypes): GraphQLFieldConfig<unknown, ResolverContext> {
  return {
    type: buildConnectionType(types),
    description:
      'Objects of any kind whose name, a label or a searchable index holds a text: names first, the whole before its beginning before a part.',
    args: searchArguments,
    resolve: (_source, args: SearchArguments, context, info) =>
      reportingFailures(context.read.search(args), context, info),
    ...fromSource({ form: 'search' }),
  }
}

function buildConnectionType(types: SchemaTypes): GraphQLObjectType {
  const result = buildResultType(types)
  const edge = new GraphQLObjectType<ReturnType<SearchSource['edges']>[number], ResolverContext>({
    name: 'SearchResultEdge',
    description: 'One object that was found, with its place in the list.',
    fields: ownFields('edge', {
      cursor: { type: text, description: 'The place of the object, for `after`.' },
      node: { type: new GraphQLNonNull(result), description: 'What was found.' },
    }),
  })
  const count = new GraphQLObjectType<SearchCount, ResolverContext>({
    name: 'SearchCount',
    description: 'How many objects of one kind were found.',
    fields: ownFields<'searchCount', SearchCount, ResolverContext>('searchCount', {
      kind: { type: text, description: 'The type of the kind.' },
      count: { type: new GraphQLNonNull(GraphQLInt), description: 'The number of objects.' },
    }),
  })
  return new GraphQLObjectType<SearchSource, ResolverContext>({
    name: 'SearchResultConnection',
    description: 'A page of what was found, and what is known of all of it.',
    fields: ownFields<'connection', SearchSource, ResolverContext>('connection', {
      nodes: {
        type: listOf(result),
        description: 'What was found, on this page.',
        resolve: (found) => found.rows(),
      },
      edges: {
        type: listOf(edge),
        description: 'The same, each with its cursor.',
        resolve: (found) => found.edges(),
      },
      pageInfo: {
        type: new GraphQLNonNull(types.pageInfo),
        description: 'Where the page stands in the list.',
        resolve: (found) => found.pageInfo(),
      },
      totalCount: {
        type: new GraphQLNonNull(GraphQLInt),
        description: 'The number of objects on all pages.',
        resolve: (found) => found.totalCount(),
      },
      counts: {
        type: listOf(count),
        description: 'How many of each kind, the most first.',
        resolve: (found) => found.counts(),
      },
      kinds: {
        type: listOf(GraphQLString),
        description: 'The types that were looked into.',
        resolve: (found) => found.kinds(),
      },
    }),
  })
}

function buildResultType(types: SchemaTypes): GraphQLObjectType {
  return new GraphQLObjectType<SearchResultSource, ResolverContext>({
    name: 'SearchResult',
    description: 'One object that was found, and by what.',
    fields: () =>
      ownFields<'searchResult', SearchResultSource, ResolverContext>('searchResult', {
        object: {
          type: new GraphQLNonNull(types.objectRef),
          description: 'The object that was found.',
        },
        matched: {
          type: text,
          description: 'What holds the text: `name`, `labels["app"]`, or the name of an index.',
        },
        value: { type: text, description: 'The value that holds it.' },
      }),
  })
}
