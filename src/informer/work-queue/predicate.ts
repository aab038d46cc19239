import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { ResourceEventHandler } from '../delivery/event-handler.ts'

/** Says which events a handler is to hear of (controller-runtime's `Predicate`). What is absent lets all pass. */
export interface Predicate<T extends KubernetesObject = KubernetesObject> {
  readonly onAdd?: (object: T) => boolean
  readonly onUpdate?: (previous: T, object: T) => boolean
  readonly onDelete?: (object: T) => boolean
}

/** A handler that hears only of events that every predicate lets pass. */
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

/** One that lets pass what at least one of them does. */
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

/** Objects that fulfil a condition; an update counts where it is fulfilled before or after. */
export function objectPredicate<T extends KubernetesObject>(
  condition: (object: T) => boolean,
): Predicate<T> {
  return {
    onAdd: condition,
    onUpdate: (previous, object) => condition(previous) || condition(object),
    onDelete: condition,
  }
}

/** Updates that are more than a resync: the resource version has changed. */
export const resourceVersionChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    before.resourceVersion !== after.resourceVersion,
}

/**
 * Updates of what is wanted: the generation has changed, or the object is being deleted from now on. Kinds that have no
 * generation (config maps, pods up to 1.33) pass with every update.
 */
export const generationChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    after.generation === undefined ||
    before.generation !== after.generation ||
    before.deletionTimestamp !== after.deletionTimestamp,
}

/** Updates that change a label. */
export const labelsChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    !isDeepStrictEqual({ ...before.labels }, { ...after.labels }),
}

/** Updates that change an annotation. */
export const annotationsChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    !isDeepStrictEqual({ ...before.annotations }, { ...after.annotations }),
}
