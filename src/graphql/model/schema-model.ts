import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import { metadataColumns } from '../../kubernetes/printing/column.ts'
import { customColumns } from '../../kubernetes/printing/custom-columns.ts'
import { printedKindOf } from '../../kubernetes/printing/printed-kinds.ts'
import type { OpenApiDocuments } from '../../kubernetes/open-api.ts'
import { atOnce } from '../../lib/slices.ts'
import type { CodedError } from '../../lib/coded-error.ts'
import type {
  ReferenceOfAnyKind,
  RelationDefinition,
} from '../../query/relation/relation-definition.ts'
import { checkGroupAliases, type GroupAliases } from '../naming/api-groups.ts'
import { parseSdl, type SdlDocument } from '../sdl/sdl-document.ts'
import type { SdlSource } from '../sdl/sdl-source.ts'
import { type CustomResourceVersion, customResourceVersions } from './custom-resource-definition.ts'
import { declaredKinds } from './declared-kinds.ts'
import { Definitions, deprecationOf } from './definitions.ts'
import type { IndexFunctions } from './index-functions.ts'
import { type BareKind, type Kind, relationFieldsOf } from './kind.ts'
import type { DormantDeclaration } from './unknown-types.ts'
import { isKindOfProfile, type SchemaProfile, unknownPartsOf } from './schema-profile.ts'
import {
  canWatch,
  groupKindOf,
  type NamedResource,
  type ResourceVersions,
  selectResources,
  UncachedKindError,
} from './select-resources.ts'

/** What a schema is made of. */
export interface SchemaModelOptions {
  /** As discovery lists them: of several versions of a kind the server's preferred one comes first. */
  readonly resources: readonly ApiResource[]
  /** By group version path; a kind without a schema has the common fields only. */
  readonly openapi: OpenApiDocuments
  /** Indexes and relations: the package's own first, then the user's. */
  readonly sdl?: readonly SdlSource[]
  /** CustomResourceDefinitions as the API server lists them: their printer columns and selectable fields become indexes. */
  readonly crds?: readonly unknown[]
  /** Indexes that functions make, by list field. */
  readonly indexers?: IndexFunctions
  /** Which part of it all; everything by default. */
  readonly profile?: SchemaProfile
  readonly aliases?: GroupAliases
  /** Versions to use instead of the preferred ones. */
  readonly versions?: ResourceVersions
  /** Whether Secrets have `data`, `stringData` and `type`. Off by default: their caches hold metadata only. */
  readonly secretContents?: boolean
  /** Whether fields of custom kinds that are called `…Ref` become relations. Off by default. */
  readonly inferReferences?: boolean
  /** Kinds that have no cache: `group/Kind`, or the kind alone of the core group. */
  readonly uncached?: readonly string[]
}

/** What the schema serves, before it is a schema. */
export interface SchemaModel {
  /** In the order of their type names. */
  readonly kinds: readonly Kind[]
  /** What was left out and why, each with a way out. Those of the user's own SDL are worth failing at start. */
  readonly problems: readonly CodedError[]
  /** All relations, `events` of every kind included. */
  readonly relations: readonly RelationDefinition[]
  /** References to whatever kind, which reverse relations may be of. */
  readonly ofAnyKind: readonly ReferenceOfAnyKind[]
  /** What of the user's SDL waits for kinds that no cluster serves yet. */
  readonly dormant: readonly DormantDeclaration[]
  readonly definitions: Definitions
  readonly aliases: GroupAliases
  readonly profile: SchemaProfile
  /** A kind by its type name. */
  kindOfType(typeName: string): Kind | undefined
  /** A kind by API group and kind, whatever the version: that of an owner reference, of an object's id. */
  kindOf(group: string, kind: string): Kind | undefined
}

/**
 * Decides what the schema serves and under which names. Throws `GroupAliasError`; all other trouble costs only what it
 * touches, and is told in `problems`.
 */
export function buildSchemaModel(options: SchemaModelOptions): SchemaModel {
  return atOnce(schemaModelInSteps(options))
}

/** The same, in steps between which others may have their turn. */
export function* schemaModelInSteps(options: SchemaModelOptions): Generator<void, SchemaModel> {
  const { aliases = {}, sdl = [], versions = {}, uncached = [], profile = {} } = options
  checkGroupAliases(aliases)
  const definitions = new Definitions(options.openapi)
  const selected = selectResources(options.resources, { aliases, versions })
  const named = selected.named.filter((one) => isKindOfProfile(profile, one))
  const refused: CodedError[] = []
  for (const { resource } of named) {
    const problem = definitions.refuseUnfit(resource)
    if (problem !== undefined) refused.push(problem)
    yield
  }
  const documents: SdlDocument[] = []
  for (const source of sdl) {
    documents.push(parseSdl(source))
    yield
  }
  const customResources = customResourceVersions(options.crds ?? [])
  const served = new Set(selected.named.map(({ names }) => names.typeName))
  const kinds: BareKind[] = []
  for (const one of named) {
    const { resource } = one
    const crd = customResources.get(`${apiVersionOf(resource)}/${resource.kind}`)
    kinds.push(bareKind(one, options, definitions, crd))
    yield
  }
  const declared = yield* declaredKinds({
    kinds,
    extensions: documents.flatMap(({ extensions }) => extensions),
    definitions,
    customResources,
    indexFunctions: options.indexers ?? {},
    aliases,
    inferReferences: options.inferReferences ?? false,
    // What is a part of the schema is known before it is asked whether it is left out.
    isLeftOut: (typeName) => served.has(typeName),
  })
  const byType = new Map(declared.kinds.map((kind) => [kind.typeName, kind]))
  const byGroupKind = new Map(
    declared.kinds.map((kind) => [`${kind.resource.group}/${kind.resource.kind}`, kind]),
  )
  return {
    kinds: declared.kinds,
    problems: [
      ...selected.problems,
      ...unknownUncached(uncached, selected.named),
      ...unknownPartsOf(profile, selected.named),
      ...refused,
      ...documents.flatMap(({ problems }) => problems),
      ...declared.problems,
    ],
    relations: declared.kinds.flatMap((kind) =>
      relationFieldsOf(kind).map(({ definition }) => definition),
    ),
    ofAnyKind: declared.ofAnyKind,
    dormant: declared.dormant,
    definitions,
    aliases,
    profile,
    kindOfType: (typeName) => byType.get(typeName),
    // Core Events stand for those of events.k8s.io, which are the same objects.
    kindOf: (group, kind) =>
      byGroupKind.get(`${group === 'events.k8s.io' && kind === 'Event' ? '' : group}/${kind}`),
  }
}

function bareKind(
  { resource, names }: NamedResource,
  options: SchemaModelOptions,
  definitions: Definitions,
  crd: CustomResourceVersion | undefined,
): BareKind {
  const isSecret = resource.group === '' && resource.kind === 'Secret'
  const deprecation = crd?.deprecation ?? deprecationOf(definitions.schemaOf(resource))
  const metadataOnly = isSecret && options.secretContents !== true
  const known = crd === undefined ? printedKindOf(resource) : customColumns(crd.printerColumns)
  const printed = known !== undefined && metadataOnly ? metadataColumns(known) : known
  return {
    resource,
    apiVersion: apiVersionOf(resource),
    ...names,
    uncached: !canWatch(resource) || (options.uncached ?? []).includes(groupKindOf(resource)),
    metadataOnly,
    ...(printed === undefined ? {} : { printed }),
    ...(deprecation === undefined ? {} : { deprecation }),
  }
}

function unknownUncached(
  uncached: readonly string[],
  named: readonly NamedResource[],
): readonly UncachedKindError[] {
  const known = new Set(named.map(({ resource }) => groupKindOf(resource)))
  return uncached.flatMap((name) => (known.has(name) ? [] : [new UncachedKindError(name)]))
}
