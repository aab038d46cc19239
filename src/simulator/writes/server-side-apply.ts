/*
 * Server-side apply: merges a configuration into the object, drops what its manager applied before and omits now, and
 * refuses fields of other managers unless it is forced.
 */

import { fieldsOf } from '../../kubernetes/fields.ts'
import { objectKey, type ObjectMeta, type Unstructured } from '../../kubernetes/object.ts'
import { equalJson } from '../api/json.ts'
import { kindSchema, type KindSchema } from '../api/captured-api.ts'
import { Refusal } from '../api/status-refusal.ts'
import { unknownFields } from '../schema/structural-schema.ts'
import type { Storage } from '../storage/storage.ts'
import {
  appliedFields,
  fieldChanges,
  fieldPaths,
  type FieldSet,
  isSameManager,
  isWithin,
  type Manager,
  managerOf,
  managersWithout,
  ownable,
  ownersBeforeApply,
  partsOf,
  stepOf,
  withItems,
  withManagers,
  type Writer,
} from './managed-fields.ts'
import {
  checkIdentity,
  createObject,
  currentObject,
  type Owned,
  updateObject,
  type WriteOptions,
  type WriteTarget,
} from './object-writes.ts'
import { mergedOrder } from './patches.ts'

/**
 * Server-side apply. Sets the fields of the configuration, removes fields that the manager applied before and omits
 * now, and makes the manager the owner. Returns whether the object is new. Throws 409, unless forced, with a cause for
 * each field of another manager. Source: KEP-555.
 */
export function applyObject(
  storage: Storage,
  target: WriteTarget,
  given: Unstructured,
  options: WriteOptions & { readonly force: boolean },
): { readonly object: Unstructured; readonly created: boolean } {
  const { served, namespace, name } = target
  const { subresource, manager } = options
  const schema = kindSchema(storage.registry.captured, served)
  const [unknown] = unknownFields(given, schema)
  if (unknown !== undefined) {
    const { apiVersion, kind } = served
    const { namespace: within = '', name: called = '' } = given.metadata as Partial<ObjectMeta>
    const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
    const what = `${within}/${called}; ${version}, Kind=${kind}`
    const problem = `.${unknown}: field not declared in schema`
    throw new Refusal(500, `failed to create typed patch object (${what}): ${problem}`)
  }
  const writer: Writer = { served, schema, manager, subresource }
  const self = managerOf(writer, 'Apply', ownable(appliedFields(given, schema), writer))
  const exists = storage.store(served.stored).get(objectKey({ namespace, name })) !== undefined
  if (!exists) checkIdentity(target, given.metadata)
  if (!exists && subresource === '') {
    const { resourceVersion: _, ...metadata } = given.metadata
    const fresh = { ...given, metadata }
    const owned: Owned = (object) => withManagers(object, [self])
    return { object: createObject(storage, target, fresh, options, owned), created: true }
  }
  const current = currentObject(storage, target)
  checkIdentity(target, given.metadata)
  const managers = ownersBeforeApply(current, writer)
  const old = managers.find((one) => isSameManager(one, self))
  const others = managers.filter((one) => one !== old)
  // What the manager applied before and omits now goes, unless another manager owns it.
  const dropped = [...others, self].reduce<FieldSet>(
    (fields, owner) => fields.difference(withItems(owner.fields)),
    old?.fields ?? new Set(),
  )
  // Applies only the status to the status, and only the rest to the object.
  const { status, ...rest } = given
  const own = served.stored.hasStatusSubresource ? rest : given
  const ofStatus = status === undefined ? {} : { status }
  const merged = mergeApplied(current, subresource === 'status' ? ofStatus : own, schema)
  const left = withoutFields(merged, dropped, schema) as Unstructured
  const owned: Owned = (next) => {
    const changes = fieldChanges(current, next, schema)
    const set = ownable(changes.set, writer)
    const conflicts = others
      .map((one) => ({ ...one, fields: one.fields.intersection(set) }))
      .filter(({ fields }) => fields.size > 0)
    if (conflicts.length > 0 && !options.force) throw applyConflict(conflicts)
    const isSame = old?.fields.symmetricDifference(self.fields).size === 0
    if (isSame && equalJson(next, current)) return undefined
    return withManagers(next, [
      ...managersWithout(managers, old, set.union(changes.removed)),
      isSame ? { ...self, time: old.time } : self,
    ])
  }
  return { object: updateObject(storage, target, left, options, owned), created: false }
}

/** A 409 with a cause for each field of another manager that an apply would change. */
function applyConflict(conflicts: readonly Manager[]): Refusal {
  const causes = conflicts.flatMap(({ name, operation, apiVersion, subresource, fields }) => {
    const part = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`
    const version = operation === 'Update' ? ` using ${apiVersion}` : ''
    const owner = `${JSON.stringify(name)}${part}${version}`
    return fieldPaths(fields).map((field) => ({ with: owner, field }))
  })
  const [first] = causes
  const blocks = [...Map.groupBy(causes, (cause) => cause.with)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, own]) => [`conflicts with ${name}:`, ...own.map(({ field }) => `- ${field}`)])
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${first?.with}: ${first?.field}`
      : `Apply failed with ${causes.length} conflicts: ${blocks.join('\n')}`
  return new Refusal(409, message, {
    details: {
      causes: causes.map((cause) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${cause.with}`,
        field: cause.field,
      })),
    },
  })
}

/** Merges an applied configuration into a value. */
function mergeApplied(live: unknown, applied: unknown, schema: KindSchema): unknown {
  if (Array.isArray(live) !== Array.isArray(applied)) return applied
  const old = partsOf(live, schema)
  const fresh = partsOf(applied, schema)
  if (old === undefined || fresh === undefined) return applied
  if (Array.isArray(live)) {
    return mergedOrder([...old.keys()], [...fresh.keys()]).map((name) => {
      const [one, other] = [old.get(name), fresh.get(name)]
      return other === undefined ? one?.value : mergeApplied(one?.value, other.value, other.schema)
    })
  }
  const members = new Map(Object.entries(fieldsOf(live)))
  for (const [name, part] of fresh) {
    members.set(name.slice(2), mergeApplied(old.get(name)?.value, part.value, part.schema))
  }
  return Object.fromEntries(members)
}

/** Removes fields from a value; `undefined` if nothing is left. A removed item takes all its fields with it. */
function withoutFields(value: unknown, fields: FieldSet, schema: KindSchema, path = ''): unknown {
  const parts = partsOf(value, schema)
  if (parts === undefined) return fields.has(path) ? undefined : value
  const kept = [...parts].flatMap(([name, part]): [string, unknown][] => {
    const at = stepOf(path, name)
    if (![...fields].some((field) => isWithin(field, at))) return [[name, part.value]]
    if (fields.has(at) && !name.startsWith('f:')) return []
    const left = withoutFields(part.value, fields, part.schema, at)
    return left === undefined ? [] : [[name, left]]
  })
  if (kept.length === 0 && parts.size > 0) return undefined
  return Array.isArray(value)
    ? kept.map(([, part]) => part)
    : Object.fromEntries(kept.map(([name, part]) => [name.slice(2), part]))
}
