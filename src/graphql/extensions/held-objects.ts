/*
 * Objects of the caches, as programs read them. An object is decoded when a resolver first touches it. It is read-only,
 * because decoded objects share structure with the caches. Its place is remembered, so that it may be the value of a
 * field of its kind's type.
 */

import { createObjectCodec, type ObjectCodec } from '../../informer/codec/object-codec.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { Kind } from '../model/kind.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'

export interface HeldPlace {
  readonly at: ClusterKind
  readonly key: string
}

const places = new WeakMap<object, HeldPlace>()
const codecs = new WeakMap<Kind, ObjectCodec>()

/** The place of an object from {@link heldObject}; `undefined` for any other value. */
export function placeOfHeld(value: unknown): HeldPlace | undefined {
  return typeof value === 'object' && value !== null ? places.get(value) : undefined
}

/** The object with an id, decoded when it is first touched. Programs may keep it beyond the tick. */
export function heldObject({ cluster, kind, view }: KindView, id: ObjectId): KubernetesObject {
  const held = view.held(id)
  const codec = getOrInsert(codecs, kind, () => {
    const { resource, metadataOnly } = kind
    return createObjectCodec({ resource, metadataOnly })
  })
  let decoded: KubernetesObject | undefined
  const object = (): KubernetesObject => (decoded ??= codec.decode(held))
  const lazy = new Proxy({} as KubernetesObject, {
    get: (_, name) => readOnlyValue(Reflect.get(object(), name)),
    has: (_, name) => Reflect.has(object(), name),
    ownKeys: () => Reflect.ownKeys(object()),
    getOwnPropertyDescriptor(_, name) {
      const property = Reflect.getOwnPropertyDescriptor(object(), name)
      // The target has no properties, so the properties of the proxy have to be configurable.
      return property && { ...property, configurable: true, writable: false }
    },
    ...refusesWrites,
  })
  places.set(lazy, { at: { cluster, kind }, key: view.keyOf(id) })
  return lazy
}

const refusesWrites = {
  set: () => false,
  defineProperty: () => false,
  deleteProperty: () => false,
  setPrototypeOf: () => false,
  preventExtensions: () => false,
} satisfies ProxyHandler<object>

const readers = new WeakMap<object, object>()

/**
 * A value that throws a TypeError when a resolver writes to it or to anything in it. A write would show in the answers of
 * other callers.
 */
function readOnlyValue(value: unknown): unknown {
  // Gives a frozen value, such as a long integer, as it is.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  return getOrInsert(
    readers,
    value,
    () =>
      new Proxy(value, {
        get: (target, name) => readOnlyValue(Reflect.get(target, name)),
        ...refusesWrites,
      }),
  )
}
