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
  readonly object?: KubernetesObject
  readonly previousHeld?: HeldObject
  readonly previous?: KubernetesObject
  readonly isInInitialList?: boolean
  readonly finalStateKnown?: boolean
  /** See {@link Change.takeText}. */
  readonly text?: Uint8Array | undefined
}

/** One change of a store, shared by all listeners. Each of its two states is decoded once, on demand. */
export class Change<T extends KubernetesObject = KubernetesObject> {
  readonly type: ChangeType
  readonly key: string
  readonly uid: string
  /** Whether the change belongs to the snapshot that a listener starts with. */
  readonly isInInitialList: boolean
  /** False for a deletion concluded from a list: `object` is then the last known state. */
  readonly finalStateKnown: boolean
  /** The new state, or the last one of a deleted object, as held. Its identity is the object's version. */
  readonly held: HeldObject
  /**
   * The state before a modification, as held. A deletion has one if it also stands for modifications before it: the state
   * before these.
   */
  readonly previousHeld: HeldObject | undefined
  readonly #codec: ObjectCodec
  #text: Uint8Array | undefined
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
    this.#text = options.text
    this.#object = options.object
    this.#previous = options.previous
  }

  /** The new state, or the last one of a deleted object. */
  get object(): T {
    return (this.#object ??= this.#codec.decode(this.held)) as T
  }

  /**
   * The UTF-8 JSON of the object as the event had it, once: then the change lets go of it. `undefined` if the informer has
   * no archive, and for what was concluded from a list.
   */
  takeText(): Uint8Array | undefined {
    const text = this.#text
    this.#text = undefined
    return text
  }

  /** As {@link previousHeld}. */
  get previous(): T | undefined {
    if (this.previousHeld === undefined) return undefined
    return (this.#previous ??= this.#codec.decode(this.previousHeld)) as T
  }

  /**
   * Merges this change with a later one of the same object (by key and UID), for a listener that skips the state in
   * between. `undefined` if they cancel each other.
   */
  followedBy(later: Change<T>): Change<T> | undefined {
    if (this.type === 'ADDED' && later.type === 'DELETED') return undefined
    // An object that left the selection and came back counts as modified.
    const isBack = this.type === 'DELETED' && later.type !== 'DELETED'
    const type = this.type === 'ADDED' ? 'ADDED' : isBack ? 'MODIFIED' : later.type
    return new Change(this.#codec, {
      type,
      key: this.key,
      uid: this.uid,
      held: later.held,
      ...(later.#object === undefined ? {} : { object: later.#object }),
      ...(type === 'ADDED' ? {} : this.#before),
      isInInitialList: this.isInInitialList,
      finalStateKnown: later.finalStateKnown,
    })
  }

  /** The state before this change. For a deletion without one: the deleted state. */
  get #before(): Pick<ChangeOptions, 'previousHeld' | 'previous'> {
    const isLast = this.type === 'DELETED' && this.previousHeld === undefined
    const previousHeld = isLast ? this.held : this.previousHeld
    const previous = isLast ? this.#object : this.#previous
    if (previousHeld === undefined) return {}
    return previous === undefined ? { previousHeld } : { previousHeld, previous }
  }
}
