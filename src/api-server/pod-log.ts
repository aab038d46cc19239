import type { ApiServer } from './api-server.ts'

/** The part of the log of one container: `PodLogOptions` of the API. */
export interface PodLogRequest {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** Whether to go on with new lines until the container ends. */
  readonly follow: boolean
  /** Whether the run before the last restart is meant. */
  readonly previous: boolean
  readonly tailLines?: number | undefined
  /** RFC 3339. API servers compare whole seconds. */
  readonly sinceTime?: string | undefined
  /** How long the server may take until it answers. A kubelet says nothing before the first line: `Infinity` waits. */
  readonly responseDeadlineMs: number
}

/**
 * Opens the log of a container. Resolves when the server answers, with the bytes as they come (`LogLines` cuts them);
 * reading them slowly slows the server down. Rejects as `Transport.send` does, and so does reading.
 */
export async function openPodLog(
  server: ApiServer,
  request: PodLogRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const { namespace, pod, container, follow, previous, tailLines, sinceTime } = request
  const query = new URLSearchParams({ container, timestamps: 'true' })
  if (follow) query.set('follow', 'true')
  if (previous) query.set('previous', 'true')
  if (tailLines !== undefined) query.set('tailLines', String(tailLines))
  if (sinceTime !== undefined) query.set('sinceTime', sinceTime)
  const at = `namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`
  const { responseDeadlineMs } = request
  return await server.open(`/api/v1/${at}/log?${query}`, { signal, responseDeadlineMs })
}
