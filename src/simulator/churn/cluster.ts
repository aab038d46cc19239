import type { Unstructured } from '../../kubernetes/object.ts'
import type { Random } from '../population/random.ts'
import type { GroupVersionResource, PopulationResource } from '../population/resources.ts'
import type { PopulationItem } from '../population/population-object.ts'
import type { ClusterIndex } from './cluster-index.ts'
import type { ClusterWriter } from './cluster-writer.ts'

/** An object that an activity was about to change is gone: somebody else has deleted it. */
export class ObjectGoneError extends Error {
  constructor(resource: GroupVersionResource, namespace: string, name: string) {
    super(`${resource.resource} ${namespace}/${name} is gone`)
    this.name = 'ObjectGoneError'
  }
}

/** What every activity works with: the storage, the memory of it, chance and time. Counts the writes. */
export class Cluster {
  readonly index: ClusterIndex
  readonly random: Random
  readonly now: () => number
  readonly #writer: ClusterWriter
  /** Writes since the churn began. */
  writes = 0

  constructor(writer: ClusterWriter, index: ClusterIndex, random: Random, now: () => number) {
    this.#writer = writer
    this.index = index
    this.random = random
    this.now = now
  }

  get(resource: GroupVersionResource, namespace: string, name: string): Unstructured | undefined {
    return this.#writer.get(resource, namespace, name)
  }

  /** Throws {@link ObjectGoneError}. */
  require(resource: GroupVersionResource, namespace: string, name: string): Unstructured {
    const object = this.#writer.get(resource, namespace, name)
    if (object === undefined) throw new ObjectGoneError(resource, namespace, name)
    return object
  }

  create({ resource, object }: PopulationItem): Unstructured {
    this.writes += 1
    return this.#writer.create(resource, object)
  }

  /** Replaces an object by what `change` makes of it; writes nothing where that is `undefined`. Throws {@link ObjectGoneError}. */
  change(
    resource: PopulationResource,
    namespace: string,
    name: string,
    change: (object: Unstructured) => Unstructured | undefined,
  ): Unstructured {
    return this.replace(resource, this.require(resource, namespace, name), change)
  }

  /** As {@link change}, for an object that need not be there. */
  changeIfThere(
    resource: PopulationResource,
    namespace: string,
    name: string,
    change: (object: Unstructured) => Unstructured | undefined,
  ): void {
    const object = this.#writer.get(resource, namespace, name)
    if (object !== undefined) this.replace(resource, object, change)
  }

  /** As {@link change}, for an object that has just been read. */
  replace(
    resource: PopulationResource,
    object: Unstructured,
    change: (object: Unstructured) => Unstructured | undefined,
  ): Unstructured {
    const changed = change(object)
    if (changed === undefined) return object
    this.writes += 1
    return this.#writer.update(resource, changed)
  }

  /** Deletes an object that need not be there any more. */
  remove(resource: GroupVersionResource, namespace: string, name: string): void {
    if (this.#writer.get(resource, namespace, name) === undefined) return
    this.writes += 1
    this.#writer.delete(resource, namespace, name)
  }
}

/** An activity: everything is consistent wherever it pauses. */
export type Activity = Generator<void, void>
