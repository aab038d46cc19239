import { type Fields, fieldsOf, textOf } from '../fields.ts'
import { humanDuration } from './printed-text.ts'

/** The contents of a cell, as far as they depend on the object alone. */
export interface Cell {
  /** A string, a number or a boolean; `null` for an empty cell. */
  readonly value: unknown
  /**
   * A start time, from which kubectl counts to now. A date shows only the age. Another cell without a value shows an
   * ongoing duration, and one with a value shows how long ago it was: `3 (5m ago)`.
   */
  readonly since?: string | undefined
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string
  /** The cells of a `date` have a `since` and no other value. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `name` for the name of the object. */
  readonly format: string
  /** From 1 on, only `kubectl get -o wide` shows the column. */
  readonly priority: number
  /** Shown for a missing date; default: `<unknown>`. */
  readonly absent?: string | null
  /** For a date: whether it is shown as a time instead of an age. */
  readonly asTime?: boolean
  readonly cell: (object: Fields) => Cell
}

/** The columns that `kubectl get` shows for a kind. */
export interface PrintedKind {
  readonly columns: readonly Column[]
  /** The declaration of the columns, if it may change. */
  readonly declared?: unknown
}

export function column(
  name: string,
  type: Exclude<Column['type'], 'date'>,
  valueOf: (object: Fields) => unknown,
  more: Partial<Column> = {},
): Column {
  const cell = (object: Fields): Cell => ({ value: valueOf(object) })
  return { name, type, format: '', priority: 0, cell, ...more }
}

export function dateColumn(
  name: string,
  since: (object: Fields) => string | undefined,
  more: Partial<Column> = {},
): Column {
  const cell = (object: Fields): Cell => ({ value: null, since: since(object) })
  return { name, type: 'date', format: '', priority: 0, cell, ...more }
}

/** Only `kubectl get -o wide` shows the column. */
export const wide: Pick<Column, 'priority'> = { priority: 1 }

const metadataOf = (object: Fields): Fields => fieldsOf(object['metadata'])

export function nameColumn(suffix: (object: Fields) => string = () => ''): Column {
  return column('Name', 'string', (object) => nameOf(object) + suffix(object), { format: 'name' })
}

export function nameOf(object: Fields): string {
  return textOf(metadataOf(object)['name']) ?? ''
}

export const ageColumn: Column = dateColumn('Age', (object) =>
  textOf(metadataOf(object)['creationTimestamp']),
)

/** The columns for objects whose metadata alone is held: all cells but name and age are empty. */
export function metadataColumns({ columns }: PrintedKind): PrintedKind {
  return {
    columns: columns.map((one) =>
      one.format === 'name' || one === ageColumn ? one : { ...one, cell: () => ({ value: null }) },
    ),
  }
}

/** A cell as kubectl shows it at a time. */
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
