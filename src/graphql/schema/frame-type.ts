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
import { pathArgument } from './resolvers.ts'
import type { Kind } from '../model/kind.ts'
import type { SchemaTypes } from './schema-types.ts'

const flag = new GraphQLNonNull(GraphQLBoolean)
const text = new GraphQLNonNull(GraphQLString)

/** `ChangeType`. */
export function buildChangeType(): GraphQLEnumType {
  return new GraphQLEnumType({
    name: 'ChangeType',
    description: 'What happened to an object, from the point of view of the viewer.',
    values: {
      ADDED: { description: 'The object exists, or now matches the arguments.' },
      MODIFIED: { description: 'The object has changed.' },
      REMOVED: { description: 'The object is no longer part of the result.' },
    },
  })
}

/** `Removal`. */
export function buildRemovalType(): GraphQLEnumType {
  return new GraphQLEnumType({
    name: 'Removal',
    description: 'Why an object is no longer part of the result.',
    values: {
      DELETED: { description: 'The object was deleted.' },
      UNMATCHED: { description: 'The object no longer matches the arguments.' },
      HIDDEN: { description: 'The viewer may no longer see the object.' },
    },
  })
}

/** `PodFrame` and `PodChange`: what a subscription sends. Plans write them: they have no resolvers. */
export function buildFrameType(kind: Kind, types: SchemaTypes): GraphQLObjectType {
  const { typeName } = kind
  const change = new GraphQLObjectType({
    name: `${typeName}Change`,
    description: `One change of a ${typeName}Frame.`,
    fields: () =>
      ownFields('change', {
        type: {
          type: new GraphQLNonNull(types.changeType),
          description: 'What happened to the object.',
        },
        removal: {
          type: types.removal,
          description: 'Why the object is REMOVED; null for other changes.',
        },
        objectId: {
          type: new GraphQLNonNull(GraphQLID),
          description: 'The `id` of the object, also if the viewer may no longer see it.',
        },
        object: {
          type: types.objectType(kind),
          description:
            'The object. A REMOVED object is in its last known state; a HIDDEN one is null.',
        },
        previous: {
          type: GraphQLJson,
          description: 'The object before the change, or the value at a path of it.',
          args: { path: pathArgument },
        },
        finalStateKnown: {
          type: flag,
          description:
            'False if the gateway missed the deletion: the object is in its last known state.',
        },
      }),
  })
  return new GraphQLObjectType({
    name: `${typeName}Frame`,
    description:
      'The changes since the previous frame. The first frames bring the existing objects.',
    fields: ownFields('frame', {
      reset: {
        type: flag,
        description: 'Whether to drop all objects before applying the changes.',
      },
      synced: {
        type: flag,
        description: 'Whether the snapshot is complete: true from then on until the next reset.',
      },
      changes: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(change))),
        description: 'One change for each changed object. Apply them in this order.',
      },
      resumeToken: {
        type: text,
        description:
          'Where to continue after this frame: pass it as `resumeFrom`. A token from within a snapshot starts the snapshot again.',
      },
      resourceVersion: {
        type: text,
        description:
          'The position in the history of the resource up to which all changes are sent; empty within a snapshot.',
      },
    }),
  })
}
