/*
 * Reads a relation from one object, by one or two indexes. Most rows name one object, whose key an index of the referring
 * kind holds. Otherwise the relation gives a condition: keys to look up, or the condition of a list. All rows of a run
 * share the parts on the way and that index.
 */

import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { type Condition, namespacesOf, nothing } from '../../query/condition/condition.ts'
import { VisiblePart, objectByKey } from '../../query/page/list-part.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind, KindView, FoundObject } from '../prepare/kind-view.ts'
import { type ListRequest, readList, type ReadPage } from './list-read.ts'
import type { SchemaRelation } from '../served/schema-relations.ts'
import { foundByKey, originOf, refusalOf, type Refused, tellIfRefused } from './object-read.ts'
import { namedReader, type ReadNamed } from './owner-read.ts'
import type { ReadRun } from './read-run.ts'

/** References whose keys an index of the referring kind holds. */
interface DirectReferences {
  readonly view: StoreView
  readonly keys: IndexView
  readonly part: KindView
}

export class RelationRead {
  readonly #relation: SchemaRelation
  /**
   * Whether the run keeps the result for relations that go through this one. Not for Events: they are followed in two
   * ways.
   */
  readonly #isStep: boolean
  readonly #isSaid: boolean
  readonly #named: ReadNamed | undefined
  readonly #targets = new Map<string, ClusterKind>()
  readonly #ways = new WeakMap<ReadRun, Map<string, KindView>>()
  readonly #direct = new WeakMap<ReadRun, DirectReferences | 'none'>()

  constructor({ many, definition }: RelationField, relation: SchemaRelation) {
    this.#relation = relation
    this.#isStep = many && !['through', 'events'].includes(relation.relation.definition.form)
    this.#isSaid = definition.form === 'reference' && !many
    this.#named = many ? undefined : namedReader(definition, relation.reads)
  }

  get to(): Kind {
    return this.#relation.to
  }

  /**
   * The object that a relation to one leads to, at the price of a row; `undefined` if it is absent or hidden. Calls
   * `refused` if the viewer may not get an object of this name. Throws `ClientError`.
   */
  one<R extends ReadRun>(
    run: R,
    part: KindView,
    id: ObjectId,
    refused?: Refused<R>,
  ): FoundObject | undefined {
    if (part.isDirect) {
      const origin = originOf(run, { part, id })
      return origin && this.one(run, origin.part, origin.id, refused)
    }
    const direct = this.#directReferences(run, part)
    const keys = direct?.keys.valuesOf(id)
    // Most rows name one object at most and need no condition.
    if (direct !== undefined && keys !== undefined && keys.length <= 1) {
      const [key] = keys
      if (key === undefined) return undefined
      run.budget.spend('examined', 1)
      return found(run, direct.part, direct.part.view.idOf(key))
    }
    try {
      return this.#oneFollowed(run, part, id, refused)
    } catch (error) {
      const isForbidden = error instanceof ClientError && error.code === 'FORBIDDEN'
      if (this.#named === undefined || !isForbidden) throw error
      return this.#named(run, part, id, refused)
    }
  }

  #oneFollowed<R extends ReadRun>(
    run: R,
    part: KindView,
    id: ObjectId,
    refused: Refused<R> | undefined,
  ): FoundObject | undefined {
    const condition = this.#follow(run, part, id, false)
    if (condition.form === 'nothing') return undefined
    const at = this.#target(part.cluster)
    if (this.#relation.to.uncached) {
      const [key] = condition.form === 'keys' ? condition.keys : []
      if (key === undefined) throw notFoundByCondition(at)
      const one = foundByKey(run, at, key)
      if (one === undefined && refused !== undefined) tellIfRefused(run, at, key, refused)
      return one
    }
    if (condition.form !== 'keys') {
      const target = run.parts.part(at, {
        within: () => this.#namespaces(condition, part.view, id),
      })
      const [first] = new VisiblePart({ ...target, condition }, run.budget).first(undefined, 1)
      return found(run, target, first)
    }
    const target = run.parts.forLookup(at, condition.keys)
    if (target === undefined) {
      refused?.(run, refusalOf(run, at))
      return undefined
    }
    const options = { ...target, budget: run.budget }
    for (const key of condition.keys.length === 1 ? condition.keys : condition.keys.toSorted()) {
      const targetId = objectByKey(options, key)
      if (targetId !== undefined) return found(run, target, targetId)
    }
    return undefined
  }

  /**
   * The page of the list that a relation to many leads to. The argument `related` adds the Events of the objects below
   * it. Throws as `listPage` does, and `ClientError`.
   */
  many(run: ReadRun, part: KindView, id: ObjectId, request: ListRequest): ReadPage {
    if (part.isDirect) {
      const origin = originOf(run, { part, id })
      if (origin !== undefined) return this.many(run, origin.part, origin.id, request)
      // The object is gone: the page is empty.
      const { name, to } = this.#relation
      const target = run.parts.part(this.#target(part.cluster))
      return readList(run, to, request, { list: name, part: target, condition: nothing, reads: [] })
    }
    const { cluster, view } = part
    const withRelated = request.args.related === true
    const condition = this.#follow(run, part, id, withRelated)
    const within = (): readonly string[] | undefined => this.#namespaces(condition, view, id)
    const origin = view.uidOf(id) || view.keyOf(id)
    const list = `${this.#relation.name}${withRelated ? '+related' : ''}/${origin}`
    const target = run.parts.part(this.#target(cluster), { within })
    const { reads, to } = this.#relation
    return readList(run, to, request, { list, part: target, condition, reads })
  }

  #follow(
    run: ReadRun,
    { cluster, view }: KindView,
    id: ObjectId,
    withRelated: boolean,
  ): Condition {
    const { relation, reads } = this.#relation
    const part = (type: string): KindView => {
      if (!run.parts.isOpen) return this.#partOnTheWay(run, cluster, type, namespaceOf(view, id))
      // All rows share the parts if the viewer may see everything.
      let ways = this.#ways.get(run)
      if (ways === undefined) this.#ways.set(run, (ways = new Map()))
      let way = ways.get(type)
      if (way?.cluster !== cluster) {
        ways.set(type, (way = this.#partOnTheWay(run, cluster, type, '')))
      }
      return way
    }
    const origin = { view, id, withRelated, part, budget: run.budget, steps: run.steps }
    const condition = this.#isStep
      ? run.steps.take(relation, origin).condition
      : relation.follow(origin)
    run.followed?.({ reads, condition, isSaid: this.#isSaid })
    return condition
  }

  /** The kind that the relation leads to, with the indexes that it reads there. */
  #target(cluster: string): ClusterKind {
    let target = this.#targets.get(cluster)
    if (target === undefined) {
      const { needs, to } = this.#relation
      target = { cluster, kind: to, ...needs.get(to.typeName) }
      this.#targets.set(cluster, target)
    }
    return target
  }

  /** A kind on the way that the viewer may not list reveals nothing, not even the objects beyond it. */
  #partOnTheWay(run: ReadRun, cluster: string, type: string, namespace: string): KindView {
    const { needs, relation, to } = this.#relation
    const need = needs.get(type)
    if (to.uncached && need?.kind === to) throw notFoundByCondition({ cluster, kind: to })
    const isWithin = relation.isLocal && need?.kind.resource.namespaced === true && namespace !== ''
    return partOnTheWay(this.#relation, type, run, cluster, isWithin ? [namespace] : undefined)
  }

  /** The namespaces of all objects that the relation leads to; `undefined` if they are unknown. */
  #namespaces(condition: Condition, view: StoreView, id: ObjectId): readonly string[] | undefined {
    const namespace = namespaceOf(view, id)
    return this.#relation.relation.isLocal && namespace !== ''
      ? [namespace]
      : namespacesOf(condition)
  }

  /**
   * The index in which the rows of a store name their objects. `undefined` if the relation must be followed: the run is
   * traced, the index is missing, or the viewer may see only some objects.
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

/** A part that a relation reads, with the indexes that it needs there. Throws `ClientError`. */
export function partOnTheWay(
  { needs, name }: SchemaRelation,
  type: string,
  { parts }: ReadRun,
  cluster: string,
  namespaces?: readonly string[],
): KindView {
  const need = needs.get(type)
  if (need === undefined) throw new TypeError(`${name} does not read ${type}`)
  return parts.part({ cluster, ...need }, { within: () => namespaces })
}

/** Kinds without a cache are found by name only. */
function notFoundByCondition({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  const message = `${typeName} is read live, so the server finds its objects by name only`
  return new ClientError('UNSUPPORTED', message, {
    cluster,
    type: typeName,
    hint: 'declare the relation with @reference or @named, to one object',
  })
}

function found(run: ReadRun, part: KindView, id: ObjectId | undefined): FoundObject | undefined {
  if (id === undefined) return undefined
  run.budget.spend('rows', 1)
  return { part, id }
}

function namespaceOf(view: StoreView, id: ObjectId): string {
  return splitObjectKey(view.keyOf(id)).namespace
}
