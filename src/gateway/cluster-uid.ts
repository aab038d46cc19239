import type { ApiServer } from '../api-server/api-server.ts'
import { fieldsOf, textOf } from '../kubernetes/fields.ts'
import { ApiStatusError } from '../kubernetes/status.ts'

const path = '/api/v1/namespaces/kube-system'

/**
 * By what a cluster is known: the UID of its namespace `kube-system`, which every cluster has and none has twice (OpenTelemetry's
 * `k8s.cluster.uid`). `undefined` where it may not be read, or there is none. Rejects where the server cannot be asked.
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
