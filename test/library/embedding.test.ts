import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createYoga } from 'graphql-yoga'
import { createGateway, defaultServerOptions, type Gateway, startGraphQLServer } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const query = '{ configMaps { totalCount } }'

const ask = async (url: string, body: object, accept = 'application/json'): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
  })

describe('A gateway inside a program', () => {
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

  it('has its own server with no more than it needs', async () => {
    await using server = await startGraphQLServer({
      server: { ...defaultServerOptions(), port: 0 },
      plugins: [gateway.plugin],
      planned: gateway.planned,
      readiness: gateway.readiness,
      log: console,
    })
    expect(await (await ask(server.url, { query })).json()).toEqual({
      data: { configMaps: { totalCount: 0 } },
    })
    const page = await fetch(server.url, { headers: { accept: 'text/html' } })
    expect([page.status, server.servesGraphiql]).toEqual([200, true])
  })

  it('answers in a server that is there already, subscriptions as server-sent events', async () => {
    const yoga = createYoga({ plugins: [gateway.plugin], landingPage: false })
    const server: Server = createServer((request, response) => void yoga(request, response))
    server.listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
      expect(await (await ask(url, { query })).json()).toEqual({
        data: { configMaps: { totalCount: 0 } },
      })
      const live = { query: 'subscription { configMaps { synced changes { type } } }' }
      const events = await ask(url, live, 'text/event-stream')
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
