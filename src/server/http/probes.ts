import type { IncomingMessage, ServerResponse } from 'node:http'
import { pathOf } from '../guard/operation-request.ts'

/** Whether the gateway can answer. */
export interface Readiness {
  readonly ready: boolean
  /** The reasons why it waits or fails, one line each. */
  readonly reasons: readonly string[]
  /**
   * The lag of each cache that may be out of date, in milliseconds. A lag is not a failure: the gateway answers from
   * its caches, and other replicas have nothing newer.
   */
  readonly lagsBehindMs?: readonly number[]
}

export interface ProbesOptions {
  readonly readiness: () => Readiness
  readonly isStopping: () => boolean
  /** Whether to show reasons, which name clusters, addresses and files. */
  readonly tellsReasons: boolean
}

/**
 * Answers `/livez` and `/healthz` (the process runs) and `/readyz` (it can answer). Returns whether the request was a
 * probe. A kubelet uses the pod's address, so any Host gets a status. Reasons go to `trusted` requests only, and only
 * without authentication.
 */
export function answerProbe(
  request: IncomingMessage,
  response: ServerResponse,
  { readiness, isStopping, tellsReasons, trusted }: ProbesOptions & { readonly trusted: boolean },
): boolean {
  switch (pathOf(request)) {
    case '/livez':
    case '/healthz':
      sendLines(response, 200, ['ok'])
      return true
    case '/readyz': {
      const {
        ready,
        reasons,
        lagsBehindMs = [],
      }: Readiness = isStopping()
        ? { ready: false, reasons: ['the gateway is stopping'] }
        : readiness()
      const lines = [ready ? 'ok' : 'not ready', ...(trusted && tellsReasons ? reasons : [])]
      if (lagsBehindMs.length > 0) {
        const longestS = Math.round(Math.max(...lagsBehindMs) / 1000)
        lines.push(`caches behind: ${lagsBehindMs.length}, by up to ${longestS} s`)
      }
      sendLines(response, ready ? 200 : 503, lines)
      return true
    }
    default:
      return false
  }
}

function sendLines(response: ServerResponse, status: number, lines: readonly string[]): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' })
  response.end(`${lines.join('\n')}\n`)
}
