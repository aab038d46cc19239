import type { HeldObject, ObjectCodec } from './object-codec.ts'

/**
 * A codec whose objects are deeply frozen. Code that modifies an object gets a TypeError at that point, instead of
 * silently changing the object's siblings. (client-go's mutation detector reports a change later, without its origin.)
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

/** Not recursive: objects may be nested deeper than the stack allows. */
function deepFreeze<T>(value: T): T {
  const due: unknown[] = [value]
  while (due.length > 0) {
    const one = due.pop()
    // A frozen value is shared with a sibling, and was deeply frozen with it.
    if (typeof one !== 'object' || one === null || Object.isFrozen(one)) continue
    Object.freeze(one)
    for (const child of Object.values(one)) due.push(child)
  }
  return value
}
