import { isRecord } from '../lib/json.ts'

/** The way to a value: `['clusters', 0, 'context']`. */
export type OptionPath = readonly PropertyKey[]

/** Somewhere that options are given: a file, the environment, flags. */
export interface OptionSource {
  /** The options that it gives, as nested plain objects. */
  readonly values: Readonly<Record<string, unknown>>
  /** Where it gives the option, or the nearest part around it, for messages; `undefined` where it gives nothing there. */
  placeOf(path: OptionPath): string | undefined
}

/** The options of several sources as one tree; later sources win. Lists are replaced whole. */
export function mergeOptions(sources: readonly OptionSource[]): Readonly<Record<string, unknown>> {
  return sources.reduce<Record<string, unknown>>((all, { values }) => merged(all, values), {})
}

/** Where the option that counts was given. */
export function placeOfOption(
  sources: readonly OptionSource[],
  path: OptionPath,
): string | undefined {
  for (const source of sources.toReversed()) {
    const place = source.placeOf(path)
    if (place !== undefined) return place
  }
  return undefined
}

/** What stands at a path of nested objects and lists; `undefined` where nothing does. */
export function valueAt(values: unknown, path: OptionPath): unknown {
  let value = values
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<PropertyKey, unknown>)[step]
  }
  return value
}

function merged(
  below: Readonly<Record<string, unknown>>,
  above: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const all = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const before = all.get(key)
    all.set(key, isRecord(before) && isRecord(value) ? merged(before, value) : value)
  }
  return Object.fromEntries(all)
}
