import { isRecord } from '../lib/json.ts'

/** The path of a value: `['clusters', 0, 'context']`. */
export type OptionPath = readonly PropertyKey[]

/** A source of options: a file, the environment, or flags. */
export interface OptionSource {
  /** The options as nested plain objects. */
  readonly values: Readonly<Record<string, unknown>>
  /** The place of an option, or of the nearest part around it, for messages; `undefined` if the source has neither. */
  placeOf(path: OptionPath): string | undefined
}

/** An option that a flag or a variable sets. */
export interface GivenOption {
  readonly path: readonly string[]
  readonly value: unknown
  /** `--port` */
  readonly place: string
}

/** A source of single options. Of several values for one option, the last one wins. */
export function givenSource(options: readonly GivenOption[]): OptionSource {
  const trees = options.map(({ path, value }) =>
    path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value),
  )
  return {
    values: (trees as Record<string, unknown>[]).reduce(merged, {}),
    placeOf: (path) =>
      options.find((option) => option.path.every((name, at) => path[at] === name))?.place,
  }
}

/** Merges the options of several sources. Later sources win. Lists are replaced as a whole. */
export function mergeOptions(sources: readonly OptionSource[]): Readonly<Record<string, unknown>> {
  return sources.map(({ values }) => values).reduce(merged, {})
}

/** The place of the option that wins. */
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

/** The value at a path; `undefined` if it is absent. */
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
): Readonly<Record<string, unknown>> {
  const all = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const before = all.get(key)
    all.set(key, isRecord(before) && isRecord(value) ? merged(before, value) : value)
  }
  return Object.fromEntries(all)
}
