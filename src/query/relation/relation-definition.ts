import { CodedError } from '../../lib/coded-error.ts'

/** The common part of all relations. A relation's full name is `from.name`, such as `Pod.node`. */
interface RelationBase {
  readonly name: string
  /** The type that has the field. */
  readonly from: string
  /** The type that the field leads to. */
  readonly to: string
}

/** The object refers to others by name: `Pod.node` by `spec.nodeName`. */
export interface ReferenceRelation extends RelationBase {
  readonly form: 'reference'
  /** Paths of the names; several if the API has several places for them. */
  readonly paths: readonly string[]
  /**
   * Paths of the namespaces, for references across namespaces: one for each of {@link paths}, with the same beginning
   * up to its last `[*]`. If absent, references are within the object's own namespace.
   */
  readonly namespacePaths?: readonly string[]
  /** Paths of the kinds, like {@link namespacePaths}. References to other kinds do not belong to this relation. */
  readonly kindPaths?: readonly string[]
  /** Paths of API groups or an `apiVersion`, like {@link kindPaths}. A missing group means any. */
  readonly groupPaths?: readonly string[]
  /** Whether a reference without a kind refers to this kind; else it refers to nothing. */
  readonly isDefaultKind?: boolean
  /** Paths of whole references: `kind`, `name`, with `apiVersion`, `apiGroup` or `group`, and `namespace`. */
  readonly refPaths?: readonly string[]
  /** Composed names. */
  readonly names?: NameRule
  /** Whether {@link names} apply only if no path has a name. */
  readonly isOtherwise?: boolean
  /** The key of the one object that every object of this kind refers to. */
  readonly only?: string
  /** Whether the object uses the others, so that it appears in their `usedBy`. */
  readonly uses?: boolean
  /** Whether it may refer to several objects. */
  readonly many: boolean
}

/** Names composed from values of the object. */
export interface NameRule {
  /**
   * Text with paths in braces, such as `{metadata.name}-{spec.volumes[*].name}`; `#` at the end stands for any number.
   * Each template yields names.
   */
  readonly templates: readonly string[]
  /** The path of the namespace. */
  readonly namespacePath?: string
  /** A constant namespace. Without either, it is the object's own. */
  readonly namespace?: string
}

/** The object refers to others by a rule that ends in any number: `StatefulSet.persistentVolumeClaims`. */
export interface NumberedRelation extends RelationBase {
  readonly form: 'numbered'
  readonly names: NameRule
}

/** The object refers to others by UID: `EndpointSlice.pods` by `endpoints[*].targetRef.uid`. */
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

/** The object selects others of its namespace by labels: `Service.pods` by `spec.selector`. */
export interface SelectsRelation extends RelationBase {
  readonly form: 'selects'
  /** The path of the selector. With `[*]` there are several, and an object needs to match one. */
  readonly path: string
  /**
   * `map`: label values by key; an empty map selects nothing (Service). `labelSelector`: `matchLabels` and
   * `matchExpressions`; an empty object selects everything in the namespace (NetworkPolicy, PodDisruptionBudget).
   */
  readonly selector: 'map' | 'labelSelector'
  /** What an absent selector selects; default: `nothing`. */
  readonly whenAbsent?: 'nothing' | 'everything'
  /** The path of `any` or `matchNames`, for selectors that cover other namespaces; absent: the object's own. */
  readonly namespacesPath?: string
  /**
   * The path of a label selector of namespaces. An empty selector covers all namespaces, an absent one the object's
   * own.
   */
  readonly namespaceLabelsPath?: string
}

/** The object and the other have a text in common. */
export interface SameRelation extends RelationBase {
  readonly form: 'same'
  /** Text with paths in braces, of this object. */
  readonly texts: readonly string[]
  /** The same for the other object. */
  readonly as: readonly string[]
}

/** A chain of relations: `Service.nodes` by `Service.pods` and `Pod.node`. */
export interface ThroughRelation extends RelationBase {
  readonly form: 'through'
  /** The full names of the relations, from this type to {@link RelationBase.to}; at least two. */
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

/** A relation between two types, as SDL declares it. Pure data: no kind has code of its own. */
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

/** References to any kind, at paths of a type's objects. They can be read backwards. */
export interface ReferenceOfAnyKind {
  readonly name: string
  readonly from: string
  readonly paths: readonly string[]
}

/** The name of a relation in `@reverse(of:)` and in index names. */
export function relationName(definition: { readonly from: string; readonly name: string }): string {
  return `${definition.from}.${definition.name}`
}

/** Whether `@reverse` can read this form backwards. */
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

/** A set of relations is inconsistent. Thrown when the set is compiled, never when a relation is followed. */
export class RelationDefinitionError extends CodedError {
  constructor(relation: string, problem: string, hint?: string) {
    super('RELATION_DEFINITION', `relation ${relation}: ${problem}`, {
      value: relation,
      hint,
    })
  }
}
