/*
 * Which gateways live, and which of them serves each cluster, where gateways share clusters by this database
 * (`gateway/sharing.ts` says how). All times are by the clock of the database. Each statement stands alone: a gateway is a
 * member while its row is not over, and a cluster goes from one gateway to another by a conditional update.
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
/** How long the worker goes on saying so when the gateway's own thread says nothing, and how often. */
const silentMs = 9_000
export const beatMs = 2_000
/** How long the row of a gateway that is gone stays, and then until another one joins. */
const forgottenMs = 3_600_000

type Urgent = Pick<Engine, 'urgent' | 'notify'>

/**
 * Prolongs the row of this gateway, and reads what all of them say. Wakes the others if they do not know it yet. All in one statement: on
 * a busy machine an answer may take a second, and after a few of them the row would be over.
 */
export async function prolongMember(
  engine: Urgent,
  { address, instance, isLeaving }: SharingMember,
): Promise<SharedClusters> {
  const leaving = isLeaving ? 1 : 0
  // What the statement itself writes is not in `members` yet.
  const rows = await engine.urgent(
    `WITH own AS (
       INSERT INTO members (address, instance, until, leaving) VALUES ($1, $2, ${now} + ${memberMs}, $3)
       ON CONFLICT (address) DO UPDATE SET
         instance = excluded.instance, until = excluded.until, leaving = excluded.leaving
       RETURNING address, instance, leaving, until)
     SELECT 'member' AS what, address, instance AS name, leaving, until, until - ${now} AS remaining FROM own
     UNION ALL SELECT CASE WHEN address = $1 THEN 'before' ELSE 'member' END,
       address, instance, leaving, until, until - ${now} FROM members
     UNION ALL SELECT 'cluster', address, cluster, NULL, NULL, NULL FROM serving`,
    [address, instance, leaving],
  )
  const said = Map.groupBy(rows, ({ what }) => what)
  const before = said.get('before')?.[0]
  const wasLiving = Number(before?.['remaining'] ?? -1) >= 0
  if (!wasLiving) {
    await engine.urgent(`DELETE FROM members WHERE until < ${now} - ${forgottenMs}`)
  }
  if (!wasLiving || before?.['leaving'] !== leaving) await engine.notify('members')
  return {
    isOther: wasLiving && before?.['name'] !== instance,
    members: (said.get('member') ?? []).map((row) => ({
      address: String(row['address']),
      instance: String(row['name']),
      remainingMs: Number(row['remaining']),
      untilMs: Number(row['until']),
      isLeaving: row['leaving'] === 1,
    })),
    holders: (said.get('cluster') ?? []).map((row) => [
      String(row['name']),
      String(row['address']),
    ]),
  }
}

/**
 * Says that the gateway lives while its own thread cannot: with a thousand clusters on a busy machine, V8 may hold that thread for seconds
 * to collect its heap. All clusters would move, to others that are as busy, and back again. A thread that stands still for longer counts
 * as gone. A gateway of which nothing is heard at all, of which the process or the computer has ended, does after {@link memberMs}.
 */
export class MemberBeats {
  #member: SharingMember | undefined
  #saidMs = 0
  #isBeating = false

  /** Notes what the gateway's thread has said last; `undefined`: that it lives no more. */
  said(member: SharingMember | undefined): void {
    this.#member = member
    this.#saidMs = performance.now()
  }

  /** Never rejects: the next prolongation says why not. */
  async beat(engine: Urgent): Promise<void> {
    const member = this.#member
    if (member === undefined || this.#isBeating) return
    if (performance.now() - this.#saidMs > silentMs) return
    this.#isBeating = true
    const text = `UPDATE members SET until = ${now} + ${memberMs} WHERE address = $1 AND instance = $2`
    await engine.urgent(text, [member.address, member.instance]).catch(() => undefined)
    this.#isBeating = false
  }
}

/**
 * Makes this gateway the one that serves clusters, as far as `former` still does (`undefined`: none), and this one lives.
 * Returns those that it has got. One statement for all, so that its row is prolonged meanwhile.
 */
export async function takeClusters(
  engine: Urgent,
  { address, instance }: SharingMember,
  takings: readonly ClusterTaking[],
): Promise<readonly string[]> {
  const rows = await engine.urgent(
    `WITH taking AS (
       SELECT cluster, former FROM json_to_recordset(CAST($3 AS JSON)) AS wanted (cluster TEXT, former TEXT)
       WHERE EXISTS (SELECT 1 FROM members WHERE address = $1 AND instance = $2 AND until >= ${now})),
     taken AS (
       UPDATE serving SET address = $1 FROM taking
       WHERE serving.cluster = taking.cluster AND serving.address = taking.former RETURNING serving.cluster),
     added AS (
       INSERT INTO serving (cluster, address) SELECT cluster, $1 FROM taking
       ON CONFLICT (cluster) DO NOTHING RETURNING cluster)
     SELECT cluster FROM taken UNION ALL SELECT cluster FROM added`,
    [address, instance, JSON.stringify(takings)],
  )
  if (rows.length > 0) await engine.notify('members')
  return rows.map(({ cluster }) => String(cluster))
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
