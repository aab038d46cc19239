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
    checkType: (object) => codec.checkType(object),
    hold: (object) => codec.hold(deepFreeze(object)),
    bytesOf: (held) => codec.bytesOf(held),
    get sharedBytes() {
      return codec.sharedBytes
    },
    projection: (selection) => codec.projection(selection),
  }
}

/** Without recursion: an object may be nested deeper than the stack is. */
function deepFreeze<T>(value: T): T {
  const due: unknown[] = [value]
  while (due.length > 0) {
    const one = due.pop()
    // What is frozen already is shared with a sibling, and was frozen to its leaves then.
    if (typeof one !== 'object' || one === null || Object.isFrozen(one)) continue
    Object.freeze(one)
    for (const child of Object.values(one)) due.push(child)
  }
  return value
}
