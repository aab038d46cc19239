import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import type { Kind } from '../model/kind.ts'
import { ownFields } from './field-source.ts'
import type { SchemaTypes } from './schema-types.ts'

const int = new GraphQLNonNull(GraphQLInt)

/** `PageStep`. */
export function buildPageStepType(): GraphQLEnumType {
  return new GraphQLEnumType({
    name: 'PageStep',
    description: 'A step that changes the rows of a live page.',
    values: {
      REMOVE: { description: 'Remove the row at `index`.' },
      MOVE: { description: 'Remove the row at `from`, then insert it at `index`.' },
      INSERT: { description: 'Insert `object` at `index`.' },
      UPDATE: { description: 'Replace the row at `index` with `object`.' },
    },
  })
}

/** `PodLivePage` and `PodLivePageChange`. Plans write them: they have no resolvers. */
export function buildLivePageType(kind: Kind, types: SchemaTypes): GraphQLObjectType {
  const { typeName } = kind
  const change = new GraphQLObjectType({
    name: `${typeName}LivePageChange`,
    description: `One step of a ${typeName}LivePage.`,
    fields: () =>
      ownFields('livePageChange', {
        step: { type: new GraphQLNonNull(types.pageStep), description: 'The step.' },
        index: { type: int, description: 'The row of the step; the first row is 0.' },
        from: { type: GraphQLInt, description: 'The old row of a MOVE; null for other steps.' },
        objectId: { type: new GraphQLNonNull(GraphQLID), description: 'The `id` of the object.' },
        object: {
          type: types.objectType(kind),
          description: 'The object of an INSERT or UPDATE; null for other steps.',
        },
      }),
  })
  return new GraphQLObjectType({
    name: `${typeName}LivePage`,
    description: 'The steps from the previous state of the page to its current one.',
    fields: ownFields('livePage', {
      reset: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description: 'Whether to drop all rows before applying the steps.',
      },
      synced: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description: 'Whether the page is complete: true from then on until the next reset.',
      },
      totalCount: { type: int, description: 'The number of objects of the list, on all pages.' },
      changes: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(change))),
        description: 'The steps. Apply them in this order.',
      },
      resumeToken: {
        type: new GraphQLNonNull(GraphQLString),
        description:
          'Where to continue after these steps: pass it as `resumeFrom`. A token from within a page starts the page again.',
      },
      resourceVersion: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'The position of the page in the history of the resource.',
      },
    }),
  })
}
