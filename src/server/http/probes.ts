import type { IncomingMessage, ServerResponse } from 'node:http'
import { pathOf } from '../guard/operation-request.ts'

/** Whether the gateway can answer. */
export interface Readiness {
  readonly ready: boolean
  /** What it waits for, or what is wrong; a line each. */
  readonly reasons: readonly string[]
  /**
   * How long ago the API server was last heard of each cache that may be out of date, milliseconds. It is no failure: the gateway
   * answers from what it holds, and another replica has nothing newer.
   */
  readonly lagsBehindMs?: readonly number[]
}

export interface ProbesOptions {
  readonly readiness: () => Readiness
  readonly isStopping: () => boolean
  /** Whether reasons are told: they name clusters, addresses and files. */
  readonly tellsReasons: boolean
}

/**
 * Answers `/livez` and `/healthz` (the process runs) and `/readyz` (it can answer, and goes on to). Returns whether the
 * request was one of them. A kubelet asks by the pod's address, so any Host gets a status; reasons go only to `trusted` ones, and
 * only where nobody is asked who they are.
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
