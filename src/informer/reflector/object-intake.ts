import { type ApiResource, groupResourceOf } from '../../kubernetes/api-resource.ts'
import { type KubernetesObject, objectKey, resourceVersionOf } from '../../kubernetes/object.ts'
import { resourceVersion, type ResourceVersion } from '../../kubernetes/resource-version.ts'
import { readBookmark } from '../../kubernetes/watch-event.ts'
import { CodedError } from '../../lib/coded-error.ts'
import {
  MalformedObjectError,
  MissingMetadataError,
  type ObjectCodec,
  WrongKindError,
} from '../codec/object-codec.ts'
import type { ReportFailure } from '../informer-observer.ts'
import type { StoreEntry } from '../store/store-contents.ts'

/**
 * Changes an object before it is stored, such as to drop unneeded fields. Must return a new object or the same one.
 */
export type Transform<T extends KubernetesObject = KubernetesObject> = (object: T) => T

/** A transform threw. The object is skipped. */
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

interface Intake {
  readonly key: string
  /** `undefined` if the user's transform refused the object. */
  readonly entry: StoreEntry | undefined
  readonly resourceVersion: ResourceVersion
}

interface TakenBookmark {
  readonly resourceVersion: ResourceVersion
  readonly endsInitialEvents: boolean
}

interface ObjectIntakeOptions {
  readonly resource: ApiResource
  readonly codec: ObjectCodec
  readonly transform: Transform | undefined
  readonly failed: ReportFailure
  /** Whether entries of events have their text. */
  readonly keepsTexts?: boolean
}

/**
 * Turns the text of an object into a store entry: by the codec, then by the user's transform.
 *
 * There are two kinds of refusal. An object of another kind, an object without a name, and `null` do not belong to the
 * store. They are dropped: such an event leaves the stored object unchanged, and a list with such an item lacks the
 * object. Text that is not an object shows that something before it was lost: it fails its watch or list. So does a
 * kind that differs from the resource's only in case: the resource is misspelt, and every event would be dropped.
 */
export class ObjectIntake {
  readonly #options: ObjectIntakeOptions

  constructor(options: ObjectIntakeOptions) {
    this.#options = options
  }

  /**
   * Returns `undefined`, after reporting it, if the text is an object of another kind. Throws {@link
   * MalformedObjectError} if it is not an object, and {@link WrongKindError} if the resource's kind has the wrong case.
   */
  take(text: Uint8Array, isEvent = false): Intake | undefined {
    const { codec, transform, failed, keepsTexts } = this.#options
    try {
      const { held, object } = codec.encode(text)
      const key = objectKey(object.metadata)
      const version = resourceVersion(resourceVersionOf(object))
      if (transform !== undefined) {
        return { key, entry: this.#transformed(transform, key, object), resourceVersion: version }
      }
      if (!isEvent || keepsTexts !== true) {
        return { key, entry: { key, held, object }, resourceVersion: version }
      }
      // A copy: the bytes are a view of a network chunk.
      const entry = { key, held, object, text: new Uint8Array(text) }
      return { key, entry, resourceVersion: version }
    } catch (error) {
      if (error instanceof MalformedObjectError && error.value !== null) throw error
      if (error instanceof WrongKindError && error.isCase) throw error
      failed('object', error as Error)
      return undefined
    }
  }

  /**
   * Reads the object of a BOOKMARK event. Returns `undefined`, after reporting it, if the bookmark is of another kind or
   * has no position. Throws `MalformedFrameError` if the text is not one object.
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

  #transformed(
    transform: Transform,
    key: string,
    object: KubernetesObject,
  ): StoreEntry | undefined {
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
