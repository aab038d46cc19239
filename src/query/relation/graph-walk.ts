/*
 * Walks relations breadth first, until everything within `depth` steps is found or `maxNodes` objects are. Objects at the
 * last depth are not expanded. The walk decodes no object: it looks up keys and single values in the indexes directly, and
 * binds other conditions to the store. Each edge counts once, in whichever direction it was walked.
 */

import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { type Condition, hasValue, partsOf } from '../condition/condition.ts'
import { bindCondition, testsPerPart } from '../condition/id-set.ts'
import { isInScope, type Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { inKeyOrder } from '../page/list-order.ts'

export interface WalkPart {
  readonly view: StoreView
  /** The visible objects of the kind. The walk treats hidden ones as absent. */
  readonly scope: Scope
}

/** The objects of a part that meet a condition. */
export interface Lead<P extends WalkPart> {
  readonly to: P
  readonly condition: Condition
}

export type WalkStep<P extends WalkPart> = {
  /** The name of its edges. */
  readonly relation: string
  /** Whether the relation is read backwards: then its edges start at the objects found. */
  readonly backwards: boolean
} & (
  | { readonly to: P; condition(id: ObjectId): Condition }
  /** The objects that have a value in an index; `''` matches no object. */
  | { readonly to: P; readonly index: IndexView; value(id: ObjectId): string }
  | { leads(id: ObjectId): Iterable<Lead<P>> }
)

export interface WalkOptions<P extends WalkPart> {
  /** Existing, visible objects; at most `maxNodes`. */
  readonly roots: readonly { readonly part: P; readonly id: ObjectId }[]
  /** The maximum number of steps from a root. */
  readonly depth: number
  readonly maxNodes: number
  readonly budget: WorkBudget
  /** Called once for each store that the walk reaches. */
  readonly stepsOf: (part: P) => readonly WalkStep<P>[]
}

/** An object that was reached, and its distance from a root. */
export interface WalkNode<P extends WalkPart> {
  readonly part: P
  readonly id: ObjectId
  readonly depth: number
}

/** Relations between two reached objects each, by their positions among the nodes: a column for each end. */
export interface WalkEdges {
  readonly from: readonly number[]
  readonly to: readonly number[]
  readonly relation: readonly string[]
}

/** The result of a walk, valid within the tick. */
export interface Walk<P extends WalkPart> {
  /** Nearest first. */
  readonly nodes: readonly WalkNode<P>[]
  /** Each edge once, in whichever direction it was walked. */
  readonly edges: WalkEdges
  /** Whether there are more than `maxNodes` objects. */
  readonly isCut: boolean
}

/** Trying a step from an object takes as long as so many tests, whether it leads somewhere or not. */
const testsPerStep = 2

/** Throws `QueryTooCostlyError`. */
export function walkGraph<P extends WalkPart>(options: WalkOptions<P>): Walk<P> {
  const walker = new Walker(options)
  return walker.walk()
}

/** A step with its results so far, shared by all steps of one relation and store. */
interface WalkedStep<P extends WalkPart> {
  readonly step: WalkStep<P>
  readonly pairs: Set<number>
  /** The last lead: siblings often lead to the same objects. */
  last?: Lead<P> & { readonly ids: readonly ObjectId[] }
}

class Walker<P extends WalkPart> {
  readonly #options: WalkOptions<P>
  readonly #nodes: WalkNode<P>[] = []
  readonly #edges = { from: [] as number[], to: [] as number[], relation: [] as string[] }
  readonly #positions = new Map<StoreView, Map<ObjectId, number>>()
  readonly #steps = new Map<StoreView, readonly WalkedStep<P>[]>()
  /** By relation, the pairs of connected positions, each encoded as one number. */
  readonly #known = new Map<string, Set<number>>()
  #isCut = false

  constructor(options: WalkOptions<P>) {
    this.#options = options
  }

  walk(): Walk<P> {
    for (const { part, id } of this.#options.roots) this.#reach(part, id, 0)
    for (let at = 0; at < this.#nodes.length && !this.#isCut; at++) this.#leave(at)
    return { nodes: this.#nodes, edges: this.#edges, isCut: this.#isCut }
  }

  /** Follows every step from a node, until there is one object too many. */
  #leave(at: number): void {
    const node = this.#nodes[at]
    if (node === undefined || node.depth >= this.#options.depth) return
    const steps = this.#stepsOf(node.part)
    this.#options.budget.spend('tests', testsPerStep * steps.length)
    for (const walked of steps) {
      const { step } = walked
      if ('condition' in step) this.#follow(at, walked, step.to, step.condition(node.id))
      else if ('index' in step) this.#followValue(at, walked, step, step.value(node.id))
      else {
        for (const { to, condition } of step.leads(node.id)) this.#follow(at, walked, to, condition)
      }
      if (this.#isCut) return
    }
  }

  #follow(at: number, walked: WalkedStep<P>, to: P, condition: Condition): void {
    if (condition.form === 'nothing') return
    const { budget } = this.#options
    const { last } = walked
    if (last?.condition === condition && last.to === to && budget.report === undefined) {
      budget.spend('examined', last.ids.length)
      this.#arrive(at, walked, to, last.ids)
      return
    }
    const ids = this.#idsOf(to, condition)
    walked.last = { to, condition, ids }
    this.#arrive(at, walked, to, ids)
  }

  #followValue(
    at: number,
    walked: WalkedStep<P>,
    { to, index }: { readonly to: P; readonly index: IndexView },
    value: string,
  ): void {
    if (value === '') return
    const isReported = this.#options.budget.report !== undefined
    const ids = isReported
      ? this.#members(to, hasValue(index.name, [value]))
      : this.#idsWith(to, index, value)
    this.#arrive(at, walked, to, ids)
  }

  #idsOf(to: P, condition: Condition): readonly ObjectId[] {
    const { budget } = this.#options
    if (budget.report !== undefined) return this.#members(to, condition)
    const { view } = to
    if (condition.form === 'keys') {
      const { keys } = condition
      budget.spend('tests', testsPerPart + keys.length)
      return this.#visible(
        to,
        keys.map((key) => view.idOf(key)).filter((id) => id !== undefined),
      )
    }
    if (condition.form === 'values' && condition.index.form === 'index') {
      const [value, other] = condition.values
      if (value !== undefined && other === undefined) {
        return this.#idsWith(to, view.index(condition.index.name), value)
      }
    }
    return this.#members(to, condition)
  }

  #idsWith(to: P, index: IndexView, value: string): readonly ObjectId[] {
    this.#options.budget.spend('tests', testsPerPart)
    const posting = index.posting(value)
    return posting === undefined ? none : this.#visible(to, posting)
  }

  #arrive(at: number, { step, pairs }: WalkedStep<P>, to: P, ids: readonly ObjectId[]): void {
    if (ids.length === 0) return
    const { maxNodes } = this.#options
    const { relation, backwards } = step
    const depth = (this.#nodes[at]?.depth ?? 0) + 1
    const positions = this.#positionsIn(to)
    const edges = this.#edges
    for (const id of ids) {
      const found = positions.get(id) ?? this.#reach(to, id, depth)
      if (found === undefined) return
      const from = backwards ? found : at
      const end = backwards ? at : found
      const pair = from * maxNodes + end
      if (pairs.has(pair)) continue
      pairs.add(pair)
      edges.from.push(from)
      edges.to.push(end)
      edges.relation.push(relation)
    }
  }

  /** The position of an object among the nodes; `undefined` if it would be one too many. */
  #reach(part: P, id: ObjectId, depth: number): number | undefined {
    const positions = this.#positionsIn(part)
    const known = positions.get(id)
    if (known !== undefined) return known
    if (this.#nodes.length >= this.#options.maxNodes) {
      this.#isCut = true
      return undefined
    }
    const position = this.#nodes.push({ part, id, depth }) - 1
    positions.set(id, position)
    return position
  }

  #positionsIn({ view }: P): Map<ObjectId, number> {
    return getOrInsert(this.#positions, view, () => new Map())
  }

  #stepsOf(part: P): readonly WalkedStep<P>[] {
    return getOrInsert(this.#steps, part.view, () =>
      this.#options.stepsOf(part).map((step) => ({ step, pairs: this.#pairs(step) })),
    )
  }

  #pairs({ relation }: WalkStep<P>): Set<number> {
    return getOrInsert(this.#known, relation, () => new Set())
  }

  #members(part: P, condition: Condition): readonly ObjectId[] {
    const { view } = part
    const { budget } = this.#options
    budget.report?.reading(view)
    const set = bindCondition(condition, view, budget)
    const candidates = set.candidates(view.size)
    budget.report?.searched(partsOf(condition), partsOf(candidates?.from))
    const isMember = candidates?.exact === true ? undefined : (id: ObjectId): boolean => set.has(id)
    const members = this.#visible(part, candidates?.ids() ?? view.ids(), isMember)
    budget.report?.returned(members.length)
    return members
  }

  /** The visible objects in key order; if there are more than `maxNodes`, some of them. */
  #visible(
    { view, scope }: P,
    ids: Iterable<ObjectId>,
    isMember?: (id: ObjectId) => boolean,
  ): readonly ObjectId[] {
    const { budget, maxNodes } = this.#options
    const members: ObjectId[] = []
    for (const id of ids) {
      budget.spend('examined', 1)
      if (isMember?.(id) === false) continue
      if (scope.form !== 'all' && !isInScope(scope, view.keyOf(id))) continue
      // At least one of these exceeds `maxNodes`.
      if (members.push(id) > maxNodes) break
    }
    return inKeyOrder(members, view)
  }
}

const none: readonly ObjectId[] = []
