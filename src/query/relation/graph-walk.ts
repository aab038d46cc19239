import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Condition } from '../condition/condition.ts'
import { bindCondition } from '../condition/id-set.ts'
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
export interface WalkStep<P extends WalkPart> {
  /** What its edges are called. */
  readonly relation: string
  /** Whether it is the relation read backwards: its edges begin at what is found. */
  readonly backwards: boolean
  leads(id: ObjectId): Iterable<Lead<P>>
}

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

class Walker<P extends WalkPart> {
  readonly #options: WalkOptions<P>
  readonly #nodes: WalkNode<P>[] = []
  readonly #edges: WalkEdge[] = []
  readonly #positions = new Map<StoreView, Map<ObjectId, number>>()
  readonly #steps = new Map<StoreView, readonly WalkStep<P>[]>()
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

  /** Goes one step from a node in every direction. */
  #leave(at: number): void {
    const node = this.#nodes[at]
    if (node === undefined || node.depth >= this.#options.depth) return
    for (const step of this.#stepsOf(node.part)) {
      for (const { to, condition } of step.leads(node.id)) {
        for (const id of this.#members(to, condition)) {
          const found = this.#reach(to, id, node.depth + 1)
          if (found === undefined) return
          if (step.backwards) this.#connect(found, at, step.relation)
          else this.#connect(at, found, step.relation)
        }
      }
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

  #connect(from: number, to: number, relation: string): void {
    let pairs = this.#known.get(relation)
    if (pairs === undefined) this.#known.set(relation, (pairs = new Set()))
    const pair = from * this.#options.maxNodes + to
    if (pairs.has(pair)) return
    pairs.add(pair)
    this.#edges.push({ from, to, relation })
  }

  #stepsOf(part: P): readonly WalkStep<P>[] {
    let steps = this.#steps.get(part.view)
    if (steps === undefined) this.#steps.set(part.view, (steps = this.#options.stepsOf(part)))
    return steps
  }

  /** In the order of their keys; of more than there may be nodes, some. */
  #members(part: P, condition: Condition): readonly ObjectId[] {
    if (condition.form === 'nothing') return none
    const { view } = part
    const { budget, maxNodes } = this.#options
    budget.report?.reading(view)
    const set = bindCondition(condition, view, budget)
    const candidates = set.candidates(view.size)
    budget.report?.searched(condition, candidates?.from)
    const members: { readonly id: ObjectId; readonly key: string }[] = []
    for (const id of candidates?.ids() ?? view.ids()) {
      budget.spend('examined', 1)
      if (candidates?.exact !== true && !set.has(id)) continue
      const key = view.keyOf(id)
      if (!isInScope(part.scope, key)) continue
      // Among so many there is at least one too many.
      if (members.push({ id, key }) > maxNodes) break
    }
    budget.report?.returned(members.length)
    if (members.length > 1) members.sort((a, b) => compareKeys(a.key, b.key))
    return members.map(({ id }) => id)
  }
}

const none: readonly ObjectId[] = []
