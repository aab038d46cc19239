import type { ServedSchema } from '../operation/served-schema.ts'
import { NotCoveredError } from './not-covered.ts'

/** The cluster that a root field names, or the default one. Throws {@link NotCoveredError} for one that is not there. */
export function clusterOf(
  { clusters }: ServedSchema,
  { cluster }: { readonly cluster?: unknown },
): string {
  const name = cluster ?? clusters.keys().next().value
  if (typeof name === 'string' && clusters.has(name)) return name
  throw new NotCoveredError('a cluster that is not there')
}
