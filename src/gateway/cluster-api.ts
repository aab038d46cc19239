import type { ApiServer } from '../api-server/api-server.ts'
import { type Discovery, resourcesByPreference } from '../api-server/discovery/discovery.ts'
import type { FetchedOpenApi } from '../api-server/discovery/open-api.ts'
import { atLeast, type ServerVersion } from '../api-server/discovery/server-features.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { fieldsOf, textOf } from '../kubernetes/fields.ts'
import type { OpenApiDocument, OpenApiDocuments } from '../kubernetes/open-api.ts'
import { ApiStatusError } from '../kubernetes/status.ts'
import { ClusterDefinitions } from './cluster-definitions.ts'

export interface ClusterApi {
  readonly apiServer: ApiServer
  readonly version: ServerVersion
  /** The identity of the cluster; `undefined` if it cannot be read. */
  readonly uid: string | undefined
  /** Whether resource versions of the server are ordered. */
  readonly resourceVersionsComparable: boolean
  /** All versions of each resource, the preferred one first. */
  readonly resources: readonly ApiResource[]
  readonly openapi: OpenApiDocuments
  readonly definitions: ClusterDefinitions
  /** CustomResourceDefinitions, without the schemas of their versions. */
  readonly crds: readonly unknown[]
  /** Errors of parts that could not be discovered. The rest is complete. */
  readonly failures: readonly Error[]
}

/** Asks a cluster for its API. Rejects if the cluster cannot be reached, and with the signal's reason. */
export async function askApi(apiServer: ApiServer, signal: AbortSignal): Promise<ClusterApi> {
  // Asks for the version first: a server that cannot be reached is then reported once.
  const version = await apiServer.version(signal)
  const definitions = new ClusterDefinitions(apiServer)
  const [discovery, openApi, uid] = await Promise.all([
    apiServer.discover(signal),
    apiServer.openApi({ signal }),
    // Each watch asks for it again.
    askClusterUid(apiServer, signal).catch(() => undefined),
  ])
  const resources = resourcesByPreference(discovery)
  const failures = failuresOf(discovery, openApi)
  if (definitionsResourceOf(resources) !== undefined) {
    try {
      await definitions.list(signal)
    } catch (error) {
      signal.throwIfAborted()
      failures.push(error as Error)
    }
  }
  signal.throwIfAborted()
  return {
    apiServer,
    version,
    uid,
    resourceVersionsComparable: atLeast(version, 1, 35),
    resources,
    openapi: openApi.documents,
    definitions,
    crds: crdsOf(definitions),
    failures,
  }
}

/**
 * Asks again; returns the same `api` if nothing has changed. Parts that the server fails to send keep their last known
 * value. Rejects if the server sends nothing.
 */
export async function askAgain(api: ClusterApi, signal: AbortSignal): Promise<ClusterApi> {
  const { apiServer, definitions } = api
  const [discovery, openApi] = await Promise.all([
    apiServer.discover(signal),
    apiServer.openApi({ signal }),
  ])
  signal.throwIfAborted()
  const { failures: lost } = discovery
  const served = new Set(discovery.resources.map(({ group, version }) => `${group}/${version}`))
  // The known resources of group versions whose discovery fails now.
  const kept = api.resources.filter(
    ({ group, version }) =>
      !served.has(`${group}/${version}`) &&
      lost.some((failure) => {
        const isGroup = failure.group === '*' ? group !== '' : failure.group === group
        return isGroup && (failure.version === '' || failure.version === version)
      }),
  )
  const resources = [...resourcesByPreference(discovery), ...kept]
  const openapi = documentsOf(api, openApi)
  const crds = crdsOf(definitions)
  const isSame =
    JSON.stringify(resources) === JSON.stringify(api.resources) &&
    Object.keys(openapi).length === Object.keys(api.openapi).length &&
    Object.entries(openapi).every(([path, document]) => api.openapi[path] === document) &&
    JSON.stringify(crds) === JSON.stringify(api.crds)
  if (isSame) return api
  return { ...api, resources, openapi, crds, failures: failuresOf(discovery, openApi) }
}

/** The resource of CustomResourceDefinitions; `undefined` if the cluster has none. */
export function definitionsResourceOf(resources: readonly ApiResource[]): ApiResource | undefined {
  return resources.find(
    ({ group, version, resource }) =>
      group === 'apiextensions.k8s.io' &&
      version === 'v1' &&
      resource === 'customresourcedefinitions',
  )
}

/** The resource of APIServices; `undefined` if the cluster has none. */
export function servicesResourceOf(resources: readonly ApiResource[]): ApiResource | undefined {
  return resources.find(
    ({ group, resource }) => group === 'apiregistration.k8s.io' && resource === 'apiservices',
  )
}

function failuresOf(discovery: Discovery, openApi: FetchedOpenApi): Error[] {
  return [...discovery.failures.map(({ error }) => error), ...openApi.failures]
}

/** Sorted by name, so that equal definitions have equal text. */
function crdsOf({ byName }: ClusterDefinitions): readonly unknown[] {
  return [...byName.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ object }) => object)
}

/** Keeps the known document object for equal content, even if its hash has changed. */
function documentsOf(
  { openapi: before }: ClusterApi,
  { documents, failures }: FetchedOpenApi,
): OpenApiDocuments {
  const now: Record<string, OpenApiDocument> = {}
  for (const [path, document] of Object.entries(documents)) {
    const known = before[path]
    const isKnown =
      known !== undefined &&
      (known === document || JSON.stringify(known) === JSON.stringify(document))
    now[path] = isKnown ? known : document
  }
  for (const { value } of failures) {
    const known = before[String(value)]
    if (known !== undefined) now[String(value)] = known
  }
  return now
}

const path = '/api/v1/namespaces/kube-system'

/**
 * Asks for the identity of a cluster: the UID of its namespace `kube-system` (OpenTelemetry's `k8s.cluster.uid`).
 * `undefined` if the namespace is missing or may not be read. Rejects if the server cannot be reached.
 */
export async function askClusterUid(
  apiServer: ApiServer,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { metadata } = fieldsOf(await apiServer.request('GET', path, { signal }))
    return textOf(fieldsOf(metadata)['uid'])
  } catch (error) {
    const isRefused = error instanceof ApiStatusError && refusals.has(error.httpStatus)
    if (isRefused) return undefined
    throw error
  }
}

const refusals: ReadonlySet<number> = new Set([401, 403, 404])
