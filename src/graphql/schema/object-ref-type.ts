import { GraphQLID, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql'
import { ownFields } from './field-source.ts'
import { idOfObjectRef } from './object-ref.ts'
import type { ObjectRef, ResolverContext } from './read-context.ts'
import type { SchemaTypes } from './schema-types.ts'

const text = new GraphQLNonNull(GraphQLString)

/** `ObjectRef`: which object is meant, of whatever kind. Its source is an {@link ObjectRef}. */
export function buildObjectRefType(types: () => SchemaTypes): GraphQLObjectType {
  return new GraphQLObjectType<ObjectRef, ResolverContext>({
    name: 'ObjectRef',
    description: 'Which object is meant, of whatever kind, whether or not it is there.',
    fields: () =>
      ownFields<'objectRef', ObjectRef, ResolverContext>('objectRef', {
        id: {
          type: new GraphQLNonNull(GraphQLID),
          description:
            'Finds the object by `object(id:)`. Not the `id` of the object where only its name is known.',
          resolve: idOfObjectRef,
        },
        apiVersion: { type: GraphQLString, description: 'Null where only the group is known.' },
        kind: { type: text, description: 'The kind as the API writes it: `Deployment`.' },
        namespace: { type: GraphQLString, description: 'Null for cluster-scoped objects.' },
        name: { type: text, description: 'The `metadata.name` of the object.' },
        object: {
          type: types().kubernetesObject,
          description: 'The object itself; null where it is gone or its kind is not served.',
          resolve: (ref, _args, { read }) => read.referenced(ref),
        },
      }),
  })
}
