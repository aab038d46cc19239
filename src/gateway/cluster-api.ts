import type { ApiServer } from '../api-server/api-server.ts'
import { type Discovery, resourcesByPreference } from '../api-server/discovery/discovery.ts'
import type { FetchedOpenApi } from '../api-server/discovery/open-api.ts'
import { atLeast, type ServerVersion } from '../api-server/discovery/server-features.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { OpenApiDocument, OpenApiDocuments } from '../kubernetes/open-api.ts'
import { ClusterDefinitions } from './cluster-definitions.ts'
import { askClusterUid } from './cluster-uid.ts'

/** What a cluster said of itself. */
export interface ClusterApi {
  readonly apiServer: ApiServer
  readonly version: ServerVersion
  /** By what it is known; `undefined` where that could not be learned. */
  readonly uid: string | undefined
  /** Whether the server promises an order of resource versions. */
  readonly resourceVersionsComparable: boolean
  /** All versions of each resource, the preferred one first. */
  readonly resources: readonly ApiResource[]
  readonly openapi: OpenApiDocuments
  readonly definitions: ClusterDefinitions
  /** CustomResourceDefinitions, without the schemas of their versions. */
  readonly crds: readonly unknown[]
  /** Parts that could not be discovered; the rest is whole. */
  readonly failures: readonly Error[]
}

/** Asks a cluster what it serves. Rejects where it does not say so, and with the signal's reason. */
export async function askApi(apiServer: ApiServer, signal: AbortSignal): Promise<ClusterApi> {
  // The version first and alone: a server that cannot be reached is then reported once.
  const version = await apiServer.version(signal)
  const definitions = new ClusterDefinitions(apiServer)
  const [discovery, openApi, uid] = await Promise.all([
    apiServer.discover(signal),
    apiServer.openApi({ signal }),
    // It is asked again with each watch.
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
 * Asks it again; the same `api` where nothing has changed. What it fails to say now is as it was said last. Rejects where
 * it says nothing.
 */
export async function askAgain(api: ClusterApi, signal: AbortSignal): Promise<ClusterApi> {
  const { apiServer, definitions } = api
  const [discovery, openApi] = await Promise.all([
    apiServer.discover(signal),
    apiServer.openApi({ signal }),
  ])
  signal.throwIfAborted()
  const resources = [...resourcesByPreference(discovery), ...lostResources(api, discovery)]
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

/** CustomResourceDefinitions as a resource; `undefined` where the cluster has none. */
export function definitionsResourceOf(resources: readonly ApiResource[]): ApiResource | undefined {
  return resources.find(
    ({ group, version, resource }) =>
      group === 'apiextensions.k8s.io' &&
      version === 'v1' &&
      resource === 'customresourcedefinitions',
  )
}

/** APIServices as a resource; `undefined` where the cluster has none. */
export function servicesResourceOf(resources: readonly ApiResource[]): ApiResource | undefined {
  return resources.find(
    ({ group, resource }) => group === 'apiregistration.k8s.io' && resource === 'apiservices',
  )
}

function failuresOf(discovery: Discovery, openApi: FetchedOpenApi): Error[] {
  return [...discovery.failures.map(({ error }) => error), ...openApi.failures]
}

/** In the order of their names, so that the same ones are the same text. */
function crdsOf({ byName }: ClusterDefinitions): readonly unknown[] {
  return [...byName.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ object }) => object)
}

/** Resources of group versions that cannot be discovered at the moment. */
function lostResources(
  { resources }: ClusterApi,
  { failures, resources: found }: Discovery,
): readonly ApiResource[] {
  if (failures.length === 0) return []
  const versions = new Set(found.map(({ group, version }) => `${group}/${version}`))
  const isLost = ({ group, version }: ApiResource): boolean =>
    !versions.has(`${group}/${version}`) &&
    failures.some((failure) => {
      const isGroup = failure.group === '*' ? group !== '' : failure.group === group
      return isGroup && (failure.version === '' || failure.version === version)
    })
  return resources.filter(isLost)
}

/** The same document object for the same content, whatever the server says of its hash. */
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
