/*
 * The objects that have related objects which meet a condition. **Forwards**, the set follows the relation from each object
 * that is asked for. **Backwards**, it starts from all related objects that meet the condition, and then answers each object
 * by a look-up. Either way may be far slower than the other. The set reads backwards at once if candidates are requested,
 * else as soon as reading forwards has cost as much as reading backwards would. So it costs little more than the cheaper way.
 */

import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { type Candidates, eachMember, type IdSet } from './candidates.ts'
import {
  allOf,
  type Allowance,
  type Condition,
  type RelatedCondition,
  type RelatedOrigin,
  type RelatedPart,
  type RelatedStores,
  scopeCondition,
  testsPerStep,
} from './condition.ts'
import { IdBytes } from './id-bytes.ts'
import { isInScope, type Scope } from './scope.ts'
import type { WorkBudget } from './work-budget.ts'

/** Binds a condition to a store; a parameter, because `bindCondition` itself creates related sets. */
type Bind = (condition: Condition, view: StoreView) => IdSet

interface RelatedSetOptions {
  readonly condition: RelatedCondition
  readonly view: StoreView
  readonly budget: WorkBudget
  readonly stores: RelatedStores
  readonly bind: Bind
}

/** For each filtered object, at most so many related objects may be examined backwards. */
const targetsPerSource = 4
/**
 * The first attempt backwards comes after so many objects were examined forwards; each further one after four times as
 * many.
 */
const firstTrial = 64
const trialGrowth = 4

class RelatedSet implements IdSet {
  readonly version: string
  readonly #options: RelatedSetOptions
  readonly #part: RelatedPart
  /** The types that the relation reads and that the viewer sees only in part. */
  readonly #partial: ReadonlyMap<string, Scope>
  /** The related objects that meet the condition and are visible. */
  readonly #targets: IdSet
  /** Verdicts by object id: 1 for members, 2 for others, 0 if unknown. */
  readonly #verdicts = new IdBytes()
  /** All members, after reading backwards. */
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
    if (!isMember) this.#requireFullVisibility(id)
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
    const known = this.#verdicts.get(id)
    if (known !== 0) return known === 1
    if (this.#looked >= this.#nextTrial) {
      this.#nextTrial *= trialGrowth
      const members = this.#backwards(this.#looked)
      if (members !== undefined) return members.has(id)
    }
    const isMember = this.#forwards(id)
    this.#verdicts.set(id, isMember ? 1 : 2)
    return isMember
  }

  #forwards(id: ObjectId): boolean {
    const { condition, view, budget, bind } = this.#options
    const targets = this.#targets
    this.#report('forwards')
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
    // If few objects meet the condition, those are examined instead.
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

  /**
   * All members; `undefined` if there are more than `limit`, if examining them would cost more, or if no index leads
   * back.
   */
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
    this.#report('backwards')
    return (this.#members = members)
  }

  /** An object without related objects counts as a match only if the viewer could see all related objects. */
  #requireFullVisibility(id: ObjectId): void {
    const { condition, view, stores } = this.#options
    if (!condition.isNegated) return
    const { relation, argument } = condition
    for (const [type, scope] of this.#partial) {
      if (scope.form !== 'names' && relation.isLocal) {
        const [namespace] = view.index('namespace').valuesOf(id)
        if (namespace !== undefined && isInScope(scope, `${namespace}/`)) continue
      }
      throw stores.notFullyVisible(type, argument)
    }
  }

  #origin(view: StoreView, id: ObjectId): RelatedOrigin {
    const { condition, budget, stores } = this.#options
    const { relation, argument } = condition
    return { view, id, budget, part: (type) => stores.part(type, relation, argument) }
  }

  #report(way: 'forwards' | 'backwards'): void {
    const { condition, budget } = this.#options
    budget.report?.related(condition.relation.name, way, this.#part.view)
  }
}

/**
 * Binds a condition on related objects. The set is kept for the execution, because a relation applies the same
 * condition for each row.
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
