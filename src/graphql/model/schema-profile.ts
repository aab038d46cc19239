/*
 * Which resources become kinds, and what of them becomes part of the schema. Only resources that can be listed count, each
 * in one version: the configured one, or else the server's preferred one. If two kinds would have the same name, a kind of
 * Kubernetes itself wins; the other one is left out and becomes a problem.
 *
 * The profile then leaves out groups, kinds and fields: `include` limits the schema, `exclude` takes parts out, and a named
 * kind wins over its group. A group or kind that no cluster serves is a problem, since it is most likely misspelt.
 */

import { CodedError } from '../../lib/coded-error.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import {
  type ApiResource,
  apiVersionOf,
  groupResourceOf,
  isBuiltInGroup,
} from '../../kubernetes/api-resource.ts'
import { type GroupAliases, type KindNames, namesOfKind } from '../naming/kind-name.ts'

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
    getOrInsert(included, field.slice(0, dot), () => new Set()).add(field.slice(dot + 1))
  }
  const excluded = new Set(exclude?.fields)
  return (typeName, field) =>
    included.get(typeName)?.has(field) !== false &&
    !excluded.has(`${typeName}.${field}`) &&
    !excluded.has(`*.${field}`)
}

/** API versions by kubectl's resource name: `{ "horizontalpodautoscalers.autoscaling": "v1" }`. */
export type ResourceVersions = Readonly<Record<string, string>>

export interface NamedResource {
  readonly resource: ApiResource
  readonly names: KindNames
}

/** `apps/Deployment`; `Pod` for the core group. */
export function groupKindOf({ group, kind }: ApiResource): string {
  return group === '' ? kind : `${group}/${kind}`
}

/** Whether a cache can follow the resource. The gateway reads the others from the API server. */
export function canWatch({ verbs = [] }: ApiResource): boolean {
  return verbs.includes('watch')
}

export interface SelectionOptions {
  readonly aliases: GroupAliases
  readonly versions: ResourceVersions
}

/** The named resources, in the order of their type names. */
export function selectResources(
  resources: readonly ApiResource[],
  { aliases, versions }: SelectionOptions,
): { readonly named: readonly NamedResource[]; readonly problems: readonly CodedError[] } {
  // The Events of events.k8s.io are the same objects as core Events.
  const servable = resources.filter(
    ({ group, kind, verbs = [] }) =>
      verbs.includes('list') && !(group === 'events.k8s.io' && kind === 'Event'),
  )
  const byName = Map.groupBy(servable, groupResourceOf)
  const problems: CodedError[] = []
  for (const [name, version] of Object.entries(versions)) {
    const served = (byName.get(name) ?? []).map((one) => one.version)
    if (served.includes(version)) continue
    const message = `${name} is not served in version ${version}`
    const hint = served.length === 0 ? 'it is not served at all' : `there are ${served.join(', ')}`
    problems.push(new CodedError('RESOURCE_VERSION', message, { value: version, hint }))
  }
  const chosen = [...byName].flatMap(
    ([name, same]) => same.find(({ version }) => version === versions[name]) ?? same[0] ?? [],
  )
  const named = withoutClashes(chosen, aliases, problems)
  return {
    named: named.toSorted((a, b) => (a.names.typeName < b.names.typeName ? -1 : 1)),
    problems,
  }
}

function withoutClashes(
  resources: readonly ApiResource[],
  aliases: GroupAliases,
  problems: CodedError[],
): readonly NamedResource[] {
  const types = new Map<string, ApiResource>()
  const fields = new Map<string, ApiResource>()
  // A kind of Kubernetes itself wins over another kind of the same name.
  const ordered = resources.toSorted(
    (a, b) =>
      Number(isBuiltInGroup(b.group)) - Number(isBuiltInGroup(a.group)) ||
      (keyOf(a) < keyOf(b) ? -1 : 1),
  )
  const siblings = Map.groupBy(resources, ({ group }) => group)
  return ordered.flatMap((resource) => {
    const ofGroup = siblings.get(resource.group) ?? []
    const names = namesOfKind(resource, aliases, new Set(ofGroup.map(({ kind }) => kind)))
    const { typeName, listField, lookupField } = names
    const field = [listField, lookupField].find((one) => fields.has(one))
    const taken = types.get(typeName) ?? fields.get(field ?? '')
    if (taken !== undefined) {
      const value = types.has(typeName) ? typeName : field
      const [left, right] = [resource, taken].map((one) => `${one.kind} of ${apiVersionOf(one)}`)
      const message = `${left} is left out: ${right} has the name ${value}`
      const hint = `configure an alias for the API group ${resource.group}`
      problems.push(new CodedError('KIND_NAME', message, { value, hint }))
      return []
    }
    types.set(typeName, resource)
    fields.set(listField, resource)
    fields.set(lookupField, resource)
    return [{ resource, names }]
  })
}

function keyOf({ group, kind, resource }: ApiResource): string {
  return `${group}/${kind}/${resource}`
}
