import { isJsonObject } from '../../../lib/json.ts'
import { cloneJson, equalJson } from '../../api/json.ts'

/** One operation of RFC 6902. */
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
  for (const operation of patch) root = apply(root, operation)
  return root
}

function apply(root: unknown, { op, path, from = '', value }: Operation): unknown {
  switch (op) {
    case 'add':
      return add(root, path, value)
    case 'remove':
      return remove(root, path)
    case 'replace':
      valueAt(root, path)
      return path === '' ? value : add(remove(root, path), path, value)
    case 'move': {
      const moved = valueAt(root, from)
      return add(remove(root, from), path, moved)
    }
    case 'copy':
      return add(root, path, cloneJson(valueAt(root, from)))
    case 'test':
      if (!equalJson(valueAt(root, path), value)) throw new JsonPatchError(`test of ${path} failed`)
      return root
    default:
      throw new JsonPatchError(`unknown operation ${op}`)
  }
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
  const tokens = tokensOf(pointer)
  const token = tokens.pop() ?? ''
  let value = root
  for (const step of tokens) value = child(value, step, pointer)
  return { holder: containerOf(value, pointer), token }
}

function add(root: unknown, pointer: string, value: unknown): unknown {
  if (pointer === '') return value
  const { holder, token } = parentOf(root, pointer)
  if (!Array.isArray(holder)) setOwn(holder, token, value)
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

/** Sets an own property of any name, including `__proto__`. */
function setOwn(holder: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(holder, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  })
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
