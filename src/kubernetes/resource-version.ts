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
 * lexically. Returns `undefined` for values without an order: `""`, `"0"`, leading zeros, anything but digits.
 */
export function compareResourceVersions(
  a: ResourceVersion,
  b: ResourceVersion,
): number | undefined {
  if (!comparable.test(a) || !comparable.test(b)) return undefined
  if (a.length !== b.length) return a.length - b.length
  return a === b ? 0 : a < b ? -1 : 1
}

/** Whether `a` is known to come before `b`. */
export function isBefore(a: ResourceVersion, b: ResourceVersion): boolean {
  const order = compareResourceVersions(a, b)
  return order !== undefined && order < 0
}

const comparable = /^[1-9][0-9]*$/
