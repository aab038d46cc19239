import {
  type HandlerRegistration,
  type KubernetesObject,
  type OverflowPolicy,
  type SharedInformer,
} from 'informerql/informer'
import { shown } from '../support/informer.ts'

export interface CheckedHandlerOptions {
  readonly overflow: OverflowPolicy
  readonly bufferLimit: number
  /** Called with each event; what it returns is awaited. */
  readonly pause: () => Promise<void> | undefined
}

/**
 * A handler that keeps what it is told, as a consumer would, and writes down everything that it should not have been
 * told: an addition of what it has, a change of what it never had, a step back, or news that the store does not have.
 */
export class CheckedHandler {
  readonly registration: HandlerRegistration
  readonly faults: string[] = []
  /** For messages. */
  readonly name: string
  readonly #informer: SharedInformer
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #versions = new Map<string, number>()
  readonly #pause: CheckedHandlerOptions['pause']

  constructor(name: string, informer: SharedInformer, options: CheckedHandlerOptions) {
    const { overflow, bufferLimit, pause } = options
    this.name = `${name}, ${overflow} at ${bufferLimit}`
    this.#informer = informer
    this.#pause = pause
    this.registration = informer.addEventHandler(
      {
        onAdd: (object) => this.#added(object),
        onUpdate: (previous, object) => this.#updated(previous, object),
        onDelete: (object) => this.#deleted(object),
        onReset: () => this.#objects.clear(),
      },
      { overflow, bufferLimit },
    )
  }

  /** What all events add up to: `default/a@5`. */
  view(): string[] {
    return Array.from(this.#objects.values(), shown).toSorted()
  }

  #added(object: KubernetesObject): Promise<void> | undefined {
    const key = keyOf(object)
    if (this.#objects.has(key)) this.#wrong(`added again: ${shown(object)}`)
    this.#objects.set(key, object)
    return this.#follow(object)
  }

  #updated(previous: KubernetesObject, object: KubernetesObject): Promise<void> | undefined {
    const key = keyOf(object)
    const known = this.#objects.get(key)
    if (!this.#versions.has(key)) this.#wrong(`updated before it was added: ${shown(object)}`)
    if (known !== undefined && known.metadata.uid !== object.metadata.uid) {
      this.#wrong(`updated to another object: ${shown(known)} -> ${shown(object)}`)
    }
    if (versionOf(previous) >= versionOf(object)) {
      this.#wrong(`updated backwards: ${shown(previous)} -> ${shown(object)}`)
    }
    this.#objects.set(key, object)
    return this.#follow(object)
  }

  #deleted(object: KubernetesObject): Promise<void> | undefined {
    this.#objects.delete(keyOf(object))
    return this.#follow(object)
  }

  #follow(object: KubernetesObject): Promise<void> | undefined {
    const key = keyOf(object)
    const version = versionOf(object)
    const last = this.#versions.get(key) ?? 0
    if (version < last) this.#wrong(`${key} went back from ${last} to ${version}`)
    this.#versions.set(key, version)
    const { store } = this.#informer
    if (Number(store.resourceVersion) < version) {
      this.#wrong(`${shown(object)} came before the store was there: ${store.resourceVersion}`)
    }
    return this.#pause()
  }

  #wrong(fault: string): void {
    this.faults.push(`${this.name}: ${fault}`)
  }
}

const versionOf = ({ metadata }: KubernetesObject): number => Number(metadata.resourceVersion)

const keyOf = ({ metadata }: KubernetesObject): string =>
  `${metadata.namespace ?? ''}/${metadata.name}`
