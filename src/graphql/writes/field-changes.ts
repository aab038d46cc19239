import { isDeepStrictEqual } from 'node:util'
import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import { lastAppliedAnnotation } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { FieldChange } from '../schema/read-context.ts'

/** What a server sets with every write, and what only managers read. */
const noise: ReadonlySet<string> = new Set([
  '/apiVersion',
  '/kind',
  '/metadata/managedFields',
  '/metadata/resourceVersion',
  '/metadata/generation',
  '/metadata/uid',
  '/metadata/creationTimestamp',
  '/metadata/selfLink',
  `/metadata/annotations/${escaped(lastAppliedAnnotation)}`,
])

/** Objects whose members are shown one by one, also where the whole comes or goes. */
const opened: ReadonlySet<string> = new Set([
  '',
  '/metadata',
  '/metadata/labels',
  '/metadata/annotations',
  '/spec',
  '/data',
])

/** The largest number of changes; a rewritten list of thousands of items has no readers. */
export const maxChanges = 1_000

interface ChangesOptions {
  /** Whether the {@link isContent contents} are withheld, as those of Secrets are. */
  readonly masked: boolean
  /** What was written: an object, or the steps of a JSON patch. */
  readonly sent?: object | undefined
}

/**
 * The fields that differ between two states of one object, sorted by path (RFC 6901), at most {@link maxChanges}. Items
 * of lists that have a name or another key are compared with the item of that key; the path of a removed one is its
 * place before. `before` with `managedFields` gives the manager of each. A masked field that is there before and after is
 * a change if the write names it: whether its value differs would tell whether a guess is right.
 */
export function fieldChanges(
  before: object | undefined,
  after: object | undefined,
  { masked, sent }: ChangesOptions,
): readonly FieldChange[] {
  const managers = before === undefined ? [] : managersOf(before)
  const found: FieldChange[] = []
  const add = (path: string, from: unknown, to: unknown, owners: readonly Owner[]): void => {
    if (found.length >= maxChanges) return
    const hides = masked && isContent(path)
    found.push({
      path,
      before: hides ? null : (from ?? null),
      after: hides ? null : (to ?? null),
      manager: managerOf(owners),
      masked: hides,
    })
  }
  const compare = (path: string, from: unknown, to: unknown, owners: readonly Owner[]): void => {
    if (found.length >= maxChanges || noise.has(path)) return
    const hides = masked && isContent(path)
    if (!hides && isDeepStrictEqual(from, to)) return
    if (isObjectOrAbsent(from, path) && isObjectOrAbsent(to, path)) {
      const [one, other] = [fieldsOf(from), fieldsOf(to)]
      for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
        const within = `${path}/${escaped(name)}`
        compare(within, one[name], other[name], ownersWithin(owners, `f:${name}`))
      }
      return
    }
    if (hides && from !== undefined && to !== undefined && !isNamed(path, sent)) return
    if (Array.isArray(from) && Array.isArray(to)) compareLists(path, from, to, owners)
    else add(path, from, to, owners)
  }
  const compareLists = (
    path: string,
    from: readonly unknown[],
    to: readonly unknown[],
    owners: readonly Owner[],
  ): void => {
    const key = keyOf(from, to)
    if (key === undefined && from.length !== to.length) {
      add(path, from, to, owners)
      return
    }
    const identity = (item: unknown, at: number): string | number =>
      key === undefined ? at : JSON.stringify(fieldsOf(item)[key])
    const places = new Map(from.map((item, at) => [identity(item, at), at]))
    const kept = new Set<number>()
    const ownersOf = itemOwners(owners)
    for (const [at, item] of to.entries()) {
      const place = places.get(identity(item, at))
      if (place !== undefined) kept.add(place)
      const previous = place === undefined ? undefined : from[place]
      compare(`${path}/${at}`, previous, item, ownersOf(previous ?? item))
    }
    for (const [at, item] of from.entries()) {
      if (!kept.has(at)) add(`${path}/${at}`, item, undefined, ownersOf(item))
    }
  }
  if (after === undefined || before === undefined) {
    // The whole object comes or goes.
    if (after === undefined) add('', masked ? null : shown(before ?? {}), null, managers)
    else compare('', {}, after, managers)
  } else compare('', before, after, managers)
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/**
 * Whether a path (RFC 6901) leads to contents of an object, or to something that holds a copy of them or may: everything
 * but single members of `metadata`. The last-applied annotation is such a copy.
 */
export function isContent(path: string): boolean {
  const [root, top, name, ...within] = path.split('/')
  if (root !== '' || top !== 'metadata' || name === undefined || name === 'managedFields')
    return true
  const [key = lastAppliedAnnotation] = within
  return name === 'annotations' && key.replaceAll('~1', '/') === lastAppliedAnnotation
}

/** Whether a write names a field of a Secret. `stringData` is what the API server makes `data` of. */
function isNamed(path: string, sent: object | undefined): boolean {
  if (Array.isArray(sent)) {
    return sent.some((step) => `${path}/`.startsWith(`${textOf(fieldsOf(step)['path']) ?? ''}/`))
  }
  const [, top = '', key] = path.split('/')
  const tops = top === 'data' ? ['data', 'stringData'] : [top]
  return tops.some((name) => {
    const part = fieldsOf(sent)[name]
    const names = key === undefined ? [] : Object.keys(fieldsOf(part)).map(escaped)
    return key === undefined ? part !== undefined : names.includes(key)
  })
}

/** An object as changes show it, without noise. */
function shown(object: object): object {
  const { metadata, ...rest } = fieldsOf(object)
  const { managedFields: _, ...kept } = fieldsOf(metadata)
  return { ...rest, metadata: kept }
}

/** A step of a path: RFC 6901, 3. */
export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function isObjectOrAbsent(value: unknown, path: string): boolean {
  return isJsonObject(value) || (value === undefined && opened.has(path))
}

/** The member that names the items of a list: the first that all items have, each with another value. */
const keys = [
  'name',
  'type',
  'key',
  'containerPort',
  'port',
  'mountPath',
  'devicePath',
  'ip',
  'uid',
]

function keyOf(from: readonly unknown[], to: readonly unknown[]): string | undefined {
  return keys.find((key) => isKeyed(from, key) && isKeyed(to, key))
}

function isKeyed(items: readonly unknown[], key: string): boolean {
  const values = items.map((item) => (isJsonObject(item) ? item[key] : undefined))
  const isPlain = values.every((value) => typeof value === 'string' || typeof value === 'number')
  return isPlain && new Set(values).size === values.length
}

/** A manager, and the part of its fields (`fieldsV1`) at one place of the object. */
interface Owner {
  readonly manager: string
  readonly fields: Readonly<Record<string, unknown>>
}

function managersOf(object: object): readonly Owner[] {
  const { managedFields } = fieldsOf(fieldsOf(object)['metadata'])
  return itemsOf(managedFields).map(({ manager, fieldsV1 }) => ({
    manager: textOf(manager) ?? '',
    fields: fieldsOf(fieldsV1),
  }))
}

function ownersWithin(owners: readonly Owner[], step: string): readonly Owner[] {
  return owners.flatMap((owner) => {
    // A manager of the whole (`{}`), as of an atomic map, has all that is within.
    if (isWhole(owner)) return [owner]
    const within = owner.fields[step]
    return within === undefined ? [] : [{ ...owner, fields: fieldsOf(within) }]
  })
}

function isWhole({ fields }: Owner): boolean {
  for (const name in fields) if (name !== '.') return false
  return true
}

/**
 * Finds the managers of the items of one list, which `fieldsV1` names by their keys (`k:{"name":"main"}`) or their values
 * (`v:"text"`). Reads each of these steps once: lists may have thousands.
 */
function itemOwners(owners: readonly Owner[]): (item: unknown) => readonly Owner[] {
  const found = owners.map((owner) => {
    if (isWhole(owner)) return () => owner
    const fieldsOfItem = itemFields(owner)
    return (item: unknown): Owner | undefined => {
      const fields = fieldsOfItem(item)
      return fields && { ...owner, fields }
    }
  })
  return (item) => found.flatMap((ownerOf) => ownerOf(item) ?? [])
}

type ItemFields = ReadonlyMap<string, Owner['fields']>

function itemFields({ fields }: Owner): (item: unknown) => Owner['fields'] | undefined {
  const steps = Object.entries(fields).flatMap(([step, within]) => {
    const kind = step.slice(0, 2)
    if (kind !== 'k:' && kind !== 'v:') return []
    try {
      return [{ kind, value: JSON.parse(step.slice(2)) as unknown, within: fieldsOf(within) }]
    } catch {
      return []
    }
  })
  // All items of a list have the same keys.
  const keyed = steps.find(({ kind }) => kind === 'k:')
  const names = Object.keys(fieldsOf(keyed?.value))
  // Defaults are part of the key, although an older object may lack them: by the names that an item has.
  const byNames = new Map<string, ItemFields>()
  return (item) => {
    const given = names.filter((name) => fieldsOf(item)[name] !== undefined)
    const identity = (value: unknown): string =>
      JSON.stringify(keyed === undefined ? value : given.map((name) => fieldsOf(value)[name]))
    const which = given.join(' ')
    let known = byNames.get(which)
    if (known === undefined) {
      // The first of those that are equal wins.
      known = new Map(steps.toReversed().map(({ value, within }) => [identity(value), within]))
      byNames.set(which, known)
    }
    return known.get(identity(item))
  }
}

/** The manager that owned a field; of several, the last that wrote. */
function managerOf(owners: readonly Owner[]): string | null {
  return owners.at(-1)?.manager ?? null
}
