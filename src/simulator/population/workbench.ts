import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import type { ClusterWriter } from '../churn/cluster.ts'
import { hour, type PopulationItem, type PopulationResource } from '../churn/object.ts'
import type { ResourceName } from '../storage/storage.ts'

type Follower = Parameters<ClusterWriter['follow']>[0]

/** Holds the objects of one app while the churn's controllers run over them, before they are yielded. */
export class Workbench implements ClusterWriter {
  readonly #items = new Map<string, PopulationItem>()
  readonly #shared: ReadonlyMap<string, PopulationItem>
  #follower: Follower = () => undefined

  /** `shared` are objects of the cluster that controllers read. */
  constructor(shared: Workbench | undefined) {
    this.#shared = shared === undefined ? new Map() : shared.#items
  }

  /** The objects in the order of their creation. Events live for an hour. */
  *items(nowMs: number): Generator<PopulationItem> {
    for (const item of this.#items.values()) {
      const { lastTimestamp = '' } = item.object as { readonly lastTimestamp?: string }
      const isOld = item.object.kind === 'Event' && Date.parse(lastTimestamp) < nowMs - hour
      if (!isOld) yield item
    }
  }

  create(resource: ResourceName, object: Unstructured): Unstructured {
    const { namespace = '', name } = object.metadata
    const known = knownResource(resource, object)
    this.#items.set(`${known.groupResource}/${namespace}/${name}`, { resource: known, object })
    this.#follower(known, { namespace, name }, object)
    return object
  }

  update(resource: ResourceName, object: Unstructured): Unstructured {
    return this.create(resource, object)
  }

  delete(resource: ResourceName, namespace: string, name: string): void {
    this.#items.delete(keyOf(resource, namespace, name))
    this.#follower({ groupResource: groupResourceOf(resource) }, { namespace, name }, undefined)
  }

  get(resource: ResourceName, namespace: string, name: string): Unstructured | undefined {
    const key = keyOf(resource, namespace, name)
    return (this.#items.get(key) ?? this.#shared.get(key))?.object
  }

  /** Nothing: the controllers list once, before there are objects. */
  list(): Iterable<Unstructured> {
    return []
  }

  follow(follower: Follower): void {
    this.#follower = follower
  }
}

const keyOf = (resource: ResourceName, namespace: string, name: string): string =>
  `${groupResourceOf(resource)}/${namespace}/${name}`

/** Thousands of objects share a resource. */
const knownResources = new WeakMap<
  ResourceName,
  PopulationResource & { readonly groupResource: string }
>()

function knownResource(
  resource: ResourceName,
  { apiVersion, kind }: Unstructured,
): PopulationResource & { readonly groupResource: string } {
  let known = knownResources.get(resource)
  if (known === undefined) {
    known = { ...resource, apiVersion, kind, groupResource: groupResourceOf(resource) }
    knownResources.set(resource, known)
  }
  return known
}
