/*
 * Which gateways live, and which of them serves each cluster, where gateways share clusters by this database
 * (`gateway/sharing.ts` says how). All times are by the clock of the database. Each statement stands alone: a gateway is a
 * member while its row is not over, and a cluster goes from one gateway to another by one conditional update.
 */

import type {
  ClusterTaking,
  SharedClusters,
  SharedMember,
  SharingMember,
} from '../archive-calls.ts'
import type { Engine } from './engine.ts'
import { now, shortenedHolds } from './holders.ts'

/** How long a gateway counts as living that says nothing more. */
export const memberMs = 6_000
/** How long the row of a gateway that is gone stays, and then until another one joins. */
const forgottenMs = 3_600_000

type Urgent = Pick<Engine, 'urgent' | 'notify'>

/** Prolongs the row of this gateway, and reads what all of them say. Wakes the others if they do not know it yet. */
export async function prolongMember(
  engine: Urgent,
  { address, instance, isLeaving }: SharingMember,
): Promise<SharedClusters> {
  const leaving = isLeaving ? 1 : 0
  const [before] = await engine.urgent(
    `SELECT instance, leaving, until - ${now} AS remaining FROM members WHERE address = $1`,
    [address],
  )
  await engine.urgent(
    `INSERT INTO members (address, instance, until, leaving) VALUES ($1, $2, ${now} + ${memberMs}, $3)
     ON CONFLICT (address) DO UPDATE SET
       instance = excluded.instance, until = excluded.until, leaving = excluded.leaving`,
    [address, instance, leaving],
  )
  const wasLiving = Number(before?.['remaining'] ?? -1) >= 0
  if (!wasLiving) {
    await engine.urgent(`DELETE FROM members WHERE until < ${now} - ${forgottenMs}`)
  }
  if (!wasLiving || before?.['leaving'] !== leaving) await engine.notify('members')
  const members = await engine.urgent(
    `SELECT address, instance, leaving, until, until - ${now} AS remaining FROM members`,
  )
  const holders = await engine.urgent('SELECT cluster, address FROM serving')
  const isOther = before !== undefined && before['instance'] !== instance
  return {
    isOther: isOther && wasLiving,
    members: members.map((row) => ({
      address: String(row['address']),
      instance: String(row['instance']),
      remainingMs: Number(row['remaining']),
      untilMs: Number(row['until']),
      isLeaving: row['leaving'] === 1,
    })),
    holders: holders.map((row) => [String(row['cluster']), String(row['address'])]),
  }
}

/**
 * Makes this gateway the one that serves clusters, as far as `former` still does (`undefined`: none), and this one lives.
 * Returns those that it has got.
 */
export async function takeClusters(
  engine: Urgent,
  { address, instance }: SharingMember,
  takings: readonly ClusterTaking[],
): Promise<readonly string[]> {
  const taken: string[] = []
  for (const { cluster, former = '' } of takings) {
    const rows = await engine.urgent(
      `INSERT INTO serving (cluster, address)
         SELECT $1, $2 WHERE EXISTS (
           SELECT 1 FROM members WHERE address = $2 AND instance = $3 AND until >= ${now})
       ON CONFLICT (cluster) DO UPDATE SET address = excluded.address WHERE serving.address = $4
       RETURNING cluster`,
      [cluster, address, instance, former],
    )
    if (rows.length > 0) taken.push(cluster)
  }
  if (taken.length > 0) await engine.notify('members')
  return taken
}

/** Says that this gateway lives no more. */
export async function removeMember(engine: Urgent, member: SharingMember): Promise<void> {
  const { address, instance } = member
  await engine.urgent('DELETE FROM members WHERE address = $1 AND instance = $2', [
    address,
    instance,
  ])
  await engine.notify('members')
}

/** Removes the row of a gateway that is gone, if it is still as it was seen. Returns whether it was. Wakes the others. */
export async function removeGone(
  engine: Urgent,
  { address, instance, untilMs }: SharedMember,
): Promise<boolean> {
  const rows = await engine.urgent(
    'DELETE FROM members WHERE address = $1 AND instance = $2 AND until = $3 RETURNING address',
    [address, instance, untilMs],
  )
  if (rows.length === 0) return false
  await engine.urgent(shortenedHolds, [address])
  await engine.notify('members')
  return true
}
