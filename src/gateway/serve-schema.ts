import type { ClusterAccess } from '../access/cluster-access.ts'
import type { ClusterCache, ServedResource } from '../cache/cluster-cache.ts'
import type { GroupAliases } from '../graphql/naming/api-groups.ts'
import type { SchemaProfile } from '../graphql/model/schema-profile.ts'
import type { IndexFunctions } from '../graphql/model/index-functions.ts'
import type { Kind } from '../graphql/model/kind.ts'
import { mergedApis } from '../graphql/model/merged-apis.ts'
import { buildSchemaModel } from '../graphql/model/schema-model.ts'
import { resolveRelations, type SchemaRelations } from '../graphql/operation/schema-relations.ts'
import type { ServedSchema } from '../graphql/operation/served-schema.ts'
import { createSchema } from '../graphql/schema/create-schema.ts'
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { type ApiResource, apiVersionOf } from '../kubernetes/api-resource.ts'
import type { CodedError } from '../lib/coded-error.ts'
import { indexersOf } from '../query/index/index-definition.ts'
import { endedIndexers, endedIndexName } from '../query/index/ended-index.ts'
import { indexersFor } from '../query/relation/relations.ts'
import type { ClusterMember } from './cluster-member.ts'
import type { Cluster } from './connected-cluster.ts'

export interface ServeSchemaOptions {
  readonly members: readonly ClusterMember[]
  readonly sdl: readonly SdlSource[]
  readonly aliases: GroupAliases
  /** Kinds that are read live although they could be cached: `group/Kind`, or the kind alone of the core group. */
  readonly uncached: readonly string[]
  readonly profile: SchemaProfile
  /** Whether Relay can fetch objects again. */
  readonly relay: boolean
  readonly indexers: IndexFunctions
  /** What is wrong with the SDL; the schema is made without it. May throw, to refuse that. */
  readonly problem: (problem: CodedError) => void
}

/**
 * Makes the schema of what the clusters serve, and tells their caches what may be acquired. What is cached goes on. Throws
 * `GroupAliasError`, and what `problem` throws, before anything has changed.
 */
export function serveSchema(options: ServeSchemaOptions): ServedSchema {
  const { members, sdl, aliases, uncached, profile, relay, indexers, problem } = options
  const apis = members.flatMap(({ cluster }) =>
    cluster.state === 'connected' ? [cluster.api] : [],
  )
  const parts = { sdl, aliases, uncached, profile, indexers }
  const model = buildSchemaModel({ ...mergedApis(apis), ...parts })
  for (const one of model.problems) problem(one)
  const kinds = new Map(model.kinds.map((kind) => [kind.typeName, kind]))
  const relations = resolveRelations(kinds, model.relations, model.ofAnyKind)
  const schema = createSchema(model, { relay })
  const clusters = new Map<string, ClusterCache>()
  const access = new Map<string, ClusterAccess>()
  for (const { cluster, cache, access: asked } of members) {
    cache.serve(servedResources(cluster, model.kinds, relations))
    if (cluster.state === 'connected') {
      const names = new Set(cluster.api.resources.map(resourceName))
      cache.drop((resource) => !names.has(resourceName(resource)))
    }
    clusters.set(cluster.name, cache)
    access.set(cluster.name, asked)
  }
  const kindOf = (group: string, kind: string): Kind | undefined => model.kindOf(group, kind)
  return { schema, kinds, kindOf, relations, clusters, access }
}

/** The kinds of the schema that a cluster has, with all that their stores are to be asked for. */
function servedResources(
  cluster: Cluster,
  kinds: readonly Kind[],
  { compiled, indexTexts }: SchemaRelations,
): readonly ServedResource[] {
  const resources = cluster.state === 'connected' ? cluster.api.resources : []
  const names = new Set(resources.map(resourceName))
  return kinds
    .filter(({ resource }) => names.has(resourceName(resource)))
    .map(({ resource, metadataOnly, uncached, indexes, typeName, ended }) => ({
      resource,
      metadataOnly,
      uncached,
      indexers: indexersOf(indexes.filter(({ lazy }) => lazy !== true)),
      lazyIndexers: {
        ...indexersOf(indexes.filter(({ lazy }) => lazy === true)),
        ...indexersFor(compiled, typeName),
        ...endedIndexers(ended),
      },
      indexTexts: {
        ...Object.fromEntries(indexes.map((index) => [index.name, JSON.stringify(index)])),
        ...indexTexts,
        ...(ended === undefined ? {} : { [endedIndexName(ended)]: JSON.stringify(ended) }),
      },
    }))
}

function resourceName(resource: ApiResource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}
