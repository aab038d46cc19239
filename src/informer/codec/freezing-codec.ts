import type { HeldObject, ObjectCodec } from './object-codec.ts'

/**
 * A codec whose objects are frozen to their leaves: code that modifies one gets a TypeError where it does so, instead of
 * changing the object's siblings unseen (client-go's mutation detector tells afterwards, and not who it was).
 */
export function freezingCodec(codec: ObjectCodec): ObjectCodec {
  return {
    encode(text) {
      const { held, object } = codec.encode(text)
      return { held, object: deepFreeze(object) }
    },
    decode: (held: HeldObject) => deepFreeze(codec.decode(held)),
    hold: (object) => codec.hold(deepFreeze(object)),
    projection: (selection) => codec.projection(selection),
  }
}

function deepFreeze<T>(value: T): T {
  // What is frozen already is shared with a sibling, and was frozen to its leaves then.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const child of Object.values(value)) deepFreeze(child)
  return value
}
