import type { FieldDifference } from '../actions/field-changes.tsx'
import { textAt, valueAt } from '../object/json.ts'

type Members = Readonly<Record<string, unknown>>

/** What the API server sets itself. */
const ownOfServer: ReadonlySet<string> = new Set([
  'managedFields',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
])
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** The part of an object that people write: without its status, and without what the API server sets itself. */
export function editableOf(json: unknown): Members {
  const { status: _status, metadata, ...rest } = membersOf(json)
  const { annotations, ...kept } = without(membersOf(metadata), ownOfServer)
  const notes = without(membersOf(annotations), new Set([lastApplied]))
  const annotated = Object.keys(notes).length === 0 ? {} : { annotations: notes }
  return { ...rest, metadata: { ...kept, ...annotated } }
}

/** The version that an object was seen in. */
export function versionOf(json: unknown): string {
  return textAt(json, 'metadata', 'resourceVersion') ?? ''
}

/** A field that differs between two states. */
export interface Difference extends FieldDifference {
  /** Its steps, with items of lists by their names, so that it is the same place in both states. */
  readonly place: readonly string[]
}

/** The fields that differ. Items of lists that have names are compared with those of the same name. */
export function differences(before: unknown, after: unknown): readonly Difference[] {
  const found: Difference[] = []
  const compare = (path: string, place: readonly string[], from: unknown, to: unknown): void => {
    if (isEqual(from, to)) return
    const names = new Set([...namesIn(from), ...namesIn(to)])
    // Members that come or go as a whole are compared one by one, too; items of lists are not.
    if (names.size > 0 && isMembers(from ?? {}) && isMembers(to ?? {})) {
      for (const name of names) {
        const within = [membersOf(from)[name], membersOf(to)[name]] as const
        compare(`${path}/${escaped(name)}`, [...place, name], ...within)
      }
      return
    }
    const key = Array.isArray(from) && Array.isArray(to) ? keyOf(from, to) : undefined
    if (key === undefined) {
      found.push({ path, place, before: from ?? null, after: to ?? null })
      return
    }
    const [old, now] = [from, to] as unknown as readonly [readonly Members[], readonly Members[]]
    const itemPlace = (item: Members): readonly string[] => [
      ...place,
      `${key}=${String(item[key])}`,
    ]
    for (const [at, item] of now.entries()) {
      const previous = old.find((one) => one[key] === item[key])
      const itemPath = `${path}/${at}`
      if (previous !== undefined) compare(itemPath, itemPlace(item), previous, item)
      else found.push({ path: itemPath, place: itemPlace(item), before: null, after: item })
    }
    for (const [at, item] of old.entries()) {
      if (now.some((one) => one[key] === item[key])) continue
      found.push({ path: `${path}/${at}`, place: itemPlace(item), before: item, after: null })
    }
  }
  compare('', [], before, after)
  return found
}

/** Whether two places are the same, or one is within the other. */
export function overlap(one: readonly string[], other: readonly string[]): boolean {
  const shorter = Math.min(one.length, other.length)
  return one.slice(0, shorter).every((step, at) => step === other[at])
}

/** A value that is applied besides, so that it stays. */
export interface Kept {
  readonly place: readonly string[]
  readonly value: unknown
}

/**
 * What to apply for an edit: the fields that it sets, and `kept` besides. Who applies fields owns them from then on, so an
 * edit claims nothing that it does not change.
 */
export function appliedPart(base: Members, edited: Members, kept: readonly Kept[]): Members {
  const part = membersOf(changedPart(base, edited))
  return kept.reduce((all, { place, value }) => withValue(all, place, value), part)
}

/**
 * What has to be applied besides so that the field at a place stays: the value of the text, or, if others have set it since
 * the text was made, that of the object. A list is kept as a whole.
 */
export function keptAt(place: readonly string[], edited: Members, live: Members): readonly Kept[] {
  return [edited, live].flatMap((state) => {
    const short = beforeLists(state, place)
    const value = valueAt(state, ...short)
    return value === undefined ? [] : [{ place: short, value }]
  })
}

/** The members of a place before the first item of a list: a list is kept as a whole. */
function beforeLists(state: unknown, place: readonly string[]): readonly string[] {
  const steps: string[] = []
  let at = state
  for (const step of place) {
    if (!isMembers(at)) break
    steps.push(step)
    at = at[step]
  }
  return steps
}

/** A merge patch (RFC 7386) that makes `edited` of `base`. */
export function mergePatch(base: unknown, edited: unknown): unknown {
  if (!isMembers(base) || !isMembers(edited)) return edited
  const patch: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(base), ...Object.keys(edited)])) {
    if (!(name in edited)) patch[name] = null
    else if (!isEqual(base[name], edited[name])) patch[name] = mergePatch(base[name], edited[name])
  }
  return patch
}

/** The fields that differ; `undefined` if none does, or some are gone only. */
function changedPart(base: unknown, edited: unknown): unknown {
  if (isEqual(base, edited)) return undefined
  if (isMembers(base) && isMembers(edited)) {
    const parts = Object.entries(edited).flatMap(([name, value]) => {
      const part = changedPart(base[name], value)
      return part === undefined ? [] : [[name, part] as const]
    })
    return parts.length === 0 ? undefined : Object.fromEntries(parts)
  }
  const key = Array.isArray(base) && Array.isArray(edited) ? keyOf(base, edited) : undefined
  if (key === undefined) return edited
  const items = (edited as readonly Members[]).flatMap((item) => {
    const before = (base as readonly Members[]).find((one) => one[key] === item[key])
    const part = changedPart(before, item)
    return part === undefined ? [] : [{ [key]: item[key], ...membersOf(part) }]
  })
  return items.length === 0 ? undefined : items
}

function withValue(all: Members, [step = '', ...rest]: readonly string[], value: unknown): Members {
  const within = rest.length === 0 ? value : withValue(membersOf(all[step]), rest, value)
  return { ...all, [step]: within }
}

/** The member that names the items of both lists. */
function keyOf(one: readonly unknown[], other: readonly unknown[]): string | undefined {
  return isNamed(one) && isNamed(other) ? 'name' : undefined
}

function isNamed(list: readonly unknown[]): boolean {
  const names = list.map((item) => textAt(item, 'name'))
  return !names.includes(undefined) && new Set(names).size === names.length
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
    return one.every((item, at) => isEqual(item, other[at]))
  }
  if (!isMembers(one) || !isMembers(other)) return false
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every((name) => name in other && isEqual(one[name], other[name]))
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {}
}

function namesIn(value: unknown): readonly string[] {
  return Object.keys(membersOf(value))
}

function without(members: Members, names: ReadonlySet<string>): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.has(name)))
}

/** RFC 6901, 3. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
