import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { type Condition, namespacesOf, nothing } from '../../query/condition/condition.ts'
import { objectByKey } from '../../query/page/lookup.ts'
import { findObject } from '../../query/page/page.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind, KindView, FoundObject } from '../prepare/kind-view.ts'
import type { ListPlace } from './list-read.ts'
import type { SchemaRelation } from '../served/schema-relations.ts'
import { foundByKey, originOf } from './object-read.ts'
import type { ReadRun } from './read-run.ts'

/** Where a relation arrives, as a list. */
export interface RelatedList {
  readonly part: KindView
  readonly list: ListPlace
}

/** References whose key an index of the referring kind tells. */
interface DirectReferences {
  readonly view: StoreView
  readonly keys: IndexView
  readonly part: KindView
}

/**
 * How a relation is read from one object: a read of an index or two. What is the same for all rows of a run, the parts on the way and
 * the index of direct references, is found once a run.
 */
export class RelationRead {
  readonly #relation: SchemaRelation
  /** Whether other relations may go through it, so that where it led is kept for them. Events are followed in two ways. */
  readonly #isStep: boolean
  readonly #isSaid: boolean
  readonly #targets = new Map<string, ClusterKind>()
  readonly #ways = new WeakMap<ReadRun, Map<string, KindView>>()
  readonly #direct = new WeakMap<ReadRun, DirectReferences | 'none'>()

  constructor({ many, definition }: RelationField, relation: SchemaRelation) {
    this.#relation = relation
    this.#isStep = many && !['through', 'events'].includes(relation.relation.definition.form)
    this.#isSaid = definition.form === 'reference' && !many
  }

  /** The kind that it leads to. */
  get to(): Kind {
    return this.#relation.to
  }

  /** The object that a relation to one leads to; `undefined` where there is none, or where it may not be seen. Throws `ClientError`. */
  one(run: ReadRun, part: KindView, id: ObjectId): FoundObject | undefined {
    if (part.isDirect) {
      const origin = originOf(run, { part, id })
      return origin && this.one(run, origin.part, origin.id)
    }
    const direct = this.#directReferences(run, part)
    const keys = direct?.keys.valuesOf(id)
    // Most rows name one object, or none: no condition is made for these.
    if (direct !== undefined && keys !== undefined && keys.length <= 1) {
      const [key] = keys
      if (key === undefined) return undefined
      run.budget.spend('examined', 1)
      return found(direct.part, direct.part.view.idOf(key))
    }
    const condition = this.#follow(run, part, id, false)
    if (condition.form === 'nothing') return undefined
    const at = this.#target(part.cluster)
    if (this.#relation.to.uncached) {
      const [key] = condition.form === 'keys' ? condition.keys : []
      if (key === undefined) throw notFoundByCondition(at)
      return foundByKey(run, at, key)
    }
    if (condition.form !== 'keys') {
      const target = run.part(at, { within: () => this.#namespaces(condition, part.view, id) })
      return found(target, findObject({ ...target, budget: run.budget, condition }))
    }
    const target = run.forLookup(at, condition.keys)
    if (target === undefined) return undefined
    const options = { ...target, budget: run.budget }
    for (const key of condition.keys.length === 1 ? condition.keys : condition.keys.toSorted()) {
      const targetId = objectByKey(options, key)
      if (targetId !== undefined) return { part: target, id: targetId }
    }
    return undefined
  }

  /** The list that a relation to many leads to. `withRelated`: of Events, those of the objects below it, too. Throws `ClientError`. */
  many(run: ReadRun, part: KindView, id: ObjectId, withRelated: boolean): RelatedList {
    if (part.isDirect) {
      const origin = originOf(run, { part, id })
      if (origin === undefined) return this.nowhere(run, part.cluster)
      return this.many(run, origin.part, origin.id, withRelated)
    }
    const { cluster, view } = part
    const condition = this.#follow(run, part, id, withRelated)
    const within = (): readonly string[] | undefined => this.#namespaces(condition, view, id)
    const origin = view.uidOf(id) || view.keyOf(id)
    const list = `${this.#relation.name}${withRelated ? '+related' : ''}/${origin}`
    return { part: run.part(this.#target(cluster), { within }), list: { list, condition } }
  }

  /** The empty list that it leads to from an object that is no more. */
  nowhere(run: ReadRun, cluster: string): RelatedList {
    const part = run.part(this.#target(cluster))
    return { part, list: { list: this.#relation.name, condition: nothing } }
  }

  #follow(
    run: ReadRun,
    { cluster, view }: KindView,
    id: ObjectId,
    withRelated: boolean,
  ): Condition {
    const { relation, reads } = this.#relation
    const part = (type: string): KindView =>
      this.#way(run, cluster, type, () => namespaceOf(view, id))
    const origin = { view, id, withRelated, part, budget: run.budget, steps: run.steps }
    const condition = this.#isStep
      ? run.steps.take(relation, origin).condition
      : relation.follow(origin)
    run.followed?.({ reads, condition, isSaid: this.#isSaid })
    return condition
  }

  /** The kind that the relation arrives at, with the indexes that it reads there. */
  #target(cluster: string): ClusterKind {
    let target = this.#targets.get(cluster)
    if (target === undefined) {
      const { needs, to } = this.#relation
      target = { cluster, kind: to, ...needs.get(to.typeName) }
      this.#targets.set(cluster, target)
    }
    return target
  }

  /** What may be read of a kind on the way: the same for each row where everything may be seen. */
  #way(run: ReadRun, cluster: string, type: string, namespace: () => string): KindView {
    if (!run.isOpen) return this.#partOnTheWay(run, cluster, type, namespace())
    let parts = this.#ways.get(run)
    if (parts === undefined) this.#ways.set(run, (parts = new Map()))
    let part = parts.get(type)
    if (part?.cluster !== cluster) {
      parts.set(type, (part = this.#partOnTheWay(run, cluster, type, '')))
    }
    return part
  }

  /** What a viewer may not list on the way tells nothing, not even what it leads to. */
  #partOnTheWay(run: ReadRun, cluster: string, type: string, namespace: string): KindView {
    const { needs, relation, name, to } = this.#relation
    const need = needs.get(type)
    if (to.uncached && need?.kind === to) throw notFoundByCondition({ cluster, kind: to })
    if (need === undefined) throw new TypeError(`${name} does not read ${type}`)
    const isWithin = relation.isLocal && need.kind.resource.namespaced && namespace !== ''
    return run.part({ cluster, ...need }, { within: () => (isWithin ? [namespace] : undefined) })
  }

  /** The namespaces that everything is in which the relation leads to; `undefined` where that is not known. */
  #namespaces(condition: Condition, view: StoreView, id: ObjectId): readonly string[] | undefined {
    const namespace = namespaceOf(view, id)
    return this.#relation.relation.isLocal && namespace !== ''
      ? [namespace]
      : namespacesOf(condition)
  }

  /**
   * Where the rows of a store name their objects. `undefined` where the relation has to be followed: somebody wants to know what is
   * read, there is no index, or the viewer may look at some objects only.
   */
  #directReferences(run: ReadRun, { cluster, view }: KindView): DirectReferences | undefined {
    const { keysIndex } = this.#relation.relation
    if (keysIndex === undefined) return undefined
    let direct = this.#direct.get(run)
    if (direct === undefined || (direct !== 'none' && direct.view !== view)) {
      const isDirect = !run.isTraced && view.hasIndex(keysIndex) && !this.#relation.to.uncached
      const part = isDirect ? run.openPart(this.#target(cluster)) : undefined
      direct = part === undefined ? 'none' : { view, keys: view.index(keysIndex), part }
      this.#direct.set(run, direct)
    }
    return direct === 'none' ? undefined : direct
  }
}

/** Kinds that are read directly are found by names only. */
function notFoundByCondition({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  const message = `${typeName} is read live: it is found by its name only`
  return new ClientError('UNSUPPORTED', message, {
    cluster,
    kind: typeName,
    hint: 'declare the relation by @reference or @named, to one object',
  })
}

function found(part: KindView, id: ObjectId | undefined): FoundObject | undefined {
  return id === undefined ? undefined : { part, id }
}

function namespaceOf(view: StoreView, id: ObjectId): string {
  return splitObjectKey(view.keyOf(id)).namespace
}
