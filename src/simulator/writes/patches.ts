/*
 * The three patches that are not server-side apply: JSON patch, merge patch and strategic merge patch. Each makes the
 * next object from the current one and changes neither.
 */

import { isJsonObject } from '../../lib/json.ts'
import { type KindSchema, memberSchema, resolvedSchema } from '../api/captured-api.ts'
import { cloneJson, equalJson } from '../api/json.ts'
import { badRequest } from '../api/status-refusal.ts'

interface Operation {
  readonly op: string
  readonly path: string
  readonly from?: string
  readonly value?: unknown
}

/** A JSON patch that cannot be applied. */
export class JsonPatchError extends Error {}

type Container = Record<string, unknown> | unknown[]

/** Applies a JSON patch (RFC 6902) to a copy of `document`. Throws {@link JsonPatchError}. */
export function jsonPatch(document: unknown, patch: readonly Operation[]): unknown {
  let root = cloneJson(document)
  for (const { op, path, from = '', value } of patch) {
    if (op === 'add') root = add(root, path, value)
    else if (op === 'remove') root = remove(root, path)
    else if (op === 'replace') {
      valueAt(root, path)
      root = path === '' ? value : add(remove(root, path), path, value)
    } else if (op === 'move') {
      const moved = valueAt(root, from)
      root = add(remove(root, from), path, moved)
    } else if (op === 'copy') root = add(root, path, cloneJson(valueAt(root, from)))
    else if (op !== 'test') throw new JsonPatchError(`unknown operation ${op}`)
    else if (!equalJson(valueAt(root, path), value)) {
      throw new JsonPatchError(`test of ${path} failed`)
    }
  }
  return root
}

/** RFC 6901: `~1` stands for a slash, `~0` for a tilde. */
function tokensOf(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) throw new JsonPatchError(`${pointer} is not a JSON pointer`)
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root
  for (const token of tokensOf(pointer)) value = child(value, token, pointer)
  return value
}

function child(container: unknown, token: string, pointer: string): unknown {
  const holder = containerOf(container, pointer)
  if (!Object.hasOwn(holder, token)) throw new JsonPatchError(`${pointer} does not exist`)
  return (holder as Record<string, unknown>)[token]
}

function containerOf(value: unknown, pointer: string): Container {
  if (typeof value !== 'object' || value === null)
    throw new JsonPatchError(`${pointer} does not exist`)
  return value as Container
}

function parentOf(root: unknown, pointer: string): { holder: Container; token: string } {
  const slash = pointer.lastIndexOf('/')
  const [token = ''] = tokensOf(pointer.slice(Math.max(0, slash)))
  return {
    holder: containerOf(valueAt(root, pointer.slice(0, Math.max(0, slash))), pointer),
    token,
  }
}

function add(root: unknown, pointer: string, value: unknown): unknown {
  if (pointer === '') return value
  const { holder, token } = parentOf(root, pointer)
  // Any name becomes an own property, including `__proto__`.
  const own = { value, configurable: true, enumerable: true, writable: true }
  if (!Array.isArray(holder)) Object.defineProperty(holder, token, own)
  else holder.splice(indexIn(holder, token, pointer, holder.length), 0, value)
  return root
}

function remove(root: unknown, pointer: string): unknown {
  const { holder, token } = parentOf(root, pointer)
  child(holder, token, pointer)
  if (Array.isArray(holder)) holder.splice(indexIn(holder, token, pointer, holder.length - 1), 1)
  else delete holder[token]
  return root
}

function indexIn(holder: unknown[], token: string, pointer: string, last: number): number {
  if (token === '-') return holder.length
  if (!/^(?:0|[1-9]\d*)$/.test(token) || Number(token) > last)
    throw new JsonPatchError(`${pointer} does not exist`)
  return Number(token)
}

/** Applies a JSON merge patch (RFC 7396): `null` removes, objects merge, anything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const entries = new Map(isJsonObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) entries.delete(name)
    else entries.set(name, mergePatch(entries.get(name), value))
  }
  return Object.fromEntries(entries)
}

/**
 * Applies a strategic merge patch: a merge patch in which lists merge by item if their schema has an
 * `x-kubernetes-patch-merge-key`, with the directives `$patch`, `$retainKeys`, `$setElementOrder` and
 * `$deleteFromPrimitiveList`. Throws 400 for an item without its key. Source: "strategic merge patch" in the API
 * conventions.
 */
export function strategicMergePatch(
  target: unknown,
  patch: unknown,
  { root: schema, schemas }: KindSchema,
): unknown {
  if (!isJsonObject(patch)) return patch
  const { $patch: directive, $retainKeys: retained, ...fields } = patch
  if (directive === 'replace') return fields
  if (directive === 'delete') return {}
  if (directive !== undefined && directive !== 'merge') {
    throw badRequest(
      `Unknown patch type: ${JSON.stringify(directive)} in map: ${JSON.stringify(patch)}`,
    )
  }
  const whole = schema === undefined ? undefined : resolvedSchema(schema, schemas)
  const entries = new Map(isJsonObject(target) ? Object.entries(target) : [])
  if (Array.isArray(retained)) {
    for (const name of entries.keys()) if (!retained.includes(name)) entries.delete(name)
  }
  // A directive such as `$setElementOrder/containers` names a list.
  const directed = (of: string): [list: string, value: unknown][] =>
    Object.entries(fields).flatMap(([name, value]) =>
      name.startsWith(`${of}/`) ? [[name.slice(of.length + 1), value]] : [],
    )
  for (const [name, removed] of directed('$deleteFromPrimitiveList')) {
    const list = entries.get(name)
    if (!Array.isArray(list) || !Array.isArray(removed)) continue
    const kept = list.filter((item) => !removed.some((one) => equalJson(one, item)))
    entries.set(name, kept)
  }
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith('$')) continue
    if (value === null) entries.delete(name)
    else {
      const part = { root: memberSchema(whole, name), schemas }
      const old = entries.get(name)
      const merge = Array.isArray(value) ? mergeLists : strategicMergePatch
      entries.set(name, merge(old, value as unknown[], part))
    }
  }
  for (const [name, order] of directed('$setElementOrder')) {
    if (!Array.isArray(order)) continue
    const key = memberSchema(whole, name)?.[mergeKey]
    entries.set(name, inOrder(entries.get(name), order, fields[name], key))
  }
  return Object.fromEntries(entries)
}

const mergeKey = 'x-kubernetes-patch-merge-key'

/** Sorts the named items by the order. Items that only the server has stay before the named item that followed them. */
function inOrder(
  list: unknown,
  order: readonly unknown[],
  patched: unknown,
  key: string | undefined,
): unknown {
  if (!Array.isArray(list)) return list
  const nameOf = (item: unknown): unknown =>
    key !== undefined && isJsonObject(item) ? item[key] : item
  const names = order.map(nameOf)
  const missing = (Array.isArray(patched) ? patched : []).find(
    (item) =>
      !(isJsonObject(item) && item['$patch'] !== undefined) &&
      !names.some((name) => equalJson(name, nameOf(item))),
  )
  if (missing !== undefined) {
    throw badRequest(
      `The order in patch list:\n${JSON.stringify(patched)}\n doesn't match $setElementOrder list:\n${JSON.stringify(order)}\n`,
    )
  }
  const rank = (item: unknown): number => names.findIndex((name) => equalJson(name, nameOf(item)))
  const named = list.filter((item) => rank(item) >= 0).toSorted((a, b) => rank(a) - rank(b))
  return mergedOrder(list, named)
}

/** Wanted items keep their own order. Others of the list stay before the next wanted item that followed them. */
export function mergedOrder<T>(list: readonly T[], wanted: readonly T[]): T[] {
  const merged: T[] = []
  let next = 0
  for (const item of list) {
    const at = wanted.indexOf(item)
    if (at < 0) merged.push(item)
    else {
      merged.push(...wanted.slice(next, at + 1))
      next = Math.max(next, at + 1)
    }
  }
  return [...merged, ...wanted.slice(next)]
}

function mergeLists(
  target: unknown,
  patch: readonly unknown[],
  { root, schemas }: KindSchema,
): unknown[] {
  const { items, [mergeKey]: key, 'x-kubernetes-patch-strategy': strategy } = root ?? {}
  const replaces = patch.some((item) => isJsonObject(item) && item['$patch'] === 'replace')
  const merges = strategy?.split(',').includes('merge') === true
  if (!merges || replaces || (key === undefined && !Array.isArray(target))) {
    return patch.filter((item) => !isJsonObject(item) || item['$patch'] === undefined)
  }
  const merged: unknown[] = Array.isArray(target) ? [...(target as unknown[])] : []
  if (key === undefined) {
    for (const item of patch) if (!merged.some((one) => equalJson(one, item))) merged.push(item)
    return merged
  }
  for (const item of patch) {
    if (!isJsonObject(item) || item[key] === undefined) {
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`)
    }
    const at = merged.findIndex((one) => isJsonObject(one) && equalJson(one[key], item[key]))
    if (item['$patch'] === 'delete') {
      if (at >= 0) merged.splice(at, 1)
    } else if (at < 0) merged.push(strategicMergePatch(undefined, item, { root: items, schemas }))
    else merged[at] = strategicMergePatch(merged[at], item, { root: items, schemas })
  }
  return merged
}
