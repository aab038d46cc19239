/*
 * Selects the resources that become kinds, and names them. Only resources that can be listed count, each in one version:
 * the configured one, or else the server's preferred one. If two kinds would have the same name, a kind of Kubernetes
 * itself wins; the other one is left out and becomes a problem.
 */

import {
  type ApiResource,
  apiVersionOf,
  groupResourceOf,
  isBuiltInGroup,
} from '../../kubernetes/api-resource.ts'
import { CodedError } from '../../lib/coded-error.ts'
import type { GroupAliases } from '../naming/api-groups.ts'
import { type KindNames, namesOfKind } from '../naming/kind-name.ts'

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
  const byName = Map.groupBy(resources.filter(isServable), groupResourceOf)
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

function isServable({ group, kind, verbs = [] }: ApiResource): boolean {
  // These are the same objects as core Events.
  if (group === 'events.k8s.io' && kind === 'Event') return false
  return verbs.includes('list')
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
  return ordered.flatMap((resource) => {
    const names = namesOfKind(resource, aliases)
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
