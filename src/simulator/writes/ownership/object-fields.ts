import { isJsonObject } from '../../../lib/json.ts'
import { equalJson } from '../../api/json.ts'
import type { FieldShape } from './field-shape.ts'
import { type FieldSet, fieldSet, noFields, oneField, union } from './field-set.ts'

/**
 * The parts of a value that are owned one by one, by their names in `fieldsV1`; `undefined` for a value owned as a
 * whole.
 */
export function partsOf(
  value: unknown,
  shape: FieldShape,
): Map<string, { readonly value: unknown; readonly shape: FieldShape }> | undefined {
  if (shape.kind === 'map' && isJsonObject(value)) {
    return new Map(
      Object.entries(value).map(([name, part]) => [
        `f:${name}`,
        { value: part, shape: shape.member(name) ?? { kind: 'atomic' } },
      ]),
    )
  }
  if (!Array.isArray(value)) return undefined
  if (shape.kind === 'set') {
    return new Map(
      value.map((item) => [
        `v:${JSON.stringify(item)}`,
        { value: item, shape: { kind: 'atomic' } },
      ]),
    )
  }
  if (shape.kind !== 'keyed') return undefined
  return new Map(value.map((item) => [keyOf(item, shape), { value: item, shape: shape.item }]))
}

/** `k:{"name":"a"}`: an item of a keyed list. */
function keyOf(item: unknown, { keys, defaults }: FieldShape & { kind: 'keyed' }): string {
  const fields = isJsonObject(item) ? item : {}
  return `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, fields[key] ?? defaults[key]])))}`
}

/** The fields that an applied configuration sets. */
export function appliedFields(value: unknown, shape: FieldShape): FieldSet {
  const parts = partsOf(value, shape)
  if (parts === undefined || parts.size === 0) return oneField
  return fieldSet(
    false,
    [...parts].map(([name, part]) => {
      const own = appliedFields(part.value, part.shape)
      return [name, name.startsWith('k:') ? { ...own, owned: true } : own]
    }),
  )
}

/** How one version of an object differs from another. */
export interface FieldChanges {
  /** Set for the first time, or to another value. */
  readonly set: FieldSet
  readonly removed: FieldSet
}

/** Compares two versions of a value. */
export function fieldChanges(before: unknown, after: unknown, shape: FieldShape): FieldChanges {
  if (before === after) return { set: noFields, removed: noFields }
  const [old, fresh] = [partsOf(before, shape), partsOf(after, shape)]
  if (old === undefined || fresh === undefined) {
    if (before === undefined) return { set: allFields(after, shape), removed: noFields }
    if (after === undefined) return { set: noFields, removed: allFields(before, shape) }
    return equalJson(before, after)
      ? { set: noFields, removed: noFields }
      : { set: allFields(after, shape), removed: removedFields(old, before, shape) }
  }
  const changes = [...new Set([...old.keys(), ...fresh.keys()])].map((name) => {
    const [one, other] = [old.get(name), fresh.get(name)]
    const part = (one ?? other)?.shape ?? { kind: 'atomic' }
    return [name, fieldChanges(one?.value, other?.value, part)] as const
  })
  return {
    set: fieldSet(
      false,
      changes.map(([name, { set }]) => [name, set]),
    ),
    removed: fieldSet(
      false,
      changes.map(([name, { removed }]) => [name, removed]),
    ),
  }
}

function removedFields(
  old: ReturnType<typeof partsOf>,
  before: unknown,
  shape: FieldShape,
): FieldSet {
  return old === undefined ? noFields : { ...allFields(before, shape), owned: false }
}

/** All fields of a value, including maps and lists themselves. */
export function allFields(value: unknown, shape: FieldShape): FieldSet {
  const parts = partsOf(value, shape)
  if (parts === undefined) return oneField
  return union(
    oneField,
    fieldSet(
      false,
      [...parts].map(([name, part]) => [name, allFields(part.value, part.shape)]),
    ),
  )
}

/** Adds each list item that contains an owned field. */
export function withItems({ owned, parts }: FieldSet): FieldSet {
  return fieldSet(
    owned,
    [...parts].map(([name, part]) => {
      const whole = withItems(part)
      return [name, name.startsWith('k:') ? { ...whole, owned: true } : whole]
    }),
  )
}
