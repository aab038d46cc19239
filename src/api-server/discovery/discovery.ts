import {
  type ApiResource,
  groupResourceOf,
  groupVersionPath,
} from '../../kubernetes/api-resource.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import {
  type ApiGroupVersions,
  isAggregated,
  readAggregatedGroups,
  readGroups,
  readResources,
} from './discovery-formats.ts'
import { boundedParallel } from '../../lib/concurrency.ts'

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

/** What a server serves. */
export interface Discovery {
  readonly groups: readonly ApiGroup[]
  /** All resources in all versions. */
  readonly resources: readonly ApiResource[]
  /** Parts that could not be discovered; the rest is complete. */
  readonly failures: readonly DiscoveryFailure[]
  readonly format: 'aggregated' | 'plain'
}

/** The server of an aggregated API does not answer. The API server repeats the last known state, or nothing. */
export class StaleGroupError extends CodedError {
  constructor(groupVersion: string) {
    super('STALE_GROUP', `the aggregated API ${groupVersion} is not available`, {
      value: groupVersion,
      hint: 'kubectl get apiservices shows why',
    })
  }
}

/** Fetches a JSON document. */
export type GetJson = (path: string, accept: string) => Promise<unknown>

const asList = 'as=APIGroupDiscoveryList'
const aggregatedAccept = [
  `application/json;g=apidiscovery.k8s.io;v=v2;${asList}`,
  `application/json;g=apidiscovery.k8s.io;v=v2beta1;${asList}`,
  'application/json',
].join(',')

/** How many group versions are requested at once. */
const maxParallel = 8

/**
 * Discovers what a server serves: by two requests since Kubernetes 1.26 (aggregated discovery, KEP-3352), else by one
 * request per group version. Rejects only if nothing at all can be discovered.
 */
export async function discover(get: GetJson): Promise<Discovery> {
  const [core, named] = await Promise.allSettled([getRoot(get, '/api'), getRoot(get, '/apis')])
  if (core.status === 'rejected' && named.status === 'rejected') throw core.reason
  const roots = [
    { group: '', answer: core },
    { group: '*', answer: named },
  ]
  const failures: DiscoveryFailure[] = []
  const groups: ApiGroup[] = []
  const resources: ApiResource[] = []
  const listed: ApiGroupVersions[] = []
  let format: Discovery['format'] = 'plain'
  for (const { group, answer } of roots) {
    if (answer.status === 'rejected') {
      // A server may serve only custom groups, or only the core group.
      const isAbsent = answer.reason instanceof ApiStatusError && answer.reason.httpStatus === 404
      if (!isAbsent) failures.push({ group, version: '', error: answer.reason as Error })
    } else if (isAggregated(answer.value)) {
      format = 'aggregated'
      const found = readAggregatedGroups(answer.value)
      groups.push(...found.groups)
      resources.push(...found.resources)
      failures.push(
        ...found.stale.map(({ group: name, version }) => ({
          group: name,
          version,
          error: new StaleGroupError(`${name}/${version}`),
        })),
      )
    } else listed.push(...readGroups(answer.value))
  }
  groups.push(...listed)
  const found = await boundedParallel(
    listed.flatMap(({ name, versions }) => versions.map((version) => ({ group: name, version }))),
    maxParallel,
    async ({ group, version }) => await getResources(get, group, version),
  )
  for (const part of found) {
    if ('error' in part) failures.push(part)
    else resources.push(...part.resources)
  }
  return { groups, resources, failures, format }
}

/** One version of each resource: the group's preferred one, else the first that has it (as kubectl chooses). */
export function preferredResources(discovery: Discovery): readonly ApiResource[] {
  return versionsByPreference(discovery).flatMap(([preferred]) => preferred ?? [])
}

/** All versions of all resources. The version of {@link preferredResources} comes first. */
export function resourcesByPreference(discovery: Discovery): readonly ApiResource[] {
  return versionsByPreference(discovery).flat()
}

function versionsByPreference({
  groups,
  resources,
}: Discovery): readonly (readonly ApiResource[])[] {
  const rank = new Map(
    groups.flatMap(({ name, preferredVersion, versions }) =>
      [preferredVersion, ...versions.filter((version) => version !== preferredVersion)].map(
        (version, position) => [`${name}/${version}`, position] as const,
      ),
    ),
  )
  const last = Number.MAX_SAFE_INTEGER
  const rankOf = ({ group, version }: ApiResource) => rank.get(`${group}/${version}`) ?? last
  return [...Map.groupBy(resources, groupResourceOf).values()].map((same) =>
    same.toSorted((a, b) => rankOf(a) - rankOf(b)),
  )
}

/** The root of the group list, aggregated if the server supports that. */
async function getRoot(get: GetJson, path: string): Promise<unknown> {
  try {
    return await get(path, aggregatedAccept)
  } catch (error) {
    // Some servers and proxies reject parameters in Accept.
    const isUnknown = error instanceof ApiStatusError && error.httpStatus === 406
    if (!isUnknown) throw error
    return await get(path, 'application/json')
  }
}

async function getResources(
  get: GetJson,
  group: string,
  version: string,
): Promise<{ readonly resources: readonly ApiResource[] } | DiscoveryFailure> {
  try {
    const answer = await get(groupVersionPath({ group, version }), 'application/json')
    return { resources: readResources(answer, group, version) }
  } catch (error) {
    if (error instanceof Error) return { group, version, error }
    throw error
  }
}
