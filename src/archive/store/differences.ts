/*
 * How two states of an object differ: as a reader sees it, field by field (`fieldDifferences`, by the same comparison as
 * writes have), and as an `Undo`, which makes the state before from the state after, exactly. Both work on parsed JSON whose
 * long integers are kept as their digits.
 */

import { type FieldChange, fieldChanges, keyOfItems } from '../../kubernetes/field-changes.ts'
import { type Fields, fieldsOf, ownValue } from '../../kubernetes/fields.ts'
import { atOnce } from '../../lib/event-loop.ts'
import { isJsonObject, parseExact } from '../../lib/json.ts'
import type { FieldDifference } from '../archive-calls.ts'
import { areUnknown, isMark } from './masks.ts'

/** `JSON.parse` that keeps the digits of long integers; without them it costs no more. */
export function parsed(text: string): unknown {
  return /\d{16}/.test(text) ? parseExact(text) : JSON.parse(text)
}

/** The fields in which two states differ, with those who own them after. Values of which nothing can be told are the same. */
export function changedFields(
  before: object | undefined,
  after: object | undefined,
  owners: readonly Fields[],
): readonly FieldChange[] {
  const found = atOnce(
    fieldChanges(before, after, { masked: false, owners, limit: Number.POSITIVE_INFINITY }),
  )
  return found.filter(({ path, before: one, after: other }) => {
    if (areUnknown(one, other)) return false
    // Too deep to be compared by fields, or for the stack.
    return path.length < maxDepth || JSON.stringify(one) !== JSON.stringify(other)
  })
}

/** A change as a reader sees it. The values may have marks within, which are withheld when the text of them is read. */
export function shown({ path, before, after }: FieldChange): FieldDifference {
  if (!isMark(before) && !isMark(after)) return { path, before, after, masked: false }
  return { path, before: null, after: null, masked: true }
}

/** What makes a value before from the one after. */
export type Undo =
  /** The value before. */
  | { readonly was: unknown }
  /** Members that differ, and names of those that were not there. */
  | { readonly members: Readonly<Record<string, Undo>>; readonly added?: readonly string[] }
  /** The items before, in their order: some of the items after, a changed one, or one that is gone. */
  | { readonly items: readonly UndoItem[] }

type UndoItem =
  | readonly [from: number, count: number]
  | { readonly of: number; readonly undo?: Undo }
  | { readonly was: unknown }

/** Deeper values are kept as a whole. */
const maxDepth = 64

/** `undefined`: the values are the same. */
export function undoOf(after: unknown, before: unknown, depth: number = 0): Undo | undefined {
  if (after === before) return undefined
  if (depth < maxDepth && isJsonObject(after) && isJsonObject(before)) {
    const members: [string, Undo][] = []
    for (const [name, value] of Object.entries(before)) {
      const undo = Object.hasOwn(after, name)
        ? undoOf(after[name], value, depth + 1)
        : { was: value }
      if (undo !== undefined) members.push([name, undo])
    }
    const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name))
    if (members.length === 0 && added.length === 0) return undefined
    const undo = { members: Object.fromEntries(members) }
    return added.length === 0 ? undo : { ...undo, added }
  }
  if (JSON.stringify(after) === JSON.stringify(before)) return undefined
  if (depth < maxDepth && Array.isArray(after) && Array.isArray(before)) {
    return { items: undoOfItems(after, before, depth) }
  }
  return { was: before }
}

/** Items that are the same are found by their text, so that moving one costs no more than a number. */
function undoOfItems(
  after: readonly unknown[],
  before: readonly unknown[],
  depth: number,
): readonly UndoItem[] {
  const texts = after.map((item) => JSON.stringify(item))
  const places = new Map(texts.map((text, at) => [text, at]))
  const key = keyOfItems(after, before)
  const keyOf = (item: unknown): unknown => ownValue(fieldsOf(item), key ?? '')
  const byKey = new Map(key === undefined ? [] : after.map((item, at) => [keyOf(item), at]))
  const items: UndoItem[] = []
  let run: [from: number, count: number] | undefined
  for (const [at, item] of before.entries()) {
    const text = JSON.stringify(item)
    const next = run === undefined ? at : run[0] + run[1]
    const place = texts[next] === text ? next : places.get(text)
    if (place !== undefined) {
      if (run !== undefined && place === next) run[1] += 1
      else items.push((run = [place, 1]))
      continue
    }
    run = undefined
    const of = key === undefined ? at : byKey.get(keyOf(item))
    const undo = of === undefined ? undefined : undoOf(after[of], item, depth + 1)
    if (of === undefined || undo === undefined || 'was' in undo) items.push({ was: item })
    else items.push({ of, undo })
  }
  return items
}

/** The value before. */
export function undone(after: unknown, undo: Undo): unknown {
  if ('was' in undo) return undo.was
  if ('items' in undo) {
    const items = Array.isArray(after) ? (after as readonly unknown[]) : []
    return undo.items.flatMap((item): readonly unknown[] => {
      if ('was' in item) return [item.was]
      if (!('of' in item)) return items.slice(item[0], item[0] + item[1])
      const value = items[item.of]
      return [item.undo === undefined ? value : undone(value, item.undo)]
    })
  }
  const members = new Map(Object.entries(fieldsOf(after)))
  for (const name of undo.added ?? []) members.delete(name)
  for (const [name, one] of Object.entries(undo.members)) {
    members.set(name, undone(members.get(name), one))
  }
  return Object.fromEntries(members)
}
