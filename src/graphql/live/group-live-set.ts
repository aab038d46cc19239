import type { Condition } from '../../query/condition/condition.ts'
import type { RelatedStores } from '../../query/condition/related-by.ts'
import { type Scope, unrestricted } from '../../query/condition/scope.ts'
import { type LiveChange, LiveSet } from '../../query/live-set.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { PlanRun } from '../plan/plan-run.ts'

/** The live set of a group's list. What its condition asks of related objects is read as they are in the tick of each call. */
export class GroupLiveSet {
  readonly #condition: Condition
  #set: LiveSet
  #related: RelatedStores | undefined

  constructor(condition: Condition) {
    this.#condition = condition
    this.#set = this.#newSet(unrestricted)
  }

  /** The number of objects that are held. */
  get size(): number {
    return this.#set.size
  }

  /** What the condition reads in this tick. */
  get related(): RelatedStores {
    if (this.#related === undefined) throw new TypeError('nothing has been read yet')
    return this.#related
  }

  /** Begins anew, as `LiveSet.matching` does, by what may be seen of the part. */
  matching({ view, scope, cluster }: KindView, run: PlanRun): readonly string[] {
    this.#set = this.#newSet(scope)
    this.#related = run.related(cluster)
    return this.#set.matching(view, run.budget)
  }

  /** What has come to match, or matches no more, of all that there is, or of `keys`, as `LiveSet.turned` tells it. */
  turned({ view, cluster }: KindView, run: PlanRun, keys?: readonly string[]): readonly string[] {
    this.#related = run.related(cluster)
    if (keys === undefined) return this.#set.turned(view, run.budget)
    return this.#set.turnedOf(keys, view, run.budget)
  }

  /** What to send for keys, as `LiveSet.changes` tells it. */
  changes(
    keys: Iterable<string>,
    { view, cluster }: KindView,
    run: PlanRun,
  ): readonly LiveChange[] {
    this.#related = run.related(cluster)
    return this.#set.changes(view, keys, run.budget)
  }

  #newSet(scope: Scope): LiveSet {
    return new LiveSet({ condition: this.#condition, scope, related: () => this.related })
  }
}
