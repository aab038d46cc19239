import type { ApiResource } from '../kubernetes/api-resource.ts'
import { groupResourceOf } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import { type KubernetesObject, objectKey, resourceVersionOf } from '../kubernetes/object.ts'
import { resourceVersion } from '../kubernetes/resource-version.ts'
import { readBookmark } from '../kubernetes/watch-event.ts'
import {
  MalformedObjectError,
  MissingMetadataError,
  WrongKindError,
} from './codec/object-codec-error.ts'
import type { InformerFailure } from './informer-observer.ts'
import type { ObjectCodec } from './codec/object-codec.ts'
import type { Intake, TakenBookmark } from './reflector/reflector-target.ts'

/** Changes an object before it is stored: drops what nobody needs. Must return a new object or the same one. */
export type Transform<T extends KubernetesObject = KubernetesObject> = (object: T) => T

/** A transform that threw. The object is skipped. */
export class TransformError extends CodedError {
  readonly key: string

  constructor(resource: string, key: string, cause: unknown) {
    super('TRANSFORM', `the transform threw for ${resource} ${key}: ${String(cause)}`, {
      value: key,
      cause,
      hint: 'a transform must accept every object of its kind; this one is not in the cache',
    })
    this.key = key
  }
}

export interface ObjectIntakeOptions {
  readonly resource: ApiResource
  readonly codec: ObjectCodec
  readonly transform: Transform | undefined
  readonly failed: (failure: InformerFailure, error: Error) => void
}

/**
 * Turns the text of an object into a store's entry: the codec first, then the user's transform, once each.
 *
 * What cannot be taken is one of two things. An object of another kind, one without a name, and `null`, say themselves
 * that they are not this store's: they are dropped, and so an event of that sort leaves what is stored under the same
 * name as it is, and a list that has such an item has not got the object. Text that is not an object at all says
 * nothing: somewhere before it something was lost, so it fails the watch or the list that it came with, and is never
 * taken for the absence of an object. So does a kind that differs from the resource's in upper and lower case alone: the resource
 * was written wrong, and every event would be dropped.
 */
export class ObjectIntake {
  readonly #options: ObjectIntakeOptions

  constructor(options: ObjectIntakeOptions) {
    this.#options = options
  }

  /**
   * `undefined` where the text is an object, but none of this kind, which has been reported. Throws
   * {@link MalformedObjectError} where it is not one, {@link WrongKindError} where the resource's kind is written in the wrong case.
   */
  take(text: Uint8Array): Intake | undefined {
    const { codec, transform, failed } = this.#options
    try {
      const { held, object } = codec.encode(text)
      const key = objectKey(object.metadata)
      const version = resourceVersion(resourceVersionOf(object))
      return transform === undefined
        ? { key, entry: { key, held, object }, resourceVersion: version }
        : { key, entry: this.#transformed(transform, key, object), resourceVersion: version }
    } catch (error) {
      if (error instanceof MalformedObjectError && error.value !== null) throw error
      if (error instanceof WrongKindError && error.isCase) throw error
      failed('object', error as Error)
      return undefined
    }
  }

  /**
   * The same for the object of a BOOKMARK event: one of another kind says nothing of this one's position. Throws
   * `MalformedFrameError` where it is not one object.
   */
  takeBookmark(text: Uint8Array): TakenBookmark | undefined {
    const { codec, failed, resource } = this.#options
    const { type, resourceVersion: at, endsInitialEvents } = readBookmark(text)
    try {
      codec.checkType(type)
      if (at !== undefined) return { resourceVersion: at, endsInitialEvents }
      throw new MissingMetadataError(resource, at, 'a bookmark without a resource version')
    } catch (error) {
      failed('object', error as Error)
      return undefined
    }
  }

  #transformed(transform: Transform, key: string, object: KubernetesObject): Intake['entry'] {
    const { codec, resource, failed } = this.#options
    try {
      const changed = transform(object)
      return { key, held: codec.hold(changed), object: changed }
    } catch (cause) {
      failed('transform', new TransformError(groupResourceOf(resource), key, cause))
      return undefined
    }
  }
}
