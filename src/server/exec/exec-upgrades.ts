/*
 * The WebSockets of `/exec`. Only pages of the gateway's own origin may open one, and those of `exec.allowedOrigins`: not
 * those that may send operations. A GET says whether there are shells at all, for pages that offer them.
 */

import { WebSocketServer } from 'ws'
import { Counts } from '../../lib/counts.ts'
import type { Refusal } from '../guard/request-guard.ts'
import type { Routes } from '../operation-options.ts'
import type { ServerParts } from '../operation-pipeline.ts'
import { type AnswerUpgrade, upgradesOf } from '../websocket/web-socket-transport.ts'
import { defaultExecOptions, execPath, execProtocol, type ExecServing } from './exec-options.ts'
import { ExecPlaces, ExecSession } from './exec-session.ts'

const notAllowed: Refusal = {
  status: 404,
  reason: 'This gateway opens no shells.',
  hint: 'the operator may allow them: --allow-exec',
}

/** Answers upgrade requests of {@link execPath}. `serving`: absent, there are no shells. */
export function execUpgrades(parts: ServerParts, serving: ExecServing | undefined): AnswerUpgrade {
  const { shells, ...given } = serving ?? {}
  const options = { ...defaultExecOptions, ...given }
  const places = new ExecPlaces(options, new Counts())
  const unspoken = { status: 400, reason: `Offer the subprotocol ${execProtocol}.` }
  return upgradesOf(parts, {
    server: new WebSocketServer({
      noServer: true,
      handleProtocols: (offered) => offered.has(execProtocol) && execProtocol,
      perMessageDeflate: false,
      maxPayload: options.maxMessageBytes,
      // As for operations: thousands of messages may arrive at once.
      allowSynchronousEvents: false,
    }),
    allowed: { origins: new Set(options.allowedOrigins), option: 'exec.allowedOrigins' },
    refusal({ headers }) {
      const protocols = headers['sec-websocket-protocol']?.split(',') ?? []
      if (!protocols.some((one) => one.trim() === execProtocol)) return unspoken
      return shells === undefined ? notAllowed : undefined
    },
    serve(socket, { request, requestId }, connection) {
      if (shells === undefined) return
      ExecSession.serve({ socket, connection, request, requestId, parts, options, shells, places })
    },
  })
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
