/*
 * Forgets the oldest changes, by age and by bytes, in small steps with room for others between them. The order is that of
 * ids, not of times: a clock that jumped neither keeps nor loses what is between. States are made backwards from the newest
 * one, so the oldest changes are needed by nobody. A kind of which changes were forgotten is known since the last of them.
 *
 * A gap that is older than what is kept goes in the same way; and so does a kind that nobody has written for as long.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { rowBytes } from './batch-writer.ts'
import type { Engine, SqlRow, Statements } from './engine.ts'

export interface Kept {
  readonly keepMs: number
  readonly maxBytes: number
  /** Whether something found no room: then more is forgotten. */
  readonly isFull?: boolean
}

/** Whether a kind is in use: by this process, or perhaps by another one. */
export type IsInUse = (kind: { readonly id: number; readonly cluster: string }) => boolean

/** One pass, until the signal. Resolves with the bytes that are left. */
export async function forgetOld(
  engine: Engine,
  kept: Kept,
  isInUse: IsInUse,
  signal: AbortSignal,
): Promise<number> {
  const cut = Date.now() - kept.keepMs
  let bytes = await usedBytes(engine)
  // Some more than what is too much, so that the next rows find room, however many they are. A disk that is full for other
  // reasons does not empty the archive.
  const isNearlyFull = bytes > kept.maxBytes * 0.95
  const most = kept.maxBytes * (kept.isFull === true ? 0.5 : isNearlyFull ? 0.9 : 1)
  while (!signal.aborted) {
    const excess = bytes - most
    const count = await engine.transaction((statements) =>
      forgetChanges(engine, statements, cut, excess),
    )
    const hasMore = await engine.giveBack()
    bytes = await usedBytes(engine)
    if (count === 0 && !hasMore) break
    await sleep(pauseMs)
  }
  if (signal.aborted) return engine.bytes()
  await engine.transaction((statements) => forgetGaps(statements, cut))
  await forgetKinds(engine, cut, isInUse)
  return engine.bytes()
}

const rowsAtOnce = 500
const pauseMs = 2

/** Postgres keeps the room of deleted rows for new ones, so there the rows are counted. */
async function usedBytes(engine: Engine): Promise<number> {
  if (engine.dialect === 'sqlite') return engine.bytes()
  const [row] = await engine.rows('SELECT SUM(object_bytes + change_bytes) AS bytes FROM kinds')
  return Number(row?.['bytes'] ?? 0)
}

/** Forgets some of the oldest changes: those before a time, and so many that these bytes are free. Resolves with their number. */
async function forgetChanges(
  engine: Engine,
  statements: Statements,
  cut: number,
  excess: number,
): Promise<number> {
  if (engine.dialect === 'postgres') {
    // One process at a time.
    const [lock] = await statements.rows(
      'SELECT CAST(pg_try_advisory_xact_lock(7377262) AS INTEGER) AS mine',
    )
    if (lock?.['mine'] !== 1) return 0
  }
  const oldest = await statements.rows(
    `SELECT id, kind_id, time, position,
       LENGTH(detail) + LENGTH(paths) + 2 * (LENGTH(namespace) + LENGTH(name)) + ${rowBytes} AS bytes
     FROM changes ORDER BY id LIMIT ${rowsAtOnce}`,
  )
  let freed = 0
  const firstKept = oldest.findIndex((row) => {
    const isKept = Number(row['time']) >= cut && freed >= excess
    freed += Number(row['bytes'])
    return isKept
  })
  const old = firstKept < 0 ? oldest : oldest.slice(0, firstKept)
  const last = old.at(-1)
  if (last === undefined) return 0
  await statements.rows('DELETE FROM changes WHERE id <= $1', [last['id'] ?? 0])
  for (const [kind, rows] of Map.groupBy(old, (row) => Number(row['kind_id']))) {
    await knownSince(statements, kind, rows)
  }
  return old.length
}

async function knownSince(
  statements: Statements,
  kind: number,
  rows: readonly SqlRow[],
): Promise<void> {
  const time = Math.max(...rows.map((row) => Number(row['time'])))
  const last = rows.at(-1)
  const bytes = rows.reduce((sum, row) => sum + Number(row['bytes']), 0)
  await statements.rows(
    `UPDATE kinds SET changes = changes - $2, change_bytes = change_bytes - $3,
       begins = CASE WHEN begins < $4 THEN $4 ELSE begins END,
       since_position = CASE WHEN since_change < $6 THEN COALESCE($5, since_position) ELSE since_position END,
       since_change = CASE WHEN since_change < $6 THEN $6 ELSE since_change END WHERE id = $1`,
    [kind, rows.length, bytes, time, last?.['position'] ?? null, last?.['id'] ?? 0],
  )
}

async function forgetGaps(statements: Statements, cut: number): Promise<void> {
  const rows = await statements.rows('DELETE FROM gaps WHERE ends < $1 RETURNING kind_id, ends', [
    cut,
  ])
  for (const [kind, gaps] of Map.groupBy(rows, (row) => Number(row['kind_id']))) {
    const ends = Math.max(...gaps.map((row) => Number(row['ends'])))
    await statements.rows('UPDATE kinds SET begins = $2 WHERE id = $1 AND begins < $2', [
      kind,
      ends,
    ])
  }
}

async function forgetKinds(engine: Engine, cut: number, isInUse: IsInUse): Promise<void> {
  const unused = await engine.rows(
    'SELECT id, cluster FROM kinds WHERE written < $1 AND changes <= 0',
    [cut],
  )
  for (const row of unused) {
    const id = Number(row['id'])
    if (isInUse({ id, cluster: String(row['cluster']) })) continue
    for (;;) {
      const gone = await engine.rows(
        `DELETE FROM objects WHERE kind_id = $1 AND (namespace, name) IN
           (SELECT namespace, name FROM objects WHERE kind_id = $1 LIMIT ${rowsAtOnce}) RETURNING kind_id`,
        [id],
      )
      if (gone.length === 0) break
      await sleep(pauseMs)
    }
    for (const table of ['dictionaries', 'gaps']) {
      await engine.rows(`DELETE FROM ${table} WHERE kind_id = $1`, [id])
    }
    await engine.rows('DELETE FROM kinds WHERE id = $1', [id])
  }
}
