import { CodedError } from '../../lib/coded-error.ts'
import type { NamedResource } from './select-resources.ts'

/** Some of what a schema has. */
export interface SchemaParts {
  /** API groups: `""` is the core group, `*.example.com` all groups that end so. */
  readonly groups?: readonly string[] | undefined
  /** Kinds, by their type names: `Pod`, `CertManagerCertificate`. */
  readonly kinds?: readonly string[] | undefined
  /** Fields: `PodSpec.volumes`; `*.events` of every type. */
  readonly fields?: readonly string[] | undefined
}

/** Which part of what clusters serve becomes the schema. */
export interface SchemaProfile {
  /** Only these. Groups and kinds: either will do. A type of which fields are named has only those. */
  readonly include?: SchemaParts | undefined
  /** Not these. */
  readonly exclude?: SchemaParts | undefined
  /** Whether types and fields carry descriptions; on by default. */
  readonly descriptions?: boolean | undefined
}

/** A part of a profile that means nothing that is served. */
export class SchemaProfileError extends CodedError {
  constructor(what: string, value: string) {
    super('SCHEMA_PROFILE', `the profile of the schema names ${what} that is not served`, {
      value,
      hint: '`informerql schema` without a profile prints all types; groups are those of apiVersion, "" for v1',
    })
  }
}

/** What a profile names that is not there. */
export function unknownPartsOf(
  { include, exclude }: SchemaProfile,
  served: readonly NamedResource[],
): readonly SchemaProfileError[] {
  const groups = [...(include?.groups ?? []), ...(exclude?.groups ?? [])].filter(
    (pattern) => !served.some(({ resource }) => isGroup(pattern, resource.group)),
  )
  const kinds = [...(include?.kinds ?? []), ...(exclude?.kinds ?? [])].filter(
    (kind) => !served.some(({ names }) => names.typeName === kind),
  )
  return [
    ...groups.map((group) => new SchemaProfileError(`a group ${JSON.stringify(group)}`, group)),
    ...kinds.map((kind) => new SchemaProfileError(`a type ${JSON.stringify(kind)}`, kind)),
  ]
}

/** Whether a kind is a part of the schema. */
export function isKindOfProfile(
  { include, exclude }: SchemaProfile,
  { resource: { group }, names: { typeName } }: NamedResource,
): boolean {
  const isIn = ({ groups = [], kinds = [] }: SchemaParts): boolean =>
    kinds.includes(typeName) || groups.some((pattern) => isGroup(pattern, group))
  const all = include?.groups === undefined && include?.kinds === undefined
  if (!all && !isIn(include)) return false
  // A kind that is named wins over its group.
  if (exclude?.kinds?.includes(typeName) === true) return false
  if (include?.kinds?.includes(typeName) === true) return true
  return exclude === undefined || !isIn(exclude)
}

function isGroup(pattern: string, group: string): boolean {
  return pattern.startsWith('*.') ? group.endsWith(pattern.slice(1)) : pattern === group
}

/** Whether a field of a type is a part of the schema. Fields that all kinds have are asked of `KubernetesObject`. */
export type HasField = (typeName: string, field: string) => boolean

/** The fields of a profile; `undefined` where it has all of them. */
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
