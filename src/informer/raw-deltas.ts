import type { Resource } from '../kubernetes/api-resource.ts'
import type { KubernetesObject, Unstructured } from '../kubernetes/object.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { cacheChecks, type CacheOptions, Controller, controllerOptionsOf } from './controller.ts'
import { FailureReport } from './informer-observer.ts'
import type { Delta, ReflectedDelta } from './reflector/delta-queue.ts'
import { aFunction, anything, InvalidOptionError, type OptionChecks } from '../lib/options.ts'
import { createObjectCodec, type ObjectCodec } from './codec/object-codec.ts'
import type { Transform } from './reflector/object-intake.ts'
import { StoreContents } from './store/store-contents.ts'

/** The last known state of an object whose deletion was concluded from a list (a tombstone). */
export class DeletedFinalStateUnknown<T extends KubernetesObject = KubernetesObject> {
  readonly key: string
  readonly object: T

  constructor(key: string, object: T) {
    this.key = key
    this.object = object
  }
}

/** One step of a resource's history, as it leaves the delta queue (client-go's `Delta`). */
export type RawDelta<T extends KubernetesObject = KubernetesObject> =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
      readonly key: string
      readonly object: T
      readonly resourceVersion: ResourceVersion
    }
  /** A whole list, as one step. */
  | {
      readonly type: 'REPLACED'
      /** In the order of the list; decoded as they are read. */
      readonly objects: () => IterableIterator<T>
      /** Objects of {@link DeltaControllerOptions.knownObjects} that the list lacks. */
      readonly vanished: readonly DeletedFinalStateUnknown<T>[]
      readonly resourceVersion: ResourceVersion
    }
  /** The transform refused a new state: the known state of the object is out of date. */
  | { readonly type: 'REFUSED'; readonly key: string; readonly resourceVersion: ResourceVersion }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: ResourceVersion }

/**
 * The objects that the owner of the deltas knows, so that a list shows what has vanished (client-go's `KnownObjects`).
 */
export interface KnownObjects<T extends KubernetesObject = KubernetesObject> {
  keys(): Iterable<string>
  getByKey(key: string): T | undefined
}

/** The options of a custom controller (client-go's `Config`). */
export interface DeltaControllerOptions<
  T extends KubernetesObject = KubernetesObject,
> extends CacheOptions {
  readonly resource: Resource<T>
  readonly transform?: Transform<T>
  /**
   * The objects that the owner of the deltas has. A list needs them to show what has vanished; `'none'` does without.
   */
  readonly knownObjects: KnownObjects<T> | 'none'
  /**
   * Receives the deltas in batches, each object at most once per batch (client-go's `Process`). The next batch waits
   * for the promise. If it throws, the controller ends.
   */
  readonly process: (deltas: readonly RawDelta<T>[]) => void | Promise<void>
}

const deltaControllerChecks: OptionChecks<DeltaControllerOptions> = {
  ...cacheChecks,
  transform: aFunction,
  knownObjects: anything,
  process: aFunction,
}

/** A custom controller: the raw deltas of a resource, without a store. */
export interface DeltaController {
  /** Runs until the signal aborts or the `ApiServer` is disposed of. Rejects with the error of `process`. Call once. */
  run(signal: AbortSignal): Promise<void>
  /** Whether the first list was processed. */
  hasSynced(): boolean
  /** The position after the last processed delta; `''` before the first. */
  readonly lastSyncResourceVersion: ResourceVersion | ''
  /** How many deltas wait. */
  readonly queueLength: number
}

/**
 * Creates a controller; nothing happens before `run`. Throws `InvalidOptionError`, and `SourceMismatchError` if the
 * source is of another resource.
 */
export function createController<T extends KubernetesObject = Unstructured>(
  given: DeltaControllerOptions<T>,
): DeltaController {
  const options = controllerOptionsOf(
    'a controller',
    given,
    deltaControllerChecks as OptionChecks<DeltaControllerOptions<T>>,
  )
  const { resource, metadataOnly = false, process, observer = {} } = options
  const knownObjects = knownObjectsOf<T>(options.knownObjects)
  const report = new FailureReport(resource, observer)
  const codec = createObjectCodec({ resource, metadataOnly })
  let synced = false
  let last: ResourceVersion | '' = ''
  const controller = new Controller(options, {
    codec,
    transform: options.transform as Transform | undefined,
    stage: () =>
      new StoreContents({
        resourceName: '',
        indexers: {},
        onIndexFailure: () => {},
        codec: { bytesOf: () => 0, decode: (held) => codec.decode(held) },
      }),
    async process(deltas) {
      const reflected = deltas.filter(isReflected)
      await process(reflected.map((delta) => rawDelta(codec, delta, knownObjects)))
      synced ||= reflected.some(({ type }) => type === 'REPLACED')
      last = reflected.at(-1)?.resourceVersion ?? last
    },
    failed: report.failed,
  })
  return {
    run: (signal) => controller.runOnce(signal),
    hasSynced: () => synced,
    get lastSyncResourceVersion() {
      return last
    },
    get queueLength() {
      return controller.queueLength
    },
  }
}

function knownObjectsOf<T extends KubernetesObject>(
  knownObjects: KnownObjects<T> | 'none',
): KnownObjects<T> | undefined {
  if (knownObjects === 'none') return undefined
  const given: Partial<KnownObjects<T>> = knownObjects ?? {}
  if (typeof given.keys === 'function' && typeof given.getByKey === 'function') return knownObjects
  const expected = "an object with keys and getByKey, or 'none'"
  throw new InvalidOptionError('knownObjects', knownObjects, expected)
}

/** A custom controller has one reflector, so its namespaces never change. */
function isReflected(delta: Delta): delta is ReflectedDelta {
  return delta.type !== 'NAMESPACES'
}

function rawDelta<T extends KubernetesObject>(
  codec: ObjectCodec,
  delta: ReflectedDelta,
  known: KnownObjects<T> | undefined,
): RawDelta<T> {
  const { resourceVersion } = delta
  switch (delta.type) {
    case 'BOOKMARK':
    case 'REFUSED':
      return delta
    case 'REPLACED': {
      const { contents } = delta
      const vanished = [...(known?.keys() ?? [])].flatMap((key) => {
        const object = contents.ids.has(key) ? undefined : known?.getByKey(key)
        return object === undefined ? [] : [new DeletedFinalStateUnknown<T>(key, object)]
      })
      return {
        type: delta.type,
        vanished,
        resourceVersion,
        objects: () => decoded(codec, contents),
      }
    }
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const { key, object } = delta.entry
      return { type: delta.type, key, object: object as T, resourceVersion }
    }
  }
}

function* decoded<T extends KubernetesObject>(
  codec: ObjectCodec,
  contents: StoreContents,
): IterableIterator<T> {
  for (const id of contents.ids.values()) {
    const held = contents.helds[id]
    if (held !== undefined) yield codec.decode(held) as T
  }
}
