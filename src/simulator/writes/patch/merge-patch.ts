import { isObject } from '../../api/json.ts'

/** Applies a JSON merge patch (RFC 7396): `null` removes, objects merge, anything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const entries = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) entries.delete(name)
    else entries.set(name, mergePatch(entries.get(name), value))
  }
  return Object.fromEntries(entries)
}
