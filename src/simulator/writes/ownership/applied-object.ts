import { isJsonObject } from '../../../lib/json.ts'
import type { FieldShape } from './field-shape.ts'
import { type FieldSet, isEmpty } from './field-set.ts'
import { partsOf } from './object-fields.ts'

/** A value with an applied configuration merged into it. */
export function mergeApplied(live: unknown, applied: unknown, shape: FieldShape): unknown {
  if (shape.kind === 'map' && isJsonObject(live) && isJsonObject(applied)) {
    const members = new Map(Object.entries(live))
    for (const [name, value] of Object.entries(applied)) {
      const part = shape.member(name) ?? { kind: 'atomic' }
      members.set(name, mergeApplied(members.get(name), value, part))
    }
    return Object.fromEntries(members)
  }
  if (!Array.isArray(live) || !Array.isArray(applied)) return applied
  return shape.kind === 'set' || shape.kind === 'keyed' ? mergedList(live, applied, shape) : applied
}

/** Items that are applied stand in their own order; the others keep their places before the next of them. */
function mergedList(
  live: readonly unknown[],
  applied: readonly unknown[],
  shape: FieldShape,
): unknown[] {
  const old = partsOf(live, shape) ?? new Map()
  const fresh = partsOf(applied, shape) ?? new Map()
  const item: FieldShape = shape.kind === 'keyed' ? shape.item : { kind: 'atomic' }
  const merged: unknown[] = []
  const placed = new Set<string>()
  const place = (name: string): void => {
    if (placed.has(name)) return
    placed.add(name)
    const [one, other] = [old.get(name), fresh.get(name)]
    if (other === undefined) merged.push(one?.value)
    else merged.push(one === undefined ? other.value : mergeApplied(one.value, other.value, item))
  }
  const order = [...fresh.keys()]
  let next = 0
  for (const name of old.keys()) {
    if (!fresh.has(name)) place(name)
    else {
      while (next < order.length && !placed.has(name)) place(order[next++] ?? '')
    }
  }
  for (; next < order.length; next++) place(order[next] ?? '')
  return merged
}

/** A value without some of its fields; `undefined` where nothing is left of it. An item that goes takes all with it. */
export function withoutFields(value: unknown, fields: FieldSet, shape: FieldShape): unknown {
  const parts = partsOf(value, shape)
  if (parts === undefined) return fields.owned ? undefined : value
  const kept: (readonly [string, unknown])[] = []
  for (const [name, part] of parts) {
    const gone = fields.parts.get(name)
    if (gone === undefined || isEmpty(gone)) kept.push([name, part.value])
    else if (!(gone.owned && !name.startsWith('f:'))) {
      const left = withoutFields(part.value, gone, part.shape)
      if (left !== undefined) kept.push([name, left])
    }
  }
  if (kept.length === 0 && parts.size > 0) return undefined
  return Array.isArray(value)
    ? kept.map(([, part]) => part)
    : Object.fromEntries(kept.map(([name, part]) => [name.slice(2), part]))
}
