import { once } from 'node:events'
import { createServer as createProxy } from 'node:http'
import type { RequestListener } from 'node:http'
import { writeFile, readFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import {
  type ApiServer,
  createApiServer,
  loadClusterConfig,
  CredentialsError,
} from 'informerql/cluster'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Certificate,
  type CertificateAuthority,
  createCertificateAuthority,
} from './certificates.ts'
import { bareEnvironment, failureOf, type LocalServer, startLocalServer } from './local-server.ts'

let authority: CertificateAuthority
let certificate: Certificate
let expired: Certificate

beforeAll(async () => {
  authority = await createCertificateAuthority()
  certificate = await authority.issue({ name: 'server', hosts: ['127.0.0.1', 'api.test'] })
  expired = await authority.issue({
    name: 'expired',
    from: new Date('2020-01-01'),
    to: new Date('2021-01-01'),
  })
})

afterAll(async () => authority[Symbol.asyncDispose]())

const startTls = async (listener: RequestListener, served = certificate): Promise<LocalServer> =>
  startLocalServer(listener, {
    key: served.key,
    cert: served.cert,
    ca: authority.ca,
    requestCert: true,
    rejectUnauthorized: false,
  })

let configs = 0

/** A connection through a kubeconfig file. */
const connectWith = async (
  server: string,
  user: object,
  cluster: object = {},
): Promise<ApiServer> => {
  const kubeconfig = join(authority.dir, `config-${configs++}`)
  await writeFile(
    kubeconfig,
    JSON.stringify({
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority': 'ca.crt', ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    }),
  )
  return createApiServer({ name: 'c', config: loadClusterConfig({ kubeconfig }, bareEnvironment) })
}

/** Answers with what it is told of its caller. */
const whoAreYou: RequestListener = (request, response) => {
  const { authorization } = request.headers
  const impersonation = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => name.startsWith('impersonate')),
  )
  const { subject } = (request.socket as TLSSocket).getPeerCertificate()
  response.end(JSON.stringify({ authorization, ...impersonation, certificate: subject?.CN }))
}

const answerOf = async (user: object, cluster?: object): Promise<unknown> => {
  await using server = await startTls(whoAreYou)
  await using api = await connectWith(server.url, user, cluster)
  return await api.request('GET', '/')
}

describe('credentials', () => {
  it('are sent as the kubeconfig has them', async () => {
    const client = await authority.issue({ name: 'jane' })
    expect(await answerOf({ token: 'secret' })).toEqual({ authorization: 'Bearer secret' })
    expect(await answerOf({ username: 'jane', password: 'pw' })).toEqual({
      authorization: `Basic ${Buffer.from('jane:pw').toString('base64')}`,
    })
    expect(
      await answerOf({ 'client-certificate': client.certFile, 'client-key': client.keyFile }),
    ).toEqual({ certificate: 'jane' })
    expect(await answerOf({})).toEqual({})
    expect(
      await answerOf({
        token: 't',
        as: 'bob',
        'as-groups': ['g', 'h'],
        'as-uid': '7',
        'as-user-extra': { 'a/b': ['x'] },
      }),
    ).toEqual({
      authorization: 'Bearer t',
      'impersonate-user': 'bob',
      'impersonate-group': 'g, h',
      'impersonate-uid': '7',
      'impersonate-extra-a%2fb': 'x',
    })
  })

  it('come from a token file, which ends with a line feed and changes', async () => {
    await writeFile(join(authority.dir, 'token'), 'first\n')
    let accepted = 'Bearer first'
    await using server = await startTls((request, response) => {
      const { authorization } = request.headers
      response.writeHead(authorization === accepted ? 200 : 401).end(JSON.stringify(authorization))
    })
    await using api = await connectWith(server.url, { tokenFile: 'token', token: 'ignored' })
    expect(await api.request('GET', '/')).toBe('Bearer first')
    accepted = 'Bearer second'
    expect(await failureOf(api.request('GET', '/'))).toMatchObject({ httpStatus: 401 })
    await writeFile(join(authority.dir, 'token'), 'second\n')
    expect(await api.request('GET', '/')).toBe('Bearer second')
  })

  it('that the server does not accept and that are all there is, are sent once', async () => {
    let requests = 0
    await using server = await startTls((_, response) => {
      requests += 1
      response.writeHead(401).end()
    })
    await using api = await connectWith(server.url, { token: 'wrong' })
    expect(await failureOf(api.request('GET', '/'))).toMatchObject({
      httpStatus: 401,
      status: { reason: 'Unauthorized' },
    })
    expect(requests).toBe(1)
  })
})

/** A plugin that hands out this certificate. */
const handingOut = (client: Certificate): string => {
  const status = { clientCertificateData: client.cert, clientKeyData: client.key }
  return `console.log(${JSON.stringify(JSON.stringify({ status }))})`
}

/** A user whose plugin is this script. */
const plugin = (script: string, extra: object = {}): object => ({
  exec: {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', script],
    ...extra,
  },
})

/** A plugin that counts its runs in a file, and answers with that number as its token. */
const counting = (file: string): string => `
  const fs = require('node:fs'); const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO)
  fs.appendFileSync(${JSON.stringify(file)}, 'x')
  const token = info.kind + fs.statSync(${JSON.stringify(file)}).size
  setTimeout(() => console.log(JSON.stringify({ kind: 'ExecCredential', status: { token } })), 100)`

describe('a credential plugin', () => {
  it('runs once for many requests, and once more when its token is not accepted', async () => {
    const file = join(authority.dir, 'runs')
    let accepted = 'Bearer ExecCredential1'
    await using server = await startTls((request, response) => {
      const { authorization } = request.headers
      response.writeHead(authorization === accepted ? 200 : 401).end(JSON.stringify(authorization))
    })
    await using api = await connectWith(server.url, plugin(counting(file)))
    const many = async (): Promise<unknown[]> =>
      Promise.all(Array.from({ length: 8 }, async () => api.request('GET', '/')))
    expect(new Set(await many())).toEqual(new Set(['Bearer ExecCredential1']))
    accepted = 'Bearer ExecCredential2'
    expect(new Set(await many())).toEqual(new Set(['Bearer ExecCredential2']))
    expect(await readFile(file, 'utf8')).toBe('xx')
  })

  it.each([
    [
      'fails',
      plugin('console.error("no session, log in first"); process.exit(1)'),
      'no session, log in first',
    ],
    ['says nothing', plugin(''), 'no credentials for user "u"'],
    ['answers without a status', plugin('console.log("{}")'), 'no credentials for user "u"'],
    [
      'is not installed',
      plugin('', { command: 'no-such-plugin', installHint: 'install it' }),
      'ENOENT',
    ],
  ])('that %s is named, with what it said', async (_, user, problem) => {
    await using server = await startTls(whoAreYou)
    await using api = await connectWith(server.url, user)
    const error = await failureOf(api.request('GET', '/'))
    expect(error).toBeInstanceOf(CredentialsError)
    expect(error).toMatchObject({ code: 'CREDENTIALS', value: 'u' })
    expect(String(error)).toContain(problem)
    expect((error as { hint: string }).hint).toMatch(/install it|run the plugin by hand/)
  })

  it('may hand out a client certificate, which must not have expired', async () => {
    const jane = await authority.issue({ name: 'jane' })
    expect(await answerOf(plugin(handingOut(jane)))).toEqual({ certificate: 'jane' })
    expect(await failureOf(answerOf(plugin(handingOut(expired))))).toMatchObject({
      code: 'CLIENT_CERTIFICATE_EXPIRED',
    })
  })
})

/** What a client says of a server with this certificate. */
const failureWith = async (
  cluster: object,
  served?: Certificate,
  at = '127.0.0.1',
): Promise<unknown> => {
  await using server = await startTls(whoAreYou, served)
  await using api = await connectWith(server.url.replace('127.0.0.1', at), {}, cluster)
  return await failureOf(api.request('GET', '/'))
}

describe('the certificate of a server', () => {
  it('is refused when it has expired, is of an unknown authority, or of another host', async () => {
    expect(await failureWith({}, expired)).toMatchObject({ code: 'CONNECTION_CERTIFICATE_EXPIRED' })
    const unknown = await failureWith({ 'certificate-authority': undefined })
    expect(unknown).toMatchObject({ code: 'CONNECTION_UNKNOWN_AUTHORITY' })
    expect((unknown as { hint: string }).hint).toContain('certificate-authority')
    expect(await failureWith({}, undefined, 'localhost')).toMatchObject({
      code: 'CONNECTION_WRONG_HOST',
    })
  })

  it('is taken for the name that the kubeconfig gives, or without a check where it says so', async () => {
    expect(await answerOf({}, { 'tls-server-name': 'api.test' })).toEqual({})
    const unchecked = { 'certificate-authority': undefined, 'insecure-skip-tls-verify': true }
    expect(await answerOf({}, unchecked)).toEqual({})
  })

  it('is missing where the server speaks plain HTTP', async () => {
    await using server = await startLocalServer(whoAreYou)
    await using api = await connectWith(server.url.replace('http', 'https'), {})
    expect(await failureOf(api.request('GET', '/'))).toMatchObject({ code: 'CONNECTION_TLS' })
  })

  it('may ask for one of the client', async () => {
    await using server = await startLocalServer(whoAreYou, {
      ...certificate,
      ca: authority.ca,
      requestCert: true,
      rejectUnauthorized: true,
    })
    await using api = await connectWith(server.url, { token: 't' })
    expect(await failureOf(api.request('GET', '/'))).toMatchObject({
      code: expect.stringMatching(/CONNECTION_(CLIENT_CERTIFICATE|RESET)/) as string,
    })
  })
})

describe('the same server as the bearer of a token', () => {
  it('is sent that token and none of the credentials of the connection', async () => {
    const client = await authority.issue({ name: 'jane' })
    const user = { 'client-certificate': client.certFile, 'client-key': client.keyFile }
    await using server = await startTls(whoAreYou)
    for (const own of [user, { token: 't', as: 'bob', 'as-groups': ['g'] }]) {
      await using api = await connectWith(server.url, own)
      expect(await api.request('GET', '/')).not.toEqual({})
      await using bearer = api.as('of-the-caller')
      expect(await bearer.request('GET', '/')).toEqual({ authorization: 'Bearer of-the-caller' })
    }
  })
})

describe('a proxy', () => {
  it('carries all requests over one kept connection', async () => {
    const tunnels: string[] = []
    const proxy = createProxy()
    proxy.on('connect', (request, socket, head) => {
      tunnels.push(request.url ?? '')
      const [host = '', port] = (request.url ?? '').split(':')
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        upstream.write(head)
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    const client = await authority.issue({ name: 'jane' })
    await using server = await startTls(whoAreYou)
    await using api = await connectWith(
      server.url,
      { 'client-certificate': client.certFile, 'client-key': client.keyFile, token: 't' },
      { 'proxy-url': `http://127.0.0.1:${port}` },
    )
    for (let round = 0; round < 3; round++) {
      expect(await api.request('GET', '/')).toEqual({
        certificate: 'jane',
        authorization: 'Bearer t',
      })
    }
    expect(tunnels).toEqual([`127.0.0.1:${server.port}`])
    await api[Symbol.asyncDispose]()
    proxy.close()
  })
})
