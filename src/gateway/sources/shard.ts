import { createHash } from 'node:crypto'

/** Which of the clusters of the sources a gateway serves, where several gateways share them out. */
export interface Shard {
  /** The number of this gateway among those that share the clusters: from 0, below `count`. */
  readonly index: number
  /** How many gateways share the clusters. */
  readonly count: number
}

/** The one gateway that serves all of them. */
export const wholeFleet: Shard = { index: 0, count: 1 }

/**
 * Whether a cluster belongs to a shard, by the hash of its name alone: each cluster is in exactly one of the shards, and
 * one shard more takes its share from all the others and moves no other cluster (rendezvous hashing).
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
