import type { ApiResource } from '../../kubernetes/api-resource.ts'
import type { ApiGroupVersions } from './plain-discovery.ts'

/** `apidiscovery.k8s.io` v2 and v2beta1, which differ in name only. */
interface GroupDiscoveryList {
  readonly kind: 'APIGroupDiscoveryList'
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    /** In descending order of preference. */
    readonly versions?: readonly VersionDiscovery[]
  }[]
}

interface VersionDiscovery {
  readonly version: string
  readonly freshness?: 'Current' | 'Stale'
  readonly resources?: readonly ResourceDiscovery[]
}

interface ResourceDiscovery {
  readonly resource: string
  /** Absent, or with an empty kind, where only subresources are served. */
  readonly responseKind?: { readonly kind?: string } | null
  readonly scope?: 'Namespaced' | 'Cluster'
  readonly singularResource?: string
  readonly verbs?: readonly string[] | null
  readonly shortNames?: readonly string[]
  readonly subresources?: readonly { readonly subresource: string }[]
}

/** What aggregated discovery tells of `/api` or `/apis`. */
export interface AggregatedGroups {
  readonly groups: readonly ApiGroupVersions[]
  readonly resources: readonly ApiResource[]
  /** Versions of which the API server has no current knowledge. */
  readonly stale: readonly { readonly group: string; readonly version: string }[]
}

/** Whether a server answered in this form. */
export function isAggregated(answer: unknown): answer is GroupDiscoveryList {
  return (answer as { kind?: unknown } | null | undefined)?.kind === 'APIGroupDiscoveryList'
}

/** Reads the answer. What a stale version last was is left out: its server does not answer. */
export function readAggregatedGroups(list: GroupDiscoveryList): AggregatedGroups {
  const groups: ApiGroupVersions[] = []
  const resources: ApiResource[] = []
  const stale: { group: string; version: string }[] = []
  for (const { metadata, versions = [] } of list.items ?? []) {
    const group = metadata?.name ?? ''
    const [preferred] = versions
    if (preferred === undefined) continue
    groups.push({
      name: group,
      preferredVersion: preferred.version,
      versions: versions.map(({ version }) => version),
    })
    for (const { version, freshness, resources: served = [] } of versions) {
      if (freshness === 'Stale') stale.push({ group, version })
      else resources.push(...served.flatMap((resource) => readResource(resource, group, version)))
    }
  }
  return { groups, resources, stale }
}

function readResource(
  resource: ResourceDiscovery,
  group: string,
  version: string,
): readonly ApiResource[] {
  const kind = resource.responseKind?.kind ?? ''
  if (kind === '') return []
  return [
    {
      group,
      version,
      resource: resource.resource,
      kind,
      singular: resource.singularResource ?? '',
      namespaced: resource.scope === 'Namespaced',
      verbs: resource.verbs ?? [],
      shortNames: resource.shortNames ?? [],
      subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
    },
  ]
}
