import { isDeepStrictEqual } from 'node:util'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { ResourceEventHandler } from '../delivery/event-handler.ts'

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

export const labelsChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    !isDeepStrictEqual({ ...before.labels }, { ...after.labels }),
}

export const annotationsChanged: Predicate = {
  onUpdate: ({ metadata: before }, { metadata: after }) =>
    !isDeepStrictEqual({ ...before.annotations }, { ...after.annotations }),
}
