import { validateSchema } from 'graphql'
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
import type { DormantDeclaration } from '../graphql/model/unknown-types.ts'
import { schemaInSteps } from '../graphql/schema/create-schema.ts'
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { type ApiResource, apiVersionOf } from '../kubernetes/api-resource.ts'
import type { CodedError } from '../lib/coded-error.ts'
import { indexersOf } from '../query/index/index-definition.ts'
import { endedIndexers, endedIndexName } from '../query/index/ended-index.ts'
import { indexersFor } from '../query/relation/relations.ts'
import type { ClusterMember } from './cluster-member.ts'
import type { Cluster } from './connected-cluster.ts'

export interface BuildSchemaOptions {
  readonly members: readonly ClusterMember[]
  readonly sdl: readonly SdlSource[]
  readonly aliases: GroupAliases
  /** Kinds that are read live although they could be cached: `group/Kind`, or the kind alone of the core group. */
  readonly uncached: readonly string[]
  readonly profile: SchemaProfile
  /** Whether Relay can fetch objects again. */
  readonly relay: boolean
  /** Whether Secrets have what they hold, read live. */
  readonly secretData: boolean
  readonly indexers: IndexFunctions
  /** Whether fields of custom kinds that are called `…Ref` become relations. */
  readonly inferReferences: boolean
  /** What is wrong with the SDL; the schema is made without it. */
  readonly problem: (problem: CodedError) => void
  /** Called when all of that has been told, with what waits for kinds that are not served. May throw, to refuse it. */
  readonly checked: (dormant: readonly DormantDeclaration[]) => void
}

/** A schema of what clusters serve, not served yet. */
export interface BuiltSchema extends Omit<ServedSchema, 'clusters' | 'access'> {
  /** The clusters as they were when it was begun. */
  readonly members: readonly Pick<ClusterMember, 'cluster' | 'cache' | 'access'>[]
}

/**
 * Makes the schema of what the clusters serve, in steps between which others may have their turn: with many custom resources
 * it takes some tenths of a second. Throws `GroupAliasError`, and what `checked` throws. Changes nothing.
 */
export function* buildSchemaInSteps(options: BuildSchemaOptions): Generator<void, BuiltSchema> {
  const { sdl, aliases, uncached, profile, relay, secretData, problem } = options
  const { indexers, inferReferences } = options
  const members = options.members.map(({ cluster, cache, access }) => ({ cluster, cache, access }))
  const apis = members.flatMap(({ cluster }) =>
    cluster.state === 'connected' ? [cluster.api] : [],
  )
  const parts = { sdl, aliases, uncached, profile, indexers, inferReferences }
  const model = buildSchemaModel({ ...mergedApis(apis), ...parts })
  for (const one of model.problems) problem(one)
  options.checked(model.dormant)
  yield
  const kinds = new Map(model.kinds.map((kind) => [kind.typeName, kind]))
  const relations = resolveRelations(kinds, model.relations, model.ofAnyKind)
  yield
  const schema = yield* schemaInSteps(model, { relay, secretData })
  yield
  // Or the first operation would have to wait for that.
  validateSchema(schema)
  return { schema, kinds, kindOf: (group, kind) => model.kindOf(group, kind), relations, members }
}

/** Tells the caches of the clusters what may be acquired from now on. What is cached goes on. */
export function serveBuilt({ members, ...built }: BuiltSchema): ServedSchema {
  const clusters = new Map<string, ClusterCache>()
  const access = new Map<string, ClusterAccess>()
  for (const { cluster, cache, access: asked } of members) {
    cache.serve(servedResources(cluster, [...built.kinds.values()], built.relations))
    if (cluster.state === 'connected') {
      const names = new Set(cluster.api.resources.map(resourceName))
      cache.drop((resource) => !names.has(resourceName(resource)))
    }
    clusters.set(cluster.name, cache)
    access.set(cluster.name, asked)
  }
  return { ...built, clusters, access }
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
