/*
 * The differences between an object before and after a write, field by field (`fieldChanges`), with the manager that
 * owned each field. If values of a Secret must be withheld, the changes show neither a value nor whether it differs. A
 * server-side apply that conflicts with another manager is then refused by the names of the fields alone
 * (`contentsOfOthers`).
 */

import { isDeepStrictEqual } from 'node:util'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { type Fields, fieldsOf, itemsOf, ownValue, textOf } from './fields.ts'
import { lastAppliedAnnotation } from './object.ts'
import { isJsonObject, jsonIn } from '../lib/json.ts'

/** A field that another manager owns, as a conflict of a server-side apply names it. */
export interface FieldConflict {
  readonly manager: string
  /** As the API server writes it: `.spec.template.spec.containers[name="main"].image`. */
  readonly field: string
  /** The subresource that the manager wrote, or null. */
  readonly subresource: string | null
}

export interface FieldChange {
  /** RFC 6901; `''` is the whole object. */
  readonly path: string
  /** `null`: absent, or masked. */
  readonly before: unknown
  readonly after: unknown
  /** The manager that owned the field before, or owns it after; `null`: none. */
  readonly manager: string | null
  /** Whether the values are withheld, as for Secrets. */
  readonly masked: boolean
}

const lastAppliedPath = `/metadata/annotations/${escaped(lastAppliedAnnotation)}`

/** Fields that a server sets with every write, and fields that only managers read. */
const noise: ReadonlySet<string> = new Set([
  '/apiVersion',
  '/kind',
  '/metadata/managedFields',
  '/metadata/resourceVersion',
  '/metadata/generation',
  '/metadata/uid',
  '/metadata/creationTimestamp',
  '/metadata/selfLink',
  lastAppliedPath,
])

/** Objects whose members are shown one by one, even if the whole object comes or goes. */
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
  /** Whether the {@link isContent contents} are withheld, as for Secrets. */
  readonly masked: boolean
  /** The body of the write: an object, or the steps of a JSON patch. */
  readonly sent?: object | undefined
  /** `managedFields` of the state after, in the order of writing, if those who own the fields now are asked for. */
  readonly owners?: readonly Fields[] | undefined
  /** The largest number of changes, instead of {@link maxChanges}. */
  readonly limit?: number | undefined
}

/** Deeper values are compared as a whole, since each level compares everything below it. */
const maxDepth = 64

/**
 * The fields that differ between two states of one object, sorted by path (RFC 6901), at most `limit`. Items
 * of lists that have a name or another key are compared with the item of that key; the path of a removed one is its place
 * before. `before` with `managedFields` gives the manager of each. A masked field that exists before and after counts as
 * a change if the write names it: to say whether its value differs would reveal whether a guess is right.
 *
 * Yields where it may pause. The time depends on the size of the objects with their `managedFields`, not on the number of
 * managers.
 */
export function* fieldChanges(
  before: object | undefined,
  after: object | undefined,
  { masked, sent, owners: later, limit = maxChanges }: ChangesOptions,
): Generator<void, readonly FieldChange[]> {
  const { managedFields } = fieldsOf(fieldsOf(before)['metadata'])
  const managers = (later ?? itemsOf(managedFields)).map(({ manager, fieldsV1 }): Owner => ({
    manager: textOf(manager) ?? '',
    fields: fieldsOf(fieldsV1),
  }))
  const ownersIn = { fields: remembered(fieldOwners), items: remembered(itemOwners) }
  const names = masked ? namesIn(sent) : new Set<string>()
  const found: FieldChange[] = []
  const add = (path: string, from: unknown, to: unknown, owners: readonly Owner[]): void => {
    if (found.length >= limit) return
    const hides = masked && isContent(path)
    found.push({
      path,
      before: hides ? null : (from ?? null),
      after: hides ? null : (to ?? null),
      // The last manager that wrote.
      manager: owners.at(-1)?.manager ?? null,
      masked: hides,
    })
  }
  function* compare(
    path: string,
    from: unknown,
    to: unknown,
    owners: readonly Owner[],
    depth: number,
  ): Generator<void, void> {
    if (found.length >= limit || noise.has(path)) return
    const hides = masked && isContent(path)
    try {
      if (!hides && isDeepStrictEqual(from, to)) return
    } catch {
      // Too deep for the stack: goes on level by level to find what differs or is too deep.
    }
    if (depth < maxDepth && isObjectOrAbsent(from, path) && isObjectOrAbsent(to, path)) {
      yield
      const [one, other] = [fieldsOf(from), fieldsOf(to)]
      const ownersOf = ownersIn.fields(owners)
      const members = new Set([...Object.keys(one), ...Object.keys(other)])
      // An empty object that was absent, or is.
      if (members.size === 0) add(path, from, to, owners)
      for (const name of members) {
        const within = `${path}/${escaped(name)}`
        const [own, others] = [ownValue(one, name), ownValue(other, name)]
        yield* compare(within, own, others, ownersOf(`f:${name}`), depth + 1)
      }
      return
    }
    if (hides && from !== undefined && to !== undefined) {
      const around = path.slice(0, path.lastIndexOf('/'))
      if (!names.has('') && !names.has(path) && !names.has(around)) return
    }
    const isList = depth < maxDepth && Array.isArray(from) && Array.isArray(to)
    if (isList) yield* compareLists(path, from, to, owners, depth)
    else add(path, from, to, owners)
  }
  function* compareLists(
    path: string,
    from: readonly unknown[],
    to: readonly unknown[],
    owners: readonly Owner[],
    depth: number,
  ): Generator<void, void> {
    yield
    const key = keyOfItems(from, to)
    if (key === undefined && from.length !== to.length) {
      add(path, from, to, owners)
      return
    }
    const identity = (item: unknown, at: number): string | number =>
      key === undefined ? at : JSON.stringify(fieldsOf(item)[key])
    const places = new Map(from.map((item, at) => [identity(item, at), at]))
    const kept = new Set<number>()
    const foundBefore = found.length
    const ownersOf = ownersIn.items(owners)
    for (const [at, item] of to.entries()) {
      const place = places.get(identity(item, at))
      if (place !== undefined) kept.add(place)
      const previous = place === undefined ? undefined : from[place]
      const owned = later === undefined ? (previous ?? item) : item
      yield* compare(`${path}/${at}`, previous, item, ownersOf(owned), depth + 1)
    }
    for (const [at, item] of from.entries()) {
      if (!kept.has(at)) add(`${path}/${at}`, item, undefined, ownersOf(item))
    }
    // The same items in another order, or only differences that do not count.
    const order = [...kept]
    if (
      found.length === foundBefore &&
      order.some((at, next) => next > 0 && at < (order[next - 1] ?? 0))
    ) {
      add(path, from, to, owners)
    }
  }
  // Either the whole object is gone, or its parts are compared.
  if (after === undefined) {
    const { metadata, ...rest } = fieldsOf(before)
    const { managedFields: _, ...kept } = fieldsOf(metadata)
    add('', masked ? null : { ...rest, metadata: kept }, null, managers)
  } else yield* compare('', before ?? {}, after, managers, 0)
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/**
 * Whether a path (RFC 6901) leads to contents of an object, or to a possible copy of them: everything except single
 * members of `metadata`. The last-applied annotation is such a copy.
 */
export function isContent(path: string): boolean {
  const [root, top, name, ...within] = path.split('/')
  if (root !== '' || top !== 'metadata' || name === undefined || name === 'managedFields')
    return true
  const [key = lastAppliedAnnotation] = within
  return name === 'annotations' && key.replaceAll('~1', '/') === lastAppliedAnnotation
}

/** The paths that a write names, by its steps or its fields. The server turns `stringData` into `data`. */
function namesIn(sent: object | undefined): ReadonlySet<string> {
  if (Array.isArray(sent)) return new Set(sent.map((step) => textOf(fieldsOf(step)['path']) ?? ''))
  const paths = Object.entries(fieldsOf(sent)).flatMap(([top, part]) => {
    const path = `/${top === 'stringData' ? 'data' : escaped(top)}`
    return isJsonObject(part) ? Object.keys(part).map((name) => `${path}/${escaped(name)}`) : [path]
  })
  return new Set(paths)
}

const plain: ReadonlySet<string> = new Set(['', 'apiVersion', 'kind', 'metadata', 'immutable'])

/** The paths of contents that a write names. */
export function contentsIn(sent: object | undefined): readonly string[] {
  return [...namesIn(sent)].filter((path) => path === '' || !plain.has(path.split('/')[1] ?? ''))
}

/**
 * The contents that a server-side apply names and another manager owns, whatever their values, in the form of a conflict.
 * The API server reports a conflict only if the values differ, which would reveal whether a guess is right.
 */
export function contentsOfOthers(
  before: object,
  sent: object,
  ownManager: string,
): readonly FieldConflict[] {
  const managers = itemsOf(fieldsOf(fieldsOf(before)['metadata'])['managedFields'])
  const others = managers.filter(
    ({ manager, operation }) => manager !== ownManager || operation !== 'Apply',
  )
  // As in API servers, this manager owns all of an object without managers.
  if (managers.length === 0) others.push({ manager: 'before-first-apply', fieldsV1: {} })
  const { annotations } = fieldsOf(fieldsOf(sent)['metadata'])
  const copy = fieldsOf(annotations)[lastAppliedAnnotation] === undefined ? [] : [lastAppliedPath]
  return [...contentsIn(sent), ...copy].flatMap((path) => {
    const escapedNames = path.split('/').slice(1)
    const names = escapedNames.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    const steps = names.map((name) => `f:${name}`)
    const owners = others.filter(({ fieldsV1 }) => {
      let fields = fieldsOf(fieldsV1)
      // A manager of the whole (`{}`) owns everything within.
      return steps.every((step) => {
        const isOwned = step in fields || Object.keys(fields).length === 0
        fields = fieldsOf(fields[step])
        return isOwned
      })
    })
    return owners.map(({ manager }) => ({
      manager: textOf(manager) ?? '',
      field: `.${names.join('.')}`,
      subresource: null,
    }))
  })
}

/** The members of `data` or `stringData` that managers own, by `metadata.managedFields`; sorted. */
export function ownedDataKeys(
  managedFields: readonly Fields[],
  of: 'data' | 'stringData',
): readonly string[] {
  const steps = managedFields.flatMap(({ fieldsV1 }) =>
    Object.keys(fieldsOf(fieldsOf(fieldsV1)[`f:${of}`])),
  )
  const names = steps.filter((step) => step.startsWith('f:')).map((step) => step.slice(2))
  return [...new Set(names)].toSorted()
}

/** A step of a path (RFC 6901, section 3). */
export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function isObjectOrAbsent(value: unknown, path: string): boolean {
  return isJsonObject(value) || (value === undefined && opened.has(path))
}

/** The member that names the items of two lists: the first of `keys` that all items have, each with another value. */
export function keyOfItems(from: readonly unknown[], to: readonly unknown[]): string | undefined {
  return keys.find((name) => isKeyed(from, name) && isKeyed(to, name))
}

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

/** Reads the same managers only once: all items of a list may share them. */
function remembered<T extends object>(
  read: (owners: readonly Owner[]) => T,
): (owners: readonly Owner[]) => T {
  const known = new WeakMap<readonly Owner[], T>()
  return (owners) => {
    return getOrInsert(known, owners, () => read(owners))
  }
}

/** Finds the managers of the fields of one object. Reads each step of a manager once, since there may be thousands. */
function fieldOwners(owners: readonly Owner[]): (step: string) => readonly Owner[] {
  const { whole, others } = lastWhole(owners)
  const byStep = new Map<string, Owner[]>()
  for (const owner of others) {
    for (const [step, within] of Object.entries(owner.fields)) {
      addTo(byStep, step, whole, { ...owner, fields: fieldsOf(within) })
    }
  }
  return (step) => byStep.get(step) ?? whole
}

/**
 * A manager that owns a whole value (`{}`) owns everything within it, as of an atomic map, that no other manager names: of a map
 * whose members have other managers by now, the API server writes the same. Returns the last such manager, if there is one,
 * and those that name parts.
 */
function lastWhole(owners: readonly Owner[]): {
  readonly whole: readonly Owner[]
  readonly others: readonly Owner[]
} {
  const isWhole = ({ fields }: Owner): boolean => {
    for (const name in fields) if (name !== '.') return false
    return true
  }
  return { whole: owners.filter(isWhole).slice(-1), others: owners.filter((one) => !isWhole(one)) }
}

/** Adds a manager to the managers of a step. Managers of the whole come first. */
function addTo(
  lists: Map<string, Owner[]>,
  step: string,
  whole: readonly Owner[],
  owner: Owner,
): void {
  getOrInsert(lists, step, () => [...whole]).push(owner)
}

/**
 * Finds the managers of the items of one list, which `fieldsV1` names by their keys (`k:{"name":"main"}`) or their values
 * (`v:"text"`). Reads each of these steps once, as {@link fieldOwners} does.
 */
function itemOwners(owners: readonly Owner[]): (item: unknown) => readonly Owner[] {
  const { whole, others } = lastWhole(owners)
  const steps = others.flatMap((owner) =>
    Object.entries(owner.fields).flatMap(([step, within]) => {
      const kind = step.slice(0, 2)
      const value = kind === 'k:' || kind === 'v:' ? jsonIn(step.slice(2)) : undefined
      if (value === undefined) return []
      return [{ kind, value, owner: { ...owner, fields: fieldsOf(within) } }]
    }),
  )
  // All items of a list have the same keys.
  const keyed = steps.find(({ kind }) => kind === 'k:')
  const names = Object.keys(fieldsOf(keyed?.value)).slice(0, maxKeyForms)
  // Keyed by the names that an item has: defaults are part of the key, although an older object may lack them.
  const byNames = new Map<string, Map<string, Owner[]>>()
  return (item) => {
    const given = names.filter((name) => fieldsOf(item)[name] !== undefined)
    const identity = (value: unknown): string =>
      JSON.stringify(keyed === undefined ? value : given.map((name) => fieldsOf(value)[name]))
    const which = given.join(' ')
    let known = byNames.get(which)
    if (known === undefined) {
      if (byNames.size >= maxKeyForms) return whole
      byNames.set(which, (known = new Map()))
      for (const { value, owner } of steps) addTo(known, identity(value), whole, owner)
    }
    return known.get(identity(item)) ?? whole
  }
}

/** The most names in the keys of one list, and the most sets of these names. Each set reads all steps again. */
const maxKeyForms = 8
