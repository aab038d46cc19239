import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { GraphQLJson } from './scalars.ts'
import { ownFields } from './field-source.ts'
import { jsonAt, pathArgument } from './resolvers.ts'
import type { Kind } from '../model/kind.ts'
import type { Frame, FrameChange, ResolverContext } from './read-context.ts'
import type { SchemaTypes } from './schema-types.ts'

const flag = new GraphQLNonNull(GraphQLBoolean)
const text = new GraphQLNonNull(GraphQLString)

/** `ChangeType`. */
export function buildChangeType(): GraphQLEnumType {
  return new GraphQLEnumType({
    name: 'ChangeType',
    description: 'What happened to an object, as the viewer sees it.',
    values: {
      ADDED: { description: 'The object is there, or now matches the arguments.' },
      MODIFIED: { description: 'The object has changed.' },
      REMOVED: { description: 'The object is no longer among those that were asked for.' },
    },
  })
}

/** `Removal`. */
export function buildRemovalType(): GraphQLEnumType {
  return new GraphQLEnumType({
    name: 'Removal',
    description: 'Why an object is no longer among those that were asked for.',
    values: {
      DELETED: { description: 'It is gone.' },
      UNMATCHED: { description: 'It no longer matches the arguments.' },
      HIDDEN: { description: 'The viewer may no longer see it.' },
    },
  })
}

/** `PodFrame` and `PodChange`: what a subscription sends. Their sources are {@link Frame} and {@link FrameChange}. */
export function buildFrameType(kind: Kind, types: SchemaTypes): GraphQLObjectType {
  const { typeName } = kind
  const change = new GraphQLObjectType<FrameChange, ResolverContext>({
    name: `${typeName}Change`,
    description: `One change of a ${typeName}Frame.`,
    fields: () =>
      ownFields<'change', FrameChange, ResolverContext>('change', {
        type: {
          type: new GraphQLNonNull(types.changeType),
          description: 'What happened to the object.',
        },
        removal: {
          type: types.removal,
          description: 'Why it is REMOVED; null for other changes.',
        },
        objectId: {
          type: new GraphQLNonNull(GraphQLID),
          description: 'The `id` of the object, also where the object itself may not be seen.',
        },
        object: {
          type: types.objectType(kind),
          description:
            'The object; of a REMOVED one, as it was last seen; null where it is HIDDEN.',
        },
        previous: {
          type: GraphQLJson,
          description: 'The object before the change, or what stood at a path of it.',
          args: { path: pathArgument },
          resolve: (source, { path }: { readonly path?: string | null }) =>
            source.previous === null ? null : jsonAt(source.previous, path),
        },
        finalStateKnown: {
          type: flag,
          description:
            'False where a deletion was missed: the object is as it was last seen before it.',
        },
      }),
  })
  return new GraphQLObjectType<Frame, ResolverContext>({
    name: `${typeName}Frame`,
    description:
      'Changes since the frame before. The first frames bring the objects that are there.',
    fields: ownFields('frame', {
      reset: { type: flag, description: 'Forget what you hold before you apply the changes.' },
      synced: {
        type: flag,
        description:
          'All objects that were there at the start have been sent: true from then on until the next reset.',
      },
      changes: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(change))),
        description: 'One for each object that has changed, to be applied in this order.',
      },
      resumeToken: {
        type: text,
        description:
          'Continue behind this frame: `resumeFrom`. One from within a snapshot begins anew.',
      },
      resourceVersion: {
        type: text,
        description:
          'The position in the history of the resource up to which everything has been sent; empty within a snapshot.',
      },
    }),
  })
}
