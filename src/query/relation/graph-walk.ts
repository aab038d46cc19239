import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { type Condition, hasValue } from '../condition/condition.ts'
import { bindCondition, testsPerPart } from '../condition/id-set.ts'
import { isInScope, type Scope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { compareKeys } from '../page/key-comparison.ts'

/** The objects of one kind, as a walk reads them. */
export interface WalkPart {
  readonly view: StoreView
  /** What the viewer may see of the kind: what is hidden is simply not there. */
  readonly scope: Scope
}

/** Where an object leads: the objects of a part that meet a condition. */
export interface Lead<P extends WalkPart> {
  readonly to: P
  readonly condition: Condition
}

/** One relation as objects of one part have it. */
export type WalkStep<P extends WalkPart> = {
  /** What its edges are called. */
  readonly relation: string
  /** Whether it is the relation read backwards: its edges begin at what is found. */
  readonly backwards: boolean
} & (
  | { readonly to: P; condition(id: ObjectId): Condition }
  /** The objects that have a value in an index of theirs; `''` is nobody's. */
  | { readonly to: P; readonly index: IndexView; value(id: ObjectId): string }
  | { leads(id: ObjectId): Iterable<Lead<P>> }
)

export interface WalkOptions<P extends WalkPart> {
  /** Objects that are there and may be seen, not more than `maxNodes`. */
  readonly roots: readonly { readonly part: P; readonly id: ObjectId }[]
  /** How many steps from a root at most. */
  readonly depth: number
  readonly maxNodes: number
  readonly budget: WorkBudget
  /** Asked once for each store that is reached. */
  readonly stepsOf: (part: P) => readonly WalkStep<P>[]
}

/** One object that was reached, and in how many steps. */
export interface WalkNode<P extends WalkPart> {
  readonly part: P
  readonly id: ObjectId
  readonly depth: number
}

/** One relation between two objects that were reached, by their positions among the nodes. */
export interface WalkEdge {
  readonly from: number
  readonly to: number
  readonly relation: string
}

/** What a walk has found. Valid within the tick. */
export interface Walk<P extends WalkPart> {
  /** Nearest first. */
  readonly nodes: readonly WalkNode<P>[]
  /** Each once, whichever way it was walked. */
  readonly edges: readonly WalkEdge[]
  /** Whether there was more than `maxNodes`. */
  readonly isCut: boolean
}

/**
 * Walks relations from some objects, breadth first, until everything within `depth` steps is found or there are `maxNodes`
 * objects. Objects at the last depth are not asked where they lead. No object is decoded. Throws `QueryTooCostlyError`.
 */
export function walkGraph<P extends WalkPart>(options: WalkOptions<P>): Walk<P> {
  const walker = new Walker(options)
  return walker.walk()
}

/** A step that is walked: what it has found so far is shared by all steps of one relation, and of one store. */
interface WalkedStep<P extends WalkPart> {
  readonly step: WalkStep<P>
  readonly pairs: Set<number>
}

class Walker<P extends WalkPart> {
  readonly #options: WalkOptions<P>
  readonly #nodes: WalkNode<P>[] = []
  readonly #edges: WalkEdge[] = []
  readonly #positions = new Map<StoreView, Map<ObjectId, number>>()
  readonly #steps = new Map<StoreView, readonly WalkedStep<P>[]>()
  /** By relation, the pairs of positions that have an edge, each as one number. */
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

  /** Goes one step from a node in every direction, until there is one object too many. */
  #leave(at: number): void {
    const node = this.#nodes[at]
    if (node === undefined || node.depth >= this.#options.depth) return
    for (const walked of this.#stepsOf(node.part)) {
      const { step } = walked
      if ('condition' in step) this.#follow(at, walked, step.to, step.condition(node.id))
      else if ('index' in step) this.#followValue(at, walked, step, step.value(node.id))
      else {
        for (const { to, condition } of step.leads(node.id)) this.#follow(at, walked, to, condition)
      }
      if (this.#isCut) return
    }
  }

  /** Keys and single values are read straight away; whatever else is bound to the store as conditions of lists are. */
  #follow(at: number, walked: WalkedStep<P>, to: P, condition: Condition): void {
    const { form } = condition
    if (form === 'nothing') return
    const { budget } = this.#options
    if (budget.report !== undefined) {
      this.#arrive(at, walked, to, this.#members(to, condition))
    } else if (form === 'keys') {
      const { keys } = condition
      budget.spend('tests', testsPerPart + keys.length)
      const ids = keys.map((key) => to.view.idOf(key)).filter((id) => id !== undefined)
      this.#arrive(at, walked, to, this.#visible(to, ids))
    } else if (
      form === 'values' &&
      condition.index.form === 'index' &&
      condition.values.length === 1
    ) {
      const index = to.view.index(condition.index.name)
      this.#followValue(at, walked, { to, index }, condition.values[0] ?? '')
    } else this.#arrive(at, walked, to, this.#members(to, condition))
  }

  #followValue(
    at: number,
    walked: WalkedStep<P>,
    { to, index }: { readonly to: P; readonly index: IndexView },
    value: string,
  ): void {
    const { budget } = this.#options
    if (value === '') return
    if (budget.report !== undefined) {
      this.#arrive(at, walked, to, this.#members(to, hasValue(index.name, [value])))
      return
    }
    budget.spend('tests', testsPerPart)
    const posting = index.posting(value)
    if (posting !== undefined) this.#arrive(at, walked, to, this.#visible(to, posting))
  }

  #arrive(at: number, { step, pairs }: WalkedStep<P>, to: P, ids: readonly ObjectId[]): void {
    const depth = (this.#nodes[at]?.depth ?? 0) + 1
    for (const id of ids) {
      const found = this.#reach(to, id, depth)
      if (found === undefined) return
      const [from, end] = step.backwards ? [found, at] : [at, found]
      const pair = from * this.#options.maxNodes + end
      if (pairs.has(pair)) continue
      pairs.add(pair)
      this.#edges.push({ from, to: end, relation: step.relation })
    }
  }

  /** The position of an object among the nodes; `undefined` where it is one too many. */
  #reach(part: P, id: ObjectId, depth: number): number | undefined {
    let positions = this.#positions.get(part.view)
    if (positions === undefined) this.#positions.set(part.view, (positions = new Map()))
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

  #stepsOf(part: P): readonly WalkedStep<P>[] {
    let steps = this.#steps.get(part.view)
    if (steps === undefined) {
      steps = this.#options.stepsOf(part).map((step) => ({ step, pairs: this.#pairs(step) }))
      this.#steps.set(part.view, steps)
    }
    return steps
  }

  #pairs({ relation }: WalkStep<P>): Set<number> {
    let pairs = this.#known.get(relation)
    if (pairs === undefined) this.#known.set(relation, (pairs = new Set()))
    return pairs
  }

  #members(part: P, condition: Condition): readonly ObjectId[] {
    const { view } = part
    const { budget } = this.#options
    budget.report?.reading(view)
    const set = bindCondition(condition, view, budget)
    const candidates = set.candidates(view.size)
    budget.report?.searched(condition, candidates?.from)
    const isMember = candidates?.exact === true ? undefined : (id: ObjectId): boolean => set.has(id)
    const members = this.#visible(part, candidates?.ids() ?? view.ids(), isMember)
    budget.report?.returned(members.length)
    return members
  }

  /** Those that may be seen, in the order of their keys; of more than there may be nodes, some. */
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
      // Among so many there is at least one too many.
      if (members.push(id) > maxNodes) break
    }
    if (members.length < 2) return members
    return members
      .map((id) => ({ id, key: view.keyOf(id) }))
      .toSorted((a, b) => compareKeys(a.key, b.key))
      .map(({ id }) => id)
  }
}
