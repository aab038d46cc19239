import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { checkedWait, type WaitOptions } from '../lib/deadline.ts'
import type { HeldObject, Projection } from './codec/object-codec.ts'
import type { ObjectSelection } from './codec/projection.ts'
import type { IndexedStore } from './store/indexed-store.ts'
import type { IndexView, ObjectId, StoreView } from './store/store-view.ts'

/** A read-only view of an informer's store. */
export class InformerStore<T extends KubernetesObject = KubernetesObject> implements StoreView<T> {
  readonly resource: ApiResource
  readonly #store: IndexedStore<T>

  constructor(store: IndexedStore<T>) {
    this.resource = store.resource
    this.#store = store
  }

  get size(): number {
    return this.#store.size
  }

  get heldBytes(): number {
    return this.#store.heldBytes
  }

  get resourceVersion(): ResourceVersion {
    return this.#store.resourceVersion
  }

  idOf(key: string): ObjectId | undefined {
    return this.#store.idOf(key)
  }

  idOfUid(uid: string): ObjectId | undefined {
    return this.#store.idOfUid(uid)
  }

  keyOf(id: ObjectId): string {
    return this.#store.keyOf(id)
  }

  uidOf(id: ObjectId): string {
    return this.#store.uidOf(id)
  }

  held(id: ObjectId): HeldObject {
    return this.#store.held(id)
  }

  object(id: ObjectId): T {
    return this.#store.object(id)
  }

  projection(selection: ObjectSelection): Projection {
    return this.#store.projection(selection)
  }

  ids(): IterableIterator<ObjectId> {
    return this.#store.ids()
  }

  idsAfter(key: string): IterableIterator<ObjectId> {
    return this.#store.idsAfter(key)
  }

  idsBefore(key: string | undefined): IterableIterator<ObjectId> {
    return this.#store.idsBefore(key)
  }

  index(name: string): IndexView {
    return this.#store.index(name)
  }

  hasIndex(name: string): boolean {
    return this.#store.hasIndex(name)
  }

  indexNames(): readonly string[] {
    return this.#store.indexNames()
  }

  label(key: string): IndexView | undefined {
    return this.#store.label(key)
  }

  labelKeys(): IterableIterator<string> {
    return this.#store.labelKeys()
  }

  labelsOf(id: ObjectId): Readonly<Record<string, string>> {
    return this.#store.labelsOf(id)
  }

  hasSameLabels(one: ObjectId, other: ObjectId): boolean {
    return this.#store.hasSameLabels(one, other)
  }

  /**
   * Read-your-writes: resolves when the store has applied `wanted` or a later version. Rejects with `DeadlineError`,
   * with `IncomparableResourceVersionError` if versions have no order, or with `InformerStoppedError`.
   */
  async waitForResourceVersion(wanted: ResourceVersion, options: WaitOptions = {}): Promise<void> {
    return this.#store.waitForResourceVersion(wanted, checkedWait(options))
  }
}
