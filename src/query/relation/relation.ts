/*
 * A relation leads from objects of one type to objects of another. Its definition is pure data that SDL declares: no kind has
 * code of its own. Its form reads the directive, compiles the definition, and says how to follow the relation, how to read it
 * backwards, and how descriptions word it. Following a relation gives a condition on the other store, to be combined with
 * filters, a Scope and a page. `relations.ts` lists all forms.
 */

import type { Indexers, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import type { Condition, RelatedHop, RelatedOrigin, RelatedPart } from '../condition/condition.ts'
import type { WorkBudget } from '../condition/work-budget.ts'

/**
 * The common part of all relations between two types. A relation's full name is `from.name`, such as `Pod.node`. Each form
 * adds its own members.
 */
export interface RelationBase {
  readonly form: string
  readonly name: string
  /** The type that has the field. */
  readonly from: string
  /** The type that the field leads to. */
  readonly to: string
}

/** The name of a relation in `@reverse(of:)` and in index names. */
export function relationName({ from, name }: Pick<RelationBase, 'from' | 'name'>): string {
  return `${from}.${name}`
}

/** Another relation read backwards: `Node.pods` of `Pod.node`. */
export interface ReverseRelation extends RelationBase {
  readonly form: 'reverse'
  /** The full name of a relation whose form has a `compileReverse`, or of an object reference. */
  readonly of: string
}

/** References to any kind, at paths of a type's objects. They can be read backwards. */
export interface ReferenceOfAnyKind {
  readonly name: string
  readonly from: string
  readonly paths: readonly string[]
  /** Whether it has no place for another namespace than that of its object. */
  readonly isLocal: boolean
}

export interface RelationForm<D extends RelationBase = RelationBase> {
  /** Its directives, which `schema/directives.graphql` defines. */
  readonly directives?: Readonly<Record<string, ReadDirective>>
  /** Compiles a relation. Throws {@link RelationDefinitionError}, `NameTemplateError` and `PathError`. */
  compile(definition: D, relations: RelationSet): Relation
  /** Compiles a `@reverse` of a relation. Absent: the form has no `@reverse`. */
  compileReverse?(reverse: ReverseRelation, forward: D, context: RelationContext): Relation
  /** How a relation is read backwards if the form has no {@link compileReverse}. Absent: not at all. */
  backwards?(definition: D, relations: RelationSet): Backwards
  /** The steps of a relation that goes through other types; absent: it is one step. */
  hops?(definition: D, relations: RelationSet): readonly RelatedHop[]
  /** Whether a relation between namespaced types never leaves the namespace of its start. */
  staysInNamespace(definition: D, relations: RelationSet): boolean
  /**
   * Whether graphs leave the relation out unless the request names it, as they do with its reverse: because it holds
   * between nearly all objects, or because other relations are its steps. Absent: no relation of the form.
   */
  isVague?(definition: D): boolean
  /** The related objects, as a clause of descriptions: `Every Pod that it owns`. */
  words(definition: D, many: boolean): string
  /** The objects that have the relation, as a clause of a `@reverse`: `Every Service that selects this Pod`. */
  wordsBack?(definition: D): string
}

/** Reads the arguments of a directive. Throws the problems of the declaration. */
export interface ReadDirective {
  // A method, so that each form names the types of its own arguments; the definition of the directive checks them.
  read(args: object, declaration: Declaration): RelationBase
}

/** A relation that SDL declares, with the checks that its form applies. */
export interface Declaration {
  readonly name: string
  readonly from: string
  readonly to: string
  /** Whether the field is a connection. */
  readonly many: boolean
  /** Throws if the field is not a connection. */
  needConnection(): void
  /** Throws if one of the types is not served. */
  needTypes(types: readonly string[]): void
  /** Throws if `@reverse` cannot read the relation of this name backwards, to this type. */
  needReversible(name: string): void
  /**
   * The paths at which the API may have a value. Throws for a path without one, unless the declaration is optional; then
   * it throws only if no path has one.
   */
  present(paths: readonly string[]): ReadonlySet<string>
  /** As {@link present}, for paths of the target type. */
  presentOfTarget(paths: readonly string[]): ReadonlySet<string>
  /** The arguments of another relation with the same directive, by its full name. */
  argumentsOf(name: string): object | undefined
  /** Another relation by its full name; `undefined` if there is none. */
  relation(name: string): { readonly to: string; readonly many: boolean } | undefined
  /** An error about the declaration, to be thrown. */
  fail(problem: DeclarationProblem, message: string, hint: string): Error
}

/** What may be wrong with a declaration. `no-step`: another relation is missing, which an optional declaration allows. */
export type DeclarationProblem =
  | 'unsupported'
  | 'bad-path'
  | 'unknown-relation'
  | 'no-step'
  | 'field-type'

/** The object from which a relation is followed, within one tick. */
export interface RelationOrigin extends RelatedOrigin {
  /** The object, if it is decoded already. */
  readonly object?: KubernetesObject | undefined
  /** For Events only: whether to include those that name the object as related. */
  readonly withRelated?: boolean
  /** Steps already taken from this object; absent: they are not remembered. */
  readonly steps?: RelationSteps | undefined
}

/** Remembers where relations led, within one tick. */
export interface RelationSteps {
  /** Takes a step. The budget pays for new ones. */
  take(relation: Relation, origin: RelationOrigin): FollowedStep
}

/** The objects that a relation leads to from one object. */
export interface FollowedStep {
  readonly condition: Condition
  /** The visible objects. The budget pays for the search. */
  ids(part: RelatedPart, budget: WorkBudget): readonly ObjectId[]
}

/** Decodes the object from which a relation is followed, if needed. The budget pays for that. */
export function originObject({ view, id, object, budget }: RelationOrigin): KubernetesObject {
  if (object !== undefined) return object
  budget.spend('rows', 1)
  return view.object(id)
}

export interface Relation {
  readonly definition: RelationBase
  /** The types besides `from` whose stores must be synced and readable; the last is `to`. */
  readonly reads: readonly string[]
  /** The indexes that it needs, besides those of every store, by type. */
  readonly indexers: IndexersByType
  /** Indexes that make it faster, by type. */
  readonly shortcuts?: IndexersByType
  /** The key of the only object that it leads from, for the inverse of a relation to a single object. */
  readonly only?: string
  /** An index on the store of `from` whose values are exactly the keys of the related objects. */
  readonly keysIndex?: string
  /** Whether it leads to the same objects from all objects of one namespace with the same labels. */
  readonly ofSiblings?: boolean
  /**
   * The related objects: a condition on the store of `to`, valid within the tick, to be combined with filters, a Scope
   * and a page. `nothing` if there are none.
   */
  follow(origin: RelationOrigin): Condition
  /** Follows the relation from several objects of the store at once. */
  followAll?(
    origin: Omit<RelationOrigin, 'id' | 'object' | 'view'> & { readonly view: StoreView },
    ids: readonly ObjectId[],
  ): Condition
}

/** How a relation is read backwards, as far as indexes allow. */
export interface Backwards {
  /**
   * The objects that lead to the target: a condition on the store of `from`. Returns `undefined` if that store lacks
   * the index; absent if there is no such index.
   */
  readonly followBack?: (target: RelationOrigin, from: StoreView) => Condition | undefined
  /** The indexes that `followBack` needs. */
  readonly backIndexers?: IndexersByType
}

/** A relation read backwards, whether or not SDL declares a field for that. */
export interface RelationInverse extends Backwards {
  /** Whether it never leaves the namespace of its start. */
  readonly isLocal: boolean
  /** One step, or several if the relation goes through other types. */
  readonly hops: readonly RelatedHop[]
}

export type TwoWayRelation = Relation & RelationInverse

export type IndexersByType = Readonly<Record<string, Indexers>>

/** The types of the cluster, as far as compiling a relation needs them. */
export interface RelationContext {
  isNamespaced(type: string): boolean
  /** The API group and kind of a type; `undefined` for types that are not kinds. */
  groupKindOf?(type: string): GroupKind | undefined
}

export interface GroupKind {
  readonly group: string
  readonly kind: string
}

/** All relations of a schema, as a form sees them. */
export interface RelationSet extends RelationContext {
  definition(name: string): RelationBase | undefined
  referenceOfAnyKind(name: string): ReferenceOfAnyKind | undefined
  formOf(definition: RelationBase): RelationForm
  /** A compiled relation by its full name. Throws {@link RelationDefinitionError}. */
  relation(name: string): Relation
  inverse(relation: Relation): RelationInverse
}

/** Reads a relation backwards by its compiled reverse, whose indexes must be on the store that it leads to. */
export function followedBack(reverse: Relation, type: string): Backwards {
  const needed = Object.keys(reverse.indexers[type] ?? {})
  return {
    backIndexers: reverse.indexers,
    followBack: (target, from) =>
      needed.every((name) => from.hasIndex(name)) ? reverse.follow(target) : undefined,
  }
}

/**
 * Returns a test for objects of a store with the same namespace and labels. It reads no keys, because they are spread
 * over memory.
 */
export function siblingsOf(view: StoreView, one: ObjectId): (other: ObjectId) => boolean {
  const namespaces = view.index('namespace')
  return (other) => view.hasSameLabels(one, other) && namespaces.isSame(one, other)
}

/** Texts as code in descriptions: in back quotes, with commas between. */
export function codeOf(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(', ')
}

/** A set of relations is inconsistent. Thrown when the set is compiled, never when a relation is followed. */
export class RelationDefinitionError extends CodedError {
  constructor(relation: string, problem: string, hint?: string) {
    super('RELATION_DEFINITION', `relation ${relation}: ${problem}`, {
      value: relation,
      hint,
    })
  }
}
