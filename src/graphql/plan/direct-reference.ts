import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { KindPart } from '../operation/kind-part.ts'
import type { PlanRun } from './plan-run.ts'
import type { RelationWays } from './relation-ways.ts'

/** What the rows of one store say, and where the objects are that they name. */
export interface NamedObjects {
  readonly view: StoreView
  readonly said: IndexView
  readonly part: KindPart
}

/**
 * References to one object, read row by row without a condition each: what a row says stands in an index of its store, and is the
 * key of an object that may be looked at like any other of its kind. It is what a list with such a field is made of.
 */
export class DirectReference {
  readonly #index: string
  readonly #ways: RelationWays
  /** Nothing of a store is kept longer than the run. */
  readonly #found = new WeakMap<PlanRun, NamedObjects | 'none'>()

  /** Named is the index of the rows by the key that they say. */
  constructor(index: string, ways: RelationWays) {
    this.#index = index
    this.#ways = ways
  }

  /**
   * Where the rows of a store have their objects. `undefined` where the relation has to be followed: somebody wants to know what
   * is read, there is no index, or the viewer may look at some objects only.
   */
  objects(run: PlanRun, { cluster, view }: KindPart): NamedObjects | undefined {
    let found = this.#found.get(run)
    if (found === undefined || (found !== 'none' && found.view !== view)) {
      this.#found.set(run, (found = this.#find(run, cluster, view)))
    }
    return found === 'none' ? undefined : found
  }

  #find(run: PlanRun, cluster: string, view: StoreView): NamedObjects | 'none' {
    if (run.isTraced || !view.hasIndex(this.#index)) return 'none'
    const part = run.openPart(this.#ways.target(cluster))
    return part === undefined ? 'none' : { view, said: view.index(this.#index), part }
  }
}

/** The key that a row says, `''` where it says none; `undefined` where it says several. */
export function saidKey({ said }: NamedObjects, id: ObjectId): string | undefined {
  const keys = said.valuesOf(id)
  return keys.length > 1 ? undefined : (keys[0] ?? '')
}
