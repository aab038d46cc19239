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

const text = new GraphQLNonNull(GraphQLString)

type NodeType = GraphQLObjectType | GraphQLInterfaceType

/** What {@link buildConnectionType} needs. */
export interface ConnectionOptions {
  /** The name of the type of its nodes. */
  readonly typeName: string
  readonly pageInfo: GraphQLObjectType
  readonly facet: GraphQLObjectType
  /**
   * Of one kind there is one resource version. Of several it is told which were looked into; where those are the ones that happen
   * to be loaded, also which were not: its source is an `OwnedConnectionSource` then.
   */
  readonly of: 'oneKind' | 'severalKinds' | 'loadedKinds'
  /** The type of its nodes. */
  readonly nodeType: () => NodeType
}

/** `PodConnection` and `PodEdge`. Its source is a {@link ConnectionSource}. */
export function buildConnectionType(options: ConnectionOptions): GraphQLObjectType {
  const { typeName, pageInfo, facet, of, nodeType } = options
  const edge = new GraphQLObjectType<EdgeSource, ResolverContext>({
    name: `${typeName}Edge`,
    description: `One object of a ${typeName}Connection, with its place in the list.`,
    fields: () =>
      ownFields('edge', {
        cursor: {
          type: new GraphQLNonNull(GraphQLString),
          description: 'The place of the object, for `after` and `before`.',
        },
        node: { type: new GraphQLNonNull(nodeType()), description: 'The object.' },
      }),
  })
  return new GraphQLObjectType<ConnectionSource, ResolverContext>({
    name: `${typeName}Connection`,
    description: `A page of a list, and what is known of the whole list.`,
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
          type: new GraphQLNonNull(GraphQLInt),
          description: 'The number of objects on all pages.',
          resolve: (connection) => connection.totalCount(),
        },
        ...(of === 'oneKind' ? oneKindFields(facet) : severalKindsFields),
        ...(of === 'loadedKinds' ? loadedKindsFields : {}),
      }),
  })
}

type ConnectionFields = OwnFieldConfigs<'connection', ConnectionSource, ResolverContext>

const oneKindFields = (facet: GraphQLObjectType): ConnectionFields => ({
  facets: {
    type: new GraphQLList(new GraphQLNonNull(facet)),
    description: 'How the objects on all pages are spread over the values of indexes.',
    args: {
      by: {
        type: new GraphQLNonNull(new GraphQLList(text)),
        description: 'Indexes, by their names in `where`, or labels: `labels["app"]`.',
      },
      top: { type: GraphQLInt, description: 'At most so many values of each; 10 if absent.' },
    },
    resolve: (connection, args: FacetArguments) => connection.facets(args),
  },
  resourceVersion: {
    type: text,
    description: 'The position in the history of the resource that the page shows.',
    resolve: (connection) => connection.resourceVersion(),
  },
  resumeToken: {
    type: text,
    description: 'Continue with a subscription behind what the page shows: `resumeFrom`.',
    resolve: (connection) => connection.resumeToken(),
  },
})

const severalKindsFields: ConnectionFields = {
  kinds: {
    type: new GraphQLNonNull(new GraphQLList(text)),
    description: 'The types of the kinds that were looked into.',
    resolve: (connection) => (connection as OwnedConnectionSource).kinds(),
  },
}

const loadedKindsFields: ConnectionFields = {
  notLookedAt: {
    type: new GraphQLNonNull(new GraphQLList(text)),
    description:
      'The types of the kinds that might hold more and were not looked into, as they are not loaded or may not be listed: name them in `kinds`.',
    resolve: (connection) => (connection as OwnedConnectionSource).notLookedAt(),
  },
}

/** Relay's `PageInfo`. */
export function buildPageInfoType(): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'PageInfo',
    description: 'Where a page stands in its list.',
    fields: ownFields('pageInfo', {
      hasNextPage: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description: 'Whether there is more behind the page: `after` its `endCursor`.',
      },
      hasPreviousPage: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description: 'Whether there is more ahead of the page: `before` its `startCursor`.',
      },
      startCursor: {
        type: GraphQLString,
        description: 'The place of the first object of the page; null where it has none.',
      },
      endCursor: {
        type: GraphQLString,
        description: 'The place of the last object of the page; null where it has none.',
      },
    }),
  })
}
