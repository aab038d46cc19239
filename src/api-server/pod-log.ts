import type { ApiServer } from './api-server.ts'

/** Selects a part of the log of one container (`PodLogOptions` of the API). */
export interface PodLogRequest {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** Whether to continue with new lines until the container ends. */
  readonly follow: boolean
  /** Whether to read the run before the last restart. */
  readonly previous: boolean
  readonly tailLines?: number | undefined
  /** RFC 3339. API servers compare whole seconds. */
  readonly sinceTime?: string | undefined
  /** How long the server may take to answer. `Infinity`: no limit, since a kubelet sends nothing before the first line. */
  readonly responseDeadlineMs: number
}

/**
 * Opens the log of a container. Resolves when the server answers, with the bytes, which `LogLines` cuts into lines. A slow
 * reader slows the server down. Rejects as `Transport.send` does, and so does reading.
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
