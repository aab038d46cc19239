import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { createYoga, type YogaServerInstance, type YogaServerOptions } from 'graphql-yoga'
import { Hono } from 'hono'
import {
  createGateway,
  type Gateway,
  IdentityUnavailableError,
  UnauthenticatedError,
  type Viewer,
} from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

type Yoga = YogaServerInstance<object, object>

const ann: Viewer = { username: 'ann', uid: '', groups: ['system:masters'], extra: {} }
const whoAmI = '{ viewer { username } }'

const listening = async (server: Server): Promise<{ url: string } & AsyncDisposable> => {
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The servers in which a program may have its yoga, each as the guide says. */
const hosts: Readonly<Record<string, (yoga: Yoga) => Promise<Server> | Server>> = {
  'node:http': (yoga) => createServer((request, response) => void yoga(request, response)),
  Express: (yoga) => createServer(express().use(yoga.graphqlEndpoint, yoga)),
  Fastify: async (yoga) => {
    const app = fastify()
    app.addContentTypeParser('application/json', {}, (_request, _payload, done) => done(null))
    app.route({
      url: yoga.graphqlEndpoint,
      method: ['GET', 'POST'],
      handler: async (request, reply) =>
        yoga.handleNodeRequestAndResponse(request.raw, reply.raw, {
          request,
          reply,
        } as object),
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  },
  Hono: (yoga) => {
    const app = new Hono()
    app.on(['GET', 'POST'], yoga.graphqlEndpoint, ({ req }) => yoga.fetch(req.raw))
    return createAdaptorServer(app) as Server
  },
}

const cases = Object.keys(hosts).flatMap((host) =>
  [true, false].map((maskedErrors) => ({ host, maskedErrors })),
)

describe.each(cases)(
  'a gateway in yoga on $host, with maskedErrors $maskedErrors,',
  ({ host, maskedErrors }) => {
    let simulator: Simulator
    let gateway: Gateway
    const errors: unknown[] = []

    const serve = async (context: YogaServerOptions<object, object>['context']) => {
      const silent = (): void => {}
      const logging = { debug: silent, info: silent, warn: silent, error: errors.push.bind(errors) }
      const yoga = createYoga({
        plugins: [gateway.plugin],
        landingPage: false,
        maskedErrors,
        logging,
        context,
      })
      const server = await hosts[host]?.(yoga)
      if (server === undefined) throw new Error(`no ${host}`)
      return listening(server)
    }
    const ask = async (
      url: string,
      query: string,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      })

    beforeAll(async () => {
      simulator = await startSimulator()
      const clusters = [{ name: 'test', server: simulator.url }]
      gateway = await createGateway({ clusters, requireViewer: true })
    })
    afterAll(async () => {
      await gateway[Symbol.asyncDispose]()
      await simulator[Symbol.asyncDispose]()
    })

    const contexts = {
      'has no viewer': () => ({}),
      'throws UnauthenticatedError': () => {
        throw new UnauthenticatedError('none', 'nobody is known', 'log in')
      },
      'rejects with UnauthenticatedError': () =>
        Promise.reject(new UnauthenticatedError('refused', 'the token is over', 'log in')),
    }

    it.each(Object.entries(contexts))(
      'answers a caller whose context %s with 401 UNAUTHENTICATED, and logs no error',
      async (_, context) => {
        await using server = await serve(context)
        for (const accept of ['*/*', 'application/json', 'application/graphql-response+json']) {
          const response = await ask(server.url, whoAmI, { accept })
          expect(response.status, accept).toBe(401)
          expect(response.headers.get('www-authenticate')).toContain('Bearer realm="informerql"')
          const text = await response.text()
          expect(JSON.parse(text)).toMatchObject({
            errors: [{ extensions: { code: 'UNAUTHENTICATED', hint: expect.any(String) } }],
          })
          expect(text).not.toContain('"http"')
        }
        const live = 'subscription { configMaps { synced } }'
        const events = await ask(server.url, live, { accept: 'text/event-stream' })
        expect(events.status).toBe(401)
        expect(await events.text()).toContain('"UNAUTHENTICATED"')
        expect(errors).toEqual([])
      },
    )

    it('answers a caller who cannot be verified now with 503, and says when to come again', async () => {
      await using server = await serve(() =>
        Promise.reject(new IdentityUnavailableError(undefined)),
      )
      const response = await ask(server.url, whoAmI)
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await response.json()).toMatchObject({
        errors: [{ extensions: { code: 'IDENTITY_UNAVAILABLE' } }],
      })
      expect(errors).toEqual([])
    })

    it('answers a known caller', async () => {
      await using server = await serve(() => ({ viewer: ann }))
      const response = await ask(server.url, whoAmI)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ data: { viewer: { username: 'ann' } } })
    })
  },
)
