/** Reads values of an object, as `json` has it. Each answers `undefined`, or nothing, for another type. */
type Path = readonly string[]

/** Whether an object is a namespace of Kubernetes. */
export function isNamespace({
  kind,
  apiVersion,
}: {
  readonly kind: string
  readonly apiVersion: string
}): boolean {
  return kind === 'Namespace' && apiVersion === 'v1'
}

/** The group of an `apiVersion`; empty for `v1`. */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

/** The value at a path of members. */
export function valueAt(value: unknown, ...path: Path): unknown {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Readonly<Record<string, unknown>>)[name]
  }
  return at
}

export function textAt(value: unknown, ...path: Path): string | undefined {
  const text = valueAt(value, ...path)
  return typeof text === 'string' && text !== '' ? text : undefined
}

export function numberAt(value: unknown, ...path: Path): number | undefined {
  const number = valueAt(value, ...path)
  return typeof number === 'number' ? number : undefined
}

/** A text or a number, as quantities, ports and percentages are either. */
export function wordAt(value: unknown, ...path: Path): string | undefined {
  return textAt(value, ...path) ?? numberAt(value, ...path)?.toString()
}

export function flagAt(value: unknown, ...path: Path): boolean {
  return valueAt(value, ...path) === true
}

export function listAt(value: unknown, ...path: Path): readonly unknown[] {
  const list = valueAt(value, ...path)
  return Array.isArray(list) ? (list as readonly unknown[]) : []
}

export function textsAt(value: unknown, ...path: Path): readonly string[] {
  return listAt(value, ...path).filter((one) => typeof one === 'string')
}

/** The members of a map, by name. */
export function membersAt(value: unknown, ...path: Path): readonly (readonly [string, string])[] {
  const map = valueAt(value, ...path)
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return []
  return Object.entries(map)
    .map(
      ([name, member]) =>
        [name, typeof member === 'string' ? member : JSON.stringify(member)] as const,
    )
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}
