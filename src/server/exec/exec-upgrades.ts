/*
 * The WebSockets of `/exec`. Only pages of the gateway's own origin may open one, and those of `exec.allowedOrigins`: not
 * those that may send operations. A GET says whether there are shells at all, for pages that offer them.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { Counts } from '../../lib/counts.ts'
import {
  type Refusal,
  refuseUpgrade,
  requestIdOf,
  startingRefusal,
} from '../guard/request-guard.ts'
import type { Routes } from '../operation-options.ts'
import type { ServerParts } from '../operation-pipeline.ts'
import { defaultExecOptions, execPath, execProtocol, type ExecServing } from './exec-options.ts'
import { ExecPlaces, ExecSession } from './exec-session.ts'

const notAllowed: Refusal = {
  status: 404,
  reason: 'This gateway opens no shells.',
  hint: 'the operator may allow them: --allow-exec',
}

/** Answers upgrade requests of {@link execPath}. `serving`: absent, there are no shells. */
export function execUpgrades(
  parts: ServerParts,
  serving: ExecServing | undefined,
): (request: IncomingMessage, stream: Duplex, head: Buffer) => void {
  const { origins, isStarted, connections, observer } = parts
  const { shells, ...given } = serving ?? {}
  const options = { ...defaultExecOptions, ...given }
  const allowedOrigins = new Set(options.allowedOrigins)
  const places = new ExecPlaces(options, new Counts())
  const server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => offered.has(execProtocol) && execProtocol,
    perMessageDeflate: false,
    maxPayload: options.maxMessageBytes,
  })
  return (request, stream, head) => {
    const { headers } = request
    const stopping = { status: 503, reason: 'The gateway is stopping.' }
    const offered = headers['sec-websocket-protocol']?.split(',').map((one) => one.trim()) ?? []
    const unspoken = { status: 400, reason: `Offer the subprotocol ${execProtocol}.` }
    const refusal =
      (connections.isClosed ? stopping : origins.refusal(headers, allowedOrigins)) ??
      (isStarted() ? undefined : startingRefusal) ??
      (offered.includes(execProtocol) ? undefined : unspoken)
    if (refusal !== undefined || shells === undefined) {
      refuseUpgrade(stream, refusal ?? notAllowed)
      return
    }
    server.handleUpgrade(request, stream, head, (socket) => {
      observer?.socketOpened?.()
      socket.once('close', () => observer?.socketClosed?.())
      const requestId = requestIdOf(headers)
      // The server is one of node:http or node:https.
      const connection = stream as Socket
      ExecSession.serve({ socket, connection, request, requestId, parts, options, shells, places })
    })
  }
}

/** Says whether this gateway opens shells: `{ "allowed": true }`. */
export function execRoutes(isAllowed: boolean): Routes {
  return {
    [execPath]: (_request, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.setHeader('cache-control', 'no-store')
      response.end(JSON.stringify({ allowed: isAllowed }))
    },
  }
}
