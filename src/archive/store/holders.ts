/*
 * Who writes a cluster, where several processes share a database. A row of `holders` says who and until when, by the clock
 * of the database. The holder prolongs it with everything that it writes, and in between (`prolong`); then it also says until
 * when all that it saw is written (`mark`). When the time is over, another process may take the cluster, with the next epoch.
 * A transaction that writes checks its epochs first, and locks the rows: so what a former holder still has in hand is refused.
 */

import { randomUUID } from 'node:crypto'
import { ArchiveError } from '../archive-options.ts'
import type { ClusterMark } from '../archive-calls.ts'
import { type Engine, places, type Statements } from './engine.ts'

/** How long a process holds a cluster of which it says nothing more. */
export const holdMs = 12_000
/** How often it says that it still holds its clusters. */
export const prolongMs = 3_000

/** Milliseconds since the epoch, by the clock of Postgres. */
export const now = 'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)'

/** The SQL condition that the process of a row of `holders` lives: it has renewed its hold in time, and no other process has shortened it. */
export const isLiving: string = `holders.until >= ${now} + ${holdMs - 1.5 * prolongMs}`

export class Holders {
  readonly #holder = randomUUID()
  readonly #epochs = new Map<string, number>()
  /** What this process says of its clusters with the next prolongation. */
  readonly #marks = new Map<string, ClusterMark>()

  holds(cluster: string): boolean {
    return this.#epochs.has(cluster)
  }

  /**
   * Takes the clusters that no other process holds: {@link holds} says which. Resolves with those that this process did not
   * hold before, so that another one may have written them. Does not lock the rows of other processes, which may be writing.
   */
  async claim(statements: Statements, clusters: readonly string[]): Promise<readonly string[]> {
    const rows = await statements.rows(
      `INSERT INTO holders (cluster, holder, epoch, until)
         SELECT cluster, $2, 1, ${now} + ${holdMs} FROM json_array_elements_text(CAST($1 AS JSON)) AS given (cluster)
         WHERE NOT EXISTS (
           SELECT 1 FROM holders WHERE holders.cluster = given.cluster AND holder <> $2 AND until >= ${now})
       ON CONFLICT (cluster) DO UPDATE SET until = excluded.until, holder = excluded.holder,
         epoch = holders.epoch + CASE WHEN holders.holder = excluded.holder THEN 0 ELSE 1 END
       WHERE holders.holder = excluded.holder OR holders.until < ${now} RETURNING cluster, epoch`,
      [JSON.stringify(clusters.toSorted()), this.#holder],
    )
    const before = new Map(this.#epochs)
    for (const cluster of clusters) this.#epochs.delete(cluster)
    for (const row of rows) this.#epochs.set(String(row['cluster']), Number(row['epoch']))
    return clusters.filter((one) => this.holds(one) && this.#epochs.get(one) !== before.get(one))
  }

  /** In a transaction that writes: locks the rows of these clusters. Rejects with ARCHIVE_HELD if one is lost. */
  async check(statements: Statements, clusters: ReadonlySet<string>): Promise<void> {
    const names = [...clusters].toSorted()
    const rows = await statements.rows(
      `UPDATE holders SET until = ${now} + ${holdMs} WHERE holder = $1 AND cluster IN (${places(names, 2)})
       RETURNING cluster, epoch`,
      [this.#holder, ...names],
    )
    const found = new Map(rows.map((row) => [String(row['cluster']), Number(row['epoch'])]))
    for (const cluster of names) {
      // `prolong` may have forgotten it meanwhile.
      if (found.has(cluster) && found.get(cluster) === this.#epochs.get(cluster)) continue
      this.#epochs.delete(cluster)
      throw ofAnother(cluster)
    }
  }

  /** Notes what {@link prolong} says of clusters. */
  mark(marks: readonly ClusterMark[]): void {
    for (const one of marks) this.#marks.set(one.cluster, one)
  }

  /**
   * Prolongs the clusters that this process holds, without those that it has released, and those that a transaction of its
   * own prolongs just now, however long that takes; forgets those that it has lost.
   */
  async prolong(engine: Pick<Engine, 'urgent'>): Promise<void> {
    const held = new Map(this.#epochs)
    if (held.size === 0) return
    const marks = [...held.keys()].map((cluster) => {
      const { atMs, but } = this.#marks.get(cluster) ?? {}
      return { cluster, mark: atMs === undefined ? null : JSON.stringify({ atMs, but }) }
    })
    this.#marks.clear()
    await engine.urgent(
      `UPDATE holders SET until = ${now} + ${holdMs}, mark = COALESCE(given.mark, holders.mark)
       FROM json_to_recordset(CAST($2 AS JSON)) AS given (cluster TEXT, mark TEXT)
       WHERE holders.cluster = given.cluster AND holders.cluster IN (
         SELECT cluster FROM holders WHERE holder = $1 FOR UPDATE SKIP LOCKED)`,
      [this.#holder, JSON.stringify(marks)],
    )
    const rows = await engine.urgent('SELECT cluster, epoch FROM holders WHERE holder = $1', [
      this.#holder,
    ])
    const found = new Map(rows.map((row) => [String(row['cluster']), Number(row['epoch'])]))
    for (const [cluster, epoch] of held) {
      const isLost = found.get(cluster) !== epoch
      if (isLost && this.#epochs.get(cluster) === epoch) this.#epochs.delete(cluster)
    }
  }

  /** Lets others take a cluster, or everything, at once. When it was held last stays known. */
  async release(statements: Statements, cluster?: string): Promise<void> {
    const released = [...this.#epochs.keys()].filter((one) => (cluster ?? one) === one)
    if (released.length === 0) return
    for (const one of released) this.#epochs.delete(one)
    await statements.rows(
      `UPDATE holders SET until = ${now} - 1 WHERE holder = $1 AND cluster = COALESCE($2, cluster)`,
      [this.#holder, cluster ?? null],
    )
  }
}

/**
 * The process that serves these clusters has ended, as it seems: others may take them in a moment, instead of when its time
 * is over. If it lives, it prolongs them before.
 */
export const shortenedHolds: string = `UPDATE holders SET until = LEAST(until, ${now} + ${prolongMs + 1_000}) WHERE cluster IN (
  SELECT cluster FROM holders WHERE cluster IN (SELECT cluster FROM serving WHERE address = $1) FOR UPDATE SKIP LOCKED)`

/** Forgets the clusters that no process has written for `keepMs`: mostly those that operators have removed from the configuration. */
export async function forgetClusters(statements: Statements, keepMs: number): Promise<void> {
  for (const table of ['apis', 'serving']) {
    await statements.rows(
      `DELETE FROM ${table} WHERE cluster IN (SELECT cluster FROM holders WHERE until < ${now} - $1)`,
      [keepMs],
    )
  }
  await statements.rows(`DELETE FROM holders WHERE until < ${now} - $1`, [keepMs])
}

export function ofAnother(cluster: string): ArchiveError {
  return new ArchiveError(
    'ARCHIVE_HELD',
    `another process writes the cluster ${cluster} into this archive`,
    'nothing is to be done: it reads the same archive, and takes over when the other one ends',
  )
}
