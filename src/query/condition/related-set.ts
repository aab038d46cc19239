import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { type Candidates, eachMember } from './candidates.ts'
import { allOf, type Condition, type RelatedCondition } from './condition.ts'
import type { IdSet } from './id-set.ts'
import {
  type Allowance,
  type RelatedOrigin,
  type RelatedPart,
  type RelatedStores,
  testsPerStep,
} from './related-by.ts'
import { type Scope, scopeCondition } from './scope.ts'
import type { WorkBudget } from './work-budget.ts'

/** Makes a condition a set of ids of a store; given, since it makes this set, too. */
type Bind = (condition: Condition, view: StoreView) => IdSet

export interface RelatedSetOptions {
  readonly condition: RelatedCondition
  /** The store of the objects that are asked about. */
  readonly view: StoreView
  readonly budget: WorkBudget
  readonly stores: RelatedStores
  readonly bind: Bind
}

/** So many related objects may be looked at for one object that they lead back to. */
const targetsPerSource = 4
/** After so many objects have been looked at from here, it is tried from the other side; then after four times as many. */
const firstTrial = 64
const trialGrowth = 4

/**
 * The objects that have related ones which meet a condition. There are two ways, and neither is always good: **forwards**, from
 * each object that is asked about to those that it leads to, and **backwards**, from all that meet the condition to those that
 * lead to them, after which every object is answered by a look-up. It is read backwards where the condition names few enough
 * objects: at once where candidates are wanted, else when the way forwards has cost as much as that would. So it never costs
 * much more than the cheaper of the two.
 */
class RelatedSet implements IdSet {
  /** Of the store of the objects that are asked about. */
  readonly version: string
  readonly #options: RelatedSetOptions
  readonly #part: RelatedPart
  /** The types that are read, of which the viewer may not see everything. */
  readonly #partial: ReadonlyMap<string, Scope>
  /** Those that meet the condition and that the viewer may see. */
  readonly #targets: IdSet
  /** Found out so far: 1 where it is a member, 2 where it is none. */
  #verdicts = new Uint8Array(256)
  /** All members, once it has been read backwards. */
  #members: ReadonlySet<ObjectId> | undefined
  #triedLimit = -1
  #looked = 0
  #nextTrial = firstTrial

  constructor(options: RelatedSetOptions) {
    this.#options = options
    const { condition, stores, bind } = options
    this.version = options.view.resourceVersion
    const { relation, argument } = condition
    stores.part(relation.from, relation, argument)
    this.#part = stores.part(relation.to, relation, argument)
    const read = [...relation.indexes.keys()].filter(
      (type) => type !== relation.from || type === relation.to,
    )
    this.#partial = new Map(
      read.flatMap((type) => {
        const { scope } = stores.part(type, relation, argument)
        return scope.form === 'all' ? [] : [[type, scope] as const]
      }),
    )
    const { view, scope } = this.#part
    this.#targets = bind(allOf([condition.condition, scopeCondition(scope)]), view)
  }

  has(id: ObjectId): boolean {
    this.#options.budget.spend('tests', 1)
    const isMember = this.#members?.has(id) ?? this.#verdictOf(id)
    if (!isMember) this.#expectAllInSight(id)
    return isMember
  }

  candidates(limit: number): Candidates | undefined {
    const members = this.#members ?? this.#backwards(limit)
    if (members === undefined || members.size > limit) return undefined
    return { size: members.size, from: this.#options.condition, exact: true, ids: () => members }
  }

  count(): number | undefined {
    return this.#options.condition.isNegated ? undefined : this.#members?.size
  }

  #verdictOf(id: ObjectId): boolean {
    const known = this.#verdicts[id] ?? 0
    if (known !== 0) return known === 1
    if (this.#looked >= this.#nextTrial) {
      this.#nextTrial *= trialGrowth
      const members = this.#backwards(this.#looked)
      if (members !== undefined) return members.has(id)
    }
    const isMember = this.#forwards(id)
    if (id >= this.#verdicts.length) {
      const larger = new Uint8Array(Math.max(2 * this.#verdicts.length, id + 1))
      larger.set(this.#verdicts)
      this.#verdicts = larger
    }
    this.#verdicts[id] = isMember ? 1 : 2
    return isMember
  }

  #forwards(id: ObjectId): boolean {
    const { condition, view, budget, bind } = this.#options
    const targets = this.#targets
    this.#told('forwards')
    this.#looked += 1
    budget.spend('tests', testsPerStep)
    const related = condition.relation.follow(this.#origin(view, id))
    if (related.form === 'nothing') return false
    const set = bind(related, this.#part.view)
    if (targets.isWhole === true) {
      const count = set.count()
      if (count !== undefined) return count > 0
    }
    const all = set.candidates(this.#part.view.size)
    if (all?.size === 0) return false
    const size = all?.size ?? this.#part.view.size
    // Where few meet the condition they are looked at instead.
    const few = size > firstTrial ? targets.candidates(Math.floor(size / 2)) : undefined
    const candidates = few ?? all
    const ids = candidates?.ids() ?? this.#part.view.ids()
    const isRelated = candidates === all && all?.exact === true
    const isTarget = candidates === few && few?.exact === true
    for (const target of ids) {
      this.#looked += 1
      budget.spend('examined', 1)
      if ((isRelated || set.has(target)) && (isTarget || targets.has(target))) return true
    }
    return false
  }

  /** All members; `undefined` where they, or what leads to them, are more than so many, or no index tells. */
  #backwards(limit: number): ReadonlySet<ObjectId> | undefined {
    if (limit <= this.#triedLimit) return undefined
    this.#triedLimit = limit
    const { condition, view, budget, bind } = this.#options
    const { relation } = condition
    const targets = this.#targets.candidates(targetsPerSource * limit)
    if (targets === undefined || relation.followBack === undefined) return undefined
    budget.spend('examined', targets.size)
    const members = new Set<ObjectId>()
    const allowance: Allowance = { left: targetsPerSource * limit }
    let found = 0
    for (const target of targets.ids()) {
      if (!targets.exact && !this.#targets.has(target)) continue
      budget.spend('tests', testsPerStep)
      const leading = relation.followBack(
        { ...this.#origin(this.#part.view, target), allowance },
        view,
      )
      if (leading === undefined) return undefined
      if (leading.form === 'nothing') continue
      const set = bind(leading, view)
      const candidates = set.candidates(view.size)
      found += candidates?.size ?? view.size
      if (found > targetsPerSource * limit) return undefined
      eachMember({ set, candidates, view, budget }, (id) => members.add(id))
    }
    this.#told('backwards')
    return (this.#members = members)
  }

  /** Who is asked for objects without related ones must be able to see those that there might be. */
  #expectAllInSight(id: ObjectId): void {
    const { condition, view, stores } = this.#options
    if (!condition.isNegated) return
    const { relation, argument } = condition
    for (const [type, scope] of this.#partial) {
      if (scope.form === 'namespaces' && relation.isLocal) {
        const [namespace] = view.index('namespace').valuesOf(id)
        if (namespace !== undefined && scope.namespaces.has(namespace)) continue
      }
      throw stores.outOfSight(type, argument)
    }
  }

  #origin(view: StoreView, id: ObjectId): RelatedOrigin {
    const { condition, budget, stores } = this.#options
    const { relation, argument } = condition
    return { view, id, budget, part: (type) => stores.part(type, relation, argument) }
  }

  #told(way: 'forwards' | 'backwards'): void {
    const { condition, budget } = this.#options
    budget.report?.related(condition.relation.name, way, this.#part.view)
  }
}

/**
 * Binds a condition on related objects. What has been found out is kept for the execution: a relation that is asked with such a
 * condition asks it again for each row.
 */
export function relatedSet(options: RelatedSetOptions): IdSet {
  const { condition, view, stores } = options
  const known = stores.known(condition)
  const made = known.get(view)
  if (made instanceof RelatedSet && made.version === view.resourceVersion) return made
  const set = new RelatedSet(options)
  known.set(view, set)
  return set
}
