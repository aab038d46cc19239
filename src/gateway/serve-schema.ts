import { validateSchema } from 'graphql'
import type { ClusterAccess } from '../access/cluster-access.ts'
import type { ClusterCache, ServedResource } from '../cache/cluster-cache.ts'
import type { GroupAliases } from '../graphql/naming/api-groups.ts'
import type { SchemaProfile } from '../graphql/model/schema-profile.ts'
import type { IndexFunctions } from '../graphql/model/index-functions.ts'
import type { Kind } from '../graphql/model/kind.ts'
import { mergedApis } from '../graphql/model/merged-apis.ts'
import { schemaModelInSteps } from '../graphql/model/schema-model.ts'
import { resolveRelations, type SchemaRelations } from '../graphql/served/schema-relations.ts'
import type { ServedSchema } from '../graphql/served/served-schema.ts'
import type { DormantDeclaration } from '../graphql/model/unknown-types.ts'
import { schemaInSteps } from '../graphql/schema/create-schema.ts'
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import type { Indexers } from '../informer/store/store-view.ts'
import { type ApiResource, apiVersionOf } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import { indexersOf } from '../query/index/index-definition.ts'
import { endedIndexers, endedIndexName } from '../query/index/ended-index.ts'
import { choiceIndex, choiceIndexers } from '../query/relation/object-choice.ts'
import { indexersByType } from '../query/relation/relations.ts'
import type { ClusterMember } from './cluster-member.ts'

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
  /** All its kinds, with what their caches are to be asked for. */
  readonly resources: readonly ServedResource[]
  /** The clusters as they were when it was begun. */
  readonly members: readonly Pick<ClusterMember, 'cluster' | 'cache' | 'access'>[]
}

/** What was made is no valid GraphQL schema. */
class InvalidSchemaError extends CodedError {
  constructor(problem: string) {
    super('SCHEMA_INVALID', `the schema is not valid: ${problem}`, {
      hint: 'give the field or type that it speaks of another name',
    })
  }
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
  const model = yield* schemaModelInSteps({ ...mergedApis(apis), ...parts })
  for (const one of model.problems) problem(one)
  options.checked(model.dormant)
  yield
  const kinds = new Map(model.kinds.map((kind) => [kind.typeName, kind]))
  const relations = yield* resolveRelations(kinds, model.relations, model.ofAnyKind)
  yield
  const schema = yield* schemaInSteps(model, { relay, secretData })
  yield
  // Or the first operation would have to wait for that.
  const [invalid] = validateSchema(schema)
  // Served, it would fail every operation.
  if (invalid !== undefined) throw new InvalidSchemaError(invalid.message)
  yield
  const resources = yield* resourcesOf(model.kinds, relations)
  const kindOf = (group: string, kind: string): Kind | undefined => model.kindOf(group, kind)
  return { schema, kinds, kindOf, relations, resources, members }
}

/** Tells the caches of the clusters what may be acquired from now on. What is cached goes on. */
export function serveBuilt({ members, resources, ...built }: BuiltSchema): ServedSchema {
  const clusters = new Map<string, ClusterCache>()
  const access = new Map<string, ClusterAccess>()
  for (const { cluster, cache, access: asked } of members) {
    const isConnected = cluster.state === 'connected'
    const names = new Set(isConnected ? cluster.api.resources.map(resourceName) : [])
    const has = (resource: ApiResource): boolean => names.has(resourceName(resource))
    cache.serve(resources.filter(({ resource }) => has(resource)))
    if (isConnected) cache.drop((resource) => !has(resource))
    clusters.set(cluster.name, cache)
    access.set(cluster.name, asked)
  }
  return { ...built, clusters, access }
}

/** The kinds of a schema, with all that their stores are to be asked for; pauses after each. */
function* resourcesOf(
  kinds: Iterable<Kind>,
  { compiled, indexTexts }: SchemaRelations,
): Generator<void, readonly ServedResource[]> {
  const related = indexersByType(compiled)
  const resources: ServedResource[] = []
  for (const { resource, metadataOnly, uncached, indexes, typeName, ended, mixed } of kinds) {
    const ofRelations = related.get(typeName) ?? {}
    const choices = mixed.flatMap(({ chosen }) => (chosen === undefined ? [] : [chosen]))
    resources.push({
      resource,
      metadataOnly,
      uncached,
      indexers: indexersOf(indexes.filter(({ lazy }) => lazy !== true)),
      lazyIndexers: {
        ...indexersOf(indexes.filter(({ lazy }) => lazy === true)),
        ...ofRelations,
        ...endedIndexers(ended),
        ...Object.assign({}, ...choices.map(({ field, path }) => choiceIndexers(field, path))),
      },
      indexTexts: {
        ...Object.fromEntries(indexes.map((index) => [index.name, JSON.stringify(index)])),
        ...textsOf(ofRelations, indexTexts),
        ...(ended === undefined ? {} : { [endedIndexName(ended)]: JSON.stringify(ended) }),
        ...Object.fromEntries(choices.map(({ field, path }) => [choiceIndex(field), path.text])),
      },
    })
    yield
  }
  return resources
}

function textsOf(indexers: Indexers, texts: Readonly<Record<string, string>>): typeof texts {
  const own: Record<string, string> = {}
  for (const name of Object.keys(indexers)) {
    const text = texts[name]
    if (text !== undefined) own[name] = text
  }
  return own
}

function resourceName(resource: ApiResource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}
