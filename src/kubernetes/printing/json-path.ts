import { isJsonObject } from '../../lib/json.ts'

/** One step of a path: a member, an item, all items, or those whose member is a text. */
type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'item'; readonly at: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'where'; readonly path: JsonPath; readonly value: unknown }

/** A path as printer columns have it. */
export type JsonPath = readonly Step[]

const step =
  /^\.?(?:\[\?\(@(?<where>[^=)]+?)\s*==\s*(?<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^)\s]+)\s*\)\]|\[(?<at>-?\d+)\]|\[(?<all>\*)\]|\['(?<quoted>[^']*)'\]|(?<name>(?:[^.[\\]|\\.)+))/

/**
 * Reads the subset of JSONPath that printer columns use: `.spec.color`, `.items[0]`, `.items[*].name`,
 * `.metadata.annotations.example\.com/team`, `.status.conditions[?(@.type=="Ready")].status`. What cannot be read finds
 * nothing.
 */
export function parseJsonPath(text: string): JsonPath {
  const steps: Step[] = []
  let rest = text
  while (rest !== '') {
    const match = step.exec(rest)
    if (match?.groups === undefined) return [{ kind: 'item', at: Infinity }]
    const { groups } = match
    rest = rest.slice(match[0].length)
    const { where, value = '', at, all, quoted, name } = groups
    if (where !== undefined) {
      steps.push({ kind: 'where', path: parseJsonPath(where), value: literal(value) })
    } else if (at !== undefined) steps.push({ kind: 'item', at: Number(at) })
    else if (all !== undefined) steps.push({ kind: 'all' })
    else steps.push({ kind: 'member', name: quoted ?? (name ?? '').replaceAll(/\\(.)/g, '$1') })
  }
  return steps
}

function literal(text: string): unknown {
  if (text.startsWith("'")) return text.slice(1, -1)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The values at a path. */
export function valuesAt(value: unknown, path: JsonPath): readonly unknown[] {
  let found: readonly unknown[] = [value]
  for (const one of path) found = found.flatMap((part) => follow(part, one))
  return found
}

function follow(value: unknown, one: Step): readonly unknown[] {
  if (one.kind === 'member') {
    return isJsonObject(value) && Object.hasOwn(value, one.name) ? [value[one.name]] : []
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  switch (one.kind) {
    case 'all':
      return isJsonObject(value) ? Object.values(value) : items
    case 'item': {
      const at = one.at < 0 ? items.length + one.at : one.at
      return at < items.length ? [items[at]] : []
    }
    case 'where':
      return items.filter((item) => valuesAt(item, one.path)[0] === one.value)
  }
}
