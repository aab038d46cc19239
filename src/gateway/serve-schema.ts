/*
 * Makes the schema from the APIs of the clusters: first one model of all differing APIs, then its relations, the GraphQL
 * types, the program's extensions, and the resources with the indexes that their caches need. With many custom resources
 * this takes some tenths of a second, so it pauses between the steps. If the inputs are the same as before, it returns the
 * served schema again. `serveBuilt` then registers the resources with the caches.
 */

import { createHash } from 'node:crypto'
import { validateSchema } from 'graphql'
import type { ClusterAccess } from '../access/cluster-access.ts'
import type { ClusterCache, ServedResource } from '../cache/cluster-cache.ts'
import type { ReadExtension } from '../graphql/extensions/extension-document.ts'
import { type ExtendedSchema, extendedSchema } from '../graphql/extensions/extended-schema.ts'
import type { GroupAliases } from '../graphql/naming/kind-name.ts'
import type { SchemaProfile } from '../graphql/model/schema-profile.ts'
import type { IndexFunctions } from '../graphql/model/declared-indexes.ts'
import type { Kind } from '../graphql/model/kind.ts'
import { mergedApis } from '../graphql/model/definitions.ts'
import { schemaModelInSteps } from '../graphql/model/schema-model.ts'
import { resolveRelations, type SchemaRelations } from '../graphql/served/schema-relations.ts'
import {
  defaultCommonKinds,
  defaultProblemKinds,
  type OperationLimits,
  type FleetChanges,
  type ServedCluster,
  type ServedSchema,
} from '../graphql/served/served-schema.ts'
import type { DormantDeclaration } from '../graphql/model/kind-catalog.ts'
import { schemaInSteps } from '../graphql/schema/create-schema.ts'
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { type ApiResource, apiVersionOf } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import { nearestName } from '../lib/options.ts'
import { usageResourceOf, usageResources } from '../kubernetes/usage.ts'
import { endedIndexers, endedIndexName, indexersOf } from '../query/index/index-definition.ts'
import { measuredIndexes } from '../query/index/usage-index.ts'
import { choiceIndex, choiceIndexers } from '../query/relation/object-choice.ts'
import { problemIndex, problemIndexers, problemIndexText } from '../query/problems/problem-part.ts'
import { indexersByType } from '../query/relation/relations.ts'
import type { ClusterApi } from './cluster-api.ts'
import type { ClusterMember } from './cluster-member.ts'

export interface SchemaOptions {
  /** Prefixes of API groups in names, by group. */
  readonly aliases?: GroupAliases
  /**
   * Kinds that are read live from the API server instead of cached: `apps/Deployment`, or `Secret` of the core group.
   */
  readonly uncached?: readonly string[]
  /**
   * List fields of kinds that `search`, `graph`, `owned` and relations by a label load by themselves. Their caches do not
   * stop while they are idle. Default: `defaultCommonKinds`.
   */
  readonly commonKinds?: readonly string[]
  /**
   * What `problems` looks at by itself: list fields of kinds, and `*.GROUP` for all kinds of an API group and those below
   * it. Their caches do not stop while they are idle. Default: `defaultProblemKinds`.
   */
  readonly problemKinds?: readonly string[]
  /** The part of the clusters' API that becomes the schema; by default all of it. */
  readonly profile?: SchemaProfile
  /** Whether the schema supports refetching by relay-compiler: `fetch__Pod(id:)` and `@fetchable`. Default false. */
  readonly relay?: boolean
  /**
   * Whether the schema is a subgraph of Apollo Federation 2, whose router may resolve every kind by `_entities`: see
   * docs/federation.md. Default false.
   */
  readonly federation?: boolean
  /**
   * Whether Secrets have `data` and `type`. They are read from the API server for each answer, with the caller's bearer
   * token, or with the gateway's own credentials without authentication. Default false.
   */
  readonly secretData?: boolean
  /**
   * Whether there are mutations, which write to the clusters with the credentials of the caller: the caller's own bearer
   * token, or the gateway's credentials without authentication. Default false.
   */
  readonly allowWrites?: boolean
  /**
   * Indexes made by functions, by list field and name: `{ pods: { byTeam: (pod) => [pod.metadata.labels?.['team'] ??
   * ''] } }` adds `byTeam`, of strings, to `where`, `orderBy` and facets of `pods`. A function must be pure; it gets
   * cached objects (Secrets: metadata only). The start fails with `IndexFunctionError` for an unknown list, and for a
   * reserved or taken name. If a function throws, the object has no value, and the gateway logs the error.
   */
  readonly indexers?: IndexFunctions
  /**
   * Whether to infer relations: fields of custom kinds with names in `…Ref` become relations, and every kind gets
   * `referencedBy`. Default false.
   */
  readonly inferReferences?: boolean
}

/** The inputs of a schema. */
interface SchemaSources {
  readonly members: readonly ClusterMember[]
  readonly sdl: readonly SdlSource[]
  /** Added to the schema of the clusters' API. */
  readonly extensions: readonly ReadExtension[]
  /** The schema that is served; it is used again if it would be made of the same. */
  readonly before: BuiltSchema | undefined
}

/** A schema that is not served yet. */
export interface BuiltSchema extends Omit<
  ServedSchema,
  'clusters' | 'members' | 'fleet' | 'access' | 'indexTexts'
> {
  /** The resources of all kinds, with the indexes that their caches need. */
  readonly resources: ReadonlyMap<Kind, KindResource>
  /** What it was made of: the APIs that differ, and the user's SDL. */
  readonly madeOf: { readonly apis: readonly ClusterApi[]; readonly sdl: readonly SdlSource[] }
  /** The clusters at the start of the build. */
  readonly members: readonly BuiltMember[]
  /** Why parts of the SDL and of the options are left out. */
  readonly problems: readonly CodedError[]
  /** Declarations for kinds that are not served. */
  readonly dormant: readonly DormantDeclaration[]
  /** What is left out of extensions. */
  readonly unextended: Omit<ExtendedSchema, 'schema'>
}

type BuiltMember = Pick<ClusterMember, 'cluster' | 'cache' | 'access'> & {
  readonly described: ServedCluster
}

type KindResource = ServedResource & Required<Pick<ServedResource, 'indexTexts'>>

/**
 * Makes the schema from the clusters' APIs, in steps that let other work run between them. Throws `CodedError`:
 * `GROUP_ALIAS`, and for an invalid schema. Changes nothing else.
 */
export function* buildSchemaInSteps(
  options: SchemaOptions & { readonly limits?: Partial<OperationLimits> },
  { sdl, extensions, before, ...sources }: SchemaSources,
): Generator<void, BuiltSchema> {
  const { aliases = {}, uncached = [], profile = {}, relay = false, secretData = false } = options
  const { allowWrites: writes = false, federation = false } = options
  const {
    indexers = {},
    inferReferences = false,
    commonKinds: common = defaultCommonKinds,
    problemKinds: looked = defaultProblemKinds,
  } = options
  const members = sources.members.map((member): BuiltMember => {
    const { cluster, cache, access } = member
    return { cluster, cache, access, described: member }
  })
  const apis = yield* differingApis(
    members.flatMap(({ cluster }) => (cluster.state === 'connected' ? [cluster.api] : [])),
  )
  const madeOf = { apis, sdl }
  if (before !== undefined && (yield* isMadeOf(before, madeOf))) return { ...before, members }
  const parts = { sdl, aliases, uncached, profile, indexers, inferReferences }
  const model = yield* schemaModelInSteps({ ...mergedApis(apis), ...parts })
  yield
  const kinds = new Map(model.kinds.map((kind) => [kind.typeName, kind]))
  const relations = yield* resolveRelations(kinds, model.relations, model.ofAnyKind)
  yield
  const ofApis = yield* schemaInSteps(model, { relay, secretData, writes, federation })
  yield
  const isExtended = extensions.length > 0
  const { schema, ...unextended } = isExtended
    ? extendedSchema(ofApis, kinds, extensions)
    : { schema: ofApis, problems: [], dormant: [] }
  yield
  // Validates now, so that the first operation does not wait for it.
  const [invalid] = validateSchema(schema)
  // An invalid schema would fail every operation.
  if (invalid !== undefined) {
    const hint = 'rename the field or type in the message'
    throw new CodedError('SCHEMA_INVALID', `the schema is not valid: ${invalid.message}`, { hint })
  }
  yield
  const problems = [
    ...model.problems,
    ...unservedKinds('commonKinds', common, defaultCommonKinds, model.kinds),
    ...unservedKinds('problemKinds', looked, defaultProblemKinds, model.kinds),
  ]
  const commonKinds = new Set(model.kinds.filter(({ listField }) => common.includes(listField)))
  const problemKinds = new Set(model.kinds.filter((kind) => isNamedBy(kind, looked)))
  const kept = new Set([...commonKinds, ...problemKinds])
  const resources = yield* resourcesOf(model.kinds, relations, kept)
  const kindOf = (group: string, kind: string): Kind | undefined => model.kindOf(group, kind)
  return {
    schema,
    isExtended,
    kinds,
    kindOf,
    relations,
    commonKinds,
    problemKinds,
    resources,
    members,
    madeOf,
    problems,
    dormant: model.dormant,
    unextended,
  }
}

/** One API of each group of equal ones: clusters of one version mostly serve the same. */
function* differingApis(apis: readonly ClusterApi[]): Generator<void, readonly ClusterApi[]> {
  if (apis.length <= 1) return apis
  const byHash = new Map<string, ClusterApi>()
  for (const api of apis) {
    const hash = yield* hashOf(api)
    if (!byHash.has(hash)) byHash.set(hash, api)
  }
  return [...byHash.values()]
}

/** Whether a schema was made from the same APIs and SDL. */
function* isMadeOf(
  { madeOf }: BuiltSchema,
  { apis, sdl }: BuiltSchema['madeOf'],
): Generator<void, boolean> {
  const isSameSdl =
    sdl.length === madeOf.sdl.length && sdl.every((source, at) => source === madeOf.sdl[at])
  if (!isSameSdl || apis.length !== madeOf.apis.length) return false
  for (const [at, api] of apis.entries()) {
    const other = madeOf.apis[at]
    if (api === other) continue
    if (other === undefined || (yield* hashOf(api)) !== (yield* hashOf(other))) return false
  }
  return true
}

const hashes = new WeakMap<object, string>()

/** A hash of the parts of an API that the schema reads. */
function* hashOf({ resources, crds, openapi }: ClusterApi): Generator<void, string> {
  const documents: string[] = []
  for (const path of Object.keys(openapi).toSorted()) {
    const document = openapi[path]
    if (document === undefined) continue
    let hash = hashes.get(document)
    if (hash === undefined) {
      hashes.set(document, (hash = sha256(document)))
      yield
    }
    documents.push(path, hash)
  }
  return sha256([documents, partHash(resources), partHash(crds)])
}

function partHash(part: object): string {
  const known = hashes.get(part) ?? sha256(part)
  hashes.set(part, known)
  return known
}

function sha256(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/** Registers the resources of the schema with the caches. Running informers continue. */
export function serveBuilt(from: BuiltSchema, fleet: FleetChanges): ServedSchema {
  const { members, resources, schema, isExtended, kinds, kindOf, relations } = from
  const { commonKinds, problemKinds } = from
  const clusters = new Map<string, ClusterCache>()
  const access = new Map<string, ClusterAccess>()
  const all = new Map<string, ServedCluster>()
  for (const { cluster, cache, access: asked, described } of members) {
    const isConnected = cluster.state === 'connected'
    const names = new Set(isConnected ? cluster.api.resources.map(resourceName) : [])
    const has = (resource: ApiResource): boolean => names.has(resourceName(resource))
    const ofSchema = [...resources.values()].filter(({ resource }) => has(resource))
    cache.serve([
      ...ofSchema,
      ...usageResources.filter(has).map((one) => measurements(one, ofSchema)),
    ])
    if (isConnected) cache.drop((resource) => !has(resource))
    clusters.set(cluster.name, cache)
    access.set(cluster.name, asked)
    all.set(cluster.name, described)
  }
  const indexTexts = new Map(Array.from(resources, ([kind, one]) => [kind, one.indexTexts]))
  const built = { schema, isExtended, kinds, kindOf, relations, commonKinds, problemKinds }
  return { ...built, clusters, members: all, fleet, access, indexTexts }
}

/** The cache settings of the measurements of pods or nodes, whether or not the schema has their kind. */
function measurements(resource: ApiResource, ofSchema: readonly ServedResource[]): ServedResource {
  const known = ofSchema.find((one) => resourceName(one.resource) === resourceName(resource))
  const { uncached = true, indexers } = known ?? {}
  const further = { uncached, isPolled: true, metadataOnly: false }
  return {
    ...known,
    resource,
    ...further,
    indexers: { ...indexers, ...indexersOf(measuredIndexes) },
  }
}

/** The resources of a schema, with their indexes. Pauses after each. */
function* resourcesOf(
  kinds: Iterable<Kind>,
  { compiled, indexTexts }: SchemaRelations,
  kept: ReadonlySet<Kind>,
): Generator<void, ReadonlyMap<Kind, KindResource>> {
  const related = indexersByType(compiled)
  const resources = new Map<Kind, KindResource>()
  for (const kind of kinds) {
    const { resource, metadataOnly, uncached, indexes, typeName, ended, polymorphic } = kind
    const ofRelations = related.get(typeName) ?? {}
    const relationTexts = Object.keys(ofRelations).flatMap((name) => {
      const text = indexTexts[name]
      return text === undefined ? [] : [[name, text] as const]
    })
    // Adds the indexes that the kind copies from its measurements.
    const measured = usageResourceOf(resource)
    const joined = indexes.flatMap(({ name, measured: there }) =>
      there === undefined ? [] : [[name, there] as const],
    )
    const choices = polymorphic.flatMap(({ chosen }) => (chosen === undefined ? [] : [chosen]))
    resources.set(kind, {
      resource,
      metadataOnly,
      uncached,
      isKept: kept.has(kind),
      ...(measured !== undefined && joined.length > 0
        ? { joined: { resource: measured, indexes: Object.fromEntries(joined) } }
        : {}),
      indexers: indexersOf(indexes.filter(({ lazy }) => lazy !== true)),
      lazyIndexers: {
        ...indexersOf(
          indexes.filter((index) => index.lazy === true && index.measured === undefined),
        ),
        ...ofRelations,
        ...endedIndexers(ended),
        ...problemIndexers(resource),
        ...Object.assign({}, ...choices.map(({ field, path }) => choiceIndexers(field, path))),
      },
      indexTexts: {
        ...Object.fromEntries(indexes.map((index) => [index.name, JSON.stringify(index)])),
        ...Object.fromEntries(relationTexts),
        ...(ended === undefined ? {} : { [endedIndexName(ended)]: JSON.stringify(ended) }),
        ...Object.fromEntries(choices.map(({ field, path }) => [choiceIndex(field), path.text])),
        [problemIndex]: problemIndexText,
      },
    })
    yield
  }
  return resources
}

/** Whether the names include the kind's list field, or `*.GROUP` of its API group or of a group above it. */
function isNamedBy({ listField, resource: { group } }: Kind, names: readonly string[]): boolean {
  return names.some((name) =>
    name.startsWith('*.') ? `.${group}`.endsWith(name.slice(1)) : name === listField,
  )
}

/** The kinds of an option that no cluster serves. A definition may come later, so the gateway only reports them. */
function unservedKinds(
  option: string,
  names: readonly string[],
  byDefault: readonly string[],
  served: readonly Kind[],
): readonly CodedError[] {
  const unserved = names.filter(
    (name) => !byDefault.includes(name) && !served.some((kind) => isNamedBy(kind, [name])),
  )
  const known = served.map(({ listField }) => listField)
  return unserved.map((name) => {
    const nearest = nearestName(name, known)
    const hint =
      nearest === undefined ? 'it takes effect once a cluster serves it' : `give ${nearest}`
    const problem = `${option}: no served kind has the list field ${name}`
    return new CodedError('KIND_NOT_SERVED', problem, { value: name, hint })
  })
}

function resourceName(resource: ApiResource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}
