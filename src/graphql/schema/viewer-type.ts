import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLBoolean,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import { fromSource, ownFields } from './field-source.ts'
import type { CanArguments, ObjectCanArguments } from './read-arguments.ts'
import type { ResolverContext, Row } from './read-context.ts'

const text = new GraphQLNonNull(GraphQLString)

const verb = { type: text, description: '`get`, `list`, `create`, `update`, `patch`, `delete`, …' }
const subresource = { type: GraphQLString, description: '`log`, `exec`, `scale`, …' }

/** `viewer` and `can`, of `Query`. */
export function permissionRootFields(): GraphQLFieldConfigMap<unknown, ResolverContext> {
  const viewer = new GraphQLObjectType({
    name: 'Viewer',
    description: 'Who asks.',
    fields: ownFields('viewer', {
      username: { type: text, description: 'The name that permissions go by.' },
      groups: {
        type: new GraphQLNonNull(new GraphQLList(text)),
        description: 'The groups that permissions go by, as the cluster knows them.',
      },
    }),
  })
  return {
    viewer: {
      type: viewer,
      description: 'Who asks; null where nobody is asked who they are.',
      resolve: (_source, _args, { permissions }) => permissions.viewer,
      ...fromSource({ form: 'whoAsks' }),
    },
    can: {
      type: GraphQLBoolean,
      description:
        'Whether whoever asks may do something, as the API server decides; null where that does not say. Where nobody is asked who they are: whether it is reading.',
      args: {
        verb,
        kind: { type: GraphQLString, description: 'The name of a type: `Deployment`.' },
        resource: {
          type: GraphQLString,
          description: 'As kubectl writes it, instead of `kind`: `deployments.apps`.',
        },
        subresource,
        namespace: { type: GraphQLString, description: 'Omitted: in all namespaces.' },
        name: { type: GraphQLString, description: 'Omitted: to whichever object.' },
        cluster: { type: GraphQLString, description: 'Omitted: the default one.' },
      },
      resolve: (_source, args: CanArguments, { permissions }) => permissions.can(args),
      ...fromSource({ form: 'canAnywhere' }),
    },
  }
}

/** `can` of every object. */
export function canField(): GraphQLFieldConfig<Row, ResolverContext> {
  return {
    type: GraphQLBoolean,
    description:
      'Whether whoever asks may do this to the object, as the API server decides; null where that does not say. Where nobody is asked who they are: whether it is reading.',
    args: { verb, subresource },
    resolve: (row, args: ObjectCanArguments, { permissions }) => permissions.canDo(row, args),
  }
}
