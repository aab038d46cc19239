import { GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql'
import { ownFields } from './field-source.ts'
import type { ResolverContext, UseSource } from './read-context.ts'
import type { SchemaTypes } from './schema-types.ts'

/** `UsedBy`: an object that makes use of another one, and where in it. Its source is a {@link UseSource}. */
export function buildUsedByType(types: () => SchemaTypes): GraphQLObjectType {
  return new GraphQLObjectType<UseSource, ResolverContext>({
    name: 'UsedBy',
    description: 'An object that makes use of another one.',
    fields: () =>
      ownFields<'use', UseSource, ResolverContext>('use', {
        object: {
          type: new GraphQLNonNull(types().objectRef),
          description: 'The object that makes use of it.',
        },
        paths: {
          type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))),
          description:
            'Where that object names it: `spec.containers[0].envFrom[1].configMapRef.name`.',
          resolve: (use) => use.paths(),
        },
      }),
  })
}
