import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { rawRequest, upgradeLines } from '../server/raw-request.ts'
import { firstAnswer } from '../support/gateway.ts'
import { attackOperations } from './attack-operations.ts'
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.ts'

describe('an attack is refused with its code while others are answered:', () => {
  let world: AttackedGateway
  const sockets: WebSocket[] = []
  const limits = {
    requestDeadlineMs: 1_000,
    connectionInitDeadlineMs: 1_000,
    maxSubscriptionsPerUser: 500,
    maxSocketsPerUser: 25,
    maxOperationsPerUser: 30,
  }

  beforeAll(async () => {
    world = await startAttackedGateway(limits)
  })
  afterAll(async () => {
    for (const socket of sockets) socket.terminate()
    await world[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    world.origins.length = 0
  })

  const port = (): number => Number(new URL(world.gateway.url).port)
  const host = (): string => `host: 127.0.0.1:${port()}`
  const open = async (options: object = {}): Promise<WebSocket> => {
    const url = world.gateway.url.replace('http', 'ws')
    const socket = new WebSocket(url, 'graphql-transport-ws', options)
    sockets.push(socket)
    await once(socket, 'open')
    return socket
  }
  /** As mallory. */
  const acknowledged = async (): Promise<WebSocket> => {
    const socket = await open()
    const payload = { authorization: world.authorization }
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
    await once(socket, 'message')
    return socket
  }
  const closed = async (socket: WebSocket): Promise<number> => {
    const [[code]] = await Promise.all([once(socket, 'close'), world.neighbour()])
    return code as number
  }
  const post = async (
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Response> => {
    const [response] = await Promise.all([
      fetch(world.gateway.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: world.authorization,
          ...headers,
        },
        body,
      }),
      world.neighbour(),
    ])
    return response
  }

  it.each(Object.entries(attackOperations))('%s', async (_, { query, variables = {}, code }) => {
    const answers = await Promise.all([
      world.mallory.query(query, variables),
      firstAnswer(world.mallory.connect(), query, variables),
      world.neighbour(),
    ])
    const codes = answers.slice(0, 2).map((answer) => answer?.errors?.[0]?.extensions.code)
    expect(codes).toEqual([code, code])
    expect(JSON.stringify(answers).length).toBeLessThan(10_000)
  })

  it('where introspection is off, names are not suggested', async () => {
    for (const query of ['{ pod { nam } }', '{ podz { totalCount } }']) {
      const { errors = [] } = await world.mallory.query(query)
      expect(JSON.stringify(errors)).not.toContain('Did you mean')
    }
  })

  it('batches', async () => {
    const one = { query: '{ __typename }' }
    const response = await post(JSON.stringify(Array.from({ length: 50 }, () => one)))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    })
    const socket = await acknowledged()
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: [one, one] }))
    expect(await closed(socket)).toBe(4400)
  })

  it('bodies and messages that are too large', async () => {
    const query = `{ ${'a '.repeat(100_000)} }`
    expect((await post(JSON.stringify({ query }))).status).toBe(413)
    const socket = await acknowledged()
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }))
    expect(await closed(socket)).toBe(1009)
  })

  it('compressed bombs', async () => {
    const bomb = new Uint8Array(
      gzipSync(JSON.stringify({ query: `{ ${'a '.repeat(10_000_000)} }` })),
    )
    expect((await post(bomb, { 'content-encoding': 'gzip' })).status).toBe(415)
    const socket = await open({ perMessageDeflate: true })
    expect(socket.extensions).toBe('')
    socket.terminate()
  })

  it('messages that say that they are compressed', async () => {
    const lines = upgradeLines({ host: `127.0.0.1:${port()}` })
    const { status, socket } = await rawRequest(port(), lines)
    expect(status).toBe(101)
    const said = new Promise<Buffer>((resolve) => socket.once('data', resolve))
    // FIN, RSV1 and text; masked, one byte long.
    socket.write(Buffer.of(0xc1, 0x81, 0, 0, 0, 0, 0x41))
    const frame = await said
    expect([frame[0], frame.readUInt16BE(2)]).toEqual([0x88, 1002])
    socket.destroy()
  })

  it('bodies that never end', async () => {
    const lines = [
      'POST /graphql HTTP/1.1',
      host(),
      'content-type: application/json',
      `authorization: ${world.authorization}`,
      'content-length: 1000',
    ]
    const [answer] = await Promise.all([rawRequest(port(), lines, '{'), world.neighbour()])
    expect(answer.status).toBe(408)
  })

  it('WebSockets that never say who opened them, or anything', async () => {
    const silent = await open()
    expect(await closed(silent)).toBe(4408)
    const unknown = await open()
    unknown.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: '{ a }' } }))
    expect(await closed(unknown)).toBe(4401)
  })

  it('requests that count as two', async () => {
    const lines = ['POST /graphql HTTP/1.1', host(), 'content-type: application/json']
    const smuggled = [
      ['content-length: 4', 'transfer-encoding: chunked'],
      ['content-length: 4', 'content-length: 40'],
      ['transfer-encoding: chunked, identity'],
      ['content-length: +4'],
    ]
    const answers = smuggled.map(async (headers) => {
      const { status } = await rawRequest(port(), [...lines, ...headers], '0\r\n\r\n')
      return status
    })
    expect(await Promise.all(answers)).toEqual([400, 400, 400, 400])
    const chunked = [...lines, 'transfer-encoding: chunked']
    expect((await rawRequest(port(), chunked, '0\r\n\r\n')).status).toBe(411)
    const upgrade = upgradeLines({
      host: `127.0.0.1:${port()}`,
      'content-length': '4',
      'transfer-encoding': 'chunked',
    })
    expect((await rawRequest(port(), upgrade, '0\r\n\r\n')).status).toBe(400)
  })

  it('headers that say that somebody else asks', async () => {
    const headers = {
      'impersonate-user': 'root',
      'impersonate-group': 'system:masters',
      'x-remote-user': 'root',
      'x-remote-group': 'system:masters',
      'x-forwarded-user': 'root',
    }
    const query = '{ gatewayClusters { name } }'
    const response = await post(JSON.stringify({ query }), headers)
    expect(response.status).toBe(200)
    const socket = await open({ headers })
    const payload = { authorization: world.authorization }
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
    await once(socket, 'message')
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }))
    await once(socket, 'message')
    socket.close()
    const asked = world.origins
      .map(({ viewer }) => [viewer?.username, viewer?.groups])
      .filter(([name]) => name !== 'ann')
    const mallory = ['mallory', ['system:authenticated']]
    expect(asked).toEqual([mallory, mallory])
    // Without a token of its own it is nobody.
    const bare = await fetch(world.gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    })
    expect(bare.status).toBe(401)
  })

  it('pages of others, by HTTP and by WebSocket', async () => {
    const origin = 'https://evil.example'
    expect((await post('{}', { origin })).status).toBe(403)
    const lines = upgradeLines({ host: `127.0.0.1:${port()}`, origin })
    expect((await rawRequest(port(), lines)).status).toBe(403)
    const rebound = upgradeLines({ host: `evil.example:${port()}` })
    expect((await rawRequest(port(), rebound)).status).toBe(403)
  })

  it('forged resume tokens, by WebSocket and by events', async () => {
    const query = 'subscription ($from: String) { pods(resumeFrom: $from) { synced } }'
    const variables = { from: Buffer.from('["forged"]').toString('base64url') }
    const bySocket = await firstAnswer(world.mallory.connect(), query, variables)
    expect(bySocket.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
    const accept = { accept: 'text/event-stream' }
    const byEvents = await post(JSON.stringify({ query, variables }), accept)
    expect(await byEvents.text()).toContain('"code":"BAD_USER_INPUT"')
  })

  it('ids of clusters that are not there', async () => {
    const { pods } = await world.mallory.data('{ pods(first: 1) { nodes { id } } }')
    const text = Buffer.from(pods.nodes[0].id, 'base64url').toString()
    const id = Buffer.from(text.replace('one', 'two')).toString('base64url')
    const query = 'query ($id: ID!) { object(id: $id) { id } objects(ids: [$id]) { id } }'
    for (const answer of [
      await world.mallory.query(query, { id }),
      await firstAnswer(world.mallory.connect(), query, { id }),
    ]) {
      expect(JSON.stringify(answer.data ?? null)).not.toContain(id)
      expect(JSON.stringify(answer)).not.toMatch(/cluster one/)
    }
  })

  it('thousands of subscriptions', async () => {
    const codes = new Map<string, number>()
    const perSocket = async (socket: WebSocket): Promise<void> => {
      let answered = 0
      const { promise, resolve } = Promise.withResolvers<void>()
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as { type: string; payload?: AnswerPayload }
        const errors = message.type === 'error' ? message.payload : message.payload?.errors
        if (message.type === 'complete') return
        const code = errors?.[0]?.extensions.code ?? 'begun'
        codes.set(code, (codes.get(code) ?? 0) + 1)
        if ((answered += 1) === 100) resolve()
      })
      const query = 'subscription { namespaces { synced } }'
      for (let at = 0; at < 100; at += 1) {
        socket.send(JSON.stringify({ type: 'subscribe', id: `${at}`, payload: { query } }))
      }
      await promise
    }
    const attackers = await Promise.all(Array.from({ length: 20 }, acknowledged))
    await Promise.all([...attackers.map(perSocket), world.neighbour()])
    expect(Object.fromEntries(codes)).toEqual({ begun: 500, TOO_MANY_OPERATIONS: 1_500 })
    // What has ended makes room.
    for (const socket of sockets) socket.terminate()
    await expect
      .poll(
        async () => {
          const answer = await firstAnswer(
            world.mallory.connect(),
            'subscription { namespaces { synced } }',
          )
          return answer.errors
        },
        { timeout: 60_000 },
      )
      .toBeUndefined()
  })

  it('WebSockets of one user beyond the bound', async () => {
    const codes: number[] = []
    const opened = Array.from({ length: 40 }, async () => {
      const socket = await open()
      socket.once('close', (code) => codes.push(code))
      const payload = { authorization: world.authorization }
      socket.send(JSON.stringify({ type: 'connection_init', payload }))
      await Promise.race([once(socket, 'message'), once(socket, 'close')])
    })
    await Promise.all([...opened, world.neighbour()])
    expect(codes.length).toBeGreaterThanOrEqual(15)
    expect(new Set(codes)).toEqual(new Set([4429]))
    for (const socket of sockets) socket.terminate()
  })

  it('requests of one user beyond the bound', async () => {
    const lines = [
      'POST /graphql HTTP/1.1',
      host(),
      'content-type: application/json',
      `authorization: ${world.authorization}`,
      'content-length: 1000',
    ]
    const held = Array.from({ length: 60 }, async () => rawRequest(port(), lines, '{'))
    const answers = await Promise.all([...held, world.neighbour()])
    const statuses = answers.map((answer) => answer?.status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(30)
    expect(statuses.filter((status) => status === 408)).toHaveLength(30)
  })
})

interface CodedError {
  readonly extensions: { readonly code: string }
}

type AnswerPayload = readonly CodedError[] & { readonly errors?: readonly CodedError[] }

describe('what an attacker sends', () => {
  it('fills no log of the gateway', async () => {
    await using world = await startAttackedGateway()
    const { gateway, authorization } = world
    const headers = { 'content-type': 'application/json', authorization }
    for (const body of ['[{}]', '[', '"a"', '{"query":1}', '{"query":"{","variables":[]}', '{}']) {
      const { status } = await fetch(gateway.url, { method: 'POST', headers, body })
      expect(status, body).toBeLessThan(500)
    }
    for (const message of ['nonsense', 'x'.repeat(200_000)]) {
      const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws')
      await once(socket, 'open')
      socket.send(message)
      await once(socket, 'close')
    }
    // What it says of itself: what it is connected to, and what it has loaded.
    expect(gateway.log.filter((line) => !/ resources| objects in /.test(line))).toEqual([])
  })
})

describe('streams of events of one user beyond the bound', () => {
  it('are refused, and one that ends makes room', async () => {
    await using world = await startAttackedGateway({ maxSubscriptionsPerUser: 5 })
    const { gateway, authorization } = world
    const body = JSON.stringify({ query: 'subscription { namespaces { synced } }' })
    const type = { 'content-type': 'application/json', accept: 'text/event-stream' }
    const headers = { ...type, authorization }
    const stops = Array.from({ length: 12 }, () => new AbortController())
    const open = async ({ signal }: AbortController): Promise<number> => {
      const { status } = await fetch(gateway.url, { method: 'POST', headers, body, signal })
      return status
    }
    const statuses = await Promise.all(stops.map(open))
    await world.neighbour()
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(7)
    for (const stop of stops) stop.abort()
    const last = new AbortController()
    await expect.poll(() => open(last)).toBe(200)
    last.abort()
  })
})

describe('an operation that has to wait for too long', () => {
  it('is answered DEADLINE_EXCEEDED, by HTTP, WebSocket and event stream', async () => {
    await using world = await startAttackedGateway({}, { operationDeadlineMs: 2_000 })
    world.cluster.hold('/api/v1/configmaps')
    const query = '{ configMaps { totalCount } gatewayClusters { name } }'
    const subscription = 'subscription { configMaps { synced } }'
    const byEvents = async (): Promise<string> => {
      const type = { 'content-type': 'application/json', accept: 'text/event-stream' }
      const headers = { ...type, authorization: world.authorization }
      const body = JSON.stringify({ query: subscription })
      return (await fetch(world.gateway.url, { method: 'POST', headers, body })).text()
    }
    const events = byEvents()
    const answers = await Promise.all([
      world.mallory.query(query),
      firstAnswer(world.mallory.connect(), query),
      firstAnswer(world.mallory.connect(), subscription),
      world.neighbour(),
    ])
    for (const answer of answers.slice(0, 3)) {
      expect(answer).toMatchObject({
        errors: [{ extensions: { code: 'DEADLINE_EXCEEDED', value: 2_000, retryAfterMs: 1_000 } }],
      })
    }
    expect(await events).toContain('"DEADLINE_EXCEEDED"')
  })
})
