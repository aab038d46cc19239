/*
 * What changed in a kind after a resource version, for those who come back with a resume token. The newest changes are read
 * until one is of the version or before it; the states before are made backwards, from the newest ones. Objects of which only
 * something changed that is no change to the archive (a heartbeat) have a newer version and no row of a change: they are told
 * as modified, with the newest state.
 */

import { compareResourceVersions, resourceVersion } from '../../kubernetes/resource-version.ts'
import { recordTypes, type ResumedChange } from '../archive-calls.ts'
import { type BatchWriter, keyOf } from './batch-writer.ts'
import type { Engine, SqlRow } from './engine.ts'
import { readableText, stateBefore } from './kept-state.ts'

/** `undefined`: the archive does not know all of them, or they are more than `limit`. */
export async function changesSince(
  engine: Engine,
  writer: BatchWriter,
  kind: number,
  since: string,
  limit: number,
): Promise<readonly ResumedChange[] | undefined> {
  const [row] = await engine.rows(
    'SELECT position, since_position, since_change FROM kinds WHERE id = $1',
    [kind],
  )
  const isKnown =
    (order(row?.['since_position'], since) ?? 1) <= 0 &&
    (order(row?.['position'], since) ?? -1) >= 0
  if (!isKnown) return undefined
  const rows = await newestFirst(engine, kind, Number(row?.['since_change']), since, limit)
  if (rows === undefined) return undefined
  const told = new Set(rows.map(keyOf))
  const newer = await newerObjects(engine, kind, since)
  const silent = newer.filter((object) => !told.has(keyOf(object)))
  if (rows.length + silent.length > limit) return undefined

  const changes: ResumedChange[] = []
  for (const object of silent) {
    const after = readableText((await newestText(engine, writer, kind, object)) ?? '')
    changes.push({
      type: 'MODIFIED',
      key: keyOf(object),
      uid: String(object['uid']),
      resourceVersion: String(object['version']),
      before: after,
      after,
    })
  }
  const texts = new Map<string, string | undefined>()
  for (const change of rows) {
    const key = keyOf(change)
    const hasText = texts.has(key)
    const after = hasText ? texts.get(key) : await newestText(engine, writer, kind, change)
    const before = stateBefore(after, await writer.text(engine, change, 'detail'))
    texts.set(key, before)
    changes.push(resumed(change, key, before, after))
  }
  return changes.toReversed()
}

function resumed(
  row: SqlRow,
  key: string,
  before: string | undefined,
  after: string | undefined,
): ResumedChange {
  const type = recordTypes[Number(row['type'])] ?? 'MODIFIED'
  return {
    type,
    key,
    uid: String(row['uid']),
    resourceVersion: String(row['version']),
    before: before === undefined ? undefined : readableText(before),
    after: readableText((type === 'REMOVED' ? before : after) ?? ''),
  }
}

/** The rows of changes after a version; `undefined`: more than `limit`. */
async function newestFirst(
  engine: Engine,
  kind: number,
  sinceChange: number,
  since: string,
  limit: number,
): Promise<readonly SqlRow[] | undefined> {
  const found: SqlRow[] = []
  const chunks = engine.chunks(
    `SELECT namespace, name, uid, after, type, version, position, dictionary, detail FROM changes
     WHERE kind_id = $1 AND id > $2 ORDER BY id DESC`,
    [kind, sinceChange],
    200,
  )
  for await (const rows of chunks) {
    for (const row of rows) {
      if ((order(row['position'], since) ?? 1) <= 0) return found
      // A batch that ended after the version may have begun before it. What a list found has older versions.
      if (row['after'] === null && (order(row['version'], since) ?? 1) <= 0) continue
      found.push(row)
      if (found.length > limit) return undefined
    }
  }
  return found
}

async function newerObjects(
  engine: Engine,
  kind: number,
  since: string,
): Promise<readonly SqlRow[]> {
  const newer: SqlRow[] = []
  const chunks = engine.chunks(
    'SELECT namespace, name, uid, version FROM objects WHERE kind_id = $1',
    [kind],
    5_000,
  )
  for await (const rows of chunks) {
    for (const row of rows) if ((order(row['version'], since) ?? 1) > 0) newer.push(row)
  }
  return newer
}

/** `undefined`: there is no such object now. */
async function newestText(
  engine: Engine,
  writer: BatchWriter,
  kind: number,
  { namespace = '', name = '' }: SqlRow,
): Promise<string | undefined> {
  const [found] = await engine.rows(
    'SELECT dictionary, body FROM objects WHERE kind_id = $1 AND namespace = $2 AND name = $3',
    [kind, namespace, name],
  )
  return found && writer.text(engine, found)
}

function order(a: SqlRow[string] | undefined, b: string): number | undefined {
  if (a === null || a === undefined) return undefined
  return compareResourceVersions(resourceVersion(String(a)), resourceVersion(b))
}
