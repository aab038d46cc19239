import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { HeldObject, ObjectCodec } from '../codec/object-codec.ts'

/** What a change does to a store. */
export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface ChangeOptions {
  readonly type: ChangeType
  /** `namespace/name`, or `name`. */
  readonly key: string
  readonly uid: string
  readonly held: HeldObject
  /** The decoded form of `held`, where it is there anyway. */
  readonly object?: KubernetesObject
  readonly previousHeld?: HeldObject
  /** The decoded form of `previousHeld`, where it is there anyway. */
  readonly previous?: KubernetesObject
  readonly isInInitialList?: boolean
  readonly finalStateKnown?: boolean
}

/**
 * One change of a store on its way to the listeners. All listeners share it; each of its two states is decoded when the
 * first one asks for it, once.
 */
export class Change<T extends KubernetesObject = KubernetesObject> {
  readonly type: ChangeType
  readonly key: string
  readonly uid: string
  /** Whether the change only tells a listener what was there when it began to listen. */
  readonly isInInitialList: boolean
  /** False for a deletion that was not seen but concluded from a list: `object` is then the last known state. */
  readonly finalStateKnown: boolean
  /** The new state, or the last one of a deleted object, as it is held: its identity is the object's version. */
  readonly held: HeldObject
  /** The state before a modification, as it is held. */
  readonly previousHeld: HeldObject | undefined
  readonly #codec: ObjectCodec
  #object: KubernetesObject | undefined
  #previous: KubernetesObject | undefined

  constructor(codec: ObjectCodec, options: ChangeOptions) {
    this.type = options.type
    this.key = options.key
    this.uid = options.uid
    this.isInInitialList = options.isInInitialList ?? false
    this.finalStateKnown = options.finalStateKnown ?? true
    this.held = options.held
    this.previousHeld = options.previousHeld
    this.#codec = codec
    this.#object = options.object
    this.#previous = options.previous
  }

  /** The new state, or the last one of a deleted object. */
  get object(): T {
    return (this.#object ??= this.#codec.decode(this.held)) as T
  }

  /** The state before a modification. */
  get previous(): T | undefined {
    if (this.previousHeld === undefined) return undefined
    return (this.#previous ??= this.#codec.decode(this.previousHeld)) as T
  }

  /**
   * This change and a later one of the same object (by key and UID) as one: what a listener that missed the state in
   * between has to be told. `undefined` where that is nothing.
   */
  followedBy(later: Change<T>): Change<T> | undefined {
    if (this.type === 'ADDED' && later.type === 'DELETED') return undefined
    // An object that left the selection and came back has, for who missed both, only changed.
    const isBack = this.type === 'DELETED' && later.type !== 'DELETED'
    const type = this.type === 'ADDED' ? 'ADDED' : isBack ? 'MODIFIED' : later.type
    return new Change(this.#codec, {
      type,
      key: this.key,
      uid: this.uid,
      held: later.held,
      ...(later.#object === undefined ? {} : { object: later.#object }),
      ...(type === 'MODIFIED' ? this.#before(isBack) : {}),
      isInInitialList: this.isInInitialList,
      finalStateKnown: later.finalStateKnown,
    })
  }

  /** What was known before this change; where the object `isBack`, what the deletion said of it. */
  #before(isBack: boolean): Pick<ChangeOptions, 'previousHeld' | 'previous'> {
    const previousHeld = isBack ? this.held : this.previousHeld
    const previous = isBack ? this.#object : this.#previous
    if (previousHeld === undefined) return {}
    return previous === undefined ? { previousHeld } : { previousHeld, previous }
  }
}
