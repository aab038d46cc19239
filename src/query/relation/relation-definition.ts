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
  /** Whether it may mean more than one object. */
  readonly many: boolean
}

/** Another relation read backwards: `Node.pods` of `Pod.node`. */
export interface ReverseRelation extends RelationBase {
  readonly form: 'reverse'
  /** The full name of a `reference` or `selects` relation. */
  readonly of: string
}

/** The object selects others of its namespace by their labels: `Service.pods` by `spec.selector`. */
export interface SelectsRelation extends RelationBase {
  readonly form: 'selects'
  readonly path: string
  /**
   * `map`: label values by key, where an empty map selects nothing (Service). `labelSelector`: `matchLabels` and
   * `matchExpressions`, where an empty object selects everything in the namespace (NetworkPolicy, PodDisruptionBudget).
   */
  readonly selector: 'map' | 'labelSelector'
  /** What an absent selector selects; `nothing` by default. */
  readonly whenAbsent?: 'nothing' | 'everything'
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
  | ReverseRelation
  | SelectsRelation
  | OwnedRelation
  | OwnerRelation
  | EventsRelation

/** The name by which `@reverse(of:)` and index names speak of a relation. */
export function relationName(definition: RelationDefinition): string {
  return `${definition.from}.${definition.name}`
}

/** A set of relations that contradicts itself. Thrown when the set is put together, never when it is followed. */
export class RelationDefinitionError extends CodedError {
  constructor(relation: string, problem: string, hint?: string) {
    super('RELATION_DEFINITION', `relation ${relation}: ${problem}`, {
      value: relation,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}
