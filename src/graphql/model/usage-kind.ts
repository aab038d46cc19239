import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import { usageResourceOf, usageResources } from '../../kubernetes/usage.ts'
import { measuredIndexes } from '../../query/index/usage-index.ts'
import type { Kind } from './kind.ts'

/**
 * The kinds of measurements, as the gateway caches them for `usage` and the indexes of usage. They are no kinds of the
 * schema: its `PodMetrics` is the same resource, read from the API server for each answer.
 */
const kinds: readonly Kind[] = usageResources.map((resource) => ({
  resource,
  apiVersion: apiVersionOf(resource),
  typeName: resource.kind,
  listField: '',
  lookupField: '',
  indexes: measuredIndexes,
  relations: [],
  objectRefs: [],
  polymorphic: [],
  uses: [],
  usedBy: [],
  leftOutUsers: [],
  metadataOnly: false,
  uncached: false,
}))

/** The kind of the measurements of a kind's objects; `undefined` if nothing measures them. */
export function usageKindOf({ resource }: Pick<Kind, 'resource'>): Kind | undefined {
  const measured = usageResourceOf(resource)
  return measured && kinds.find((kind) => kind.resource === measured)
}

/** Whether a kind is one of the measurements, which are listed and never watched. */
export function isUsageKind(kind: Kind): boolean {
  return kinds.includes(kind)
}
