import {
  GraphQLBoolean,
  GraphQLInt,
  type GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { type OwnFieldConfigs, ownFields } from './field-source.ts'
import type { FacetArguments } from './read-arguments.ts'
import type {
  ConnectionSource,
  EdgeSource,
  OwnedConnectionSource,
  ResolverContext,
} from './read-context.ts'
import { GraphQLJson } from './scalars.ts'

const text = new GraphQLNonNull(GraphQLString)
const count = new GraphQLNonNull(GraphQLInt)

type NodeType = GraphQLObjectType | GraphQLInterfaceType

/** Fields of a connection. */
export type ConnectionFields = OwnFieldConfigs<'connection', ConnectionSource, ResolverContext>

/** The options of {@link buildConnectionType}. */
export interface ConnectionOptions {
  /** The name of the type of its nodes. */
  readonly typeName: string
  readonly pageInfo: GraphQLObjectType
  readonly nodeType: () => NodeType
  /** Fields besides the page and `totalCount`. */
  readonly further?: ConnectionFields
}

/** `PodConnection` and `PodEdge`. Its source is a {@link ConnectionSource}. */
export function buildConnectionType(options: ConnectionOptions): GraphQLObjectType {
  const { typeName, pageInfo, nodeType, further } = options
  const edge = new GraphQLObjectType<EdgeSource, ResolverContext>({
    name: `${typeName}Edge`,
    description: `One object of a ${typeName}Connection, with its place in the list.`,
    fields: () =>
      ownFields('edge', {
        cursor: {
          type: text,
          description: 'The place of the object, for `after` and `before`.',
        },
        node: { type: new GraphQLNonNull(nodeType()), description: 'The object.' },
      }),
  })
  return new GraphQLObjectType<ConnectionSource, ResolverContext>({
    name: `${typeName}Connection`,
    description: 'A page of a list, and facts about the whole list.',
    fields: () =>
      ownFields<'connection', ConnectionSource, ResolverContext>('connection', {
        nodes: {
          type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(nodeType()))),
          description: 'The objects of the page.',
          resolve: (connection) => connection.rows(),
        },
        edges: {
          type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edge))),
          description: 'The objects of the page, each with its cursor.',
          resolve: (connection) => connection.edges(),
        },
        pageInfo: {
          type: new GraphQLNonNull(pageInfo),
          description: 'Where the page stands in the list.',
          resolve: (connection) => connection.pageInfo(),
        },
        totalCount: {
          type: count,
          description: 'The number of objects on all pages.',
          resolve: (connection) => connection.totalCount(),
        },
        ...further,
      }),
  })
}

/** The further fields of a connection of one kind: `facets` and its place in the history of the resource. */
export const oneKindFields = (facet: GraphQLObjectType): ConnectionFields => ({
  facets: {
    type: new GraphQLList(new GraphQLNonNull(facet)),
    description: 'The distribution of the objects on all pages over the values of indexes.',
    args: {
      by: {
        type: new GraphQLNonNull(new GraphQLList(text)),
        description: 'Indexes, by their names in `where`, or labels: `labels["app"]`.',
      },
      top: {
        type: GraphQLInt,
        description: 'The number of values of each, at most; 10 if absent.',
      },
    },
    resolve: (connection, args: FacetArguments) => connection.facets(args),
  },
  resourceVersion: {
    type: text,
    description: 'The position of the page in the history of the resource.',
    resolve: (connection) => connection.resourceVersion(),
  },
  resumeToken: {
    type: text,
    description: 'Where a subscription continues after this page: pass it as `resumeFrom`.',
    resolve: (connection) => connection.resumeToken(),
  },
})

/** The further field of a connection of several kinds. */
export const severalKindsFields: ConnectionFields = {
  kinds: {
    type: new GraphQLNonNull(new GraphQLList(text)),
    description: 'The types of the kinds that the gateway looked into.',
    resolve: (connection) => (connection as OwnedConnectionSource).kinds(),
  },
}

/** The further fields of a connection of the loaded kinds, whose source is an `OwnedConnectionSource`. */
export const loadedKindsFields: ConnectionFields = {
  ...severalKindsFields,
  notLookedAt: {
    type: new GraphQLNonNull(new GraphQLList(text)),
    description:
      'The types of the kinds that may hold more, which the gateway did not look into: they are not loaded, or the viewer may not list them. Name them in `kinds`.',
    resolve: (connection) => (connection as OwnedConnectionSource).notLookedAt(),
  },
}

/** `PageInfo`, as Relay defines it. */
export function buildPageInfoType(): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'PageInfo',
    description: 'Where a page stands in its list.',
    fields: ownFields('pageInfo', {
      hasNextPage: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description:
          'Whether more objects follow the page: read them with `after` and its `endCursor`.',
      },
      hasPreviousPage: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description:
          'Whether more objects precede the page: read them with `before` and its `startCursor`.',
      },
      startCursor: {
        type: GraphQLString,
        description: 'The place of the first object of the page; null for an empty page.',
      },
      endCursor: {
        type: GraphQLString,
        description: 'The place of the last object of the page; null for an empty page.',
      },
    }),
  })
}

/** `Facet` and `FacetValue`. The source is a `Facet`. */
export function buildFacetType(): GraphQLObjectType {
  const value = new GraphQLObjectType({
    name: 'FacetValue',
    description: 'One value of an index, and how many objects of the list have it.',
    fields: ownFields('facetValue', {
      value: {
        type: new GraphQLNonNull(GraphQLJson),
        description: 'A string, number or boolean, as the index has it.',
      },
      count: { type: count, description: 'The number of objects that have the value.' },
    }),
  })
  return new GraphQLObjectType({
    name: 'Facet',
    description: 'The distribution of the objects of a list over the values of an index.',
    fields: ownFields('facet', {
      by: { type: text, description: 'The index or label.' },
      values: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(value))),
        description: 'The most frequent values, in this order.',
      },
      distinctCount: {
        type: count,
        description: 'The number of all values, including those that are not shown.',
      },
      missingCount: { type: count, description: 'The number of objects without a value.' },
    }),
  })
}
