/*
 * What differs between two times: each object that changed between them, compared as it was then and then. Objects come by
 * cluster, kind, namespace and name. A time that is not known is moved to the next one within the two that is: to the beginning
 * of the archive, to the end of a gap, or for the later time to its beginning; the gap is told.
 */

import { fieldsOf } from '../../kubernetes/fields.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import {
  type ArchivedChange,
  type ArchiveGap,
  type ChangesPage,
  type DifferencesQuestion,
  type FieldDifference,
  maxFields,
} from '../archive-calls.ts'
import { lost, unlessLost } from './bodies.ts'
import { changedFields, parsed, shown } from './differences.ts'
import { places, type SqlRow, tuples } from './engine.ts'
import { readableFields } from './kept-state.ts'
import { hasUnknown, placeOfUnknown } from './masks.ts'
import { withoutNoise } from './noise.ts'
import { keyOf } from './kind-rows.ts'
import { changeOf, ofObject, type PastReader, placeOf, typeOf } from './past-reader.ts'
import {
  askedKinds,
  gapOf,
  gapsOf,
  isAsked,
  type LateTimes,
  lateTimes,
  type PastKind,
  unwrittenGaps,
} from './past-kinds.ts'
import { pathsIn } from './paths.ts'

const maxLookedAt = 100_000
/** The most objects that one question compares. */
const maxCompared = 1_000
const maxKeys = 200
const windowSize = 20_000

interface Times {
  readonly fromMs: number
  readonly toMs: number
}

/** The place of a row: its kind, its object, and whether it is the second row of the object. */
type Cursor = readonly [
  cluster: string,
  group: string,
  resource: string,
  namespace: string,
  name: string,
  isSecond: boolean,
]

export async function netDifferences(
  reader: PastReader,
  { parts, fromMs, toMs = Number.MAX_SAFE_INTEGER, after, limit }: DifferencesQuestion,
): Promise<ChangesPage> {
  const asked = await askedKinds(reader, parts)
  const gaps: ArchiveGap[] = [...asked.gaps, ...unwrittenGaps(asked.kinds.values(), toMs)]
  const changes: ArchivedChange[] = []
  const cursor = after === undefined ? undefined : (JSON.parse(after) as Cursor)
  const budget = { rows: maxLookedAt, objects: maxCompared }
  const page = (end: Cursor | undefined): ChangesPage => ({
    changes,
    hasMore: end !== undefined,
    end: end && JSON.stringify(end),
    gaps,
  })
  const kinds = [...asked.kinds.values()].toSorted((a, b) => compare(placeIn(a), placeIn(b)))
  const ranges = new Map<PastKind, Times | undefined>()
  const late = await lateTimes(reader.engine, asked.kinds, [fromMs, toMs])
  for (const kind of kinds) {
    ranges.set(kind, await knownTimes(reader, kind, { fromMs, toMs }, late, gaps))
  }
  for (const kind of kinds) {
    const times = ranges.get(kind)
    const order = cursor === undefined ? 1 : compare(placeIn(kind), cursor.slice(0, 3) as string[])
    if (times === undefined || order < 0) continue
    const from = order === 0 ? cursor : undefined
    const at = (key: string, isSecond: boolean): Cursor => {
      const { namespace, name } = splitObjectKey(key)
      return [...placeIn(kind), namespace, name, isSecond] as unknown as Cursor
    }
    let last = from
    for await (const key of changedKeys(reader, kind, times, from, budget)) {
      if (typeof key !== 'string') return page(at(key.behind, false))
      if (budget.objects <= 0) return page(last ?? firstOf(kind))
      budget.objects -= 1
      const isHalf = from?.[5] === true && key === keyOf({ namespace: from[3], name: from[4] })
      const found = await unlessLost(netChanges(reader, kind, key, times))
      if (found === lost)
        gaps.push(gapOf(kind, 'ARCHIVE_GAP', times.fromMs, Math.min(times.toMs, Date.now())))
      const rows = found === lost ? [] : found
      for (const [place, row] of rows.entries()) {
        if (isHalf && place === 0) continue
        if (changes.length === limit) return page(last ?? firstOf(kind))
        last = at(key, place === 0 && rows.length > 1)
        changes.push({ ...row, end: JSON.stringify(last) })
      }
      if (rows.length === 0 || isHalf) last = at(key, false)
    }
  }
  return page(undefined)
}

function placeIn({ archived: { cluster, group, resource } }: PastKind): readonly string[] {
  return [cluster, group, resource]
}

/** Before all objects of a kind. */
function firstOf(kind: PastKind): Cursor {
  return [...placeIn(kind), '', '', false] as unknown as Cursor
}

function compare(one: readonly string[], other: readonly string[]): number {
  for (const [at, text] of one.entries()) {
    const against = other[at] ?? ''
    if (text !== against) return text < against ? -1 : 1
  }
  return 0
}

/** The times at which the states of a kind are known; `undefined`: there are none between the two. */
async function knownTimes(
  reader: PastReader,
  kind: PastKind,
  { fromMs, toMs }: Times,
  late: LateTimes,
  gaps: ArchiveGap[],
): Promise<Times | undefined> {
  const { beginsMs } = kind
  if (beginsMs === undefined || fromMs < beginsMs) {
    gaps.push(gapOf(kind, 'BEFORE_ARCHIVE', undefined, beginsMs))
  }
  if (beginsMs === undefined || toMs < beginsMs) return undefined
  const times = { fromMs: Math.max(fromMs, beginsMs), toMs }
  for (const gap of await gapsOf(reader.engine, new Map([[kind.id, kind]]), fromMs, toMs, late)) {
    const [hasFrom, hasTo] = [gap.fromMs < fromMs, gap.toMs > toMs]
    if (!hasFrom && !hasTo) continue
    gaps.push(gap)
    if (hasFrom) times.fromMs = Math.max(times.fromMs, gap.toMs)
    if (hasTo) times.toMs = Math.min(times.toMs, gap.fromMs)
  }
  return times.fromMs < times.toMs ? times : undefined
}

/**
 * The keys of objects with changes within the times, in order; at the end of the budget, the last key that was looked at. No
 * other objects than those that were asked about are looked at, since a cursor names that key.
 */
async function* changedKeys(
  { engine }: PastReader,
  kind: PastKind,
  { fromMs, toMs }: Times,
  cursor: Cursor | undefined,
  budget: { rows: number },
): AsyncGenerator<string | { readonly behind: string }, void> {
  let [, , , namespace, name, isSecond] = cursor ?? ['', '', '', '', '', false]
  const within = `SUM(CASE WHEN time > $2 AND time <= $3 THEN 1 ELSE 0 END)`
  for (const { condition, values } of askedRanges(kind)) {
    while (true) {
      const rows = await engine.rows(
        `SELECT namespace, name, COUNT(*) AS count, ${within} AS within FROM
           (SELECT namespace, name, time FROM changes
            WHERE kind_id = $1 AND (namespace, name) ${isSecond ? '>=' : '>'} ($4, $5) ${condition}
            ORDER BY namespace, name LIMIT ${windowSize}) AS looked
         GROUP BY namespace, name ORDER BY namespace, name`,
        [kind.id, Math.floor(fromMs), Math.floor(toMs), namespace, name, ...values],
      )
      const count = rows.reduce((sum, row) => sum + Number(row['count']), 0)
      const isCut = count >= windowSize
      // Of the last object, not all rows may have been looked at.
      const whole = isCut && rows.length > 1 ? rows.slice(0, -1) : rows
      const isOneAlone = isCut && rows.length === 1
      for (const row of whole) {
        if (Number(row['within']) > 0 || isOneAlone) yield keyOf(row)
        ;[namespace, name, isSecond] = [String(row['namespace']), String(row['name']), false]
      }
      if (!isCut) break
      budget.rows -= count
      if (budget.rows <= 0) {
        yield { behind: keyOf({ namespace, name }) }
        return
      }
    }
  }
}

/** `condition`: more of a WHERE clause, with the values from `$6` on. */
interface AskedRange {
  readonly condition: string
  readonly values: readonly string[]
}

/** The objects that were asked about: ranges in their order, each of some namespaces or keys. */
function askedRanges({ parts }: PastKind): readonly AskedRange[] {
  const names = new Map<string, Set<string> | undefined>()
  for (const { namespaces, keys } of parts) {
    if (keys === undefined && namespaces === undefined) return [{ condition: '', values: [] }]
    if (keys === undefined) for (const one of namespaces ?? []) names.set(one, undefined)
    for (const key of keys ?? []) {
      const { namespace, name } = splitObjectKey(key)
      const isWhole = names.has(namespace) && names.get(namespace) === undefined
      if (isWhole || namespaces?.has(namespace) === false) continue
      names.set(namespace, (names.get(namespace) ?? new Set()).add(name))
    }
  }
  const ranges: { isOfNames: boolean; values: string[] }[] = []
  const add = (isOfNames: boolean, values: readonly string[]): void => {
    const last = ranges.at(-1)
    const isFull = last !== undefined && last.values.length >= 2 * maxKeys
    if (last?.isOfNames === isOfNames && !isFull) last.values.push(...values)
    else ranges.push({ isOfNames, values: [...values] })
  }
  for (const namespace of [...names.keys()].toSorted()) {
    const own = names.get(namespace)
    if (own === undefined) add(false, [namespace])
    else for (const name of [...own].toSorted()) add(true, [namespace, name])
  }
  return ranges.map(({ isOfNames, values }) => ({
    condition: isOfNames
      ? `AND (namespace, name) IN (${tuples(values.length / 2, 2, 6)})`
      : `AND namespace IN (${places(values, 6)})`,
    values,
  }))
}

/** The newest changes of an object that are looked at, for who made them. */
const maxChanges = 50

/** What is net of the changes of an object: none, one, or for an object made anew two. */
async function netChanges(
  reader: PastReader,
  kind: PastKind,
  key: string,
  { fromMs, toMs }: Times,
): Promise<readonly ArchivedChange[]> {
  const rows = await reader.engine.rows(
    `SELECT id, uid, time, after, type, version, manager, paths FROM changes
     WHERE ${ofObject} AND time > $4 AND time <= $5 ORDER BY id DESC LIMIT ${maxChanges}`,
    [...placeOf(kind, key), Math.floor(fromMs), Math.floor(toMs)],
  )
  const [newest] = rows
  if (newest === undefined) return []
  const [before, after] = [
    await stateAt(reader, kind, key, fromMs),
    await stateAt(reader, kind, key, toMs),
  ]
  const [one, other] = [before, after].map((state) =>
    state === undefined ? undefined : (parsed(state) as object),
  )
  const isSame = one !== undefined && other !== undefined && uidIn(one) === uidIn(other)
  if (isSame) {
    const fields = netFields(kind, one, other, rows)
    if (fields.length === 0) return []
    const paths = new Set(fields.map(({ path }) => path))
    const by = rows.find((row) => pathsIn(String(row['paths'])).some((path) => paths.has(path)))
    return [netChange(kind, key, newest, 'MODIFIED', fields, by ?? newest)]
  }
  const found: ArchivedChange[] = []
  if (one !== undefined && isAsked(kind, key, uidIn(one))) {
    const row = rows.find((change) => typeOf(change) === 'REMOVED' && change['uid'] === uidIn(one))
    const fields = [{ path: '', before: one, after: null, masked: false }]
    found.push(
      netChange(kind, key, { ...(row ?? newest), uid: uidIn(one) }, 'REMOVED', fields, row),
    )
  }
  if (other !== undefined && isAsked(kind, key, uidIn(other))) {
    const fields = changedFields(undefined, withoutNoise(kind.archived, other), []).map(shown)
    found.push(netChange(kind, key, newest, 'ADDED', fields, newest))
  }
  return found
}

function netChange(
  kind: PastKind,
  key: string,
  row: SqlRow,
  type: ArchivedChange['type'],
  fields: readonly FieldDifference[],
  by: SqlRow | undefined,
): ArchivedChange {
  const manager = by?.['manager']
  return changeOf(kind, key, row, readableFields(fields.slice(0, maxFields)), {
    type,
    manager: typeof manager === 'string' ? manager : undefined,
    fieldCount: fields.length,
  })
}

/** Of masked values that cannot be compared, those that a change between the two times was about. */
function netFields(
  { archived }: PastKind,
  before: object,
  after: object,
  rows: readonly SqlRow[],
): readonly FieldDifference[] {
  const found = changedFields(withoutNoise(archived, before), withoutNoise(archived, after), [])
  const fields = found.map(shown)
  if (!hasUnknown(before, after)) return fields
  const told = new Set(rows.flatMap((row) => pathsIn(String(row['paths']))))
  const place = placeOfUnknown(before, after)
  for (const path of told) {
    const isAbout = path === place || path.startsWith(`${place}/`)
    if (!isAbout || fields.some((field) => field.path === path)) continue
    fields.push({ path, before: null, after: null, masked: true })
  }
  return fields.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function uidIn(object: object): string {
  return String(fieldsOf(fieldsOf(object)['metadata'])['uid'])
}

/** The kept state of an object at a time. */
async function stateAt(
  reader: PastReader,
  kind: PastKind,
  key: string,
  timeMs: number,
): Promise<string | undefined> {
  const change = await reader.changeAt(kind, key, timeMs)
  if (change !== undefined && typeOf(change) === 'REMOVED') return undefined
  const state = await reader.stateAfter(kind, key, Number(change?.['id'] ?? 0))
  return state?.split('\n', 1)[0]
}
