import { createClient } from 'graphql-ws'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { post, serve, smallApi } from './small-api.ts'

interface Line {
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

const uuid = /^[0-9a-f-]{36}$/

it('The id of a request is the caller’s if it is well-formed, or a new one, and is in each answer', async () => {
  await using server = await serve(smallApi())
  const idOf = async (given?: string, url = server.url): Promise<string | null> => {
    const headers: Record<string, string> = given === undefined ? {} : { 'x-request-id': given }
    return (await post(url, { query: '{ hello }' }, headers)).headers.get('x-request-id')
  }
  expect(await idOf('7f3a-01.b/c:d=')).toBe('7f3a-01.b/c:d=')
  expect(await idOf()).toMatch(uuid)
  expect(await idOf('a "quoted" one')).toMatch(uuid)
  expect(await idOf('a'.repeat(129))).toMatch(uuid)
  expect(await idOf('nowhere', new URL('/nowhere', server.url).href)).toBe('nowhere')
})

it('Pages of allowed origins may send the id of a request, and read that of the answer', async () => {
  const origin = 'https://portal.example.com'
  await using server = await serve(smallApi(), { allowedOrigins: [origin] })
  const { headers } = await post(server.url, { query: '{ hello }' }, { origin })
  expect(headers.get('access-control-expose-headers')).toBe('x-request-id')
  const preflight = await fetch(server.url, { method: 'OPTIONS', headers: { origin } })
  expect(preflight.headers.get('access-control-allow-headers')).toContain('x-request-id')
})

it('An error that only the log explains names the line of the log', async () => {
  const lines: Line[] = []
  const hear = (message: string, details: object = {}): void => {
    lines.push({ message, details: details as Line['details'] })
  }
  const fail = (): never => {
    throw new Error('the password is hunter2')
  }
  await using server = await serve(
    smallApi(),
    {},
    { log: { warn: hear, error: hear }, context: fail, routes: { '/broken': fail } },
  )
  const headers = { 'x-request-id': 'of-a-route' }
  const refused = await fetch(new URL('/broken', server.url), { headers })
  expect(refused.status).toBe(500)
  expect(await refused.json()).toMatchObject({
    errors: [{ extensions: { code: 'INTERNAL', requestId: 'of-a-route' } }],
  })

  class SocketWithId extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { headers: { 'x-request-id': 'of-a-socket' } })
    }
  }
  const client = createClient({
    url: server.url.replace('http', 'ws'),
    webSocketImpl: SocketWithId,
    retryAttempts: 0,
    lazy: false,
  })
  for (const number of [1, 2]) {
    const requestId = `of-a-socket.${number}`
    const answers = client.iterate({ query: '{ hello }' })
    await expect(answers.next()).rejects.toMatchObject([
      { extensions: { code: 'INTERNAL', requestId } },
    ])
  }
  await client.dispose()
  expect(lines).toEqual(
    ['of-a-route', 'of-a-socket.1', 'of-a-socket.2'].map((requestId) => ({
      message: expect.stringContaining('failed unexpectedly'),
      details: { requestId, error: expect.objectContaining({ message: expect.any(String) }) },
    })),
  )
})
