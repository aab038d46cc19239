import { type GraphQLFieldConfigMap, GraphQLString } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { GraphQLStringMap } from './scalars.ts'
import { fromSource } from './field-source.ts'
import type { ResolverContext, Row } from './read-context.ts'

/** What Secrets have whose caches hold metadata only: the rest, read live. No other kind has any of it. */
export function secretFields({
  resource,
  metadataOnly,
}: Kind): GraphQLFieldConfigMap<Row, ResolverContext> {
  if (!metadataOnly || resource.group !== '' || resource.kind !== 'Secret') return {}
  return {
    data: {
      type: GraphQLStringMap,
      description:
        'What it holds: base64, by key. Read from the API server for each answer, with the token of whoever asks; null where the Secret is gone.',
      resolve: (row, _args, { read }) => read.secret(row)?.data ?? null,
      ...fromSource({ form: 'secretContents' }),
    },
    type: {
      type: GraphQLString,
      description: 'What `data` is for: `kubernetes.io/tls`. Read as `data` is.',
      resolve: (row, _args, { read }) => read.secret(row)?.type ?? null,
      ...fromSource({ form: 'secretContents' }),
    },
  }
}
