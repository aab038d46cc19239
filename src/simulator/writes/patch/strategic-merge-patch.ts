import type { OpenApiDocument, Schema } from '../../api/captured-api.ts'
import { isObject } from '../../api/json.ts'
import { badRequest } from '../../api/status-refusal.ts'

/** Finds schemas by reference. */
type Schemas = Readonly<Record<string, Schema>>

/**
 * Applies a strategic merge patch: like a merge patch, but lists whose schema says so merge item by item, by their
 * `x-kubernetes-patch-merge-key`, and `$patch`, `$retainKeys` and `$deleteFromPrimitiveList` direct it. Item order hints
 * (`$setElementOrder`) are ignored. Source: the API conventions' "strategic merge patch".
 */
export function strategicMergePatch(
  target: unknown,
  patch: unknown,
  document: OpenApiDocument,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
): unknown {
  const schemas = document.components?.schemas ?? {}
  const root = Object.values(schemas).find((schema) => isOfKind(schema, kind))
  return merge(target, patch, root, schemas)
}

function isOfKind(
  schema: Schema,
  {
    group,
    version,
    kind,
  }: { readonly group: string; readonly version: string; readonly kind: string },
): boolean {
  const kinds = schema['x-kubernetes-group-version-kind']
  return (
    Array.isArray(kinds) &&
    kinds.length === 1 &&
    kinds.some(
      (one: Record<string, unknown>) =>
        one['group'] === group && one['version'] === version && one['kind'] === kind,
    )
  )
}

/** Follows `$ref` and `allOf` of one element, the forms in which Kubernetes refers to a schema. */
function resolved(schema: Schema | undefined, schemas: Schemas): Schema | undefined {
  if (schema === undefined) return undefined
  const [first] = (schema['allOf'] as Schema[] | undefined) ?? []
  const reference = schema['$ref'] ?? first?.['$ref']
  if (typeof reference !== 'string') return schema
  return schemas[reference.slice(reference.lastIndexOf('/') + 1)]
}

function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const properties = schema?.['properties'] as Schemas | undefined
  const additional = schema?.['additionalProperties']
  return properties?.[name] ?? (isObject(additional) ? additional : undefined)
}

function merge(
  target: unknown,
  patch: unknown,
  schema: Schema | undefined,
  schemas: Schemas,
): unknown {
  if (!isObject(patch)) return patch
  const { $patch: directive, $retainKeys: retained, ...fields } = patch
  if (directive === 'replace') return fields
  if (directive === 'delete') return {}
  const whole = resolved(schema, schemas)
  const entries = new Map(isObject(target) ? Object.entries(target) : [])
  if (Array.isArray(retained)) {
    for (const name of entries.keys()) if (!retained.includes(name)) entries.delete(name)
  }
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith('$setElementOrder/')) continue
    if (name.startsWith('$deleteFromPrimitiveList/')) {
      const list = name.slice(name.indexOf('/') + 1)
      entries.set(list, without(entries.get(list), value))
    } else if (value === null) entries.delete(name)
    else {
      const part = fieldSchema(whole, name)
      const old = entries.get(name)
      const merged = Array.isArray(value)
        ? mergeLists(old, value, part, schemas)
        : merge(old, value, part, schemas)
      entries.set(name, merged)
    }
  }
  return Object.fromEntries(entries)
}

function without(list: unknown, removed: unknown): unknown {
  return Array.isArray(list) && Array.isArray(removed)
    ? list.filter((item) => !removed.includes(item))
    : list
}

function mergeLists(
  target: unknown,
  patch: readonly unknown[],
  schema: Schema | undefined,
  schemas: Schemas,
): unknown[] {
  const strategy = schema?.['x-kubernetes-patch-strategy']
  if (
    typeof strategy !== 'string' ||
    !strategy.split(',').includes('merge') ||
    !Array.isArray(target)
  ) {
    return patch.filter((item) => !isObject(item) || item['$patch'] === undefined)
  }
  const key = schema?.['x-kubernetes-patch-merge-key']
  if (typeof key !== 'string') return [...new Set([...target, ...patch])]
  if (patch.some((item) => isObject(item) && item['$patch'] === 'replace')) {
    return patch.filter((item) => !isObject(item) || item['$patch'] !== 'replace')
  }
  const merged = [...(target as unknown[])]
  for (const item of patch) {
    if (!isObject(item) || item[key] === undefined) {
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`)
    }
    const at = merged.findIndex((one) => isObject(one) && one[key] === item[key])
    if (item['$patch'] === 'delete') {
      if (at >= 0) merged.splice(at, 1)
    } else if (at < 0) merged.push(item)
    else merged[at] = merge(merged[at], item, schema?.['items'] as Schema | undefined, schemas)
  }
  return merged
}
