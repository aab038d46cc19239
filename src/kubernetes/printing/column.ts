import { type Fields, fieldsOf, textOf } from '../fields.ts'
import { humanDuration } from './human-duration.ts'

/** What stands in one cell, as far as it depends on the object alone. */
export interface Cell {
  /** A string, a number or a boolean; `null` for an empty cell. */
  readonly value: unknown
  /**
   * A time from which on kubectl counts until now: of a date all that it shows, of another cell without a value a duration that
   * goes on, and behind a value how long ago that was: `3 (5m ago)`.
   */
  readonly since?: string | undefined
}

/** A column of what `kubectl get` shows. */
export interface Column {
  readonly name: string
  /** `date`: its cells have a `since` and no other value. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `name` for that of the object. */
  readonly format: string
  /** From 1 on it is shown by `kubectl get -o wide` alone. */
  readonly priority: number
  /** What stands for a date that there is not; `<unknown>` by default. */
  readonly absent?: string | null
  /** Of a date: whether it is shown as it is, not as an age. */
  readonly asTime?: boolean
  readonly cell: (object: Fields) => Cell
}

/** What `kubectl get` shows of the objects of a kind. */
export interface PrintedKind {
  readonly columns: readonly Column[]
  /** What the columns are made from, where they are not always the same. */
  readonly declared?: unknown
}

/** A column of values. */
export function column(
  name: string,
  type: Exclude<Column['type'], 'date'>,
  valueOf: (object: Fields) => unknown,
  more: Partial<Column> = {},
): Column {
  const cell = (object: Fields): Cell => ({ value: valueOf(object) })
  return { name, type, format: '', priority: 0, cell, ...more }
}

/** A column of ages. */
export function dateColumn(
  name: string,
  since: (object: Fields) => string | undefined,
  more: Partial<Column> = {},
): Column {
  const cell = (object: Fields): Cell => ({ value: null, since: since(object) })
  return { name, type: 'date', format: '', priority: 0, cell, ...more }
}

/** What is shown by `kubectl get -o wide` alone. */
export const wide: Pick<Column, 'priority'> = { priority: 1 }

const metadataOf = (object: Fields): Fields => fieldsOf(object['metadata'])

/** The name of an object, behind which may stand something. */
export function nameColumn(suffix: (object: Fields) => string = () => ''): Column {
  return column('Name', 'string', (object) => nameOf(object) + suffix(object), { format: 'name' })
}

/** The name of an object. */
export function nameOf(object: Fields): string {
  return textOf(metadataOf(object)['name']) ?? ''
}

/** How old an object is. */
export const ageColumn: Column = dateColumn('Age', (object) =>
  textOf(metadataOf(object)['creationTimestamp']),
)

/** The same for objects of which no more than the metadata is held: the other cells are empty. */
export function metadataColumns({ columns }: PrintedKind): PrintedKind {
  return {
    columns: columns.map((one) =>
      one.format === 'name' || one === ageColumn ? one : { ...one, cell: () => ({ value: null }) },
    ),
  }
}

/** A cell as kubectl shows it at some time. */
export function printedCell(
  { type, absent = '<unknown>', asTime = false }: Column,
  { value, since }: Cell,
  nowMs: number,
): unknown {
  if (since === undefined) return type === 'date' ? absent : value
  if (asTime) return since
  const span = spanSince(since, nowMs)
  if (type === 'date' || value === null || value === undefined) return span
  return `${typeof value === 'string' ? value : JSON.stringify(value)} (${span} ago)`
}

function spanSince(since: string, nowMs: number): string {
  const sinceMs = Date.parse(since)
  return Number.isNaN(sinceMs) ? '<invalid>' : humanDuration(nowMs - sinceMs)
}
