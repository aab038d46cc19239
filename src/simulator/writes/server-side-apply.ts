import type { Unstructured, ObjectMeta } from '../../kubernetes/object.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { equalJson } from '../api/json.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { Refusal } from '../api/status-refusal.ts'
import type { Storage } from '../storage/storage.ts'
import { newObject, storeNew } from './object-creation.ts'
import { checkIdentity, checkPreconditions, nextObject, storeUpdate } from './object-update.ts'
import { mergeApplied, withoutFields } from './ownership/applied-object.ts'
import { applyConflict } from './ownership/apply-conflict.ts'
import { difference, type FieldSet, intersection, isEmpty, union } from './ownership/field-set.ts'
import type { FieldShape } from './ownership/field-shape.ts'
import { kindShape } from './ownership/kind-shape.ts'
import { isSameManager, type Manager, withManagers } from './ownership/managers.ts'
import { appliedFields, fieldChanges, partsOf, withItems } from './ownership/object-fields.ts'
import {
  losing,
  managerOf,
  ownable,
  ownersBeforeApply,
  type Writer,
} from './ownership/ownership.ts'
import {
  currentObject,
  settledObject,
  type WriteOptions,
  type WriteTarget,
} from './write-target.ts'

/** How a configuration is applied. */
export interface ApplyOptions extends WriteOptions {
  /** `''`, or `status`. */
  readonly subresource: string
  /** Takes over fields that others own. */
  readonly force: boolean
}

/**
 * Server-side apply: the object gets what the configuration says, loses what the same manager said before and says no
 * longer, and names the manager as owner of its fields. Answers with whether the object is new. Throws 409 with a cause
 * for each field that somebody else owns, unless forced. Source: KEP-555.
 */
export function applyObject(
  storage: Storage,
  target: WriteTarget,
  given: Unstructured,
  options: ApplyOptions,
): { readonly object: Unstructured; readonly created: boolean } {
  const { served, namespace, name } = target
  const { subresource, manager } = options
  const shape = kindShape(storage.registry.captured, served)
  checkDeclared(given, shape, served)
  const writer: Writer = { served, shape, manager, subresource }
  const self = {
    ...managerOf(writer, 'Apply'),
    fields: ownable(appliedFields(given, shape), writer),
  }
  const exists = storage.store(served.stored).get(objectKey({ namespace, name })) !== undefined
  if (!exists) checkIdentity(target, given.metadata)
  if (!exists && subresource === '') {
    const { resourceVersion: _, ...metadata } = given.metadata
    const object = newObject(storage, target, { ...given, metadata }, options)
    return {
      object: storeNew(storage, served, withManagers(object, [self]), options),
      created: true,
    }
  }
  const current = currentObject(storage, target)
  checkPreconditions(target, given.metadata, current.metadata)
  checkIdentity(target, given.metadata)
  const managers = ownersBeforeApply(current, writer)
  const old = managers.find((one) => isSameManager(one, self))
  const others = managers.filter((one) => one !== old)
  const applied = onlyPart(given, writer)
  const merged = mergeApplied(current, applied, shape)
  const left = withoutFields(merged, abandoned(old, [...others, self]), shape)
  const settled = settledObject(served, left as Unstructured, options)
  const next = nextObject(served, current, settled, subresource)
  const changes = fieldChanges(current, next, shape)
  const set = ownable(changes.set, writer)
  const conflicts = others
    .map((one) => ({ manager: one, fields: intersection(one.fields, set) }))
    .filter(({ fields }) => !isEmpty(fields))
  if (conflicts.length > 0 && !options.force) throw applyConflict(conflicts)
  const owners = [
    ...others.map((one) => losing(one, union(set, changes.removed))),
    sameFields(old, self) ? { ...self, time: old?.time } : self,
  ]
  const unchanged = equalJson(next, current) && sameFields(old, self)
  if (unchanged) return { object: current, created: false }
  const object = storeUpdate(storage, target, withManagers(next, owners), options)
  return { object, created: false }
}

function sameFields(a: Manager | undefined, b: Manager): boolean {
  if (a === undefined) return false
  return isEmpty(difference(a.fields, b.fields)) && isEmpty(difference(b.fields, a.fields))
}

/** What a manager owned and applies no longer, as far as nobody else owns it. */
function abandoned(old: Manager | undefined, owners: readonly Manager[]): FieldSet {
  const before = old?.fields ?? { owned: false, parts: new Map() }
  return owners.reduce((fields, owner) => difference(fields, withItems(owner.fields)), before)
}

/** Only the status is applied to the status, and only the rest to the object. */
function onlyPart(given: Unstructured, { served, subresource }: Writer): object {
  const { status, ...rest } = given
  if (subresource === 'status') return status === undefined ? {} : { status }
  return served.stored.statusApart ? rest : given
}

/** Throws where a configuration has fields that its kind does not have. */
function checkDeclared(
  given: Unstructured,
  shape: FieldShape,
  { apiVersion, kind }: ServedResource,
): void {
  const find = (value: unknown, at: FieldShape, path: string): string | undefined => {
    for (const [name, part] of partsOf(value, at) ?? []) {
      const isField = at.kind === 'map'
      const step = isField ? `${path}.${name.slice(2)}` : path
      if (isField && at.member(name.slice(2)) === undefined) return step
      const below = find(part.value, part.shape, step)
      if (below !== undefined) return below
    }
    return undefined
  }
  const field = find(given, shape, '')
  if (field === undefined) return
  const { namespace = '', name = '' } = given.metadata as Partial<ObjectMeta>
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  const what = `${namespace}/${name}; ${version}, Kind=${kind}`
  const message = `failed to create typed patch object (${what}): ${field}: field not declared in schema`
  throw new Refusal(500, message)
}
