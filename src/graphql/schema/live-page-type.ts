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
    description: 'What is to be done to the rows of a live page, one step after the other.',
    values: {
      REMOVE: { description: 'Take out the row at `index`.' },
      MOVE: { description: 'Take out the row at `from`, then put it at `index`.' },
      INSERT: { description: 'Put `object` at `index`.' },
      UPDATE: { description: 'Put `object` in the place of the row at `index`.' },
    },
  })
}

/** `PodLivePage` and `PodLivePageChange`: what a live page sends. Their sources are `LivePage` and `LivePageChange`. */
export function buildLivePageType(kind: Kind, types: SchemaTypes): GraphQLObjectType {
  const { typeName } = kind
  const change = new GraphQLObjectType({
    name: `${typeName}LivePageChange`,
    description: `One step of a ${typeName}LivePage.`,
    fields: () =>
      ownFields('livePageChange', {
        step: { type: new GraphQLNonNull(types.pageStep), description: 'What is to be done.' },
        index: { type: int, description: 'The row that the step is about; the first one is 0.' },
        from: { type: GraphQLInt, description: 'Of a MOVE; null for other steps.' },
        objectId: { type: new GraphQLNonNull(GraphQLID), description: 'The `id` of the object.' },
        object: {
          type: types.objectType(kind),
          description: 'The object; null where it is taken out or only moved.',
        },
      }),
  })
  return new GraphQLObjectType({
    name: `${typeName}LivePage`,
    description: 'The steps that lead from the page before to what the page is now.',
    fields: ownFields('livePage', {
      reset: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description: 'Forget the rows that you hold before you take the steps.',
      },
      synced: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description: 'The page is complete: true from then until the next reset.',
      },
      totalCount: { type: int, description: 'All objects of the list, on every page.' },
      changes: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(change))),
        description: 'The steps, to be taken in this order.',
      },
      resumeToken: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'Continue behind these steps: `resumeFrom`. One from amid a page begins anew.',
      },
      resourceVersion: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'The position in the history of the resource that the page shows.',
      },
    }),
  })
}
