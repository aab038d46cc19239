import type { ApiResource } from '../kubernetes/api-resource.ts'
import { groupResourceOf } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import { type KubernetesObject, objectKey } from '../kubernetes/object.ts'
import { resourceVersion } from '../kubernetes/resource-version.ts'
import type { InformerFailure } from './informer-observer.ts'
import type { ObjectCodec } from './codec/object-codec.ts'
import type { Intake } from './reflector/reflector-target.ts'

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

/** Turns the text of an object into a store's entry: the codec first, then the user's transform, once each. */
export class ObjectIntake {
  readonly #options: ObjectIntakeOptions

  constructor(options: ObjectIntakeOptions) {
    this.#options = options
  }

  /** `undefined` where the text is no object of this kind, which has been reported. */
  take(text: Uint8Array): Intake | undefined {
    const { codec, transform, failed } = this.#options
    try {
      const { held, object } = codec.encode(text)
      const key = objectKey(object.metadata)
      const version = resourceVersion(object.metadata.resourceVersion ?? '')
      return transform === undefined
        ? { key, entry: { key, held, object }, resourceVersion: version }
        : { key, entry: this.#transformed(transform, key, object), resourceVersion: version }
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
