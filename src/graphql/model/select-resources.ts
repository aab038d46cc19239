import {
  type ApiResource,
  apiVersionOf,
  groupResourceOf,
  isBuiltInGroup,
} from '../../kubernetes/api-resource.ts'
import { CodedError } from '../../lib/coded-error.ts'
import type { GroupAliases } from '../naming/api-groups.ts'
import { type KindNames, namesOfKind } from '../naming/kind-name.ts'

/** API versions by kubectl's name of a resource: `{ "horizontalpodautoscalers.autoscaling": "v1" }`. */
export type ResourceVersions = Readonly<Record<string, string>>

/** A resource that the schema serves, with its names. */
export interface NamedResource {
  readonly resource: ApiResource
  readonly names: KindNames
}

/** A kind that the schema cannot serve beside another one, because both have the same name. */
export class KindNameError extends CodedError {
  constructor(resource: ApiResource, name: string, taken: ApiResource) {
    const [left, right] = [resource, taken].map((one) => `${one.kind} of ${apiVersionOf(one)}`)
    super('KIND_NAME', `${left} is left out: ${right} has the name ${name}`, {
      value: name,
      hint: `configure an alias for the API group ${resource.group}`,
    })
  }
}

/** A configured version that the server does not serve. */
export class ResourceVersionError extends CodedError {
  constructor(name: string, version: string, served: readonly string[]) {
    super('RESOURCE_VERSION', `${name} is not served in version ${version}`, {
      value: version,
      hint: served.length === 0 ? 'it is not served at all' : `there are ${served.join(', ')}`,
    })
  }
}

/** A kind that is configured to have no cache, and is not there. */
export class UncachedKindError extends CodedError {
  constructor(name: string) {
    super('UNCACHED_KIND', `uncached: the cluster serves no ${name}`, {
      value: name,
      hint: 'write group/Kind, such as apps/Deployment, or the kind alone of the core group',
    })
  }
}

/** `apps/Deployment`; of the core group `Pod`. */
export function groupKindOf({ group, kind }: ApiResource): string {
  return group === '' ? kind : `${group}/${kind}`
}

/** Whether a cache can follow it; what cannot be watched is read live. */
export function canWatch({ verbs = [] }: ApiResource): boolean {
  return verbs.includes('watch')
}

/** What {@link selectResources} goes by. */
export interface SelectionOptions {
  readonly aliases: GroupAliases
  readonly versions: ResourceVersions
}

/**
 * The resources of which the schema has a kind, in the order of their type names: those that can be listed, in
 * one version each.
 */
export function selectResources(
  resources: readonly ApiResource[],
  { aliases, versions }: SelectionOptions,
): { readonly named: readonly NamedResource[]; readonly problems: readonly CodedError[] } {
  const byName = new Map<string, ApiResource[]>()
  for (const resource of resources) {
    if (!isServable(resource)) continue
    const name = groupResourceOf(resource)
    const same = byName.get(name)
    if (same === undefined) byName.set(name, [resource])
    else same.push(resource)
  }
  const problems: CodedError[] = []
  for (const [name, version] of Object.entries(versions)) {
    const served = (byName.get(name) ?? []).map((one) => one.version)
    if (!served.includes(version)) problems.push(new ResourceVersionError(name, version, served))
  }
  const chosen = [...byName].flatMap(([name, same]) => {
    const configured = same.find(({ version }) => version === versions[name])
    return configured ?? same[0] ?? []
  })
  const named = withoutClashes(chosen, aliases, problems)
  return {
    named: named.toSorted((a, b) => (a.names.typeName < b.names.typeName ? -1 : 1)),
    problems,
  }
}

function isServable({ group, kind, verbs = [] }: ApiResource): boolean {
  // The same objects as core Events.
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
  const ordered = resources.toSorted(byPrecedence)
  return ordered.flatMap((resource) => {
    const names = namesOfKind(resource, aliases)
    const { typeName, listField, lookupField } = names
    const field = [listField, lookupField].find((one) => fields.has(one))
    const taken = types.get(typeName) ?? fields.get(field ?? '')
    if (taken !== undefined) {
      problems.push(
        new KindNameError(resource, types.has(typeName) ? typeName : (field ?? ''), taken),
      )
      return []
    }
    types.set(typeName, resource)
    fields.set(listField, resource)
    fields.set(lookupField, resource)
    return [{ resource, names }]
  })
}

/** Of two kinds with one name the one that Kubernetes itself serves is kept. */
function byPrecedence(a: ApiResource, b: ApiResource): number {
  return (
    Number(isBuiltInGroup(b.group)) - Number(isBuiltInGroup(a.group)) ||
    (keyOf(a) < keyOf(b) ? -1 : 1)
  )
}

function keyOf({ group, kind, resource }: ApiResource): string {
  return `${group}/${kind}/${resource}`
}
