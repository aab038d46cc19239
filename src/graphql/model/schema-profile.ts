/*
 * The profile of a schema: which API groups, kinds and fields become part of it. `include` limits it, `exclude` takes
 * parts out, and a named kind wins over its group. A group or kind that no cluster serves is a problem, since it is most
 * likely misspelt.
 */

import { CodedError } from '../../lib/coded-error.ts'
import type { NamedResource } from './select-resources.ts'

export interface SchemaParts {
  /** API groups: `""` is the core group, `*.example.com` all groups with this ending. */
  readonly groups?: readonly string[] | undefined
  /** Type names of kinds: `Pod`, `CertManagerCertificate`. */
  readonly kinds?: readonly string[] | undefined
  /** Fields: `PodSpec.volumes`; `*.events` is the field of every type. */
  readonly fields?: readonly string[] | undefined
}

/** The part of the clusters' APIs that becomes the schema. */
export interface SchemaProfile {
  /** Only these. A kind must match one of the groups or kinds. A type with named fields has only those fields. */
  readonly include?: SchemaParts | undefined
  /** All parts except these. */
  readonly exclude?: SchemaParts | undefined
  /** Whether types and fields have descriptions; on by default. */
  readonly descriptions?: boolean | undefined
}

/** The problems of a profile's groups and kinds that are not served. */
export function unknownPartsOf(
  { include, exclude }: SchemaProfile,
  served: readonly NamedResource[],
): readonly CodedError[] {
  const groups = [...(include?.groups ?? []), ...(exclude?.groups ?? [])].filter(
    (pattern) => !served.some(({ resource }) => isGroup(pattern, resource.group)),
  )
  const kinds = [...(include?.kinds ?? []), ...(exclude?.kinds ?? [])].filter(
    (kind) => !served.some(({ names }) => names.typeName === kind),
  )
  const hint =
    '`informerql schema` without a profile prints all types; groups are those of apiVersion, "" for v1'
  const notServed = (what: string, value: string): CodedError => {
    const message = `the profile of the schema names a ${what} ${JSON.stringify(value)} that is not served`
    return new CodedError('SCHEMA_PROFILE', message, { value, hint })
  }
  return [
    ...groups.map((group) => notServed('group', group)),
    ...kinds.map((kind) => notServed('type', kind)),
  ]
}

export function isKindOfProfile(
  { include, exclude }: SchemaProfile,
  { resource: { group }, names: { typeName } }: NamedResource,
): boolean {
  const isIn = ({ groups = [], kinds = [] }: SchemaParts): boolean =>
    kinds.includes(typeName) || groups.some((pattern) => isGroup(pattern, group))
  const all = include?.groups === undefined && include?.kinds === undefined
  if (!all && !isIn(include)) return false
  // A named kind wins over its group.
  if (exclude?.kinds?.includes(typeName) === true) return false
  if (include?.kinds?.includes(typeName) === true) return true
  return exclude === undefined || !isIn(exclude)
}

function isGroup(pattern: string, group: string): boolean {
  return pattern.startsWith('*.') ? group.endsWith(pattern.slice(1)) : pattern === group
}

/** Whether a field of a type is part of the schema. `KubernetesObject` is the type of the fields of every kind. */
export type HasField = (typeName: string, field: string) => boolean

/** The fields of a profile; `undefined` for all fields. */
export function fieldsOfProfile({ include, exclude }: SchemaProfile): HasField | undefined {
  if (include?.fields === undefined && exclude?.fields === undefined) return undefined
  const included = new Map<string, Set<string>>()
  for (const field of include?.fields ?? []) {
    const dot = field.indexOf('.')
    const type = field.slice(0, dot)
    const names = included.get(type) ?? new Set()
    included.set(type, names.add(field.slice(dot + 1)))
  }
  const excluded = new Set(exclude?.fields)
  return (typeName, field) =>
    included.get(typeName)?.has(field) !== false &&
    !excluded.has(`${typeName}.${field}`) &&
    !excluded.has(`*.${field}`)
}
