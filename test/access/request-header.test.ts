import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { AuthenticationOptions, OperationOrigin, ServerOptions } from 'informerql'
import { defaultAuthenticationOptions } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import {
  type Certificate,
  type CertificateAuthority,
  createCertificateAuthority,
} from '../api-server/certificates.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const query = '{ gatewayClusters { name } }'
const answer = { data: { gatewayClusters: [{ name: 'one' }] } }
const annsHeaders = {
  'x-remote-user': 'ann',
  'x-remote-uid': 'u-1',
  'x-remote-group': ['developers', 'people, of the night shift'],
  'x-remote-extra-example.com%2ftenant': 'red',
}
const ann = {
  username: 'ann',
  uid: 'u-1',
  groups: ['developers', 'people, of the night shift', 'system:authenticated'],
  extra: { 'example.com/tenant': ['red'] },
}

let simulator: Simulator
let authority: CertificateAuthority
let stranger: CertificateAuthority
let own: Certificate
let proxy: Certificate
let origins: OperationOrigin[] = []

const serve = (
  server: Partial<ServerOptions>,
  auth: Partial<AuthenticationOptions> = {},
): Promise<ServedGateway> =>
  serveGateway(
    { clusters: [{ name: 'one', server: simulator.url }] },
    { tlsCert: own.certFile, tlsKey: own.keyFile, ...server },
    {
      auth,
      requireViewer: false,
      context: (origin) => {
        origins.push(origin)
        return {}
      },
    },
  )

interface HttpsAnswer {
  readonly status: number
  readonly body: unknown
}

const post = async (
  gateway: ServedGateway,
  certificate?: Certificate,
  headers: Readonly<Record<string, string | readonly string[]>> = annsHeaders,
): Promise<HttpsAnswer> => {
  const agent = new Agent({
    ca: authority.ca,
    ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
  })
  const body = JSON.stringify({ query })
  const sent = request(gateway.url, {
    method: 'POST',
    agent,
    headers: {
      'content-type': 'application/json',
      'content-length': body.length,
      ...(headers as Record<string, string | string[]>),
    },
  })
  sent.end(body)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response) text += String(chunk)
  agent.destroy()
  return { status: response.statusCode, body: JSON.parse(text) }
}

beforeAll(async () => {
  simulator = await startSimulator()
  authority = await createCertificateAuthority()
  stranger = await createCertificateAuthority()
  own = await authority.issue({ name: 'gateway' })
  proxy = await authority.issue({ name: 'front-proxy' })
})
afterAll(async () => {
  await stranger[Symbol.asyncDispose]()
  await authority[Symbol.asyncDispose]()
  await simulator[Symbol.asyncDispose]()
})
beforeEach(() => {
  origins = []
})

describe('headers of a proxy', () => {
  let gateway: ServedGateway
  beforeAll(async () => {
    gateway = await serve(
      { tlsClientCa: authority.caFile },
      {
        mode: 'request-header',
        requestHeader: {
          ...defaultAuthenticationOptions().requestHeader,
          allowedNames: ['front-proxy'],
        },
      },
    )
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it('are believed where it shows the certificate that is trusted, by HTTP', async () => {
    expect(await post(gateway, proxy)).toEqual({ status: 200, body: answer })
    expect(origins.map(({ viewer }) => viewer)).toEqual([ann])
  })

  it('and by WebSocket', async () => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws', {
      ca: authority.ca,
      cert: proxy.cert,
      key: proxy.key,
      headers: annsHeaders as unknown as Record<string, string>,
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init' }))
    await once(socket, 'message')
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }))
    await once(socket, 'message')
    socket.close()
    expect(origins.map(({ viewer }) => viewer)).toEqual([ann])
  })

  it.each<[string, () => Promise<Certificate | undefined>]>([
    ['shows none', async () => undefined],
    ['has another name', async () => authority.issue({ name: 'somebody' })],
    ['has one of another CA', async () => stranger.issue({ name: 'front-proxy' })],
    [
      'has one that has expired',
      async () =>
        authority.issue({
          name: 'front-proxy',
          from: new Date(Date.now() - 7_200_000),
          to: new Date(Date.now() - 3_600_000),
        }),
    ],
  ])('are nobody’s where the proxy %s', async (_, certificate) => {
    expect(await post(gateway, await certificate())).toMatchObject({
      status: 401,
      body: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    })
    expect(origins).toEqual([])
  })

  it('have to say who asks', async () => {
    const { status } = await post(gateway, proxy, { 'x-remote-group': 'system:masters' })
    expect(status).toBe(401)
  })

  it('close a WebSocket by which nobody trusted comes', async () => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws', {
      ca: authority.ca,
      headers: { 'x-remote-user': 'root' },
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init' }))
    const [code] = (await once(socket, 'close')) as [number]
    expect(code).toBe(4401)
  })
})

describe('a gateway with a certificate', () => {
  /** The serial number of what a server shows, and the protocol. */
  const shown = async (gateway: ServedGateway, options: object = {}): Promise<TLSSocket> => {
    const port = Number(new URL(gateway.url).port)
    const socket = connectTls({ port, host: '127.0.0.1', ca: authority.ca, ...options })
    await once(socket, 'secureConnect')
    return socket
  }

  it('serves by TLS 1.2 and 1.3, and by nothing older', async () => {
    await using gateway = await serve({})
    expect(gateway.url).toMatch(/^https:/)
    expect(await post(gateway)).toEqual({ status: 200, body: answer })
    for (const version of ['TLSv1.2', 'TLSv1.3']) {
      const socket = await shown(gateway, { minVersion: version, maxVersion: version })
      expect(socket.getProtocol()).toBe(version)
      socket.destroy()
    }
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }
    await expect(shown(gateway, old)).rejects.toThrow(/version|protocol/i)
  })

  it('serves a new one when its files change, without a restart', async () => {
    const certificate = await authority.issue({ name: 'rotated' })
    await using gateway = await serve({
      tlsCert: certificate.certFile,
      tlsKey: certificate.keyFile,
    })
    const serial = async (): Promise<string> => {
      const socket = await shown(gateway)
      const { serialNumber } = socket.getPeerCertificate()
      socket.destroy()
      return serialNumber
    }
    const before = await serial()
    // The key alone fits no certificate: what there was stays.
    await cp(own.keyFile, certificate.keyFile)
    await expect.poll(() => gateway.log.join()).toContain('stays in use')
    expect(await serial()).toBe(before)
    await cp(own.certFile, certificate.certFile)
    await expect.poll(serial).not.toBe(before)
    expect(await post(gateway)).toEqual({ status: 200, body: answer })
  })

  it.each<[string, Partial<ServerOptions>, RegExp]>([
    ['its key is missing', { tlsKey: undefined }, /needs both/],
    ['a file is missing', { tlsCert: '/nowhere/tls.crt' }, /no such file/],
    ['the key is another’s', { tlsKey: 'proxy' }, /key values mismatch/],
    ['the CA of clients is none', { tlsClientCa: 'package.json' }, /package\.json/],
  ])('does not start where %s', async (_, server, message) => {
    const files = server.tlsKey === 'proxy' ? { tlsKey: proxy.keyFile } : server
    await expect(serve(files)).rejects.toThrow(message)
  })
})
