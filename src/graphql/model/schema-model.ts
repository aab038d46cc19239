/*
 * Builds the content of the schema from the APIs of the clusters. Resources get one version and their names; the profile
 * leaves some out; the SDL is parsed; then every kind gets its indexes and relations (`declared-kinds.ts`). Each problem
 * leaves out only the part that it concerns. The work yields between steps, so that other work can run.
 */

import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import { metadataColumns } from '../../kubernetes/printing/column.ts'
import { customColumns } from '../../kubernetes/printing/custom-columns.ts'
import { printedKindOf } from '../../kubernetes/printing/printed-kinds.ts'
import type { OpenApiDocuments } from '../../kubernetes/open-api-structures.ts'
import { atOnce } from '../../lib/event-loop.ts'
import { CodedError } from '../../lib/coded-error.ts'
import type { ReferenceOfAnyKind } from '../../query/relation/relation.ts'
import type { RelationDefinition } from '../../query/relation/relations.ts'
import { checkGroupAliases, type GroupAliases } from '../naming/kind-name.ts'
import { parseSdl } from '../sdl/sdl-document.ts'
import type { SdlSource } from '../sdl/sdl-source.ts'
import {
  type CustomResourceVersion,
  customResourceVersions,
  type DormantDeclaration,
} from './kind-catalog.ts'
import { declaredKinds } from './declared-kinds.ts'
import { Definitions, deprecationOf } from './definitions.ts'
import type { IndexFunctions } from './declared-indexes.ts'
import { type BareKind, type Kind, relationFieldsOf } from './kind.ts'
import {
  isKindOfProfile,
  type SchemaProfile,
  unknownPartsOf,
  canWatch,
  groupKindOf,
  type NamedResource,
  type ResourceVersions,
  selectResources,
} from './schema-profile.ts'

/** The sources of a schema. */
export interface SchemaModelOptions {
  /** As discovery lists them: the server's preferred version of a kind comes first. */
  readonly resources: readonly ApiResource[]
  /** By group version path. A kind without a schema has the common fields only. */
  readonly openapi: OpenApiDocuments
  /** The SDL of indexes and relations: the package's first, then the user's. */
  readonly sdl?: readonly SdlSource[]
  /** CustomResourceDefinitions, as the API server lists them. Printer columns and selectable fields become indexes. */
  readonly crds?: readonly unknown[]
  readonly indexers?: IndexFunctions
  /** The part that becomes the schema; everything by default. */
  readonly profile?: SchemaProfile
  readonly aliases?: GroupAliases
  /** Versions to use instead of the preferred ones. */
  readonly versions?: ResourceVersions
  /** Whether Secrets are cached with `data`, `stringData` and `type`. By default their caches hold metadata only. */
  readonly secretContents?: boolean
  /** Whether fields of custom kinds called `…Ref` become relations. Off by default. */
  readonly inferReferences?: boolean
  /** Kinds without a cache: `group/Kind`, or only the kind for the core group. */
  readonly uncached?: readonly string[]
}

export interface SchemaModel {
  /** In the order of their type names. */
  readonly kinds: readonly Kind[]
  /** The reasons for every part that was left out. The gateway does not start with problems in the user's own SDL. */
  readonly problems: readonly CodedError[]
  /** All relations, each kind's `events` included. */
  readonly relations: readonly RelationDefinition[]
  /** The references to objects of any kind that `@reverse` may name. */
  readonly ofAnyKind: readonly ReferenceOfAnyKind[]
  /** The user's declarations that wait for kinds which no cluster serves yet. */
  readonly dormant: readonly DormantDeclaration[]
  readonly definitions: Definitions
  readonly aliases: GroupAliases
  readonly profile: SchemaProfile
  kindOfType(typeName: string): Kind | undefined
  /** A kind by API group and kind, as owner references and ids name it. The version does not matter. */
  kindOf(group: string, kind: string): Kind | undefined
}

/** Builds the model of a schema. Throws `CodedError` (`GROUP_ALIAS`); every other problem becomes one of `problems`. */
export function buildSchemaModel(options: SchemaModelOptions): SchemaModel {
  return atOnce(schemaModelInSteps(options))
}

/** {@link buildSchemaModel} in steps: it yields so that the event loop can run between them. */
export function* schemaModelInSteps(options: SchemaModelOptions): Generator<void, SchemaModel> {
  const { aliases = {}, sdl = [], versions = {}, uncached = [], profile = {} } = options
  checkGroupAliases(aliases)
  const definitions = new Definitions(options.openapi)
  const selected = selectResources(options.resources, { aliases, versions })
  const known = new Set(selected.named.map(({ resource }) => groupKindOf(resource)))
  const { in: named = [], out: leftOut = [] } = Object.groupBy(selected.named, (one) =>
    isKindOfProfile(profile, one) ? 'in' : 'out',
  )
  const refuse = ({ resource }: NamedResource): CodedError | undefined =>
    definitions.refuseUnfit(resource)
  const refused = yield* inSteps(named, refuse)
  // References are also inferred from kinds that the profile leaves out.
  if (options.inferReferences === true) yield* inSteps(leftOut, refuse)
  const documents = yield* inSteps(sdl, parseSdl)
  const customResources = customResourceVersions(options.crds ?? [])
  const bare = (one: NamedResource): BareKind => {
    const { resource } = one
    const crd = customResources.get(`${apiVersionOf(resource)}/${resource.kind}`)
    return bareKind(one, options, definitions, crd)
  }
  const kinds = yield* inSteps(named, bare)
  const leftOutKinds = yield* inSteps(leftOut, bare)
  const declared = yield* declaredKinds({
    kinds,
    extensions: documents.flatMap(({ extensions }) => extensions),
    definitions,
    customResources,
    indexFunctions: options.indexers ?? {},
    aliases,
    inferReferences: options.inferReferences ?? false,
    leftOut: leftOutKinds,
  })
  const byType = new Map(declared.kinds.map((kind) => [kind.typeName, kind]))
  const byGroupKind = new Map(
    declared.kinds.map((kind) => [`${kind.resource.group}/${kind.resource.kind}`, kind]),
  )
  return {
    kinds: declared.kinds,
    problems: [
      ...selected.problems,
      ...uncached
        .filter((name) => !known.has(name))
        .map((value) => {
          const hint =
            'write group/Kind, such as apps/Deployment, or only the kind for the core group'
          const message = `uncached: the cluster serves no ${value}`
          return new CodedError('UNCACHED_KIND', message, { value, hint })
        }),
      ...unknownPartsOf(profile, selected.named),
      ...refused.filter((problem) => problem !== undefined),
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
    // The Events of events.k8s.io are the same objects as core Events.
    kindOf: (group, kind) =>
      byGroupKind.get(`${group === 'events.k8s.io' && kind === 'Event' ? '' : group}/${kind}`),
  }
}

/** Makes something of each item, and yields after each. */
function* inSteps<T, R>(items: readonly T[], make: (item: T) => R): Generator<void, R[]> {
  const made: R[] = []
  for (const item of items) {
    made.push(make(item))
    yield
  }
  return made
}

function bareKind(
  { resource, names }: NamedResource,
  options: SchemaModelOptions,
  definitions: Definitions,
  crd: CustomResourceVersion | undefined,
): BareKind {
  const isSecret = resource.group === '' && resource.kind === 'Secret'
  const deprecation = crd?.deprecation ?? deprecationOf(definitions.outlineOf(resource))
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
