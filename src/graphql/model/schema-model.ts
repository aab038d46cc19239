import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { OpenApiDocuments } from '../../kubernetes/open-api.ts'
import type { CodedError } from '../../lib/coded-error.ts'
import type { RelationDefinition } from '../../query/relation/relation-definition.ts'
import { checkGroupAliases, type GroupAliases } from '../naming/api-groups.ts'
import { graphqlNameOf } from '../naming/field-name.ts'
import { Definitions } from './definitions.ts'
import type { Kind, RelationField } from './kind.ts'
import { isInjectedField, nativePropertiesOf } from './native-properties.ts'
import { parseSdl, type TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError } from '../sdl/sdl-error.ts'
import { SdlIndexes } from './sdl-indexes.ts'
import { SdlObjectRefs } from './sdl-object-refs.ts'
import { SdlRelations } from './sdl-relations.ts'
import type { SdlSource } from '../sdl/sdl-source.ts'
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
  readonly aliases?: GroupAliases
  /** Versions to use instead of the preferred ones. */
  readonly versions?: ResourceVersions
  /** Whether Secrets have `data`, `stringData` and `type`. Off by default: their caches hold metadata only. */
  readonly secretContents?: boolean
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
  readonly definitions: Definitions
  readonly aliases: GroupAliases
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
  const { aliases = {}, sdl = [], versions = {}, uncached = [] } = options
  checkGroupAliases(aliases)
  const definitions = new Definitions(options.openapi)
  const selected = selectResources(options.resources, { aliases, versions })
  const documents = sdl.map(parseSdl)
  const unknown = new Set(uncached)
  const bare = selected.named.map((one) => {
    const name = groupKindOf(one.resource)
    unknown.delete(name)
    const isUncached = !canWatch(one.resource) || uncached.includes(name)
    return { ...bareKind(one, options.secretContents === true), uncached: isUncached }
  })
  const declared = applyExtensions(
    bare,
    documents.flatMap(({ extensions }) => extensions),
    definitions,
  )
  const byType = new Map(declared.kinds.map((kind) => [kind.typeName, kind]))
  const byGroupKind = new Map(
    declared.kinds.map((kind) => [`${kind.resource.group}/${kind.resource.kind}`, kind]),
  )
  return {
    kinds: declared.kinds,
    problems: [
      ...selected.problems,
      ...[...unknown].map((name) => new UncachedKindError(name)),
      ...documents.flatMap(({ problems }) => problems),
      ...declared.problems,
    ],
    relations: declared.kinds.flatMap(({ relations, events }) =>
      [...relations, ...(events === undefined ? [] : [events])].map(({ definition }) => definition),
    ),
    definitions,
    aliases,
    kindOfType: (typeName) => byType.get(typeName),
    // Core Events stand for those of events.k8s.io, which are the same objects.
    kindOf: (group, kind) =>
      byGroupKind.get(`${group === 'events.k8s.io' && kind === 'Event' ? '' : group}/${kind}`),
  }
}

type BareKind = Omit<Kind, 'indexes' | 'relations' | 'objectRefs' | 'events'>

function bareKind(
  { resource, names }: NamedResource,
  secretContents: boolean,
): Omit<BareKind, 'uncached'> {
  const isSecret = resource.group === '' && resource.kind === 'Secret'
  return {
    resource,
    apiVersion: apiVersionOf(resource),
    ...names,
    metadataOnly: isSecret && !secretContents,
  }
}

function applyExtensions(
  kinds: readonly BareKind[],
  extensions: readonly TypeExtension[],
  definitions: Definitions,
): { readonly kinds: readonly Kind[]; readonly problems: readonly SdlError[] } {
  const byType = new Map(kinds.map((kind) => [kind.typeName, kind]))
  const problems: SdlError[] = []
  const known = extensions.filter(({ typeName, optional, place }) => {
    if (!byType.has(typeName) && !optional) problems.push(unknownType(typeName, place))
    return byType.has(typeName)
  })
  const indexes = new Map(kinds.map(({ typeName }) => [typeName, new SdlIndexes()]))
  for (const { typeName, indexes: declarations } of known) {
    for (const declaration of declarations) {
      const problem = indexes.get(typeName)?.add(typeName, declaration)
      if (problem !== undefined) problems.push(problem)
    }
  }
  const hasOwnField = (typeName: string, field: string): boolean =>
    hasField(byType.get(typeName), field, definitions)
  const relations = new SdlRelations({
    isKind: (typeName) => byType.has(typeName),
    hasField: hasOwnField,
    given: byType.get('Namespace')?.resource.group === '' ? kinds.flatMap(namespaceOf) : [],
  })
  problems.push(...relations.addAll(known))
  const objectRefs = new SdlObjectRefs(
    (typeName, field) =>
      hasOwnField(typeName, field) ||
      relations.of(typeName).some(({ definition }) => definition.name === field),
  )
  problems.push(...objectRefs.addAll(known))
  const hasEvents = byType.get('Event')?.resource.group === ''
  return {
    kinds: kinds.map((kind) => ({
      ...kind,
      indexes: indexes.get(kind.typeName)?.definitions() ?? [],
      relations: relations.of(kind.typeName),
      objectRefs: objectRefs.of(kind.typeName),
      ...(hasEvents ? { events: eventsOf(kind.typeName) } : {}),
    })),
    problems,
  }
}

function unknownType(typeName: string, place: { file: string; line: number }): SdlError {
  const hint = '`informerql schema` prints the names of all types; is its CRD installed?'
  return new SdlError('unknown-type', place, `there is no type ${typeName} of a kind`, hint)
}

function hasField(kind: BareKind | undefined, field: string, definitions: Definitions): boolean {
  if (kind === undefined) return false
  return (
    isInjectedField(field, kind.resource) ||
    nativePropertiesOf(kind, definitions).some(([property]) => graphqlNameOf(property) === field)
  )
}

function namespaceOf({ typeName, resource }: BareKind): readonly RelationField[] {
  if (!resource.namespaced) return []
  const [name, from, to] = ['namespace', typeName, 'Namespace']
  const paths = ['metadata.namespace']
  const definition = { form: 'reference', name, from, to, paths, many: false } as const
  return [{ definition, many: false, description: 'The namespace that the object is in.' }]
}

function eventsOf(typeName: string): NonNullable<Kind['events']> {
  return {
    definition: { form: 'events', name: 'events', from: typeName, to: 'Event' },
    many: true,
  }
}
