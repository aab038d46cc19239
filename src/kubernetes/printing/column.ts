/*
 * The columns that `kubectl get` shows for a kind. A cell has the contents that depend on the object alone; `printedCell`
 * adds ages and durations, which depend on the time.
 */

import { type Fields, fieldsOf, textOf } from '../fields.ts'

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

export interface PrintedKind {
  readonly columns: readonly Column[]
  /** The declaration of the columns, if it may change. */
  readonly declared?: unknown
}

/** A column of strings, unless `more` has another type. */
export function column(
  name: string,
  valueOf: (object: Fields) => unknown,
  more: Partial<Column> = {},
): Column {
  const cell = (object: Fields): Cell => ({ value: valueOf(object) })
  return { name, type: 'string', format: '', priority: 0, cell, ...more }
}

export function dateColumn(
  name: string,
  since: (object: Fields) => unknown,
  more: Partial<Column> = {},
): Column {
  const cell = (object: Fields): Cell => ({ value: null, since: textOf(since(object)) })
  return { name, type: 'date', format: '', priority: 0, cell, ...more }
}

/** The column, shown by `kubectl get -o wide` only. */
export function wide(one: Column): Column {
  return { ...one, priority: 1 }
}

export function nameColumn(suffix: (object: Fields) => string = () => ''): Column {
  const nameOf = (object: Fields): string =>
    (textOf(fieldsOf(object['metadata'])['name']) ?? '') + suffix(object)
  return column('Name', nameOf, { format: 'name' })
}

export const ageColumn: Column = dateColumn(
  'Age',
  (object) => fieldsOf(object['metadata'])['creationTimestamp'],
)

/** The columns for objects whose metadata alone is held: name and age. The others would have no value. */
export function metadataColumns({ columns }: PrintedKind): PrintedKind {
  return { columns: columns.filter((one) => one.format === 'name' || one === ageColumn) }
}

/** A cell as kubectl shows it at a time. */
export function printedCell(
  { type, absent = '<unknown>', asTime = false }: Column,
  { value, since }: Cell,
  nowMs: number,
): unknown {
  if (since === undefined) return type === 'date' ? absent : value
  if (asTime) return since
  const sinceMs = Date.parse(since)
  const span = Number.isNaN(sinceMs) ? '<invalid>' : humanDuration(nowMs - sinceMs)
  if (type === 'date' || value === null || value === undefined) return span
  return `${typeof value === 'string' ? value : JSON.stringify(value)} (${span} ago)`
}

/** A duration as kubectl shows ages: two units while it is short, then one. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return twoUnits(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return days < 2920 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`
}

function twoUnits(first: number, unit: string, second: number, smaller: string): string {
  return second === 0 ? `${first}${unit}` : `${first}${unit}${second}${smaller}`
}
