/*
 * Positions in the history of a resource: resource versions of servers, and the joint positions of stores that one watch per
 * namespace fills.
 */

declare const brand: unique symbol

/**
 * An opaque position in a resource's history. Never parse it. Compare two with {@link compareResourceVersions}, and
 * only if the server promises an order.
 */
export type ResourceVersion = string & { readonly [brand]: 'ResourceVersion' }

/** "The most recent state": a quorum read for a LIST. */
export const latestResourceVersion = '' as ResourceVersion

/** "Any state": the server may answer from its cache. */
export const anyResourceVersion = '0' as ResourceVersion

/** Brands a string from a server as a resource version. */
export function resourceVersion(value: string): ResourceVersion {
  return value as ResourceVersion
}

/**
 * Compares two resource versions of the same resource, as Kubernetes promises since 1.35 (KEP-5504): by length, then
 * lexically. Two {@link JointPosition}s of one store compare by their steps. Returns `undefined` for values without an
 * order: `""`, `"0"`, leading zeros, anything but digits.
 */
export function compareResourceVersions(
  a: ResourceVersion,
  b: ResourceVersion,
): number | undefined {
  if (!comparable.test(a) || !comparable.test(b)) {
    if (!a.includes('.') || !b.includes('.')) return undefined
    const [one, other] = [readJointPosition(a), readJointPosition(b)]
    return one === undefined || one.store !== other?.store ? undefined : one.step - other.step
  }
  if (a.length !== b.length) return a.length - b.length
  return a === b ? 0 : a < b ? -1 : 1
}

/** Whether `a` is known to come before `b`. */
export function isBefore(a: ResourceVersion, b: ResourceVersion): boolean {
  const order = compareResourceVersions(a, b)
  return order !== undefined && order < 0
}

/** The last of resource versions; `undefined` if they have no order, or there is none. */
export function latestOf(versions: Iterable<ResourceVersion>): ResourceVersion | undefined {
  let latest: ResourceVersion | undefined
  for (const one of versions) {
    const order = latest === undefined ? 1 : compareResourceVersions(one, latest)
    if (order === undefined) return undefined
    if (order > 0) latest = one
  }
  return latest
}

const comparable = /^[1-9][0-9]*$/

/**
 * The position of a store that one watch per namespace fills. Each of these watches has a resource version of its own,
 * and they belong to one history: `low` is the least of them, so the store has every change up to it. The store may have
 * changes after `low`, too.
 */
export interface JointPosition {
  /** `''` if the versions have no order. */
  readonly low: ResourceVersion
  /** A hash of the namespaces that the store covers. */
  readonly extent: string
  /** The store in this process. */
  readonly store: string
  /** Grows by one with each change of the store. */
  readonly step: number
}

/** Writes a position as a text that is no resource version of a server: `LOW.EXTENT.STORE.STEP`. */
export function writeJointPosition({ low, extent, store, step }: JointPosition): ResourceVersion {
  return `${low}.${extent}.${store}.${step}` as ResourceVersion
}

/** Reads a text of {@link writeJointPosition}; `undefined` for any other. */
export function readJointPosition(text: string): JointPosition | undefined {
  const [low, extent, store, step, ...rest] = text.split('.')
  if (low === undefined || extent === undefined || store === undefined) return undefined
  if (step === undefined || rest.length > 0 || !/^[0-9]+$/.test(step)) return undefined
  return { low: low as ResourceVersion, extent, store, step: Number(step) }
}
