import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createYoga } from 'graphql-yoga'
import { createClient } from 'graphql-ws'
import {
  createGateway,
  defaultServerOptions,
  type Gateway,
  type GraphQLServer,
  type GraphQLServerOptions,
  IdentityUnavailableError,
  type OperationOrigin,
  startGraphQLServer,
  UnauthenticatedError,
  type Viewer,
} from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startSimulatedCluster } from '../gateway/test-cluster.ts'
import { firstAnswer } from '../support/gateway.ts'

const query = '{ configMaps { totalCount } }'
const subscription = 'subscription { configMaps { synced } }'
const whole = { data: { configMaps: { totalCount: 0 } } }
const ann: Viewer = { username: 'ann', uid: '', groups: ['system:masters'], extra: {} }
const nobody = (): Promise<never> =>
  Promise.reject(new UnauthenticatedError('none', 'nobody is known', 'log in'))

describe('A program that embeds the gateway', () => {
  let simulator: Simulator
  let gateway: Gateway

  beforeAll(async () => {
    simulator = await startSimulator()
    gateway = await createGateway({ clusters: [{ name: 'test', server: simulator.url }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const log = { warn: () => {}, error: () => {} }
  const serve = async (options: Partial<GraphQLServerOptions>): Promise<GraphQLServer> =>
    startGraphQLServer({
      server: { ...defaultServerOptions(), port: 0 },
      plugins: [gateway.plugin],
      planned: gateway.planned,
      readiness: gateway.readiness,
      log,
      ...options,
    })
  const post = async (
    url: string,
    asked: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: asked }),
    })
  const bySocket = async (url: string, asked: string): Promise<unknown> => {
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    })
    const answer = await firstAnswer(client, asked)
    await client.dispose()
    return answer
  }
  const byEvents = async (
    url: string,
    asked: string,
  ): Promise<{ status: number; text: string }> => {
    const leaving = new AbortController()
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: asked }),
      signal: leaving.signal,
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const text = (await reader?.read())?.value ?? ''
    leaving.abort()
    return { status: response.status, text }
  }

  it('has its context called for every operation, with a plan and without, by every transport', async () => {
    const origins: OperationOrigin[] = []
    await using server = await serve({
      context: (origin) => {
        origins.push(origin)
        return { viewer: ann }
      },
    })
    expect(await (await post(server.url, query)).json()).toEqual(whole)
    expect(await (await post(server.url, '{ viewer { username } }')).json()).toEqual({
      data: { viewer: { username: 'ann' } },
    })
    await bySocket(server.url, query)
    await bySocket(server.url, subscription)
    await byEvents(server.url, subscription)
    expect(origins.map(({ transport }) => transport)).toEqual([
      'http',
      'http',
      'websocket',
      'websocket',
      'http',
    ])
  })

  it('answers with what its context throws', async () => {
    await using server = await serve({
      context: () => {
        throw new Error('the password is hunter2')
      },
    })
    const masked = { errors: [{ extensions: { code: 'INTERNAL' } }] }
    for (const answer of [
      await (await post(server.url, query)).json(),
      await bySocket(server.url, query),
      await bySocket(server.url, subscription),
    ]) {
      expect(answer).toMatchObject(masked)
      expect(answer).not.toHaveProperty('data.configMaps')
    }
    expect((await byEvents(server.url, subscription)).text).not.toContain('synced')
  })

  it('refuses who is not known by errors that it can make, from its context and its authenticator', async () => {
    const authenticate = nobody
    for (const options of [{ context: nobody }, { authenticator: { authenticate } }]) {
      await using server = await serve(options)
      const response = await post(server.url, query)
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer realm="informerql"',
      ])
      expect(await response.json()).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED', hint: 'log in' } }],
      })
    }
    await using server = await serve({
      context: () => Promise.reject(new IdentityUnavailableError(undefined)),
    })
    expect((await post(server.url, query)).status).toBe(503)
  })

  it('answers nobody where its context has no viewer, unless it says so', async () => {
    const context = () => ({ veiwer: ann })
    await using server = await serve({ context })
    const refused = { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }
    expect((await post(server.url, query)).status).toBe(401)
    expect(await bySocket(server.url, query)).toMatchObject(refused)
    expect(await bySocket(server.url, subscription)).toMatchObject(refused)
    expect((await byEvents(server.url, subscription)).status).toBe(401)
    await using open = await serve({ context, requireViewer: false })
    expect(await (await post(open.url, query)).json()).toEqual(whole)
  })

  it('shows callers no more than the viewer of its context may see, with a plan and without', async () => {
    await using cluster = await startSimulatedCluster({}, [{ token: 'of-bob', user: 'bob' }])
    const clusters = [{ name: 'test', ...cluster.selection }]
    await using strict = await createGateway({ clusters })
    let viewer = ann
    const deployments = '{ deployments { totalCount } }'
    await using server = await serve({
      plugins: [strict.plugin],
      planned: strict.planned,
      context: () => ({ viewer }),
    })
    expect(await (await post(server.url, deployments)).json()).toEqual({
      data: { deployments: { totalCount: 0 } },
    })
    viewer = { ...ann, username: 'bob', groups: [] }
    const refused = { errors: [{ extensions: { code: 'FORBIDDEN' } }] }
    expect(await (await post(server.url, deployments)).json()).toMatchObject(refused)
    const live = 'subscription { deployments { synced } }'
    expect(await bySocket(server.url, live)).toMatchObject(refused)
  })

  it('has the hooks of its plugins called for every operation, although plans are given', async () => {
    const executed: string[] = []
    const warnings: string[] = []
    const counting = {
      onExecute: () => void executed.push('query'),
      onSubscribe: () => void executed.push('subscription'),
    }
    await using server = await serve({
      plugins: [gateway.plugin, counting],
      log: { ...log, warn: (message) => warnings.push(message) },
    })
    expect(await (await post(server.url, query)).json()).toEqual(whole)
    await bySocket(server.url, query)
    await bySocket(server.url, subscription)
    await byEvents(server.url, subscription)
    expect(executed).toEqual(['query', 'query', 'subscription', 'subscription'])
    expect(warnings).toEqual([expect.stringContaining('queries take the pipeline')])
  })

  it('has the plugin refuse operations without a viewer in a server of its own', async () => {
    await using strict = await createGateway({
      clusters: [{ name: 'test', server: simulator.url }],
      requireViewer: true,
    })
    let viewer: Viewer | undefined
    const yoga = createYoga({
      plugins: [strict.plugin],
      landingPage: false,
      logging: false,
      context: () => ({ viewer }),
    })
    const server = createServer((request, response) => void yoga(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
    expect((await post(url, query)).status).toBe(401)
    viewer = ann
    expect(await (await post(url, '{ viewer { username } }')).json()).toEqual({
      data: { viewer: { username: 'ann' } },
    })
    expect(await strict.planned.answer({ query })).toBeUndefined()
    server.closeAllConnections()
    server.close()
  })

  it('has its own server with no more than it needs', async () => {
    await using server = await serve({})
    expect(await (await post(server.url, query)).json()).toEqual(whole)
    const page = await fetch(server.url, { headers: { accept: 'text/html' } })
    expect([page.status, server.servesGraphiql]).toEqual([200, true])
  })

  it('answers in a server that is there already, subscriptions as server-sent events', async () => {
    const yoga = createYoga({ plugins: [gateway.plugin], landingPage: false })
    const server = createServer((request, response) => void yoga(request, response))
    server.listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
      expect(await (await post(url, query)).json()).toEqual(whole)
      const live = 'subscription { configMaps { synced changes { type } } }'
      const events = await post(url, live, { accept: 'text/event-stream' })
      const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes('"synced":true')) text += (await reader?.read())?.value ?? ''
      await reader?.cancel()
      expect(text).toContain('event: next')
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
