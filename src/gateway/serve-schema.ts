/*
 * Makes the schema from the APIs of the clusters: first one model of all differing APIs, then its relations, the GraphQL
 * types, the program's extensions, and the resources with the indexes that their caches need. With many custom resources
 * this takes some tenths of a second, so it pauses between the steps. A schema that the process already has is made only
 * once: it is found by what it was made of (`sourcesKey`). So a change of the clusters that leaves their API as it was, or
 * an edit that is undone, costs nothing, and gateways of one program that serve the same share one schema. `serveBuilt`
 * then registers the resources with the caches.
 */

import { createHash } from 'node:crypto'
import type { ClusterAccess } from '../access/cluster-access.ts'
import type { ArchiveReads } from '../archive/archive-calls.ts'
import {
  type ClusterCache,
  type ServedResource,
  type ServedResources,
  servedResources,
} from '../cache/cluster-cache.ts'
import type { ReadExtension } from '../graphql/extensions/extension-document.ts'
import { type ExtendedSchema, extendedSchema } from '../graphql/extensions/extended-schema.ts'
import type { GroupAliases } from '../graphql/naming/kind-name.ts'
import type { SchemaProfile } from '../graphql/model/schema-profile.ts'
import type { IndexFunctions } from '../graphql/model/declared-indexes.ts'
import type { Kind } from '../graphql/model/kind.ts'
import { mergedApisInSteps } from '../graphql/model/definitions.ts'
import { schemaModelInSteps } from '../graphql/model/schema-model.ts'
import { resolveRelations, type SchemaRelations } from '../graphql/served/schema-relations.ts'
import {
  defaultCommonKinds,
  defaultProblemKinds,
  type FleetChanges,
  type ServedCluster,
  type ServedSchema,
} from '../graphql/served/served-schema.ts'
import type { DormantDeclaration } from '../graphql/model/kind-catalog.ts'
import { schemaInSteps } from '../graphql/schema/create-schema.ts'
import { schemaProblemInSteps, typesInSteps } from '../graphql/schema/lazy-schema.ts'
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { type ApiResource, versionedResourceOf } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { SharedValues } from '../lib/shared-values.ts'
import { nearestName } from '../lib/options.ts'
import { usageResourceOf, usageResources } from '../kubernetes/usage.ts'
import { endedIndexers, endedIndexName, indexersOf } from '../query/index/index-definition.ts'
import type { ProblemRuleName } from '../kubernetes/problems/problem-fact.ts'
import type { IsRuleOn } from '../kubernetes/problems/problem-rules.ts'
import { measuredIndexes } from '../query/index/usage-index.ts'
import { choiceIndex, choiceIndexers } from '../query/relation/object-choice.ts'
import { contentIndex } from '../kubernetes/health/content-health.ts'
import { problemIndex, problemIndexers, problemIndexText } from '../query/problems/problem-part.ts'
import { indexersByType } from '../query/relation/relations.ts'
import { type ApiDescription, apiHash } from './api-description.ts'
import type { FleetMember } from './fleet.ts'

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
  /**
   * What `problems` does not look for: `off` has names of rules, such as `missedSchedules`. docs/problems.md lists them.
   * Default: all rules are on.
   */
  readonly problemRules?: ProblemRulesOption
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
   * Whether Secrets have `data`. It is read from the API server for each answer, with the caller's bearer token, or with the
   * gateway's own credentials without authentication. Default false.
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

/** The rules of `problems` that are switched off. */
export interface ProblemRulesOption {
  readonly off?: readonly ProblemRuleName[]
}

/** The inputs of a schema. */
interface SchemaSources {
  readonly members: readonly FleetMember[]
  readonly sdl: readonly SdlSource[]
  /** Added to the schema of the clusters' API. */
  readonly extensions: readonly ReadExtension[]
}

/** A schema, without the clusters that serve it. It never changes, so that gateways can share it. */
interface MadeSchema extends Omit<
  ServedSchema,
  'clusters' | 'members' | 'fleet' | 'access' | 'indexTexts'
> {
  /** The resources of all kinds, with the indexes that their caches need. */
  readonly resources: ReadonlyMap<Kind, KindResource>
  /** Why parts of the SDL and of the options are left out. */
  readonly problems: readonly CodedError[]
  /** Declarations for kinds that are not served. */
  readonly dormant: readonly DormantDeclaration[]
  /** What is left out of extensions. */
  readonly unextended: Omit<ExtendedSchema, 'schema'>
}

/** A schema that is not served yet. */
export interface BuiltSchema {
  readonly made: MadeSchema
  /** The clusters at the start of the build. */
  readonly members: readonly BuiltMember[]
}

type BuiltMember = Pick<FleetMember, 'name' | 'api' | 'cache' | 'access'> & {
  readonly described: ServedCluster
}

type KindResource = ServedResource & Required<Pick<ServedResource, 'indexTexts'>>

/** The schemas of this process, by {@link sourcesKey}. */
const shared = new SharedValues<MadeSchema>()
/** The last one, held also when nothing serves it any more: a program that starts another gateway mostly needs it again. */
const latest = new Set<MadeSchema>()

/**
 * Makes the schema from the clusters' APIs, in steps that let other work run between them. Throws `CodedError`:
 * `GROUP_ALIAS`, and for an invalid schema. Changes nothing else.
 */
export function* buildSchemaInSteps(
  options: SchemaOptions,
  { members: all, sdl, extensions }: SchemaSources,
): Generator<void, BuiltSchema> {
  const members = all.map((member): BuiltMember => {
    const { name, api, cache, access } = member
    return { name, api, cache, access, described: member }
  })
  // One API of each group of equal ones: clusters of one version mostly serve the same.
  const apis = new Map<string, ApiDescription>()
  for (const { api } of members) {
    if (api === undefined) continue
    const hash = apiHash(api)
    if (!apis.has(hash)) apis.set(hash, api)
    yield
  }
  const key = sourcesKey([...apis.keys()], options, sdl, extensions)
  const made =
    shared.get(key) ?? (yield* schemaMadeOf([...apis.values()], options, sdl, extensions))
  // Functions of the program may hold anything.
  if (extensions.length === 0 && options.indexers === undefined) {
    latest.clear()
    latest.add(made)
  }
  if (shared.get(key) === undefined) shared.add(key, made)
  return { made, members }
}

function* schemaMadeOf(
  apis: readonly ApiDescription[],
  options: SchemaOptions,
  sdl: readonly SdlSource[],
  extensions: readonly ReadExtension[],
): Generator<void, MadeSchema> {
  const { aliases = {}, uncached = [], profile = {}, relay = false, secretData = false } = options
  const { allowWrites: writes = false, federation = false } = options
  const {
    indexers = {},
    inferReferences = false,
    commonKinds: common = defaultCommonKinds,
    problemKinds: looked = defaultProblemKinds,
    problemRules: { off = [] } = {},
  } = options
  const parts = { sdl, aliases, uncached, profile, indexers, inferReferences }
  const model = yield* schemaModelInSteps({ ...(yield* mergedApisInSteps(apis)), ...parts })
  yield
  const kinds = new Map(model.kinds.map((kind) => [kind.typeName, kind]))
  const relations = yield* resolveRelations(kinds, model.relations, model.ofAnyKind)
  yield
  const ofApis = yield* schemaInSteps(model, { relay, secretData, writes, federation })
  yield
  const isExtended = extensions.length > 0
  // An extension is added to a copy of all types.
  if (isExtended) yield* typesInSteps(ofApis)
  const { schema, ...unextended } = isExtended
    ? extendedSchema(ofApis, kinds, extensions)
    : { schema: ofApis, problems: [], dormant: [] }
  yield
  // Validates now, so that the first operation does not wait for it.
  const invalid = yield* schemaProblemInSteps(schema)
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
  // Without the data of Secrets, nothing is known of their certificates.
  const problemRulesOff: ReadonlySet<ProblemRuleName> = new Set(
    secretData ? off : [...off, 'expiringTlsSecrets'],
  )
  const resources = yield* resourcesOf(model.kinds, relations, kept, problemRulesOff)
  const kindOf = (group: string, kind: string): Kind | undefined => model.kindOf(group, kind)
  return {
    schema,
    isExtended,
    kinds,
    kindOf,
    relations,
    definitions: model.definitions,
    commonKinds,
    problemKinds,
    problemRulesOff,
    resources,
    problems,
    dormant: model.dormant,
    unextended,
  }
}

/**
 * What a schema is made of, as one text: the hashes of the APIs, the user's SDL, and the options. Functions and extensions
 * of the program count by their identity.
 */
function sourcesKey(
  apis: readonly string[],
  options: SchemaOptions,
  sdl: readonly SdlSource[],
  extensions: readonly ReadExtension[],
): string {
  const { aliases, uncached, commonKinds, problemKinds, profile, relay, federation } = options
  const { secretData, allowWrites, indexers, inferReferences, problemRules } = options
  const named = { aliases, uncached, commonKinds, problemKinds, profile, relay, federation }
  const all = { ...named, secretData, allowWrites, indexers, inferReferences, problemRules }
  return sha256([apis, sdl, extensions.map(identityOf), all])
}

const identities = new WeakMap<object, number>()
let lastIdentity = 0

function identityOf(value: object): number {
  return getOrInsert(identities, value, () => ++lastIdentity)
}

function sha256(value: object): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'function' ? identityOf(part) : part,
  )
  return createHash('sha256').update(text).digest('base64url')
}

/** Registers the resources of the schema with the caches. Running informers continue. */
export function serveBuilt(
  { made, members }: BuiltSchema,
  fleet: FleetChanges,
  archive?: ArchiveReads,
): ServedSchema {
  const { resources, schema, isExtended, kinds, kindOf, relations, definitions } = made
  const { commonKinds, problemKinds, problemRulesOff } = made
  const clusters = new Map<string, ClusterCache>()
  const access = new Map<string, ClusterAccess>()
  const all = new Map<string, ServedCluster>()
  // Of clusters with equal APIs once.
  const byApi = new Map<string, { readonly has: HasResource; readonly served: ServedResources }>()
  for (const { name, api, cache, access: asked, described } of members) {
    const hash = api === undefined ? '' : apiHash(api)
    const ofApi = getOrInsert(byApi, hash, () => resourcesIn(api?.resources ?? [], made))
    const { has, served } = ofApi
    cache.serve(served)
    // What an unreachable cluster serves may be another one by now.
    if (cache.connection.state === 'connected') cache.drop((resource) => !has(resource))
    clusters.set(name, cache)
    if (asked !== undefined) access.set(name, asked)
    all.set(name, described)
  }
  const indexTexts = new Map(Array.from(resources, ([kind, one]) => [kind, one.indexTexts]))
  const ofModel = { schema, isExtended, kinds, kindOf, relations, definitions }
  const built = { ...ofModel, commonKinds, problemKinds }
  const fleetParts = { clusters, members: all, fleet, access }
  return { ...built, problemRulesOff, ...fleetParts, indexTexts, archive }
}

type HasResource = (resource: ApiResource) => boolean

/** Which resources an API has, and those that caches of the schema may read. */
function resourcesIn(
  all: readonly ApiResource[],
  { resources }: MadeSchema,
): { readonly has: HasResource; readonly served: ServedResources } {
  const names = new Set(all.map(versionedResourceOf))
  const has: HasResource = (resource) => names.has(versionedResourceOf(resource))
  const ofSchema = [...resources.values()].filter(({ resource }) => has(resource))
  const measured = usageResources.filter(has).map((one) => measurements(one, ofSchema))
  return { has, served: servedResources([...ofSchema, ...measured]) }
}

/** The cache settings of the measurements of pods or nodes, whether or not the schema has their kind. */
function measurements(resource: ApiResource, ofSchema: readonly ServedResource[]): ServedResource {
  const known = ofSchema.find(
    (one) => versionedResourceOf(one.resource) === versionedResourceOf(resource),
  )
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
  off: ReadonlySet<ProblemRuleName>,
): Generator<void, ReadonlyMap<Kind, KindResource>> {
  const isOn: IsRuleOn = (rule) => !off.has(rule)
  const problemText = problemIndexText([...off].toSorted())
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
        ...problemIndexers(resource, isOn),
        ...Object.assign({}, ...choices.map(({ field, path }) => choiceIndexers(field, path))),
      },
      indexTexts: {
        ...Object.fromEntries(indexes.map((index) => [index.name, JSON.stringify(index)])),
        ...Object.fromEntries(relationTexts),
        ...(ended === undefined ? {} : { [endedIndexName(ended)]: JSON.stringify(ended) }),
        ...Object.fromEntries(choices.map(({ field, path }) => [choiceIndex(field), path.text])),
        [problemIndex]: problemText,
        [contentIndex]: problemText,
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
