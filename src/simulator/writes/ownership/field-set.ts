import { isJsonObject } from '../../../lib/json.ts'

/**
 * A set of fields in the form of `fieldsV1`: `f:name` is a member of a map, `k:{…}` an item by its keys, `v:…` a value
 * of a set. The set contains a path if its node is `owned`.
 */
export interface FieldSet {
  readonly owned: boolean
  readonly parts: ReadonlyMap<string, FieldSet>
}

export const noFields: FieldSet = { owned: false, parts: new Map() }
export const oneField: FieldSet = { owned: true, parts: new Map() }

export const isEmpty = ({ owned, parts }: FieldSet): boolean => !owned && parts.size === 0

/** A set of the parts that are not empty. */
export function fieldSet(owned: boolean, parts: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { owned, parts: new Map([...parts].filter(([, part]) => !isEmpty(part))) }
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b
  if (isEmpty(b)) return a
  const parts = new Map(a.parts)
  for (const [name, part] of b.parts) parts.set(name, union(parts.get(name) ?? noFields, part))
  return { owned: a.owned || b.owned, parts }
}

/** The fields of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a
  return fieldSet(
    a.owned && !b.owned,
    [...a.parts].map(([name, part]) => {
      const other = b.parts.get(name)
      return [name, other === undefined ? part : difference(part, other)]
    }),
  )
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return fieldSet(
    a.owned && b.owned,
    [...a.parts].map(([name, part]) => {
      const other = b.parts.get(name)
      return [name, other === undefined ? noFields : intersection(part, other)]
    }),
  )
}

/** The part of a set below some members. */
export function within(set: FieldSet, names: readonly string[]): FieldSet {
  return fieldSet(
    false,
    names.map((name) => [`f:${name}`, set.parts.get(`f:${name}`) ?? noFields]),
  )
}

/** Without some members of the root, and some of its metadata. */
export function without(
  set: FieldSet,
  members: readonly string[],
  metadata: readonly string[],
): FieldSet {
  const parts = new Map(set.parts)
  for (const name of members) parts.delete(`f:${name}`)
  const own = parts.get('f:metadata')
  if (own !== undefined) {
    const kept = new Map(own.parts)
    for (const name of metadata) kept.delete(`f:${name}`)
    parts.set('f:metadata', { owned: false, parts: kept })
  }
  return fieldSet(set.owned, parts)
}

/** Reads `fieldsV1`. */
export function readFields(fields: unknown): FieldSet {
  if (!isJsonObject(fields)) return noFields
  const read = (node: Record<string, unknown>): FieldSet => {
    const names = Object.keys(node)
    const owned = names.length === 0 || names.includes('.')
    const parts = names.filter((name) => name !== '.')
    return fieldSet(
      owned,
      parts.map((name) => [name, isJsonObject(node[name]) ? read(node[name]) : oneField]),
    )
  }
  const { parts } = read(fields)
  return { owned: false, parts }
}

/** Writes `fieldsV1`, with sorted names. */
export function writeFields(set: FieldSet): object {
  const write = ({ owned, parts }: FieldSet): object => ({
    ...(owned && parts.size > 0 ? { '.': {} } : {}),
    ...Object.fromEntries(
      [...parts]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, part]) => [name, write(part)]),
    ),
  })
  return write(set)
}

/** The paths of a set in the notation of messages: `.spec.containers[name="a"].image`. */
export function fieldPaths(set: FieldSet): string[] {
  const paths: string[] = []
  // Paths of one level come before deeper paths, as in a kube-apiserver.
  const walk = ({ parts }: FieldSet, path: string): void => {
    const sorted = [...parts].toSorted(([a], [b]) => (a < b ? -1 : 1))
    for (const [name, { owned }] of sorted) if (owned) paths.push(path + stepText(name))
    for (const [name, part] of sorted) walk(part, path + stepText(name))
  }
  walk(set, '')
  return paths
}

function stepText(name: string): string {
  const value = name.slice(2)
  if (name.startsWith('f:')) return `.${value}`
  if (name.startsWith('v:')) return `[=${value}]`
  const keys = Object.entries(JSON.parse(value) as object)
  return `[${keys.map(([key, one]) => `${key}=${JSON.stringify(one)}`).join(',')}]`
}
