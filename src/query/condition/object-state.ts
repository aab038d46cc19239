import { builtInIndexers } from '../../informer/store/built-in-indexers.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { type KubernetesObject, splitObjectKey } from '../../kubernetes/object.ts'
import type { OriginView } from './related-by.ts'

/** The number of the object in an {@link ObjectState}. */
export const onlyId: ObjectId = 0

export interface ObjectStateOptions {
  readonly resource: ApiResource
  readonly key: string
  readonly uid: string
  /** `undefined` where only its identity is known. */
  readonly object: (() => KubernetesObject) | undefined
}

/** A state of an object of which nothing but its identity is known was asked for more. */
export class UnknownStateError extends Error {}

/** One state of one object, whether or not a store holds it, for relations to be followed from. */
export class ObjectState implements OriginView {
  readonly resource: ApiResource
  readonly #options: ObjectStateOptions

  constructor(options: ObjectStateOptions) {
    this.resource = options.resource
    this.#options = options
  }

  get isKnown(): boolean {
    return this.#options.object !== undefined
  }

  keyOf(): string {
    return this.#options.key
  }

  uidOf(): string {
    return this.#options.uid
  }

  hasIndex(name: string): boolean {
    return Object.hasOwn(builtIn, name)
  }

  /** The built-in ones only: others are computed from the object by those who have their functions. */
  index(name: string): { valuesOf(): readonly string[] } {
    const valuesOf = builtIn[name]
    if (valuesOf === undefined) throw new TypeError(`a single state has no index ${name}`)
    return {
      valuesOf: () => valuesOf(this.#options, () => this.object()).filter((one) => one !== ''),
    }
  }

  labelsOf(): Readonly<Record<string, string>> {
    return this.object().metadata.labels ?? {}
  }

  /** Throws {@link UnknownStateError}. */
  object(): KubernetesObject {
    const { object, key } = this.#options
    if (object === undefined) throw new UnknownStateError(key)
    return object()
  }
}

type ValuesOfState = (
  state: ObjectStateOptions,
  object: () => KubernetesObject,
) => readonly string[]

const builtIn: Readonly<Record<string, ValuesOfState>> = {
  namespace: ({ key }) => [splitObjectKey(key).namespace],
  name: ({ key }) => [splitObjectKey(key).name],
  uid: ({ uid }) => [uid],
  ownerUid: (_state, object) => builtInIndexers.ownerUid(object()),
}
