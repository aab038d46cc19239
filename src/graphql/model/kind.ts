/*
 * One kind of the schema with all its declarations, as every later room reads it: names, indexes, relations to one kind,
 * to any kind and to several, and the kinds that use it.
 */

import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import type { EndedRule, IndexDefinition } from '../../query/index/index-definition.ts'
import type { Path } from '../../query/index/path.ts'
import { type RelationDefinition, relationWords } from '../../query/relation/relations.ts'
import { isWhereWord } from '../../query/condition/where.ts'
import { usageResourceOf, usageResources } from '../../kubernetes/usage.ts'
import { measuredIndexes } from '../../query/index/usage-index.ts'

/** The type that SDL extends to declare a field of every kind. */
export const everyKindType = 'KubernetesObject'

/** The field of objects that other objects use, and of their `where`. */
export const usedByField = 'usedBy'

/** A relation as a field of the schema. */
export interface RelationField {
  readonly definition: RelationDefinition
  /** Whether the field is a connection. If not, it is one object or null. */
  readonly many: boolean
  readonly description?: string
  /** Whether it counts for `usedBy` only, and is no field. */
  readonly isHidden?: true
}

/** The description of a relation field: from its SDL, or else made from its declaration. */
export function describeRelation(
  { definition, many, description }: RelationField,
  to: Kind,
): string {
  if (description !== undefined) return description
  const rule = ruleOf(definition, many, to)
  return many
    ? `Every ${definition.to} ${rule}.`
    : `The ${definition.to} ${rule}; null if there is none.`
}

function ruleOf(
  definition: RelationDefinition,
  many: boolean,
  { relations, objectRefs, typeName }: Kind,
): string {
  if (definition.form !== 'reverse') return relationWords(definition, many)
  const isReversed = ({ name }: { readonly name: string }): boolean =>
    `${typeName}.${name}` === definition.of
  const reference = objectRefs.find(isReversed)
  if (reference !== undefined) {
    const places = reference.paths.map((path) => `\`${path}\``).join(' or ')
    return `whose ${places} refers to this ${definition.from}`
  }
  const reversed = relations.find((field) => isReversed(field.definition))
  return relationWords(definition, many, reversed?.definition)
}

/** Type names, beginnings of them (`FluxSource*`), `scalable` or `custom`: the kinds whose `usedBy` lists the objects with a reference to any kind. */
export type Among = readonly string[]

/** Objects that an object chooses by a name or a label selector. Another object says their kind: `spec.paramRef`. */
export interface ChosenObjects {
  /** The full name of the field: `ValidatingAdmissionPolicyBinding.paramObjects`. */
  readonly field: string
  /** The place of `name` or `selector`, and `namespace`. */
  readonly path: Path
  /** The relation from the choosing object to the object that says the kind. */
  readonly relation: RelationField
  /** The place of the kind in that object: `spec.paramKind`. */
  readonly kindPath: Path
  /** The types whose `usedBy` lists the choosing object; absent: all, empty: none. */
  readonly among?: Among
}

/** A field that leads to objects of several kinds: a reverse relation for each of them. */
export interface PolymorphicRelationField {
  readonly name: string
  readonly relations: readonly RelationField[]
  /** Instead of relations: the key of a label. The field leads to the objects of any kind with the same value. */
  readonly sameLabel?: string
  /** Instead of relations: the objects that this one chooses. */
  readonly chosen?: ChosenObjects
  /** Instead of relations: the choices that may name this object. */
  readonly chosenBy?: readonly ChosenObjects[]
  readonly description?: string
}

/** The place of an object reference's kind, in another object. */
export interface KindPlace {
  readonly relation: RelationField
  readonly path: string
}

/** A field that refers to an object of any kind: `Event.involved`. */
export interface ObjectRefField {
  readonly name: string
  /** The places of the references: `involvedObject`. */
  readonly paths: readonly string[]
  /** Whether the field is a list. */
  readonly many: boolean
  /** Whether the references are owners, and the field is the topmost owner whose kind belongs to Kubernetes itself. */
  readonly isTopmost?: true
  /** The place of the kind if it is not beside the name: a relation to one object, and a path in that object. */
  readonly kindAt?: KindPlace
  readonly description?: string
}

/** One kind of the schema, with its names, indexes and relations. */
export interface Kind {
  readonly resource: ApiResource
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string
  /** `Pod`. */
  readonly typeName: string
  /** `pods`. */
  readonly listField: string
  /** `pod`. */
  readonly lookupField: string
  /** Why the kind is deprecated; absent if it is not. */
  readonly deprecation?: string
  /** The fields of `where`: `name`, `namespace` and `creationTimestamp`, declared indexes, then indexes from the CRD. */
  readonly indexes: readonly IndexDefinition[]
  /** `namespace` of namespaced kinds, then the declared relations, in the order of their declaration. */
  readonly relations: readonly RelationField[]
  readonly objectRefs: readonly ObjectRefField[]
  readonly polymorphic: readonly PolymorphicRelationField[]
  /** The objects that its objects use without a field: `@uses`. */
  readonly uses: readonly RelationField[]
  /** The relations to the users of its objects: the reverse of each reference and selector to its type. */
  readonly usedBy: readonly RelationField[]
  /** The type names of kinds that may use it, but that the profile leaves out of the schema. */
  readonly leftOutUsers: readonly string[]
  /** Says which of its objects have ended and no longer use anything. */
  readonly ended?: EndedRule
  /** The relation behind `events`; absent if the cluster serves no core Events. */
  readonly events?: RelationField
  /** The columns of `kubectl get`; absent if only the API server knows them. */
  readonly printed?: PrintedKind
  /** Whether the cache holds `metadata` only. True for Secrets, unless `secretContents` is on. */
  readonly metadataOnly: boolean
  /** Whether the kind has no cache, because it cannot be watched or is configured so. It is read from the API server. */
  readonly uncached: boolean
}

/** All relations of a kind, each once: declared ones, the parts of polymorphic ones, `events`, `uses` and `usedBy`. */
export function relationFieldsOf(kind: Kind): readonly RelationField[] {
  const { relations, polymorphic, events = [], uses, usedBy } = kind
  const ofSeveral = polymorphic.flatMap((field) => field.relations)
  return [...new Set([relations, ofSeveral, events, uses, usedBy].flat())]
}

/** Whether `where` of a kind has `usedBy`, which no index has the name of. */
export function isFilteredByUse({ indexes }: Kind): boolean {
  return !indexes.some(({ name }) => name === usedByField)
}

/**
 * The relations that `where` of a kind has a field for, `events` included. An index wins over a relation of the same name,
 * such as `namespace`.
 */
export function filteringRelations(kind: Kind): readonly RelationField[] {
  const { relations, events = [], indexes } = kind
  const taken = new Set(indexes.map(({ name }) => name))
  return [relations, events]
    .flat()
    .filter(({ definition: { name } }) => !taken.has(name) && !isWhereWord(name))
}

/** A kind without its declarations. */
export type BareKind = Omit<
  Kind,
  | 'indexes'
  | 'relations'
  | 'objectRefs'
  | 'polymorphic'
  | 'events'
  | 'uses'
  | 'usedBy'
  | 'leftOutUsers'
  | 'ended'
>

/**
 * The kinds of measurements, as the gateway caches them for `usage` and the indexes of usage. They are no kinds of the
 * schema: its `PodMetrics` is the same resource, read from the API server for each answer.
 */
const kinds: readonly Kind[] = usageResources.map((resource) => ({
  resource,
  apiVersion: apiVersionOf(resource),
  typeName: resource.kind,
  listField: '',
  lookupField: '',
  indexes: measuredIndexes,
  relations: [],
  objectRefs: [],
  polymorphic: [],
  uses: [],
  usedBy: [],
  leftOutUsers: [],
  metadataOnly: false,
  uncached: false,
}))

/** The kind of the measurements of a kind's objects; `undefined` if nothing measures them. */
export function usageKindOf({ resource }: Pick<Kind, 'resource'>): Kind | undefined {
  const measured = usageResourceOf(resource)
  return measured && kinds.find((kind) => kind.resource === measured)
}

export function isNamespace({
  resource: { group, kind },
}: {
  readonly resource: Pick<ApiResource, 'group' | 'kind'>
}): boolean {
  return group === '' && kind === 'Namespace'
}

/** Whether a kind is one of the measurements, which are listed and never watched. */
export function isUsageKind(kind: Kind): boolean {
  return kinds.includes(kind)
}
