/*
 * What was: the changes of objects, an object as it was, and what differs between two times. Each question looks at a bounded
 * number of rows, then says that there is more.
 *
 * Changes are in the order of their ids, which is that in which they were written. Times are not: clocks jump. So a time bound
 * is first turned into a range of ids that holds all rows within it, and each row's time is compared too.
 */

import { fieldsOf } from '../../kubernetes/fields.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type {
  ArchiveCalls,
  ArchivedChange,
  ArchiveGap,
  ChangesPage,
  ChangesQuestion,
  PastObject,
  PastQuestion,
} from '../archive-calls.ts'
import { lost, unlessLost } from './bodies.ts'
import { type ChangeFilter, changeRows } from './change-rows.ts'
import { parsed } from './differences.ts'
import type { Engine, SqlRow } from './engine.ts'
import { fieldsIn, pathsOfDetail, readableText } from './kept-state.ts'
import { withheld } from './masks.ts'
import { netDifferences } from './net-differences.ts'
import {
  askedKinds,
  gapOf,
  gapsOf,
  isAsked,
  lateTimes,
  type PastKind,
  unwrittenGaps,
} from './past-kinds.ts'
import { keyOf, numberIn } from './kind-rows.ts'
import { changeOf, ofObject, type PastOptions, PastReader, placeOf, typeOf } from './past-reader.ts'
import { isWithin, manyPaths, pathsIn, stepsOf } from './paths.ts'

const readers = new WeakMap<Engine, PastReader>()

/** The questions about the past. */
export function past(
  engine: Engine,
  options: PastOptions,
): Pick<ArchiveCalls, 'changes' | 'objectAt' | 'differences'> {
  const reader = getOrInsert(readers, engine, () => new PastReader(engine, options))
  return {
    changes: (question) => changes(reader, question),
    objectAt: (question) => objectAt(reader, question),
    differences: (question) => netDifferences(reader, question),
  }
}

async function changes(reader: PastReader, question: ChangesQuestion): Promise<ChangesPage> {
  const { engine } = reader
  const { sinceMs, untilMs, following, limit } = question
  const asked = await askedKinds(reader, question.parts)
  const folds: Fold[] = []
  let end: string | undefined
  let hasMore = false
  if (asked.kinds.size > 0 && limit > 0) {
    const matches = await filterOf(reader, asked.kinds, question)
    const last = new Map<string, Fold>()
    for await (const row of changeRows(engine, asked.kinds, question)) {
      if ('unseen' in row) {
        hasMore = true
        end = String(row.unseen)
        break
      }
      if (!(await matches(row))) continue
      const object = JSON.stringify([row['kind_id'], keyOf(row), row['uid']].map(String))
      const fold = following === undefined ? last.get(object) : undefined
      if (fold !== undefined && isRepeat(fold.newest, row)) {
        fold.oldest = row
        fold.count += 1
      } else if (folds.length === limit) {
        hasMore = true
        break
      } else {
        const next = { newest: row, oldest: row, count: 1 }
        last.set(object, next)
        folds.push(next)
      }
      end = String(row['id'])
    }
  }
  return {
    changes: await Promise.all(folds.map((fold) => foldedChange(reader, asked.kinds, fold))),
    hasMore,
    end: end ?? question.following ?? question.before,
    gaps: [
      ...asked.gaps,
      ...beginnings(asked.kinds, sinceMs, following),
      ...(await gapsOf(
        engine,
        asked.kinds,
        sinceMs ?? 0,
        untilMs ?? Number.MAX_SAFE_INTEGER,
        await lateTimes(engine, asked.kinds, untilMs === undefined ? [] : [untilMs]),
      )),
      ...unwrittenGaps(asked.kinds.values(), untilMs),
    ],
  }
}

/** Changes of the same fields of an object by the same manager, one after the other. */
interface Fold {
  readonly newest: SqlRow
  oldest: SqlRow
  count: number
}

function isRepeat(newer: SqlRow, older: SqlRow): boolean {
  return (
    typeOf(newer) === 'MODIFIED' &&
    typeOf(older) === 'MODIFIED' &&
    newer['manager'] === older['manager'] &&
    newer['paths'] === older['paths'] &&
    newer['paths'] !== manyPaths
  )
}

/** The newest change of those, with the values before the oldest one, unless they came back to them. */
async function foldedChange(
  reader: PastReader,
  kinds: ReadonlyMap<number, PastKind>,
  { newest, oldest, count }: Fold,
): Promise<ArchivedChange> {
  const kind = kinds.get(Number(newest['kind_id'])) as PastKind
  let fields = fieldsIn(kind.archived, await detailOf(reader, newest))
  if (count > 1) {
    const former = fieldsIn(kind.archived, await detailOf(reader, oldest))
    fields = fields.map((field, at) => {
      const before = former[at]?.before
      const isBack = JSON.stringify(before) === JSON.stringify(field.after)
      return isBack || former[at]?.path !== field.path ? field : { ...field, before }
    })
  }
  return changeOf(kind, keyOf(newest), newest, fields, { repeats: count })
}

/** The detail of a change; of a damaged one, that it has no fields. */
async function detailOf(reader: PastReader, row: SqlRow): Promise<string> {
  const text = await unlessLost(reader.text(row, 'detail'))
  return text === lost ? '{"fields":[]}' : text
}

/** What SQL does not say of a row exactly: whether the caller asked about the object, and about its paths. */
async function filterOf(
  reader: PastReader,
  kinds: ReadonlyMap<number, PastKind>,
  { paths, names, isStatusOnly }: ChangesQuestion,
): Promise<ChangeFilter> {
  const patterns = paths?.map(stepsOf)
  const named = names && new Set(names)
  return async (row) => {
    const kind = kinds.get(Number(row['kind_id']))
    if (kind === undefined || !isAsked(kind, keyOf(row), String(row['uid']))) return false
    if (named !== undefined && !named.has(String(row['name']))) return false
    if (patterns === undefined && isStatusOnly === undefined) return true
    const column = String(row['paths'])
    const found =
      column === manyPaths ? pathsOfDetail(await detailOf(reader, row)) : pathsIn(column)
    if (isStatusOnly !== undefined && isOfStatus(row, found) !== isStatusOnly) return false
    return patterns === undefined || found.some((path) => isWithin(path, patterns))
  }
}

function isOfStatus(row: SqlRow, paths: readonly string[]): boolean {
  return typeOf(row) === 'MODIFIED' && paths.every((path) => isWithin(path, [['status']]))
}

/** Where a question begins before the archive does. */
function beginnings(
  kinds: ReadonlyMap<number, PastKind>,
  sinceMs: number | undefined,
  following: string | undefined,
): readonly ArchiveGap[] {
  if (following !== undefined) return []
  return [...kinds.values()].flatMap((kind): readonly ArchiveGap[] => {
    const { beginsMs } = kind
    if (beginsMs === undefined) return [gapOf(kind, 'BEFORE_ARCHIVE', undefined, undefined)]
    if (sinceMs === undefined || sinceMs >= beginsMs) return []
    return [gapOf(kind, 'BEFORE_ARCHIVE', undefined, beginsMs)]
  })
}

async function objectAt(reader: PastReader, question: PastQuestion): Promise<PastObject> {
  const { key, at, uid } = question
  const { kinds, gaps } = await askedKinds(reader, [question])
  const [kind] = kinds.values()
  const [missing] = gaps
  if (missing !== undefined) return { state: 'unknown', gap: missing }
  if (kind === undefined) return { state: 'absent' }
  const { beginsMs } = kind
  if (beginsMs === undefined) {
    return { state: 'unknown', gap: gapOf(kind, 'BEFORE_ARCHIVE', undefined, undefined) }
  }
  const found =
    'timeMs' in at
      ? await changeAtTime(reader, kind, key, at.timeMs)
      : await changeAtVersion(reader, kind, key, at.resourceVersion)
  if ('gap' in found) return { state: 'unknown', gap: found.gap }
  const { change } = found
  const isGone = change !== undefined && typeOf(change) === 'REMOVED'
  const id = Number(change?.['id'] ?? 0)
  const state = isGone ? undefined : await unlessLost(reader.stateAfter(kind, key, id))
  if (state === lost) return { state: 'unknown', gap: await lostGap(reader, kind, key, change) }
  if (state === undefined) return { state: 'absent' }
  const kept = readableText(state)
  const { masked } = kind.archived
  const object = withheld(masked, parsed(kept)) as {
    readonly metadata: Readonly<Record<string, unknown>>
  }
  const text = masked.length === 0 ? kept : JSON.stringify(object)
  if (uid !== undefined && object.metadata['uid'] !== uid) return { state: 'absent' }
  const sinceMs = Math.max(Number(change?.['time'] ?? beginsMs), found.gapEndsMs)
  if (found.version === undefined || object.metadata['resourceVersion'] === found.version) {
    return { state: 'found', text, sinceMs }
  }
  const metadata = { ...fieldsOf(object.metadata), resourceVersion: found.version }
  return { state: 'found', text: JSON.stringify({ ...object, metadata }), sinceMs }
}

/** The time in which a state is not known, since what leads back to it is damaged. */
async function lostGap(
  reader: PastReader,
  kind: PastKind,
  key: string,
  change: SqlRow | undefined,
): Promise<ArchiveGap> {
  const next = await reader.changeBehind(kind, key, Number(change?.['id'] ?? 0))
  const fromMs = numberIn(change?.['time']) ?? kind.beginsMs
  return gapOf(kind, 'ARCHIVE_GAP', fromMs, numberIn(next?.['time']))
}

/** The change that made a state, or what is not known of it. */
type MadeBy =
  | {
      /** `undefined`: the state is older than all changes. */
      readonly change: SqlRow | undefined
      /** The resource version that the state got; `undefined`: that of its text. */
      readonly version: string | undefined
      /** The end of the last gap before: whether the state was so earlier is not known. */
      readonly gapEndsMs: number
    }
  | { readonly gap: ArchiveGap }

async function changeAtTime(
  reader: PastReader,
  kind: PastKind,
  key: string,
  timeMs: number,
): Promise<MadeBy> {
  const { beginsMs = 0 } = kind
  if (timeMs < beginsMs) return { gap: gapOf(kind, 'BEFORE_ARCHIVE', undefined, beginsMs) }
  const [unwritten] = unwrittenGaps([kind], timeMs)
  if (unwritten !== undefined) return { gap: unwritten }
  const gaps = await gapsOf(reader.engine, new Map([[kind.id, kind]]), 0, timeMs)
  const within = gaps.find(({ toMs }) => toMs > timeMs)
  if (within !== undefined) return { gap: within }
  const change = await reader.changeAt(kind, key, timeMs)
  const next = await reader.changeBehind(kind, key, Number(change?.['id'] ?? 0))
  const after = numberIn(next?.['after'])
  // The next change was seen late: it may have been before this time.
  if (
    next !== undefined &&
    after !== undefined &&
    after < timeMs &&
    timeMs < Number(next['time'])
  ) {
    return { gap: gapOf(kind, 'ARCHIVE_GAP', after, Number(next['time'])) }
  }
  const version = next === undefined || change === undefined ? undefined : String(change['version'])
  return { change, version, gapEndsMs: Math.max(0, ...gaps.map(({ toMs }) => toMs)) }
}

/** The most changes of an object among which a resource version is looked for. */
const maxVersions = 20_000

/** As the API server would answer: the state of the object at this version of the whole cluster. */
async function changeAtVersion(
  reader: PastReader,
  kind: PastKind,
  key: string,
  version: string,
): Promise<MadeBy> {
  const { engine } = reader
  const place = placeOf(kind, key)
  const rows = await engine.rows(
    `SELECT id, time, type, version FROM changes WHERE ${ofObject} ORDER BY id DESC LIMIT ${maxVersions}`,
    place,
  )
  const asked = numericOf(version)
  const isReached = (row: SqlRow): boolean => {
    const own = numericOf(String(row['version']))
    return asked === undefined || own === undefined ? row['version'] === version : own <= asked
  }
  const change = rows.find(isReached)
  const [row] = await engine.rows(`SELECT version FROM objects WHERE ${ofObject}`, place)
  const known = [
    kind.position,
    row && String(row['version']),
    rows[0] && String(rows[0]['version']),
  ]
  const newest = known.map((one) => numericOf(one ?? '')).filter((one) => one !== undefined)
  const isAhead = asked !== undefined && newest.every((one) => one < asked)
  if (isAhead || (asked === undefined && change === undefined && row?.['version'] !== version)) {
    return { gap: gapOf(kind, 'ARCHIVE_GAP', kind.writtenMs, undefined) }
  }
  if (change !== undefined) {
    const isNewest = change === rows[0] && row?.['version'] === version
    return { change, version: isNewest ? undefined : String(change['version']), gapEndsMs: 0 }
  }
  const oldest = await unlessLost(reader.stateAfter(kind, key, 0))
  const since = oldest === undefined || oldest === lost ? undefined : versionIn(oldest)
  if (asked !== undefined && since !== undefined && since <= asked) {
    return { change: undefined, version: undefined, gapEndsMs: 0 }
  }
  return { gap: gapOf(kind, 'BEFORE_ARCHIVE', undefined, kind.beginsMs) }
}

function versionIn(state: string): bigint | undefined {
  const { metadata } = parsed(readableText(state)) as {
    readonly metadata: { resourceVersion?: string }
  }
  return numericOf(metadata.resourceVersion ?? '')
}

function numericOf(version: string): bigint | undefined {
  return /^\d{1,30}$/.test(version) ? BigInt(version) : undefined
}
