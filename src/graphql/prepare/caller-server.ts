/*
 * The API server of a cluster, as the caller. Writes and logs go this way. Secrets are read with the caller's token by
 * the same rule (`isTokenFor`). With authentication, a request carries the caller's own token and never the gateway's
 * credentials. A token goes only to the clusters that it is for, and only to clusters of the configuration: the author of
 * a discovered source must not collect tokens.
 */

import type { CallerToken } from '../../access/authentication/authenticator.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { CallerServer } from '../../cache/cluster-cache.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ServedSchema } from '../served/served-schema.ts'

export interface Caller {
  /** Absent: callers are not asked who they are. */
  readonly viewer?: Viewer | undefined
  /** Absent: the caller sent no token, or signed in by a proxy's headers. */
  readonly callerToken?: CallerToken | undefined
}

/**
 * The API server of a cluster, as the caller. Without authentication, the caller is the gateway's account. Dispose it
 * after use. Throws `ClientError`: TOKEN_NEEDED without a token for this cluster, and CLUSTER_UNREACHABLE.
 */
export function callerServer(
  served: Pick<ServedSchema, 'clusters' | 'members'>,
  cluster: string,
  { viewer, callerToken }: Caller,
): CallerServer {
  const connection = served.clusters.get(cluster)?.connection
  if (connection?.state !== 'connected') {
    const hint = 'try again in a moment'
    const details = { cluster, hint, retryAfterMs: 1_000, cause: connection?.error }
    throw new ClientError('CLUSTER_UNREACHABLE', `cluster ${cluster} cannot be reached`, details)
  }
  if (viewer === undefined && callerToken === undefined) return connection.as(undefined)
  if (callerToken === undefined) {
    const message = `this needs your own bearer token for cluster ${cluster}, and you sent none`
    const hint = 'send Authorization: Bearer TOKEN: the gateway does not impersonate callers'
    throw new ClientError('TOKEN_NEEDED', message, { cluster, hint })
  }
  if (!isTokenFor(served, cluster, callerToken)) {
    const hint = 'the operator names in auth.tokenClusters the clusters that accept the same tokens'
    const message = `your token is not for cluster ${cluster}`
    throw new ClientError('TOKEN_NEEDED', message, { cluster, hint })
  }
  return connection.as(callerToken.reveal())
}

/** The error of a caller whose token the API server does not accept (401). */
export function refusedByServer(cluster: string): ClientError {
  const message = `the API server of cluster ${cluster} does not accept your credentials`
  const hint =
    'sign in again, or use a token whose audiences include the API server, not the gateway alone'
  return new ClientError('TOKEN_NEEDED', message, { cluster, hint })
}

/** Whether a token may go to the API server of a cluster, which then knows the token. */
export function isTokenFor(
  { members }: Pick<ServedSchema, 'members'>,
  cluster: string,
  { cluster: named, furtherClusters }: CallerToken,
): boolean {
  if (members.get(cluster)?.isConfigured !== true) return false
  const [byDefault] = members.keys()
  if (cluster === (named ?? byDefault)) return true
  return furtherClusters.includes('*') || furtherClusters.includes(cluster)
}
