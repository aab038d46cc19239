/*
 * What the archive keeps of an object, and how one state became another.
 *
 * `keptState` cuts a text as it came: managedFields and last-applied go, marks stand for values that are not kept. The text
 * of the row is the JSON, a line end, and a line about the managers. `keptChange` compares it with the row before: the
 * fields without what only ticks, who changed them, and in `detail` what makes the state before. Now and then `detail` has
 * the state before as a whole, so that a walk back through thousands of changes begins near its end.
 */

import { ownedDataKeys } from '../../kubernetes/field-changes.ts'
import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { lastAppliedAnnotation } from '../../kubernetes/object.ts'
import { type Fields, fieldsOf, textOf } from '../../kubernetes/fields.ts'
import { isJsonObject } from '../../lib/json.ts'
import { type ArchivedKind, type FieldDifference, maxFields } from '../archive-calls.ts'
import { DamagedTextError } from './bodies.ts'
import { changedFields, parsed, shown, type Undo, undone, undoOf } from './differences.ts'
import { entriesOf, lineOf, managerOf } from './managers.ts'
import { hasUnknown, isMark, isUntold, masked, placeOfUnknown, withoutMarks } from './masks.ts'
import { withoutNoise } from './noise.ts'
import { columnOf, edited, manyPaths } from './paths.ts'

/** A state as it is kept. */
export interface KeptState {
  /** The body of the row: JSON without what is not kept, a line end, and a line about the managers. */
  readonly text: string
  readonly uid: string
  /** The resource version. */
  readonly version: string
  /** In milliseconds since the epoch. */
  readonly created: number | null
  readonly health: string | null
  /** JSON. */
  readonly labels: string
  readonly object: object
  /** The entries of `managedFields`, the one that wrote last at the end. */
  readonly entries: readonly Fields[]
}

/** What is written of a change, besides whose it is. */
export interface KeptChange {
  readonly manager: string | null
  readonly paths: string
  readonly fieldCount: number
  /** Whether the state before stands in the detail, without need of the state after. */
  readonly whole: 0 | 1
  /** What {@link stateBefore} needs, and what a reader sees. */
  readonly detail: string
}

interface Detail {
  /** At most {@link maxFields}. */
  readonly fields?: readonly FieldDifference[]
  /** All paths, if they are too many for the column. */
  readonly paths?: readonly string[]
  readonly undo?: Undo
  /** The state before. */
  readonly before?: object
  /** Of an addition: the state after. */
  readonly added?: object
  /** Whether the state before was damaged, so that nothing leads back from here. */
  readonly isLost?: true
}

/** Values that are nested deeper are `null`: nothing below could be compared, or written as JSON. */
const maxDepth = 500

/**
 * `text`: an object as it came. `before`: the text of the row of the same object, which still tells of managers, and of the
 * keys of a Secret, if the object came without `managedFields`.
 */
export function keptState(kind: ArchivedKind, text: string, before?: string): KeptState {
  const came = parsed(text) as Fields
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  const { managedFields: _, ...metadata } = fieldsOf(came['metadata'])
  // Items of a list do not say their kind, and metadata alone says another one.
  const whole = edited(
    { ...came, apiVersion, kind: kind.kind, metadata },
    ['metadata', 'annotations', lastAppliedAnnotation],
    () => undefined,
  ) as Fields
  const entries = entriesOf(came)
  const known = entries.length === 0 && before !== undefined ? partsOf(before) : undefined
  const isBare = kind.keysOnly && !('data' in came)
  const keys = isBare && known !== undefined ? fieldsOf(parsed(known[0]))['data'] : undefined
  const owned = ownedDataKeys(entries, 'data')
  const named = owned.length === 0 ? Object.keys(fieldsOf(keys)) : owned
  let object = masked(kind, whole, isBare ? named : [])
  let json: string
  try {
    json = JSON.stringify(object)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    object = pruned(object, 0) as object
    json = JSON.stringify(object)
  }
  const labels = Object.entries(fieldsOf(fieldsOf(fieldsOf(object)['metadata'])['labels']))
  const created = Date.parse(textOf(metadata['creationTimestamp']) ?? '')
  return {
    text: `${json}\n${known === undefined ? lineOf(entries) : known[1]}`,
    uid: textOf(metadata['uid']) ?? '',
    version: textOf(metadata['resourceVersion']) ?? '',
    created: Number.isNaN(created) ? null : created,
    health: ruledHealth(healthRuleOf(kind), whole)?.status ?? null,
    labels: JSON.stringify(Object.fromEntries(labels.filter(([, value]) => !isMark(value)))),
    object,
    entries,
  }
}

function pruned(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) {
    return depth === maxDepth ? null : value.map((item) => pruned(item, depth + 1))
  }
  if (!isJsonObject(value)) return value
  if (depth === maxDepth) return null
  const members = Object.entries(value).map(([name, one]) => [name, pruned(one, depth + 1)])
  return Object.fromEntries(members) as unknown
}

/** What is written of an object whose row was damaged: it may have changed, and what was before is not known. */
export const lostChange: KeptChange = {
  manager: null,
  paths: columnOf([]),
  fieldCount: 0,
  whole: 1,
  detail: JSON.stringify({ fields: [], isLost: true } satisfies Detail),
}

/** How often, of changes, the whole state before is kept. */
const wholeOneIn = 32

/**
 * How a kept state (the text of its row) became another one of the same object; `undefined`: nothing that counts as a change.
 * A change without `before` is an addition, one without `after` a removal.
 */
export function keptChange(
  kind: ArchivedKind,
  before: string | undefined,
  after: KeptState | undefined,
): KeptChange | undefined {
  if (before === undefined) return after && additionOf(kind, after)
  const [json, line] = partsOf(before)
  const from = parsed(json) as object
  if (after === undefined) {
    const detail: Detail = { before: from }
    return changeOf([''], 1, null, detail)
  }
  if (json === partsOf(after.text)[0]) return undefined
  const to = after.object
  let fields = changedFields(withoutNoise(kind, from), withoutNoise(kind, to), after.entries)
  // Keys of a Secret that came without any before are no news.
  if (kind.keysOnly && !('data' in from)) fields = fields.filter(({ after: key }) => !isUntold(key))
  if (fields.length === 0 && isUnexplained(kind, from, to)) {
    const path = kind.keysOnly ? '/data' : placeOfUnknown(from, to)
    fields = [{ path, before: '\u0000m.', after: '\u0000m.', manager: null, masked: true }]
  }
  if (fields.length === 0) return undefined
  const undo = undoOf(to, from) ?? { was: from }
  const isWhole = Math.random() * wholeOneIn < 1 || 'was' in undo
  const manager = managerOf(fields, line, partsOf(after.text)[1])
  const paths = fields.map(({ path }) => path)
  const detail: Detail = {
    fields: fields.slice(0, maxFields).map(shown),
    ...(isWhole ? { before: from } : { undo }),
  }
  return changeOf(paths, fields.length, manager, detail)
}

function additionOf(kind: ArchivedKind, { object, entries, text }: KeptState): KeptChange {
  const fields = changedFields(undefined, withoutNoise(kind, object), entries)
  const manager = managerOf(fields, '', partsOf(text)[1])
  const paths = fields.map(({ path }) => path)
  return changeOf(paths, fields.length, manager, { added: object })
}

function changeOf(
  paths: readonly string[],
  fieldCount: number,
  manager: string | null,
  detail: Detail,
): KeptChange {
  const column = columnOf(paths)
  const whole = detail.undo === undefined ? 1 : 0
  const all = column === manyPaths ? { ...detail, paths } : detail
  return { manager, paths: column, fieldCount, whole, detail: JSON.stringify(all) }
}

/** Whether there is a new resource version, and nothing differs but perhaps values of which nothing can be told. */
function isUnexplained({ keysOnly }: ArchivedKind, from: object, to: object): boolean {
  const [before, after] = [from, to].map((one) => fieldsOf(fieldsOf(one)['metadata']))
  if (before?.['resourceVersion'] === after?.['resourceVersion']) return false
  const isBare = keysOnly && !('data' in from && 'data' in to)
  if (!isBare && !hasUnknown(from, to)) return false
  return changedFields(from, to, []).every((change) => isBare && isUntold(change.after))
}

/** The JSON of a row's text, and the line about its managers. */
function partsOf(text: string): readonly [json: string, line: string] {
  const end = text.indexOf('\n')
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)]
}

/** The kept state before a change, from the one after it; `undefined`: there was none. Throws {@link DamagedTextError}. */
export function stateBefore(after: string | undefined, detail: string): string | undefined {
  const { added, before, undo, isLost } = parsed(detail) as Detail
  if (isLost === true) throw new DamagedTextError('the state before was damaged')
  if (added !== undefined) return undefined
  if (before !== undefined || undo === undefined) return JSON.stringify(before ?? null)
  return JSON.stringify(undone(parsed(partsOf(after ?? 'null')[0]), undo))
}

/** A kept state as readers get it: JSON, with `null` in place of values that are not kept. */
export function readableText(text: string): string {
  return withoutMarks(partsOf(text)[0])
}

/** The fields of a change, at most {@link maxFields}, in the order of their paths. */
export function fieldsIn(kind: ArchivedKind, detail: string): readonly FieldDifference[] {
  const { fields, added, before } = parsed(detail) as Detail
  if (fields !== undefined) return readableFields(fields)
  if (added === undefined) return readableFields([{ path: '', before, after: null, masked: false }])
  const found = changedFields(undefined, withoutNoise(kind, added), [])
  return readableFields(found.slice(0, maxFields).map(shown))
}

/** Fields with `null` in place of values that are not kept. */
export function readableFields(fields: readonly FieldDifference[]): readonly FieldDifference[] {
  return parsed(withoutMarks(JSON.stringify(fields))) as readonly FieldDifference[]
}
/** All paths of a change whose column only says that they are many. */
export function pathsOfDetail(detail: string): readonly string[] {
  return (parsed(detail) as Detail).paths ?? ['']
}
