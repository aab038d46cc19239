import type { ApiResource } from '../../kubernetes/api-resource.ts'
import type { PrintedKind } from '../../kubernetes/printing/column.ts'
import type { EndedRule, IndexDefinition } from '../../query/index/index-definition.ts'
import type { Path } from '../../query/index/path.ts'
import type { RelationDefinition } from '../../query/relation/relation-definition.ts'

/** A relation as a field of the schema. */
export interface RelationField {
  readonly definition: RelationDefinition
  /** Whether the field is a connection; else it is one object or null. */
  readonly many: boolean
  readonly description?: string
}

/** Objects that are chosen by a name or a label selector, of a kind that another object says: `spec.paramRef`. */
export interface ChosenObjects {
  /** The full name of the field that says so: `ValidatingAdmissionPolicyBinding.paramObjects`. */
  readonly field: string
  /** Where `name` or `selector`, and `namespace`, stand. */
  readonly path: Path
  /** The way to the object that says the kind, from that which chooses. */
  readonly relation: RelationField
  /** Where it says the kind: `spec.paramKind`. */
  readonly kindPath: Path
}

/** A field that leads to objects of several kinds: a relation of each of them, read backwards. */
export interface PolymorphicRelationField {
  readonly name: string
  /** One for each kind. */
  readonly relations: readonly RelationField[]
  /** The key of a label: instead of relations, what has it in common with the object, of any kind. */
  readonly sameLabel?: string
  /** Instead of relations, what the object chooses by a name or by labels. */
  readonly chosen?: ChosenObjects
  /** Instead of relations, what chooses the object so. */
  readonly chosenBy?: readonly ChosenObjects[]
  readonly description?: string
}

/** Where the kind of an object reference stands: in another object. */
interface KindPlace {
  readonly relation: RelationField
  readonly path: string
}

/** A field of the schema that says which object of whatever kind an object means: `Event.involved`. */
export interface ObjectRefField {
  readonly name: string
  /** Where object references stand: `involvedObject`; several where the API has several places. */
  readonly paths: readonly string[]
  /** Whether the field is a list. */
  readonly many: boolean
  /** Whether what stands there are owners, and the topmost one of a kind of Kubernetes itself is meant. */
  readonly isTopmost?: true
  /** Where the kind stands, if not beside the name: behind a relation to one object, a path of that one. */
  readonly kindAt?: KindPlace
  readonly description?: string
}

/** One kind of the schema: what is served of it, and under which names. */
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
  /** Why it should not be used any more; absent where nothing says so. */
  readonly deprecation?: string
  /** One per field of `where`: `name`, `namespace` and `creationTimestamp`, then the declared ones and those of its CRD. */
  readonly indexes: readonly IndexDefinition[]
  /** `namespace` of namespaced kinds, then the declared relations, in the order of their declaration. */
  readonly relations: readonly RelationField[]
  readonly objectRefs: readonly ObjectRefField[]
  readonly mixed: readonly PolymorphicRelationField[]
  /** Those that make use of its objects: each `@reference` with `uses` onto the kind, read backwards. */
  readonly usedBy: readonly RelationField[]
  /** Which of its objects use nothing any more. */
  readonly ended?: EndedRule
  /** The relation behind `events`; absent where the cluster serves no core Events. */
  readonly events?: RelationField
  /** What `kubectl get` shows of the objects; absent where only the API server knows. */
  readonly printed?: PrintedKind
  /** Whether objects hold `metadata` only: Secrets, until the operator opts in. */
  readonly metadataOnly: boolean
  /** Whether it has no cache, so that it is read live: what cannot be watched, and what is configured so. */
  readonly uncached: boolean
}

/** All relations of a kind: declared ones, the parts of mixed ones, its Events, and what uses its objects. */
export function relationFieldsOf(kind: Kind): readonly RelationField[] {
  const { relations, mixed, events, usedBy } = kind
  const ofEvents = events === undefined ? [] : [events]
  return [...relations, ...mixed.flatMap((field) => field.relations), ...ofEvents, ...usedBy]
}

/** A kind before anything is declared of it. */
export type BareKind = Omit<
  Kind,
  'indexes' | 'relations' | 'objectRefs' | 'mixed' | 'events' | 'usedBy' | 'ended'
>
