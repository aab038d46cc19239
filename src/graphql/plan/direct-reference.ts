import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { KindAt, KindPart } from '../operation/kind-part.ts'
import type { PlanRun } from './plan-run.ts'

/**
 * References to one object, read row by row without a condition each: what a row says stands in an index of its store, and is the
 * key of an object that may be looked at like any other of its kind. It is what a list with such a field is made of.
 */
export class DirectReference {
  readonly #index: string
  readonly #target: (cluster: string) => KindAt
  #run = 0
  #view: StoreView | undefined
  #said: IndexView | undefined
  #part: KindPart | undefined

  /** Named is the index of the rows by the key that they say. */
  constructor(index: string, target: (cluster: string) => KindAt) {
    this.#index = index
    this.#target = target
  }

  /**
   * Where the rows of a store have their objects. `undefined` where the relation has to be followed: somebody wants to know what
   * is read, there is no index, or the viewer may look at some objects only.
   */
  partOf(run: PlanRun, { cluster, view }: KindPart): KindPart | undefined {
    if (run.number !== this.#run || view !== this.#view) {
      this.#run = run.number
      this.#view = view
      this.#said = view.hasIndex(this.#index) ? view.index(this.#index) : undefined
      const isDirect = this.#said !== undefined && !run.isTraced
      this.#part = isDirect ? run.openPart(this.#target(cluster)) : undefined
    }
    return this.#part
  }

  /** The key that a row of that store says, `''` where it says none; `undefined` where it says several. */
  keyOf(id: ObjectId): string | undefined {
    const keys = this.#said?.valuesOf(id)
    return keys === undefined || keys.length > 1 ? undefined : (keys[0] ?? '')
  }
}
