/*
 * What changed in a kind after a resource version, for those who come back with a resume token. The newest changes are read
 * until one is of the version or before it; the states before are made backwards, from the newest ones. Objects of which only
 * something changed that is no change to the archive (a heartbeat) have a newer version and no row of a change: they are told
 * as modified, with the newest state.
 *
 * A store that one watch per namespace fills counts its own steps (`JointPosition`), and its rows have the position of each
 * step. A later store began with its objects, and knows the last change then (`base`): up to there, rows of other stores
 * are older. Whether the first store got as far as the asked position is for the caller to know.
 */

import {
  compareResourceVersions,
  readJointPosition,
  resourceVersion,
} from '../../kubernetes/resource-version.ts'
import { type BaseMark, recordTypes, type ResumedChange } from '../archive-calls.ts'
import type { KeptTexts } from './bodies.ts'
import { keyOf } from './kind-rows.ts'
import type { Engine, SqlRow } from './engine.ts'
import { readableText, stateBefore } from './kept-state.ts'

/** `undefined`: the archive does not know all of them, or they are more than `limit`. */
export async function changesSince(
  engine: Engine,
  texts: KeptTexts,
  kind: number,
  since: string,
  limit: number,
  base?: BaseMark,
): Promise<readonly ResumedChange[] | undefined> {
  const [row] = await engine.rows(
    'SELECT position, since_position, since_change FROM kinds WHERE id = $1',
    [kind],
  )
  const joint = readJointPosition(since)
  // Without a list since then, there are rows of all that the later store knows.
  const isAsThen = base !== undefined && row?.['since_position'] === base.sincePosition
  const isSince = (orderOf(row?.['since_position'], since) ?? (isAsThen ? 0 : 1)) <= 0
  const isUntil = base !== undefined || (orderOf(row?.['position'], since) ?? -1) >= 0
  if (!isUntil || (!isSince && base === undefined)) return undefined
  const within = { sinceChange: Number(row?.['since_change']), until: base?.lastChange }
  const found = await newestFirst(engine, kind, within, since, limit)
  if (found === undefined || !(isSince || found.isWhole)) return undefined
  const { rows } = found
  const told = new Set(rows.map(keyOf))
  const newer = await newerObjects(engine, kind, joint?.low ?? since)
  const silent = newer.filter((object) => !told.has(keyOf(object)))
  if (rows.length + silent.length > limit) return undefined

  const changes: ResumedChange[] = []
  for (const object of silent) {
    // Its version is after the least of the namespaces; its change may be before the position all the same.
    if (joint !== undefined && (await isLastChange(engine, kind, object))) continue
    const after = readableText((await newestText(engine, texts, kind, object)) ?? '')
    changes.push({
      type: 'MODIFIED',
      key: keyOf(object),
      uid: String(object['uid']),
      resourceVersion: String(object['version']),
      before: after,
      after,
    })
  }
  const states = new Map<string, string | undefined>()
  for (const change of rows) {
    const key = keyOf(change)
    const after = states.has(key) ? states.get(key) : await newestText(engine, texts, kind, change)
    const before = stateBefore(after, await texts.text(engine, change, 'detail'))
    states.set(key, before)
    if (Number(change['id']) > (base?.lastChange ?? Infinity)) continue
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
    position: String(row['position']),
    before: before === undefined ? undefined : readableText(before),
    after: readableText((type === 'REMOVED' ? before : after) ?? ''),
  }
}

/**
 * The rows of changes after a version; `undefined`: more than `limit`. `isWhole`: there is one of the version or before it.
 * Rows after `until` are among them, since their states lead back to those before.
 */
async function newestFirst(
  engine: Engine,
  kind: number,
  { sinceChange, until }: { readonly sinceChange: number; readonly until: number | undefined },
  since: string,
  limit: number,
): Promise<{ readonly rows: readonly SqlRow[]; readonly isWhole: boolean } | undefined> {
  const found: SqlRow[] = []
  const chunks = engine.chunks(
    `SELECT id, namespace, name, uid, type, version, position, dictionary, detail FROM changes
     WHERE kind_id = $1 AND id > $2 ORDER BY id DESC`,
    [kind, sinceChange],
    200,
  )
  for await (const rows of chunks) {
    for (const row of rows) {
      const place = orderOf(row['position'], since)
      const isOfOlder = place === undefined && Number(row['id']) <= (until ?? 0)
      if (isOfOlder || (place ?? 1) <= 0) return { rows: found, isWhole: true }
      // The step of one process may have several changes, and another process stood between them. Not all removals have a
      // version of their own.
      const isRemoval = recordTypes[Number(row['type'])] === 'REMOVED'
      if (!isRemoval && (orderOf(row['version'], since) ?? 1) <= 0) continue
      found.push(row)
      if (found.length > limit) return undefined
    }
  }
  return { rows: found, isWhole: false }
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
    for (const row of rows) if ((orderOf(row['version'], since) ?? 1) > 0) newer.push(row)
  }
  return newer
}

/** Whether the newest state of an object came with its last change. */
async function isLastChange(
  engine: Engine,
  kind: number,
  { namespace = '', name = '', version }: SqlRow,
): Promise<boolean> {
  const [last] = await engine.rows(
    `SELECT version FROM changes WHERE kind_id = $1 AND namespace = $2 AND name = $3
     ORDER BY id DESC LIMIT 1`,
    [kind, namespace, name],
  )
  return last?.['version'] === version
}

/** `undefined`: there is no such object now. */
async function newestText(
  engine: Engine,
  texts: KeptTexts,
  kind: number,
  { namespace = '', name = '' }: SqlRow,
): Promise<string | undefined> {
  const [found] = await engine.rows(
    'SELECT dictionary, body FROM objects WHERE kind_id = $1 AND namespace = $2 AND name = $3',
    [kind, namespace, name],
  )
  return found && texts.text(engine, found)
}

function orderOf(a: SqlRow[string] | undefined, b: string): number | undefined {
  if (a === null || a === undefined) return undefined
  return compareResourceVersions(resourceVersion(String(a)), resourceVersion(b))
}
