/*
 * What a question about the past is about: the kinds of its parts that the archive has, which of their objects the caller may
 * see, and of which times the archive does not know everything.
 */

import { splitObjectKey } from '../../kubernetes/object.ts'
import { compareResourceVersions, resourceVersion } from '../../kubernetes/resource-version.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { ArchivedKind, ArchiveGap, ArchivePart, FollowedKind } from '../archive-calls.ts'
import { type Engine, places, type SqlRow, type Statements } from './engine.ts'
import { isLiving } from './holders.ts'
import { keyOf, namespacesOf, numberIn, textOf, writtenIn } from './kind-rows.ts'

/** A kind as its row tells. */
export interface PastKind {
  readonly id: number
  readonly archived: ArchivedKind
  /** Since when all changes are known; `undefined`: there was no whole list yet. */
  readonly beginsMs: number | undefined
  /** Until when all that was seen is written. */
  readonly writtenMs: number
  readonly position: string | undefined
  /** Since when the archive lacks what was seen, or may lack it, since it is not known whether a process writes it. */
  readonly unwrittenMs: number | undefined
  /** What the caller asked about; an object counts if it belongs to one of them. */
  readonly parts: readonly AskedPart[]
}

interface AskedPart {
  readonly namespaces: ReadonlySet<string> | undefined
  readonly keys: ReadonlySet<string> | undefined
  readonly uids: ReadonlySet<string> | undefined
}

export interface AskedKinds {
  /** By id. */
  readonly kinds: ReadonlyMap<number, PastKind>
  /** NOT_ARCHIVED. */
  readonly gaps: readonly ArchiveGap[]
}

/** More clusters are cheaper to read as all of them. */
const maxClusters = 100

interface KindSource {
  readonly engine: Pick<Engine, 'dialect' | 'rows'>
  readonly holds: (cluster: string) => boolean | undefined
  /** The paths whose values are withheld, of rows from before they were masked, too. */
  readonly maskedOf: (kind: { readonly group: string; readonly kind: string }) => readonly string[]
}

export async function askedKinds(
  { engine, holds, maskedOf }: KindSource,
  parts: readonly ArchivePart[],
): Promise<AskedKinds> {
  const clusters = [...new Set(parts.map(({ cluster }) => cluster))]
  const isFew = clusters.length <= maxClusters
  // A file has one process.
  const doubt = engine.dialect === 'sqlite' ? '0' : `CASE WHEN ${isLiving} THEN 0 ELSE 1 END`
  const rows = await engine.rows(
    `SELECT kinds.*, holders.mark, ${doubt} AS is_doubtful
     FROM kinds LEFT JOIN holders ON holders.cluster = kinds.cluster
     ${isFew ? `WHERE kinds.cluster IN (${places(clusters, 1)})` : ''}`,
    isFew ? clusters : [],
  )
  const byName = new Map(rows.map((row) => [nameOf(kindIn(row, () => [])), row]))
  const kinds = new Map<number, PastKind & { readonly parts: AskedPart[] }>()
  const gaps = new Map<string, ArchiveGap>()
  for (const part of parts) {
    const row = byName.get(nameOf(part))
    if (row === undefined) {
      const { cluster, group, resource } = part
      const gap = { cluster, group, resource, code: 'NOT_ARCHIVED' } as const
      gaps.set(nameOf(part), { ...gap, fromMs: undefined, toMs: undefined })
      continue
    }
    const id = Number(row['id'])
    const kind = getOrInsert(kinds, id, () => ({
      id,
      ...pastKind(row, maskedOf),
      unwrittenMs: unwrittenSince(row, part, holds(part.cluster)),
      parts: [],
    }))
    const { namespaces, keys, uids } = part
    kind.parts.push({ namespaces: setOf(namespaces), keys: setOf(keys), uids: setOf(uids) })
  }
  return { kinds, gaps: [...gaps.values()] }
}

function setOf(values: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return values && new Set(values)
}

function nameOf({ cluster, group, resource }: Pick<ArchivePart, 'cluster' | 'group' | 'resource'>) {
  return JSON.stringify([cluster, group, resource])
}

function kindIn(row: SqlRow, maskedOf: KindSource['maskedOf']): ArchivedKind {
  const [group, kind] = [String(row['api_group']), String(row['kind'])]
  return {
    cluster: String(row['cluster']),
    group,
    resource: String(row['resource']),
    version: String(row['version']),
    kind,
    namespaced: Number(row['namespaced']) === 1,
    form: String(row['form']),
    // Of Secrets, no values were written.
    keysOnly: false,
    masked: maskedOf({ group, kind }),
  }
}

function pastKind(
  row: SqlRow,
  maskedOf: KindSource['maskedOf'],
): Omit<PastKind, 'id' | 'unwrittenMs' | 'parts'> {
  return {
    archived: kindIn(row, maskedOf),
    beginsMs: numberIn(row['begins']),
    writtenMs: writtenIn(row),
    position: textOf(row['position']),
  }
}

/**
 * Since when the archive lacks changes of a kind. Who follows the kind knows it: by what it has to write itself, or, where
 * another process writes, by what it has seen that is behind the archive's position. For all others, what that process
 * has said last is the end of what is known once it is not known to live.
 */
function unwrittenSince(
  row: SqlRow,
  { followed }: Pick<ArchivePart, 'followed'>,
  isHeld: boolean | undefined,
): number | undefined {
  if (followed?.own !== undefined && isHeld !== false) return followed.own.unknownSinceMs
  const writtenMs = writtenIn(row)
  if (followed !== undefined) {
    const isWritten = hasReached(row, followed)
    if (isWritten === false) return writtenMs
    if (isWritten === true && followed.sinceMs <= writtenMs) return undefined
  }
  const isUnknown = isHeld === true ? followed !== undefined : Number(row['is_doubtful']) === 1
  return isUnknown && writtenMs > 0 ? writtenMs : undefined
}

/** Whether the archive has what another process has reached; `undefined`: these cannot be compared. */
function hasReached(row: SqlRow, { incarnation, reached }: FollowedKind): boolean | undefined {
  if (row['incarnation'] !== incarnation) return undefined
  const namespaces = namespacesOf(row)
  const orders = Object.entries(reached).map(([namespace, to]) => {
    const at = (namespace === '' ? textOf(row['position']) : namespaces?.[namespace]) ?? ''
    return compareResourceVersions(resourceVersion(at), resourceVersion(to))
  })
  return orders.includes(undefined) ? undefined : orders.every((order = 0) => order >= 0)
}

/** Whether an object belongs to what was asked about. */
export function isAsked({ parts }: PastKind, key: string, uid: string | undefined): boolean {
  return parts.some(
    ({ namespaces, keys, uids }) =>
      (keys === undefined || keys.has(key)) &&
      (namespaces === undefined || namespaces.has(splitObjectKey(key).namespace)) &&
      (uids === undefined || uid === undefined || uids.has(uid)),
  )
}

/** The keys of all objects that were asked about, if they are at most `most`; else `undefined`. */
export function askedKeys({ parts }: PastKind, most: number): readonly string[] | undefined {
  const all = new Set<string>()
  for (const { keys } of parts) {
    if (keys === undefined || all.size + keys.size > 2 * most) return undefined
    for (const key of keys) all.add(key)
  }
  return all.size > most ? undefined : [...all]
}

/** The namespaces of all objects that were asked about, if they are at most `most`; else `undefined`. */
export function askedNamespaces(
  kinds: Iterable<PastKind>,
  most: number,
): readonly string[] | undefined {
  const all = new Set<string>()
  for (const { parts } of kinds) {
    for (const { namespaces, keys } of parts) {
      if (namespaces === undefined && keys === undefined) return undefined
      for (const namespace of namespaces ?? []) all.add(namespace)
      if (namespaces === undefined) {
        for (const key of keys ?? []) all.add(splitObjectKey(key).namespace)
      }
      if (all.size > most) return undefined
    }
  }
  return [...all]
}

const maxGaps = 1_000

/** A time of which not everything is known, with both ends. */
export type PastGap = ReturnType<typeof gapOf<number, number>>

/**
 * Times between `sinceMs` and `untilMs` in which changes of the kinds were not seen, and those around one of the two within
 * which changes were seen late (`late`).
 */
export async function gapsOf(
  statements: Statements,
  kinds: ReadonlyMap<number, PastKind>,
  sinceMs: number,
  untilMs: number,
  late: LateTimes = new Map(),
): Promise<readonly PastGap[]> {
  const ids = [...kinds.keys()]
  const isFew = ids.length <= 1_000
  const rows = await statements.rows(
    `SELECT kind_id, begins, ends FROM gaps WHERE ends > $1 AND begins < $2
       ${isFew ? `AND kind_id IN (${places(ids, 3)})` : ''} ORDER BY ends DESC LIMIT ${maxGaps}`,
    [Math.floor(sinceMs), Math.floor(untilMs), ...(isFew ? ids : [])],
  )
  const gaps = rows.flatMap((row) => {
    const kind = kinds.get(Number(row['kind_id']))
    if (kind === undefined) return []
    return [gapOf(kind, 'ARCHIVE_GAP', Number(row['begins']), Number(row['ends']))]
  })
  const told = new Set(gaps.map((gap) => JSON.stringify(gap)))
  const others = [...kinds.values()].flatMap((kind) =>
    (late.get(kind.id) ?? []).map(({ fromMs, toMs }) => gapOf(kind, 'ARCHIVE_GAP', fromMs, toMs)),
  )
  return [...gaps, ...others.filter((gap) => !told.has(JSON.stringify(gap)))]
}

/** By the ids of kinds. */
export type LateTimes = ReadonlyMap<
  number,
  readonly { readonly fromMs: number; readonly toMs: number }[]
>

const maxLate = 10_000

/**
 * The times around `timesMs` within which objects have changed that were asked about: these changes were seen late, so
 * whether they came before is not known.
 */
export async function lateTimes(
  statements: Statements,
  kinds: ReadonlyMap<number, PastKind>,
  timesMs: readonly number[],
): Promise<LateTimes> {
  const late = new Map<number, { fromMs: number; toMs: number }[]>()
  const ids = [...kinds.keys()]
  const isFew = ids.length <= 1_000
  for (const timeMs of timesMs) {
    const found = new Map<number, { fromMs: number; toMs: number }>()
    // The sign keeps databases from reading all rows of these kinds by their index.
    const rows = await statements.rows(
      `SELECT kind_id, namespace, name, uid, MIN(after) AS begins, MAX(time) AS ends FROM changes
       WHERE time > $1 AND after < $2 ${isFew ? `AND +kind_id IN (${places(ids, 3)})` : ''}
       GROUP BY kind_id, namespace, name, uid LIMIT ${maxLate}`,
      [Math.floor(timeMs), Math.ceil(timeMs), ...(isFew ? ids : [])],
    )
    for (const row of rows) {
      const kind = kinds.get(Number(row['kind_id']))
      if (kind === undefined || !isAsked(kind, keyOf(row), String(row['uid']))) continue
      const { fromMs, toMs } = found.get(kind.id) ?? { fromMs: Infinity, toMs: 0 }
      found.set(kind.id, {
        fromMs: Math.min(fromMs, Number(row['begins'])),
        toMs: Math.max(toMs, Number(row['ends'])),
      })
    }
    for (const [id, times] of found) getOrInsert(late, id, () => []).push(times)
  }
  return late
}

/** Kinds of which the archive lacks, or may lack, changes before a time. */
export function unwrittenGaps(
  kinds: Iterable<PastKind>,
  untilMs: number = Infinity,
): readonly ArchiveGap[] {
  return [...kinds].flatMap((kind) => {
    const { unwrittenMs = Infinity } = kind
    return unwrittenMs < untilMs ? [gapOf(kind, 'ARCHIVE_GAP', unwrittenMs, undefined)] : []
  })
}

export function gapOf<From extends number | undefined, To extends number | undefined>(
  { archived: { cluster, group, resource } }: PastKind,
  code: ArchiveGap['code'],
  fromMs: From,
  toMs: To,
): ArchiveGap & { readonly fromMs: From; readonly toMs: To } {
  return { cluster, group, resource, code, fromMs, toMs }
}
