/*
 * All objects of a cluster under one revision counter. Writes are synchronous, so that what runs in one tick sees one
 * moment; followers hear of each.
 */

import { randomUUID } from 'node:crypto'
import { objectKey, type Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { ResourceRegistry } from '../api/resource-registry.ts'
import type { ServedResource, StoredResource } from '../api/served-resource.ts'
import { alreadyExists, noSuchResource, notFound } from '../api/status-refusal.ts'
import {
  readObject,
  ResourceStore,
  type StorageEvent,
  type StoredObject,
  storedObject,
  withRevision,
} from './resource-store.ts'

/** Names a resource in the API. */
export interface ResourceName {
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** The plural of the path, `pods`. */
  readonly resource: string
}

/** Receives each write: the new object, or `undefined` after a deletion. */
type StorageFollower = (
  resource: StoredResource,
  metadata: { readonly namespace: string; readonly name: string },
  object: Unstructured | undefined,
) => void

interface StorageOptions {
  /** The number of events that each resource keeps for watches and pages. */
  readonly historyEvents: number
  /** The first resource version. */
  readonly firstRevision: number
}

/**
 * All objects of the simulated cluster, under one revision counter. All methods are synchronous: reads within one tick
 * show one moment. The storage does not check objects; `writes/` has the rules for requests.
 */
export class Storage {
  readonly registry: ResourceRegistry
  readonly #options: StorageOptions
  readonly #stores = new Map<string, ResourceStore>()
  readonly #followers = new Set<StorageFollower>()
  #revision: number
  #remember = true

  constructor(registry: ResourceRegistry, options: StorageOptions) {
    this.registry = registry
    this.#options = options
    this.#revision = options.firstRevision
  }

  /** The revision of the last write: the resource version of a list made now. */
  get revision(): number {
    return this.#revision
  }

  /** The store of a resource; empty before its first write. */
  store({ groupResource }: StoredResource): ResourceStore {
    let store = this.#stores.get(groupResource)
    if (store === undefined) {
      store = new ResourceStore(this.#options.historyEvents)
      this.#stores.set(groupResource, store)
    }
    return store
  }

  /** Runs `load` without recording its writes in the history. Watches cannot resume from before its end. */
  withoutHistory(load: () => void): void {
    this.#remember = false
    try {
      load()
    } finally {
      this.#remember = true
      this.compact()
    }
  }

  /** Drops the history. Older positions are answered with 410. */
  compact(): void {
    for (const store of this.#stores.values()) {
      store.history.compact(this.#revision)
      store.wake()
    }
  }

  /** Stores a new object. Fills in missing `uid`, `creationTimestamp` and `generation`. Throws 409. */
  create(name: ResourceName, object: Unstructured): Unstructured {
    const { stored } = this.#served(name)
    const { metadata } = object
    const key = objectKey(metadata)
    const existing = this.store(stored).get(key)
    if (existing !== undefined) {
      const { metadata: found } = readObject(existing, stored)
      const deleting = found.deletionTimestamp !== undefined
      throw alreadyExists({ ...stored, name: metadata.name }, deleting)
    }
    return this.#write('ADDED', stored, undefined, {
      ...object,
      metadata: {
        ...metadata,
        uid: metadata.uid ?? randomUUID(),
        ...(stored.hasGeneration ? { generation: metadata.generation ?? 1 } : {}),
        creationTimestamp: metadata.creationTimestamp ?? timestamp(Date.now()),
      },
    })
  }

  /** Replaces an object including its status. Keeps `uid` and `creationTimestamp` if they are missing. Throws 404. */
  update(name: ResourceName, object: Unstructured): Unstructured {
    const { stored } = this.#served(name)
    const { metadata } = object
    const existing = this.store(stored).get(objectKey(metadata))
    if (existing === undefined) throw notFound({ ...stored, name: metadata.name })
    if (metadata.uid !== undefined && metadata.creationTimestamp !== undefined) {
      return this.#write('MODIFIED', stored, existing, object)
    }
    const { uid, creationTimestamp } = readObject(existing, stored).metadata
    const kept = {
      ...(uid === undefined ? {} : { uid }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    }
    return this.#write('MODIFIED', stored, existing, {
      ...object,
      metadata: { ...metadata, ...kept },
    })
  }

  /** Deletes an object at once. Throws 404. */
  delete(resource: ResourceName, namespace: string, name: string): void {
    const { stored } = this.#served(resource)
    const store = this.store(stored)
    const previous = store.get(objectKey({ namespace, name }))
    if (previous === undefined) throw notFound({ ...stored, name })
    this.#remove(stored, previous)
  }

  /** Calls `follower` within each later write, including writes without history. */
  follow(follower: StorageFollower): void {
    this.#followers.add(follower)
  }

  /** Deletes all objects of a resource at once, whether it is served or not. */
  deleteAll(stored: StoredResource): void {
    const store = this.store(stored)
    for (const object of Array.from(store.values())) this.#remove(stored, object)
  }

  #remove(stored: StoredResource, previous: StoredObject): void {
    const revision = ++this.#revision
    const object = withRevision(previous, revision)
    const event: StorageEvent = { type: 'DELETED', revision, object, previous }
    this.store(stored).apply(event, { remember: this.#remember })
    for (const follower of this.#followers) follower(stored, previous, undefined)
  }

  /** An object in the version of `resource`. */
  get(resource: ResourceName, namespace: string, name: string): Unstructured | undefined {
    const served = this.#served(resource)
    const found = this.store(served.stored).get(objectKey({ namespace, name }))
    return found === undefined ? undefined : this.#read(found, served)
  }

  /** The objects of one namespace, or of all, in no particular order. */
  *list(resource: ResourceName, namespace = ''): Generator<Unstructured, undefined, undefined> {
    const served = this.#served(resource)
    for (const object of this.store(served.stored).values()) {
      if (namespace === '' || object.namespace === namespace) yield this.#read(object, served)
    }
    return undefined
  }

  /** Rewrites all objects of a resource in a new form. They keep their resource versions, and watches get no events. */
  rewrite(
    before: StoredResource,
    after: StoredResource,
    change: (object: Unstructured) => Unstructured,
  ): void {
    const store = this.store(after)
    for (const object of Array.from(store.values())) {
      const changed = change(readObject(object, before))
      store.replace(storedObject(changed, object.revision, after.fields.valuesOf))
    }
  }

  #served({ group, version, resource }: ResourceName): ServedResource {
    const served = this.registry.find(group, version, resource)
    if (served === undefined) throw noSuchResource()
    return served
  }

  #read(object: StoredObject, { stored, apiVersion }: ServedResource): Unstructured {
    return stored.convert(readObject(object, stored), apiVersion)
  }

  #write(
    type: 'ADDED' | 'MODIFIED',
    stored: StoredResource,
    previous: StoredObject | undefined,
    object: Unstructured,
  ): Unstructured {
    const revision = ++this.#revision
    const typed = {
      ...object,
      kind: stored.kind,
      apiVersion: object.apiVersion ?? stored.apiVersion,
    }
    const held = stored.convert(typed, stored.apiVersion)
    const event: StorageEvent = {
      type,
      revision,
      object: storedObject(held, revision, stored.fields.valuesOf),
      previous,
    }
    this.store(stored).apply(event, { remember: this.#remember })
    for (const follower of this.#followers) follower(stored, event.object, held)
    // Another version may lack fields, which are lost.
    const kept = held === typed ? object : stored.convert(held, typed.apiVersion)
    return { ...kept, metadata: { ...kept.metadata, resourceVersion: String(revision) } }
  }
}

/** Runs `pass`, and runs it again if it was called meanwhile, as by the listeners of what it writes. */
export function inPasses(pass: () => void): () => void {
  let isRunning = false
  let again = false
  return () => {
    again = true
    if (isRunning) return
    isRunning = true
    try {
      while (again) {
        again = false
        pass()
      }
    } finally {
      isRunning = false
    }
  }
}
