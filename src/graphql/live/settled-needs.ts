import type { ClusterKind } from '../prepare/kind-view.ts'
import { maxRounds } from '../prepare/preparation.ts'
import type { KindLeases } from '../prepare/kind-leases.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'

/** Kinds as they are now, all of which can be read. Rejects with why one of them cannot be. */
export async function settledNeeds(
  prepared: KindLeases,
  needs: readonly ClusterKind[],
): Promise<ReadSnapshot> {
  for (let round = 1; ; round += 1) {
    const settled = prepared.settle()
    try {
      for (const need of needs) settled.part(need)
      return settled
    } catch (error) {
      if (settled.needed.length === 0 || round === maxRounds) throw error
      // oxlint-disable-next-line no-await-in-loop -- one round after the other
      await prepared.prepare(settled.needed)
    }
  }
}
