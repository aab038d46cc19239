// Imports internals: stores for the tests beside it.
import { IndexedStore } from '../../src/informer/store/indexed-store.ts'
import { createObjectCodec } from '../../src/informer/codec/object-codec.ts'
import {
  type Indexers,
  type ObjectId,
  type StoreView,
  type ApiResource,
  type KubernetesObject,
  objectKey,
  type ObjectMeta,
} from 'informerql/informer'

/** A store under test and the hand that writes it. */
export interface WrittenStore {
  readonly view: StoreView
  put(object: KubernetesObject): void
  remove(key: string): void
  addIndexers(indexers: Indexers): void
}

/** A resource by its kind: `Pod` is `pods` of the core group, in namespaces unless said otherwise. */
export function resourceOf(kind: string, namespaced = true, group = ''): ApiResource {
  const singular = kind.toLowerCase()
  return {
    group,
    version: 'v1',
    resource: `${singular}s`,
    kind,
    singular,
    namespaced,
    verbs: ['list', 'watch'],
    shortNames: [],
    subresources: [],
  }
}

/** A real store with these objects. */
export function storeOf(
  resource: ApiResource,
  objects: readonly KubernetesObject[],
  indexers: Indexers = {},
): WrittenStore {
  const codec = createObjectCodec({ resource })
  const store = new IndexedStore({ resource, codec, indexers })
  const put = (object: KubernetesObject) =>
    store.put({ key: objectKey(object.metadata), held: codec.hold(object), object })
  for (const object of objects) put(object)
  return {
    view: store,
    put,
    remove: (key) => store.remove(key),
    addIndexers: (added) => store.addIndexers(added),
  }
}

/** An object of a kind; its UID is made from its kind and name unless given. */
export function objectOf(
  kind: string,
  metadata: ObjectMeta,
  fields: Readonly<Record<string, unknown>> = {},
): KubernetesObject {
  const uid = `${kind}-${metadata.namespace ?? ''}-${metadata.name}`.toLowerCase()
  return { apiVersion: 'v1', kind, metadata: { uid, ...metadata }, ...fields }
}

/** The keys of ids, in the order given. */
export function keysOf(view: StoreView, ids: Iterable<ObjectId>): string[] {
  return [...ids].map((id) => view.keyOf(id))
}

/** The order of strings that `toSorted` has anyway. */
export function byCodeUnits(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
