/*
 * The columns that `kubectl get` shows for a custom kind. The definition of the kind declares them, with a path each, in a
 * subset of JSONPath.
 */

import { isJsonObject, isRawJson } from '../../lib/json.ts'
import { ageColumn, type Cell, type Column, nameColumn, type PrintedKind } from './column.ts'

/** A printer column as a CustomResourceDefinition declares it. */
export interface DeclaredColumn {
  readonly name: string
  /** `string`, `integer`, `number`, `boolean`, `date`. */
  readonly type: string
  readonly format?: string | undefined
  readonly priority?: number | undefined
  readonly jsonPath: string
}

/** The name, then the declared columns; without any, the name and the age. */
export function customColumns(declared: readonly DeclaredColumn[]): PrintedKind {
  if (declared.length === 0) {
    return { columns: [nameColumn(), ageColumn] }
  }
  const paths = declared.map(({ jsonPath }) => parseJsonPath(jsonPath))
  return {
    declared,
    columns: [nameColumn(), ...declared.map((one, at) => customColumn(one, paths[at] ?? []))],
  }
}

function customColumn(declared: DeclaredColumn, path: JsonPath): Column {
  const { name, type, format = '', priority = 0 } = declared
  const cellOf = cells[type]
  const cell = (object: object): Cell => {
    const [value] = valuesAt(object, path)
    return value === undefined || value === null ? { value: null } : (cellOf?.(value) ?? empty)
  }
  // In tables of custom kinds, a missing date is an empty cell.
  return { name, type: type as Column['type'], format, priority, absent: null, cell }
}

const empty: Cell = { value: null }

/** How a value of each type is shown. Values of other types are not. */
const cells: Readonly<Record<string, (value: unknown) => Cell>> = {
  string: (value) => ({ value: typeof value === 'string' ? value : JSON.stringify(value) }),
  integer: (value) => {
    if (isRawJson(value)) return { value }
    return typeof value === 'number' ? { value: Math.trunc(value) } : empty
  },
  number: (value) => (typeof value === 'number' || isRawJson(value) ? { value } : empty),
  boolean: (value) => (typeof value === 'boolean' ? { value } : empty),
  date: (value) => ({ value: null, since: String(value) }),
}

/** One step of a path: a member, an item, all items, or those whose member has a value. */
type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'item'; readonly at: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'where'; readonly path: JsonPath; readonly value: unknown }

type JsonPath = readonly Step[]

const step =
  /^\.?(?:\[\?\(@(?<where>[^=)]+?)\s*==\s*(?<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^)\s]+)\s*\)\]|\[(?<at>-?\d+)\]|\[(?<all>\*)\]|\['(?<quoted>[^']*)'\]|(?<name>(?:[^.[\\]|\\.)+))/

/**
 * Parses the subset of JSONPath that printer columns use: `.spec.color`, `.items[0]`, `.items[*].name`,
 * `.metadata.annotations.example\.com/team`, `.status.conditions[?(@.type=="Ready")].status`. An invalid path finds
 * nothing.
 */
function parseJsonPath(text: string): JsonPath {
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

function valuesAt(value: unknown, path: JsonPath): readonly unknown[] {
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
