import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { CodedError } from '../../lib/coded-error.ts'

/** One API group as discovery lists it. */
export interface ApiGroupVersions {
  readonly name: string
  readonly preferredVersion: string
  readonly versions: readonly string[]
}

/** A response is not a discovery document. */
class DiscoveryFormatError extends CodedError {
  constructor(wanted: string, answer: unknown) {
    const kind = JSON.stringify((answer as { kind?: unknown } | null | undefined)?.kind ?? null)
    super('DISCOVERY_FORMAT', `discovery: expected ${wanted}, got kind ${kind}`, {
      value: answer,
      hint: 'check that the address is that of an API server, not of a proxy',
    })
  }
}

interface ApiVersions {
  readonly kind: 'APIVersions'
  readonly versions?: readonly string[]
}

interface ApiGroupList {
  readonly kind: 'APIGroupList'
  readonly groups?: readonly {
    readonly name: string
    readonly versions?: readonly { readonly version: string }[]
    readonly preferredVersion?: { readonly version?: string }
  }[]
}

interface ApiResourceList {
  readonly kind: 'APIResourceList'
  readonly resources?:
    | readonly {
        readonly name: string
        readonly singularName?: string
        readonly namespaced?: boolean
        readonly kind: string
        readonly verbs?: readonly string[] | null
        readonly shortNames?: readonly string[]
      }[]
    | null
}

/** Reads `/api` (`APIVersions`) or `/apis` (`APIGroupList`). Throws {@link DiscoveryFormatError}. */
export function readGroups(answer: unknown): readonly ApiGroupVersions[] {
  const list = (answer ?? {}) as ApiVersions | ApiGroupList | { readonly kind?: undefined }
  if (list.kind === 'APIVersions') {
    const versions = list.versions ?? []
    const [preferredVersion] = versions
    return preferredVersion === undefined ? [] : [{ name: '', preferredVersion, versions }]
  }
  if (list.kind !== 'APIGroupList') {
    throw new DiscoveryFormatError('APIVersions or APIGroupList', answer)
  }
  return (list.groups ?? []).flatMap(({ name, versions = [], preferredVersion }) => {
    const names = versions.map(({ version }) => version)
    const preferred = preferredVersion?.version ?? names[0]
    return preferred === undefined ? [] : [{ name, preferredVersion: preferred, versions: names }]
  })
}

/** Reads `/api/v1` or `/apis/GROUP/VERSION`. Throws {@link DiscoveryFormatError}. */
export function readResources(
  answer: unknown,
  group: string,
  version: string,
): readonly ApiResource[] {
  const list = answer as ApiResourceList | undefined
  if (list?.kind !== 'APIResourceList') throw new DiscoveryFormatError('APIResourceList', answer)
  const served = list.resources ?? []
  return served
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => ({
      group,
      version,
      resource: resource.name,
      kind: resource.kind,
      singular: resource.singularName ?? '',
      namespaced: resource.namespaced ?? false,
      verbs: resource.verbs ?? [],
      shortNames: resource.shortNames ?? [],
      subresources: served
        .filter(({ name }) => name.startsWith(`${resource.name}/`))
        .map(({ name }) => name.slice(resource.name.length + 1)),
    }))
}

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
  /** Absent, or with an empty kind, if only subresources are served. */
  readonly responseKind?: { readonly kind?: string } | null
  readonly scope?: 'Namespaced' | 'Cluster'
  readonly singularResource?: string
  readonly verbs?: readonly string[] | null
  readonly shortNames?: readonly string[]
  readonly subresources?: readonly { readonly subresource: string }[]
}

interface AggregatedGroups {
  readonly groups: readonly ApiGroupVersions[]
  readonly resources: readonly ApiResource[]
  /** Versions that the API server cannot reach at present. */
  readonly stale: readonly { readonly group: string; readonly version: string }[]
}

/** Whether a response has this form. */
export function isAggregated(answer: unknown): answer is GroupDiscoveryList {
  return (answer as { kind?: unknown } | null | undefined)?.kind === 'APIGroupDiscoveryList'
}

/** Reads the response. Skips the last known resources of stale versions, because their server does not answer. */
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
