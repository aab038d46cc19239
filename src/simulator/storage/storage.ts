/*
 * All objects of a cluster under one revision counter. Writes are synchronous, so that what runs in one tick sees one
 * moment; followers hear of each. The objects of each resource are texts that are ready to be sent, with the latest
 * history: a snapshot of an earlier revision is made by undoing the events since then, so that a list's pages show one
 * moment.
 */

import { randomUUID } from 'node:crypto'
import { objectKey, type ObjectMeta, type Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { parseJson } from '../api/json.ts'
import type { ResourceRegistry } from '../api/resource-registry.ts'
import type { ServedResource, StoredResource } from '../api/served-resource.ts'
import { alreadyExists, noSuchResource, notFound } from '../api/status-refusal.ts'

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
    return getOrInsert(
      this.#stores,
      groupResource,
      () => new ResourceStore(this.#options.historyEvents),
    )
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

/** All objects of one resource, with its latest history. The storage is its only writer. */
class ResourceStore {
  readonly history: EventHistory
  readonly #objects = new Map<string, StoredObject>()
  readonly #keys = new SortedKeys()
  readonly #listeners = new Set<() => void>()

  constructor(historyEvents: number) {
    this.history = new EventHistory(historyEvents)
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key)
  }

  /** Every object, in no particular order. */
  values(): IterableIterator<StoredObject> {
    return this.#objects.values()
  }

  /** Applies a write. With `remember: false` the history does not record the write, and the caller compacts it. */
  apply(event: StorageEvent, options: { readonly remember: boolean }): void {
    const { key } = event.object
    if (event.type === 'DELETED') {
      this.#objects.delete(key)
      this.#keys.remove(key)
    } else {
      if (event.type === 'ADDED') this.#keys.add(key)
      this.#objects.set(key, event.object)
    }
    if (options.remember) this.history.push(event)
    for (const listener of this.#listeners) listener()
  }

  /** Replaces an object by another form of the same version, without an event. */
  replace(object: StoredObject): void {
    this.#objects.set(object.key, object)
  }

  /** Calls `listener` after every write, and after {@link wake}, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Makes every watch read the history again. */
  wake(): void {
    for (const listener of this.#listeners) listener()
  }

  /**
   * The objects of a namespace (`''`: of all) at a revision, from the lowest possible key on and in the order of their
   * keys, and how many they are; `undefined` for revisions before the history.
   */
  snapshot(
    revision: number,
    { namespace, from }: { readonly namespace: string; readonly from: string },
  ): { readonly objects: Iterable<StoredObject>; readonly size: number } | undefined {
    const since = this.history.after(revision)
    if (since === undefined) return undefined
    // The objects that have changed since, in their earlier state: another version, or absent.
    const before = new Map<string, StoredObject | undefined>()
    for (let number = this.history.end - 1; number >= since; number--) {
      const event = this.history.at(number)
      if (event !== undefined) before.set(event.object.key, event.previous)
    }
    const gone = [...before].flatMap(([key, object]) =>
      object === undefined || this.#objects.has(key) ? [] : [key],
    )
    const present = this.#keys.sorted()
    const keys = gone.length === 0 ? present : mergeSorted(present, gone.toSorted(), new Set())
    // '0' is the character after '/': it ends the keys of a namespace.
    const positionOf = (bound: string): number =>
      lowerBound(0, keys.length, (at) => (keys[at] ?? '') < bound)
    const first = `${namespace}/`
    const start = positionOf(namespace === '' || from > first ? from : first)
    const end = namespace === '' ? keys.length : positionOf(`${namespace}0`)
    const later = [...before].filter(([key, object]) => {
      const at = object === undefined && this.#objects.has(key) ? positionOf(key) : -1
      return at >= start && at < end
    })
    const size = Math.max(0, end - start) - later.length
    const current = this.#objects
    function* objects(): Generator<StoredObject> {
      for (let at = start; at < end; at++) {
        const key = keys[at] ?? ''
        const object = before.has(key) ? before.get(key) : current.get(key)
        if (object !== undefined) yield object
      }
    }
    return { size, objects: objects() }
  }
}

/**
 * The sorted keys of one resource. Changes are merged in one pass when the order is read, so a bulk load sorts once.
 * Returned arrays never change.
 */
class SortedKeys {
  #keys: readonly string[] = []
  readonly #added = new Set<string>()
  readonly #removed = new Set<string>()

  add(key: string): void {
    if (!this.#removed.delete(key)) this.#added.add(key)
  }

  remove(key: string): void {
    if (!this.#added.delete(key)) this.#removed.add(key)
  }

  sorted(): readonly string[] {
    if (this.#added.size > 0 || this.#removed.size > 0) {
      this.#keys = mergeSorted(this.#keys, [...this.#added].toSorted(), this.#removed)
      this.#added.clear()
      this.#removed.clear()
    }
    return this.#keys
  }
}

function mergeSorted(
  keys: readonly string[],
  added: readonly string[],
  removed: ReadonlySet<string>,
): string[] {
  const merged: string[] = []
  let next = 0
  for (const key of keys) {
    for (let extra = added[next]; extra !== undefined && extra < key; extra = added[++next])
      merged.push(extra)
    if (removed.size === 0 || !removed.has(key)) merged.push(key)
  }
  for (; next < added.length; next++) merged.push(added[next] ?? '')
  return merged
}

/** The first number of a range that does not come before what is sought; `high` if all do. */
function lowerBound(low: number, high: number, isBefore: (number: number) => boolean): number {
  let [from, until] = [low, high]
  while (from < until) {
    const middle = Math.floor((from + until) / 2)
    if (isBefore(middle)) from = middle + 1
    else until = middle
  }
  return from
}

/** One write, for watches and older snapshots. */
export interface StorageEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  /** The new state; for DELETED the last state. */
  readonly object: StoredObject
  /** The state before; `undefined` for ADDED. */
  readonly previous: StoredObject | undefined
}

/**
 * The last `capacity` events of one resource: a kube-apiserver's watch cache window. Events are numbered from 0; new
 * events replace the oldest.
 */
class EventHistory {
  readonly #capacity: number
  readonly #ring: StorageEvent[] = []
  #end = 0
  #start = 0
  #floor = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Watches can resume from this revision on. */
  get floor(): number {
    return this.#floor
  }

  get start(): number {
    return this.#start
  }

  get end(): number {
    return this.#end
  }

  push(event: StorageEvent): void {
    if (this.#end - this.#start === this.#capacity) {
      this.#floor = this.#ring[this.#start % this.#capacity]?.revision ?? this.#floor
      this.#start += 1
    }
    this.#ring[this.#end % this.#capacity] = event
    this.#end += 1
  }

  /** The event of a number from {@link start} to before {@link end}. */
  at(number: number): StorageEvent | undefined {
    return number < this.#start || number >= this.#end
      ? undefined
      : this.#ring[number % this.#capacity]
  }

  /** The number of the first event after a revision; `undefined` for revisions before {@link floor}. */
  after(revision: number): number | undefined {
    if (revision < this.#floor) return undefined
    return lowerBound(this.#start, this.#end, (at) => (this.at(at)?.revision ?? 0) <= revision)
  }

  /** Drops all events up to `revision`, the present one. */
  compact(revision: number): void {
    this.#start = this.#end
    this.#floor = revision
    this.#ring.length = 0
  }
}

/** One immutable version of an object: its JSON text, ready to be sent, and the values by which requests select. */
export interface StoredObject {
  /** `namespace/name`, or `name`. */
  readonly key: string
  /** `''` for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly labels: Readonly<Record<string, string>> | undefined
  /** The values of the resource's selectable fields, in the order of their declaration. */
  readonly fields: readonly string[]
  /** `{"metadata":{…},…}`: no `kind` and `apiVersion`, as in the items of a LIST. */
  readonly text: Buffer
  /** The position in {@link text} after the metadata. */
  readonly metadataEnd: number
}

const head = '{"metadata":'

/** Writes an object as text. `fieldsOf` reads the values of its selectable fields. */
export function storedObject(
  object: Unstructured,
  revision: number,
  fieldsOf: (object: Unstructured) => readonly string[],
): StoredObject {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...body } = object
  const { name, generateName, namespace = '', uid, resourceVersion: _, ...rest } = metadata
  // The order of a kube-apiserver. What is before `resourceVersion` has no quotation mark: withRevision relies on it.
  const ordered: ObjectMeta = {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === '' ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    resourceVersion: String(revision),
    ...rest,
  }
  const metadataText = head + JSON.stringify(ordered)
  const bodyText = JSON.stringify(body)
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    namespace,
    name,
    revision,
    labels: metadata.labels,
    fields: fieldsOf(object),
    text: Buffer.from(
      bodyText === '{}' ? `${metadataText}}` : `${metadataText},${bodyText.slice(1)}`,
    ),
    metadataEnd: Buffer.byteLength(metadataText),
  }
}

/** The same object with another resource version, as DELETED events carry it. */
export function withRevision(object: StoredObject, revision: number): StoredObject {
  const mark = '"resourceVersion":"'
  const start = object.text.indexOf(mark) + mark.length
  const end = object.text.indexOf('"', start)
  const number = String(revision)
  return {
    ...object,
    revision,
    text: Buffer.concat([
      object.text.subarray(0, start),
      Buffer.from(number),
      object.text.subarray(end),
    ]),
    metadataEnd: object.metadataEnd + number.length - (end - start),
  }
}

/** Reads an object, as one of the given kind. */
export function readObject(
  object: StoredObject,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): Unstructured {
  return parseJson(
    `${kindPrefix(kind, apiVersion)}${object.text.toString().slice(1)}`,
  ) as Unstructured
}

/** `{"kind":…,"apiVersion":…,`: completes an item's text, without its first brace, to a whole object. */
export function kindPrefix(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`
}
