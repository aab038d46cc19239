import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { putNodes, putPod, running } from '../logs/small-town.ts'
import { serveGateway } from '../support/gateway.ts'
import { openShell } from './shell-client.ts'

interface OlderServer extends AsyncDisposable {
  readonly url: string
  /** The subprotocols of each upgrade that was asked for. */
  readonly offers: readonly string[]
}

const newest = 'v5.channel.k8s.io'
const older = 'v4.channel.k8s.io'

/**
 * An API server from before version 5 of the protocol, in front of the simulator. `chooses`: takes the older one of those that
 * are offered, as a kube-apiserver does. Otherwise it refuses an upgrade that offers one which it does not know, as some proxies
 * do.
 */
async function startOlderServer(
  { url }: Simulator,
  how: 'chooses' | 'refuses' | 'knowsNeither',
): Promise<OlderServer> {
  const port = Number(new URL(url).port)
  const offers: string[] = []
  const server = createServer()
  const lines = ({ method, url: path, rawHeaders }: IncomingMessage): string => {
    const headers = rawHeaders.flatMap((name, at) => {
      if (at % 2 === 1) return []
      const isOffer = name.toLowerCase() === 'sec-websocket-protocol'
      return [`${name}: ${isOffer ? older : (rawHeaders[at + 1] ?? '')}`]
    })
    return [`${method} ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n')
  }
  const pass = (request: IncomingMessage, client: Duplex, head: Buffer): void => {
    const upstream = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
    upstream.write(lines(request))
    upstream.write(head)
    upstream.pipe(client)
    client.pipe(upstream)
  }
  server.on('upgrade', (request, client, head) => {
    const offered = request.headers['sec-websocket-protocol'] ?? ''
    offers.push(offered)
    const isKnown = how === 'chooses' || (how === 'refuses' && !offered.includes(newest))
    if (isKnown) pass(request, client, head)
    else client.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  })
  // The rest is as ever.
  server.on('request', (incoming, answer) => {
    const { method, url: path = '/', headers } = incoming
    const outgoing = send(new URL(path, url), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      answer.flushHeaders()
      response.pipe(answer)
    })
    outgoing.once('error', () => answer.destroy())
    answer.once('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    offers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('a shell, by an API server that does not speak version 5', () => {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator({
      populate(storage) {
        putNodes(storage)
        putPod(storage, 'web', running(0))
      },
    })
  })
  afterAll(() => simulator[Symbol.asyncDispose]())

  const serve = (server: OlderServer) =>
    serveGateway({ clusters: [{ name: 'one', server: server.url }] }, {}, { exec: {} })

  it.each([
    ['chooses', [`${newest},${older}`]],
    ['refuses', [`${newest},${older}`, older]],
  ] as const)('works by version 4 where the server %s', async (how, offers) => {
    await using server = await startOlderServer(simulator, how)
    await using gateway = await serve(server)
    using shell = await openShell(gateway.url)
    await shell.printed('# ')
    expect(server.offers).toEqual(offers)
    shell.resize(101, 37)
    shell.type('stty size\r')
    await shell.printed('37 101')
    shell.type('exit 3\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 3 })
  })

  it('says that the end of the input cannot be told by version 4', async () => {
    await using server = await startOlderServer(simulator, 'chooses')
    await using gateway = await serve(server)
    using shell = await openShell(gateway.url, { command: ['cat'], tty: false })
    await shell.opened()
    shell.endInput()
    expect(await shell.ended()).toMatchObject({ code: 'UNSUPPORTED' })
  })

  it('is refused as the server refuses it where it speaks neither', async () => {
    await using server = await startOlderServer(simulator, 'knowsNeither')
    await using gateway = await serve(server)
    using shell = await openShell(gateway.url)
    expect(await shell.ended()).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(server.offers).toEqual([`${newest},${older}`, older])
  })
})
