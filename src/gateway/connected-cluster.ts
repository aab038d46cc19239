import { type ApiServer, type ApiServerLimits, createApiServer } from '../api-server/api-server.ts'
import { ClusterConfigError } from '../api-server/kubeconfig/cluster-config-error.ts'
import type { NamedClusterSelection } from '../api-server/kubeconfig/cluster-config.ts'
import { loadClusterConfig } from '../api-server/kubeconfig/cluster-lookup.ts'
import { preferredResources } from '../api-server/discovery/discovery.ts'
import { atLeast, type ServerVersion } from '../api-server/discovery/server-version.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { OpenApiDocuments } from '../kubernetes/open-api.ts'

/** What a cluster said of itself. */
export interface ClusterApi {
  readonly apiServer: ApiServer
  readonly version: ServerVersion
  /** Whether the server promises an order of resource versions. */
  readonly resourceVersionsComparable: boolean
  /** One version of each resource, the preferred one. */
  readonly resources: readonly ApiResource[]
  readonly openapi: OpenApiDocuments
  /** Parts that could not be discovered; the rest is whole. */
  readonly failures: readonly Error[]
}

/** A cluster of the gateway: connected, or the reason why not. */
export type Cluster = { readonly name: string } & (
  | { readonly api: ClusterApi }
  | {
      readonly error: Error
      /** Whether it may be there later: it is asked again. A wrong configuration stays wrong. */
      readonly mayRecover: boolean
    }
)

/** Connects to a cluster and asks it what it serves. Never rejects: a failure is the cluster's state. */
export async function connectCluster(
  selection: NamedClusterSelection,
  limits: Partial<ApiServerLimits>,
): Promise<Cluster> {
  const { name, ...where } = selection
  let apiServer: ApiServer | undefined
  try {
    apiServer = createApiServer({ ...limits, name, config: loadClusterConfig(where) })
    return { name, api: await askApi(apiServer) }
  } catch (error) {
    await apiServer?.[Symbol.asyncDispose]()
    const mayRecover = !(error instanceof ClusterConfigError)
    return { name, error: error instanceof Error ? error : new Error(String(error)), mayRecover }
  }
}

async function askApi(apiServer: ApiServer): Promise<ClusterApi> {
  // The version first and alone: a server that cannot be reached is then reported once.
  const version = await apiServer.version()
  const [discovery, openApi] = await Promise.all([apiServer.discover(), apiServer.openApi()])
  return {
    apiServer,
    version,
    resourceVersionsComparable: atLeast(version, 1, 35),
    resources: preferredResources(discovery),
    openapi: openApi.documents,
    failures: [...discovery.failures.map(({ error }) => error), ...openApi.failures],
  }
}
