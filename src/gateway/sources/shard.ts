import { createHash } from 'node:crypto'

/** The share of one gateway, if several gateways divide the sources' clusters among them. */
export interface Shard {
  /** The number of this gateway among those that share the clusters: from 0, below `count`. */
  readonly index: number
  /** How many gateways share the clusters. */
  readonly count: number
}

/** The share of a single gateway: all clusters. */
export const wholeFleet: Shard = { index: 0, count: 1 }

/**
 * Whether a cluster belongs to a shard, by the hash of its name alone (rendezvous hashing). Each cluster is in exactly one
 * shard. A further shard takes its share from all others, and moves no other cluster.
 */
export function isInShard(cluster: string, { index, count }: Shard): boolean {
  const own = weightOf(cluster, index)
  for (let other = 0; other < count; other++) {
    if (other === index) continue
    const weight = weightOf(cluster, other)
    if (weight > own || (weight === own && other < index)) return false
  }
  return true
}

function weightOf(cluster: string, shard: number): number {
  return createHash('sha256').update(`${shard}/${cluster}`).digest().readUIntBE(0, 6)
}
