/*
 * Paths of fields (RFC 6901) where `*` is any step: those whose values are not kept, those that only tick, and those that a
 * question is about. `columnOf` writes the paths of a change in the form in which SQL finds one of them.
 */

import { isJsonObject } from '../../lib/json.ts'

/** The steps of a path; none: the whole. */
export function stepsOf(path: string): readonly string[] {
  const steps = path.split('/').slice(1)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/**
 * The value with another one at each place that the steps lead to; `undefined`: without it. What does not change is shared
 * with the value given.
 */
export function edited(
  value: unknown,
  steps: readonly string[],
  edit: (value: unknown, path: string) => unknown,
  at: number = 0,
  path: string = '',
): unknown {
  const step = steps[at]
  if (step === undefined) return edit(value, path)
  if (Array.isArray(value)) {
    let items: unknown[] | undefined
    for (const [place, item] of value.entries()) {
      if (step !== '*' && step !== String(place)) continue
      const next = edited(item, steps, edit, at + 1, `${path}/${place}`)
      if (next !== item) (items ??= [...value])[place] = next ?? null
    }
    return items ?? value
  }
  if (!isJsonObject(value)) return value
  const names = step === '*' ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : []
  let members: Map<string, unknown> | undefined
  for (const name of names) {
    const next = edited(value[name], steps, edit, at + 1, `${path}/${name}`)
    if (next === value[name]) continue
    members ??= new Map(Object.entries(value))
    if (next === undefined) members.delete(name)
    else members.set(name, next)
  }
  return members === undefined ? value : Object.fromEntries(members)
}

/** Whether a path is one of those, or within one. */
export function isWithin(path: string, patterns: readonly (readonly string[])[]): boolean {
  const steps = stepsOf(path)
  return patterns.some(
    (pattern) =>
      pattern.length <= steps.length &&
      pattern.every((step, at) => step === '*' || step === steps[at]),
  )
}

/** Longer columns only say that there are many paths. */
const maxColumnLength = 8_192
export const manyPaths = '*'

/** The paths of a change, each between two line ends. */
export function columnOf(paths: readonly string[]): string {
  let column = '\n'
  for (const path of paths) {
    column += `${inColumn(path)}\n`
    if (column.length > maxColumnLength) return manyPaths
  }
  return column
}

export function pathsIn(column: string): readonly string[] {
  return column.slice(1, -1).split('\n').map(fromColumn)
}

const escape = '\u001b'

/** Postgres' texts hold no NUL, and a line end would end the path. */
function inColumn(path: string): string {
  return path.replaceAll(
    /\p{Cc}/gu,
    (one) => escape + one.charCodeAt(0).toString(16).padStart(2, '0'),
  )
}

function fromColumn(path: string): string {
  return path
    .split(escape)
    .map((part, at) => (at === 0 ? part : unescaped(part)))
    .join('')
}

function unescaped(part: string): string {
  return String.fromCharCode(Number.parseInt(part.slice(0, 2), 16)) + part.slice(2)
}

/**
 * The texts of which one must stand in the column of a change within a path, by alternatives. With `*` in the path more
 * columns than those have them: {@link isWithin} decides.
 */
export function marksOf(path: string): readonly string[] {
  const column = inColumn(path)
  if (!column.split('/').includes('*')) return [`\n${column}\n`, `\n${column}/`]
  const parts = column.split(/\/\*(?=\/|$)/).toSorted((a, b) => b.length - a.length)
  return [parts[0] ?? '']
}
