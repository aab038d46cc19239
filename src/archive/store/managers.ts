/*
 * Who changed an object: the manager whose fields differ from the state before. `managedFields` of the newest text say who
 * owns the changed fields now. Who removed a field owns it no more: then it is the manager whose entry changed. For this, a
 * line about the entries, without their fields, is kept with each newest state.
 */

import type { FieldChange } from '../../kubernetes/field-changes.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'

/** An entry of `managedFields`: its manager, operation, subresource, time, and the length of its fields. */
type Entry = readonly [
  manager: string,
  operation: string,
  subresource: string,
  time: string,
  length: number,
]

/** The entries of an object, the one that wrote last at the end. */
export function entriesOf(object: unknown): readonly Fields[] {
  const entries = itemsOf(fieldsOf(fieldsOf(object)['metadata'])['managedFields'])
  return entries.toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0))
}

function timeOf(entry: Fields): string {
  return textOf(entry['time']) ?? ''
}

/** The line about the entries of a state. */
export function lineOf(entries: readonly Fields[]): string {
  return JSON.stringify(
    entries.map((entry): Entry => [
      textOf(entry['manager']) ?? '',
      textOf(entry['operation']) ?? '',
      textOf(entry['subresource']) ?? '',
      textOf(entry['time']) ?? '',
      JSON.stringify(entry['fieldsV1'] ?? null).length,
    ]),
  )
}

/**
 * Who made the changes, from the lines of the state before (`''`: unknown) and after. The changes name the managers who own
 * the fields after.
 */
export function managerOf(
  changes: readonly FieldChange[],
  lineBefore: string,
  lineAfter: string,
): string | null {
  const [before, after] = [lineBefore, lineAfter].map(
    (line) => (line === '' ? [] : JSON.parse(line)) as readonly Entry[],
  ) as [readonly Entry[], readonly Entry[]]
  const known = new Set(before.map((entry) => entry.join('\n')))
  const changed = after.filter((entry) => !known.has(entry.join('\n')))
  const owners = new Set(changes.map(({ manager }) => manager))
  const owning = ([manager]: Entry): boolean => owners.has(manager)
  const left = new Set(after.map((entry) => entry.slice(0, 3).join('\n')))
  const gone = before.filter((entry) => !left.has(entry.slice(0, 3).join('\n')))
  const isRemoval = changes.some((change) => change.after === null)
  const [manager] =
    changed.findLast(owning) ??
    changed.at(-1) ??
    (isRemoval ? gone.at(-1) : undefined) ??
    after.findLast(owning) ??
    gone.at(-1) ??
    []
  return manager === undefined || manager === '' ? null : manager.replaceAll('\u0000', '')
}
