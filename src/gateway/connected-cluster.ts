import type { AccessConnection } from '../access/cluster-access.ts'
import { type ApiServer, type ApiServerLimits, createApiServer } from '../api-server/api-server.ts'
import {
  ClusterConfigError,
  type NamedClusterSelection,
} from '../api-server/kubeconfig/cluster-config.ts'
import { loadClusterConfig } from '../api-server/kubeconfig/cluster-lookup.ts'
import type { ApiServerObserver } from '../api-server/transport/transport.ts'
import type { ClusterConnection } from '../cache/cluster-cache.ts'
import { createDirectApi } from '../cache/direct-api.ts'
import { askApi, askClusterUid, type ClusterApi } from './cluster-api.ts'

/** A cluster of the gateway. */
export type Cluster =
  | { readonly name: string; readonly state: 'connected'; readonly api: ClusterApi }
  /** Is retried. */
  | { readonly name: string; readonly state: 'unreachable'; readonly error: Error }
  /** Is not retried: the configuration is invalid. */
  | { readonly name: string; readonly state: 'misconfigured'; readonly error: Error }

/**
 * Connects to a cluster and asks for its API. Never rejects: a failure or an aborted signal becomes the state of the
 * cluster.
 */
export async function connectCluster(
  selection: NamedClusterSelection,
  limits: Partial<ApiServerLimits>,
  observer: ApiServerObserver,
  signal: AbortSignal,
): Promise<Cluster> {
  const { name, ...where } = selection
  let apiServer: ApiServer | undefined
  try {
    apiServer = createApiServer({ ...limits, name, observer, config: loadClusterConfig(where) })
    return { name, state: 'connected', api: await askApi(apiServer, signal) }
  } catch (cause) {
    await apiServer?.[Symbol.asyncDispose]()
    const state = cause instanceof ClusterConfigError ? 'misconfigured' : 'unreachable'
    return { name, state, error: cause instanceof Error ? cause : new Error(String(cause)) }
  }
}

/** The connection by which caches read the cluster. */
export function connectionOf(cluster: Cluster): ClusterConnection {
  if (cluster.state !== 'connected') return { state: 'unreachable', error: cluster.error }
  const { apiServer, version, resourceVersionsComparable, uid } = cluster.api
  return {
    state: 'connected',
    uid,
    askUid: (signal) => askClusterUid(apiServer, signal),
    source: (resource, how) => apiServer.resource(resource, how),
    direct: createDirectApi(apiServer),
    directAs: (token) => {
      const caller = apiServer.as(token)
      const live = createDirectApi(caller)
      return { ...live, [Symbol.asyncDispose]: () => caller[Symbol.asyncDispose]() }
    },
    version: version.gitVersion,
    resourceVersionsComparable,
  }
}

/** The connection by which permissions are reviewed and followed. Throws if the cluster cannot be reached. */
export function accessConnectionOf(cluster: Cluster): AccessConnection {
  if (cluster.state !== 'connected') throw cluster.error
  const { apiServer, resources, resourceVersionsComparable } = cluster.api
  return {
    server: apiServer,
    resources,
    source: (resource, how) => apiServer.resource(resource, how),
    resourceVersionsComparable,
  }
}
