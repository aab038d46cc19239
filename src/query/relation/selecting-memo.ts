import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { Condition } from '../condition/condition.ts'

/** What selects an object: good for one version of it. */
interface Selecting {
  readonly held: HeldObject
  readonly condition: Condition
}

/** What is known in one state of the store of what selects, of the objects of other stores; it keeps none of the stores. */
interface StoreState {
  readonly resourceVersion: string
  readonly byView: WeakMap<StoreView, Map<ObjectId, Selecting>>
}

/** So many objects of a store are remembered: each stands for its siblings. */
const maxRemembered = 4096

/**
 * What selects objects, by the store of what selects, which changes seldom (Services) while the selected are asked about again and
 * again (a page of Deployments). Nobody's permissions are in it.
 */
export class SelectingMemo {
  readonly #states = new WeakMap<StoreView, StoreState>()

  /** What selects an object; found out where the object or what selects is another than it was. */
  of(selecting: StoreView, view: StoreView, id: ObjectId, find: () => Condition): Condition {
    const { resourceVersion } = selecting
    if (resourceVersion === '') return find()
    let state = this.#states.get(selecting)
    if (state?.resourceVersion !== resourceVersion) {
      this.#states.set(selecting, (state = { resourceVersion, byView: new WeakMap() }))
    }
    let byId = state.byView.get(view)
    if (byId === undefined) state.byView.set(view, (byId = new Map()))
    const held = view.held(id)
    const known = byId.get(id)
    if (known?.held === held) return known.condition
    const condition = find()
    if (byId.size >= maxRemembered) byId.clear()
    byId.set(id, { held, condition })
    return condition
  }
}
