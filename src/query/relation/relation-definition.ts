import { CodedError } from '../../lib/coded-error.ts'

/** What every relation has. Its full name is `from.name`, as in `Pod.node`. */
interface RelationBase {
  /** The field's name. */
  readonly name: string
  /** The type that has the field. */
  readonly from: string
  /** The type that the field leads to. */
  readonly to: string
}

/** The object says whom it means: `Pod.node` by `spec.nodeName`. */
export interface ReferenceRelation extends RelationBase {
  readonly form: 'reference'
  /** Paths of the names of the objects that are meant; several where the API has several places for them. */
  readonly paths: readonly string[]
  /**
   * Where the namespace stands, for references across namespaces; as for {@link paths}, one for each path, which shares
   * the path up to its last `[*]`. Where it is absent, the object's own namespace is meant.
   */
  readonly namespacePaths?: readonly string[]
  /** Where the kind stands beside the name, as {@link namespacePaths}: a reference to another kind is not this relation's. */
  readonly kindPaths?: readonly string[]
  /** Where the API group stands, or an `apiVersion`, as {@link kindPaths}; one that is absent is any. */
  readonly groupPaths?: readonly string[]
  /** Whether a reference that names no kind means this one; else it means none. */
  readonly isDefaultKind?: boolean
  /** Paths of whole references: `kind`, `name`, with `apiVersion`, `apiGroup` or `group`, and `namespace`. */
  readonly refPaths?: readonly string[]
  /** Names that are put together. */
  readonly names?: NameRule
  /** Whether {@link names} count only where no path has a name. */
  readonly isOtherwise?: boolean
  /** The key of the one object that every object of this kind means. */
  readonly only?: string
  /** Whether the object makes use of what it means: then it is in `usedBy` of that. */
  readonly uses?: boolean
  /** Whether it may mean more than one object. */
  readonly many: boolean
}

/** Names that are put together from what the object says. */
export interface NameRule {
  /**
   * `{metadata.name}-{spec.volumes[*].name}`: text, and paths in braces; `#` at the end stands for any number. Of several
   * templates each gives names.
   */
  readonly templates: readonly string[]
  /** Where the namespace stands. */
  readonly namespacePath?: string
  /** The namespace, where it is always the same; without either it is the object's own. */
  readonly namespace?: string
}

/** The object says whom it means by a rule that ends in any number: `StatefulSet.persistentVolumeClaims`. */
export interface NumberedRelation extends RelationBase {
  readonly form: 'numbered'
  readonly names: NameRule
}

/** The object says whom it means by its UID: `EndpointSlice.pods` by `endpoints[*].targetRef.uid`. */
export interface UidRelation extends RelationBase {
  readonly form: 'uid'
  readonly paths: readonly string[]
  readonly many: boolean
}

/** Another relation read backwards: `Node.pods` of `Pod.node`. */
export interface ReverseRelation extends RelationBase {
  readonly form: 'reverse'
  /** The full name of a `reference`, `numbered`, `uid`, `same` or `selects` relation, or of an object reference. */
  readonly of: string
}

/** The object selects others of its namespace by their labels: `Service.pods` by `spec.selector`. */
export interface SelectsRelation extends RelationBase {
  readonly form: 'selects'
  /** Where the selector stands, or with `[*]` several, of which one is enough. */
  readonly path: string
  /**
   * `map`: label values by key, where an empty map selects nothing (Service). `labelSelector`: `matchLabels` and
   * `matchExpressions`, where an empty object selects everything in the namespace (NetworkPolicy, PodDisruptionBudget).
   */
  readonly selector: 'map' | 'labelSelector'
  /** What an absent selector selects; `nothing` by default. */
  readonly whenAbsent?: 'nothing' | 'everything'
  /** Where `any` or `matchNames` stand, for selectors that reach into other namespaces; where absent, the own one. */
  readonly namespacesPath?: string
  /** Where a label selector of the namespaces stands that it reaches: an empty one is of all, an absent one of its own. */
  readonly namespaceLabelsPath?: string
}

/** The object and the other say the same: one of the texts of this one is one of those of the other. */
export interface SameRelation extends RelationBase {
  readonly form: 'same'
  /** Text, and paths in braces, of this object. */
  readonly texts: readonly string[]
  /** The same of the other. */
  readonly as: readonly string[]
}

/** Other relations, one after the other: `Service.nodes` by `Service.pods` and `Pod.node`. */
export interface ThroughRelation extends RelationBase {
  readonly form: 'through'
  /** The full names of the relations, from this type to {@link RelationBase.to}; two at least. */
  readonly steps: readonly string[]
}

/** The objects that have this one among their owners: `Deployment.pods` through `ReplicaSet`. */
export interface OwnedRelation extends RelationBase {
  readonly form: 'owned'
  /** The types in between, from this one downwards. */
  readonly through?: readonly string[]
}

/** The owners of the object: `Pod.deployment` through `ReplicaSet`. */
export interface OwnerRelation extends RelationBase {
  readonly form: 'owner'
  /** The types in between, from this one upwards. */
  readonly through?: readonly string[]
}

/** The Events about the object. `to` is the type of core Events. */
export interface EventsRelation extends RelationBase {
  readonly form: 'events'
}

/** A relation between two types, as the SDL declares it. Data: nothing is coded by kind. */
export type RelationDefinition =
  | ReferenceRelation
  | NumberedRelation
  | UidRelation
  | ReverseRelation
  | SelectsRelation
  | SameRelation
  | OwnedRelation
  | OwnerRelation
  | ThroughRelation
  | EventsRelation

/** Object references to whatever kind stand at paths of the objects of a type; they can be read backwards. */
export interface ReferenceOfAnyKind {
  readonly name: string
  readonly from: string
  readonly paths: readonly string[]
}

/** The name by which `@reverse(of:)` and index names speak of a relation. */
export function relationName(definition: { readonly from: string; readonly name: string }): string {
  return `${definition.from}.${definition.name}`
}

/** Whether a relation of this form can be read backwards by `@reverse`. */
export function isReversible({ form }: RelationDefinition): boolean {
  return reversible.has(form)
}

const reversible: ReadonlySet<RelationDefinition['form']> = new Set([
  'reference',
  'numbered',
  'uid',
  'same',
  'selects',
])

/** A set of relations that contradicts itself. Thrown when the set is put together, never when it is followed. */
export class RelationDefinitionError extends CodedError {
  constructor(relation: string, problem: string, hint?: string) {
    super('RELATION_DEFINITION', `relation ${relation}: ${problem}`, {
      value: relation,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}
