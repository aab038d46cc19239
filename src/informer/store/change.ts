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
  readonly previous?: HeldObject
  readonly isInInitialList?: boolean
  readonly finalStateKnown?: boolean
}

/**
 * One change of a store on its way to the listeners. All listeners share it; what it says is decoded when the first
 * one asks, once.
 */
export class Change<T extends KubernetesObject = KubernetesObject> {
  readonly type: ChangeType
  readonly key: string
  readonly uid: string
  /** Whether the change only tells a listener what was there when it began to listen. */
  readonly isInInitialList: boolean
  /** False for a deletion that was not seen but concluded from a list: `object` is then the last known state. */
  readonly finalStateKnown: boolean
  readonly #codec: ObjectCodec
  readonly #held: HeldObject
  readonly #previous: HeldObject | undefined
  #object: KubernetesObject | undefined

  constructor(codec: ObjectCodec, options: ChangeOptions) {
    this.type = options.type
    this.key = options.key
    this.uid = options.uid
    this.isInInitialList = options.isInInitialList ?? false
    this.finalStateKnown = options.finalStateKnown ?? true
    this.#codec = codec
    this.#held = options.held
    this.#previous = options.previous
    this.#object = options.object
  }

  /** The new state, or the last one of a deleted object. */
  get object(): T {
    return (this.#object ??= this.#codec.decode(this.#held)) as T
  }

  /** The state before a modification. */
  get previous(): T | undefined {
    return this.#previous === undefined ? undefined : (this.#codec.decode(this.#previous) as T)
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
    const known = isBack ? this.#held : this.#previous
    const previous = type === 'MODIFIED' ? known : undefined
    return new Change(this.#codec, {
      type,
      key: this.key,
      uid: this.uid,
      held: later.#held,
      ...(later.#object === undefined ? {} : { object: later.#object }),
      ...(previous === undefined ? {} : { previous }),
      isInInitialList: this.isInInitialList,
      finalStateKnown: later.finalStateKnown,
    })
  }
}
