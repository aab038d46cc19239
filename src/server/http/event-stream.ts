/*
 * Answers one operation by server-sent events: `next` with each result, `complete` after the last (the distinct
 * connections mode of GraphQL over SSE). Frames have the same bounds as over a WebSocket. Resolves when the connection
 * is closed.
 */

import type { ServerResponse } from 'node:http'
import { loggedError, sentResult, type ServerParts } from '../operation-pipeline.ts'
import type { FrameStream, StreamEnd } from '../../lib/frame-stream.ts'
import { FrameSink } from '../user-limits.ts'
import {
  answerOperation,
  type Answers,
  only,
  prepareOperation,
  type StreamedRequest,
} from '../streamed-operation.ts'
import { countUnsent, eventStream } from './http-operation.ts'

const ahead = Buffer.from('event: next\ndata: ')
const behind = Buffer.from('\n\n')

export async function answerEvents(
  response: ServerResponse,
  asked: StreamedRequest,
  parts: ServerParts,
): Promise<void> {
  const { unsent, limits } = parts
  response.writeHead(200, {
    'content-type': `${eventStream}; charset=utf-8`,
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  response.flushHeaders()
  const output = countUnsent(asked.request, response, { unsent, viewer: asked.viewer })
  const sink = new FrameSink(output)
  const sendFrames = (stream: FrameStream): Promise<StreamEnd> =>
    sink.send(stream, (payload) => {
      if (response.writableEnded) return
      response.cork()
      response.write(ahead)
      response.write(payload)
      response.write(behind, () => sink.drained())
      response.uncork()
    })
  const write = (text: string | Buffer, sent?: () => void): void => {
    if (response.writableEnded) {
      sent?.()
      return
    }
    response.write(text, sent)
    output.measure()
  }
  // Without `complete`, so that the reader reconnects.
  const follows = (): void => {
    if (response.closed) return
    const stream = { dismiss: () => void response.end(), destroy: () => void response.destroy() }
    response.once('close', parts.connections.add(stream))
  }
  // Comments keep proxies from closing the connection.
  const keepAlive = setInterval(() => write(':\n\n'), limits.pingIntervalMs)
  let results: Answers | undefined
  response.once('close', () => {
    clearInterval(keepAlive)
    sink.close()
    void results?.return()
  })
  try {
    const prepared = await prepareOperation(parts, asked)
    if ('document' in prepared) {
      if (prepared.isSubscription) follows()
      results = await answerOperation(parts, prepared, sendFrames)
    } else results = only({ errors: prepared })
  } catch (error) {
    results = only({ errors: [loggedError(error, asked.trace, parts.log)] })
  }
  asked.begun?.()
  if (response.closed) await results.return()
  for await (const result of results) {
    const text = Buffer.from(JSON.stringify(sentResult(result)))
    await new Promise<void>((resolve) => {
      write(Buffer.concat([ahead, text, behind]), resolve)
    })
    sink.drained()
  }
  if (!response.writableEnded && !response.destroyed) response.end('event: complete\ndata:\n\n')
}
