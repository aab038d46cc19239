import { isDeepStrictEqual } from 'node:util'
import {
  type ApiResource,
  requireResource,
  splitApiVersion,
} from '../../kubernetes/api-resource.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { aFlag, checkedOptions, type OptionChecks } from '../../lib/options.ts'
import type { ResourceEventHandler } from '../delivery/event-handler.ts'
import type { AddOptions } from './work-queue.ts'

/**
 * The receiver of keys: a work queue, or for keys that are not strings `{ add: (key, options) => queue.add({ cluster,
 * key }, options) }`. The handlers below add keys of the initial list and of resyncs with low priority, so that changes
 * come first.
 */
export interface KeySink {
  add(key: string, options?: AddOptions): unknown
}

/** The owners that {@link enqueueOwner} selects. */
export interface EnqueueOwnerOptions {
  /** The owners' resource, in any version of its group and kind. */
  readonly owner: ApiResource
  /** Whether only the controller counts. Default false: every owner of the kind. */
  readonly onlyController?: boolean
}

const ownerChecks: OptionChecks<EnqueueOwnerOptions> = {
  owner: requireResource,
  onlyController: aFlag,
}

/** A handler that queues the key of each event's object (controller-runtime's `EnqueueRequestForObject`). */
export function enqueueObject(queue: KeySink): ResourceEventHandler {
  return enqueueKeys(queue, ({ metadata }) => [objectKey(metadata)])
}

/**
 * A handler that queues the keys that `map` returns for each event's object (controller-runtime's
 * `EnqueueRequestsFromMapFunc`). An update calls it for the object before and after. `map` should only read caches: it
 * runs for every event. If it throws, that is a failure of the informer's handler.
 */
export function enqueueMapped<T extends KubernetesObject>(
  queue: KeySink,
  map: (object: T) => Iterable<string>,
): ResourceEventHandler<T> {
  return enqueueKeys(queue, map)
}

/**
 * A handler that queues the keys of the owners of each event's object (controller-runtime's `EnqueueRequestForOwner`),
 * before and after an update. Considers every owner reference of the kind, or only the controller's.
 */
export function enqueueOwner(queue: KeySink, options: EnqueueOwnerOptions): ResourceEventHandler {
  const { owner, onlyController = false } = checkedOptions('enqueueOwner', options, ownerChecks)
  requireResource('owner', owner)
  return enqueueKeys(queue, ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences
      .filter(
        ({ apiVersion, kind, controller }) =>
          kind === owner.kind &&
          splitApiVersion(apiVersion).group === owner.group &&
          (!onlyController || controller === true),
      )
      .map(({ name }) =>
        objectKey(owner.namespaced && namespace !== undefined ? { namespace, name } : { name }),
      ),
  )
}

const low: AddOptions = { priority: 'low' }

function enqueueKeys<T extends KubernetesObject>(
  queue: KeySink,
  keysOf: (object: T) => Iterable<string>,
): ResourceEventHandler<T> {
  const add = (keys: Iterable<string>, options?: AddOptions): void => {
    for (const key of keys) queue.add(key, options)
  }
  return {
    onAdd: (object, isInInitialList) => add(keysOf(object), isInInitialList ? low : undefined),
    onUpdate: (previous, object) => {
      const isResync = previous.metadata.resourceVersion === object.metadata.resourceVersion
      add(new Set([...keysOf(previous), ...keysOf(object)]), isResync ? low : undefined)
    },
    onDelete: (object) => add(keysOf(object)),
  }
}

/** The events that a handler receives (controller-runtime's `Predicate`). An absent function accepts all events. */
export interface Predicate<T extends KubernetesObject = KubernetesObject> {
  readonly onAdd?: (object: T) => boolean
  readonly onUpdate?: (previous: T, object: T) => boolean
  readonly onDelete?: (object: T) => boolean
}

/** A handler that only receives events which every predicate accepts. */
export function withPredicates<T extends KubernetesObject>(
  handler: ResourceEventHandler<T>,
  ...predicates: readonly Predicate<T>[]
): ResourceEventHandler<T> {
  const { onReset } = handler
  return {
    onAdd: (object, isInInitialList) =>
      predicates.every((one) => one.onAdd?.(object) ?? true)
        ? handler.onAdd?.(object, isInInitialList)
        : undefined,
    onUpdate: (previous, object) =>
      predicates.every((one) => one.onUpdate?.(previous, object) ?? true)
        ? handler.onUpdate?.(previous, object)
        : undefined,
    onDelete: (object, deletion) =>
      predicates.every((one) => one.onDelete?.(object) ?? true)
        ? handler.onDelete?.(object, deletion)
        : undefined,
    ...(onReset === undefined ? {} : { onReset: () => handler.onReset?.() }),
  }
}

/** A predicate that accepts what at least one of its predicates accepts. */
export function anyPredicate<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return {
    onAdd: (object) => predicates.some((one) => one.onAdd?.(object) ?? true),
    onUpdate: (previous, object) =>
      predicates.some((one) => one.onUpdate?.(previous, object) ?? true),
    onDelete: (object) => predicates.some((one) => one.onDelete?.(object) ?? true),
  }
}

/** Accepts objects that meet a condition; updates, if the object meets it before or after. */
export function objectPredicate<T extends KubernetesObject>(
  condition: (object: T) => boolean,
): Predicate<T> {
  return {
    onAdd: condition,
    onUpdate: (previous, object) => condition(previous) || condition(object),
    onDelete: condition,
  }
}

/** Accepts updates that change the resource version: all but resyncs. */
export const resourceVersionChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    before.resourceVersion !== after.resourceVersion,
}

/**
 * Accepts updates that change the generation or begin the object's deletion. Accepts every update of kinds without a
 * generation (config maps, pods up to 1.33).
 */
export const generationChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    after.generation === undefined ||
    before.generation !== after.generation ||
    before.deletionTimestamp !== after.deletionTimestamp,
}

/** Accepts updates that change a label. */
export const labelsChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    !isDeepStrictEqual({ ...before.labels }, { ...after.labels }),
}

/** Accepts updates that change an annotation. */
export const annotationsChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    !isDeepStrictEqual({ ...before.annotations }, { ...after.annotations }),
}
