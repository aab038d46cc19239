/*
 * Discovers the API groups, versions and resources of a server. It uses aggregated discovery if the server supports it,
 * and otherwise requests each group version. A part that fails, such as an aggregated API that is down, is reported as a
 * failure; the other parts are complete.
 */

import {
  type ApiResource,
  groupResourceOf,
  groupVersionPath,
} from '../../kubernetes/api-resource.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { boundedParallel } from '../../lib/concurrency.ts'

/** The API groups and resources of a server. */
export interface Discovery {
  readonly groups: readonly ApiGroup[]
  /** All resources in all versions. */
  readonly resources: readonly ApiResource[]
  /** Parts that could not be discovered; the rest is complete. */
  readonly failures: readonly DiscoveryFailure[]
  readonly format: 'aggregated' | 'plain'
}

/** One API group, with its versions in the server's order of preference. */
interface ApiGroup {
  /** `''` for the core group. */
  readonly name: string
  readonly preferredVersion: string
  readonly versions: readonly string[]
}

/** A group version whose resources are unknown. */
interface DiscoveryFailure {
  /** `'*'` for all but the core group. */
  readonly group: string
  /** `''` if the whole group is unknown. */
  readonly version: string
  readonly error: Error
}

function formatError(wanted: string, answer: unknown): CodedError {
  const problem = `discovery: expected ${wanted}, got kind ${kindIn(answer)}`
  const hint = 'check that the address is that of an API server, not of a proxy'
  return new CodedError('DISCOVERY_FORMAT', problem, { value: answer, hint })
}

/** Fetches a JSON document. */
export type GetJson = (path: string, accept: string) => Promise<unknown>

const asList = 'as=APIGroupDiscoveryList'
const aggregatedAccept = [
  `application/json;g=apidiscovery.k8s.io;v=v2;${asList}`,
  `application/json;g=apidiscovery.k8s.io;v=v2beta1;${asList}`,
  'application/json',
].join(',')

/** The number of group versions requested at once. */
const maxParallel = 8

/**
 * Discovers the API of a server: by two requests since Kubernetes 1.26 (aggregated discovery, KEP-3352), otherwise by one
 * request per group version. Rejects only if nothing can be discovered.
 */
export async function discover(get: GetJson): Promise<Discovery> {
  const [core, named] = await Promise.allSettled([getRoot(get, '/api'), getRoot(get, '/apis')])
  if (core.status === 'rejected' && named.status === 'rejected') throw core.reason
  const groups: ApiGroup[] = []
  const resources: ApiResource[] = []
  const failures: DiscoveryFailure[] = []
  const listed: ApiGroup[] = []
  let format: Discovery['format'] = 'plain'
  for (const [group, answer] of [['', core] as const, ['*', named] as const]) {
    if (answer.status === 'rejected') {
      // A server may serve only custom groups, or only the core group.
      if (!isRefusal(answer.reason, 404)) {
        failures.push({ group, version: '', error: answer.reason as Error })
      }
    } else if (kindIn(answer.value) === '"APIGroupDiscoveryList"') {
      format = 'aggregated'
      const found = readAggregated(answer.value as GroupDiscoveryList)
      groups.push(...found.groups)
      resources.push(...found.resources)
      failures.push(...found.failures)
    } else listed.push(...readGroups(answer.value))
  }
  const answers = await boundedParallel(
    listed.flatMap(({ name, versions }) => versions.map((version) => ({ group: name, version }))),
    maxParallel,
    async ({ group, version }): Promise<Pick<Discovery, 'resources'> | DiscoveryFailure> => {
      try {
        const answer = await get(groupVersionPath({ group, version }), 'application/json')
        return { resources: readResources(answer, group, version) }
      } catch (error) {
        if (error instanceof Error) return { group, version, error }
        throw error
      }
    },
  )
  for (const answer of answers) {
    if ('error' in answer) failures.push(answer)
    else resources.push(...answer.resources)
  }
  return { groups: [...groups, ...listed], resources, failures, format }
}

/**
 * All versions of all resources. For each resource, the group's preferred version comes first. If that lacks the resource,
 * the first version that has it comes first, as in kubectl.
 */
export function resourcesByPreference({ groups, resources }: Discovery): readonly ApiResource[] {
  const rank = new Map(
    groups.flatMap(({ name, preferredVersion, versions }) =>
      [preferredVersion, ...versions.filter((version) => version !== preferredVersion)].map(
        (version, position) => [`${name}/${version}`, position] as const,
      ),
    ),
  )
  const rankOf = ({ group, version }: ApiResource) =>
    rank.get(`${group}/${version}`) ?? Number.MAX_SAFE_INTEGER
  return [...Map.groupBy(resources, groupResourceOf).values()].flatMap((same) =>
    same.toSorted((a, b) => rankOf(a) - rankOf(b)),
  )
}

/** The root of the group list, aggregated if the server supports that. */
async function getRoot(get: GetJson, path: string): Promise<unknown> {
  try {
    return await get(path, aggregatedAccept)
  } catch (error) {
    // Some servers and proxies reject parameters in Accept.
    if (!isRefusal(error, 406)) throw error
    return await get(path, 'application/json')
  }
}

function isRefusal(error: unknown, httpStatus: number): boolean {
  return error instanceof ApiStatusError && error.httpStatus === httpStatus
}

function kindIn(answer: unknown): string {
  return JSON.stringify((answer as { kind?: unknown } | null | undefined)?.kind ?? null)
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

/** Reads `/api` (`APIVersions`) or `/apis` (`APIGroupList`). Throws DISCOVERY_FORMAT. */
function readGroups(answer: unknown): readonly ApiGroup[] {
  const list = (answer ?? {}) as ApiVersions | ApiGroupList | { readonly kind?: undefined }
  if (list.kind === 'APIVersions') return groupOf('', list.versions ?? [])
  if (list.kind !== 'APIGroupList') {
    throw formatError('APIVersions or APIGroupList', answer)
  }
  return (list.groups ?? []).flatMap(({ name, versions = [], preferredVersion }) =>
    groupOf(
      name,
      versions.map(({ version }) => version),
      preferredVersion?.version,
    ),
  )
}

/** A group, unless it has no versions. */
function groupOf(
  name: string,
  versions: readonly string[],
  preferredVersion: string | undefined = versions[0],
): readonly ApiGroup[] {
  return preferredVersion === undefined ? [] : [{ name, preferredVersion, versions }]
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

/** Reads `/api/v1` or `/apis/GROUP/VERSION`. Throws DISCOVERY_FORMAT. */
function readResources(answer: unknown, group: string, version: string): readonly ApiResource[] {
  const list = answer as ApiResourceList | undefined
  if (list?.kind !== 'APIResourceList') throw formatError('APIResourceList', answer)
  const served = list.resources ?? []
  return served
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, singularName, namespaced, verbs, shortNames }) => ({
      group,
      version,
      resource: name,
      kind,
      singular: singularName ?? '',
      namespaced: namespaced ?? false,
      verbs: verbs ?? [],
      shortNames: shortNames ?? [],
      subresources: served
        .filter((other) => other.name.startsWith(`${name}/`))
        .map((other) => other.name.slice(name.length + 1)),
    }))
}

/** `apidiscovery.k8s.io` v2 and v2beta1, which differ only in name. */
interface GroupDiscoveryList {
  readonly kind: 'APIGroupDiscoveryList'
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    /** In descending order of preference. */
    readonly versions?: readonly {
      readonly version: string
      readonly freshness?: 'Current' | 'Stale'
      readonly resources?: readonly ResourceDiscovery[]
    }[]
  }[]
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

/** Reads an aggregated answer. Skips stale versions, whose server does not answer. */
function readAggregated(list: GroupDiscoveryList): Omit<Discovery, 'format'> {
  const groups: ApiGroup[] = []
  const resources: ApiResource[] = []
  const failures: DiscoveryFailure[] = []
  for (const { metadata, versions = [] } of list.items ?? []) {
    const group = metadata?.name ?? ''
    groups.push(
      ...groupOf(
        group,
        versions.map(({ version }) => version),
      ),
    )
    for (const { version, freshness, resources: served = [] } of versions) {
      if (freshness === 'Stale') {
        // The server of an aggregated API does not answer. The API server sends its last known state, or nothing.
        const value = `${group}/${version}`
        const hint = 'kubectl get apiservices shows why'
        const problem = `the aggregated API ${value} is not available`
        failures.push({
          group,
          version,
          error: new CodedError('STALE_GROUP', problem, { value, hint }),
        })
      } else resources.push(...served.flatMap((one) => readResource(one, group, version)))
    }
  }
  return { groups, resources, failures }
}

function readResource(
  { responseKind, resource, ...served }: ResourceDiscovery,
  group: string,
  version: string,
): readonly ApiResource[] {
  const kind = responseKind?.kind ?? ''
  if (kind === '') return []
  return [
    {
      group,
      version,
      resource,
      kind,
      singular: served.singularResource ?? '',
      namespaced: served.scope === 'Namespaced',
      verbs: served.verbs ?? [],
      shortNames: served.shortNames ?? [],
      subresources: (served.subresources ?? []).map(({ subresource }) => subresource),
    },
  ]
}
