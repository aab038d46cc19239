import { createHash } from 'node:crypto'
import { type Authenticated, IdentityUnavailableError, type GraphQLServer } from 'informerql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { post, serve, type SmallApi, smallApi } from './small-api.ts'

const accept = { accept: 'text/event-stream' }

const viewer = { username: 'ann', uid: '', groups: [], extra: {} }
const subscribed = { query: 'subscription { held }' }

describe('server-sent events of somebody who is known', () => {
  /** Says who asks, but not at these calls. */
  const failingAt = (fails: (call: number) => boolean) => {
    let calls = 0
    return {
      calls: () => calls,
      authenticate: () => {
        calls += 1
        if (fails(calls)) throw new IdentityUnavailableError(new Error('nobody answers'))
        return { viewer, expiresAtMs: undefined }
      },
    }
  }

  it('go on where nobody could say four times whether that is still so, as WebSockets do', async () => {
    const api = smallApi()
    const authenticator = failingAt((call) => call > 1 && call < 6)
    await using server = await serve(api, { reauthenticateMs: 10 }, { authenticator })
    const text = (await post(server.url, subscribed, accept)).text()
    await expect.poll(() => authenticator.calls()).toBeGreaterThan(7)
    expect(api.underWay()).toBe(1)
    api.release()
    expect(await text).toContain('last')
  })

  it('end where nobody could say it for the fifth time', async () => {
    const api = smallApi()
    const authenticator = failingAt((call) => call > 1)
    await using server = await serve(api, { reauthenticateMs: 10 }, { authenticator })
    const response = await post(server.url, subscribed, accept)
    await expect(response.text()).rejects.toThrow('terminated')
    expect(authenticator.calls()).toBe(6)
    api.release()
  })

  it('do not begin while the server stops, and so do not hold it', async () => {
    const known = Promise.withResolvers<Authenticated>()
    let isAsked = false
    const authenticate = (): Promise<Authenticated> => {
      isAsked = true
      return known.promise
    }
    const authenticator = { authenticate }
    const server = await serve(smallApi(), { stopDeadlineMs: 3_600_000 }, { authenticator })
    const response = post(server.url, subscribed, accept)
    await expect.poll(() => isAsked).toBe(true)
    const stopped = server[Symbol.asyncDispose]()
    known.resolve({ viewer, expiresAtMs: undefined })
    expect((await response).status).toBe(503)
    await stopped
  })

  it('do not begin for a client that has gone while it was authenticated', async () => {
    const known = { viewer, expiresAtMs: undefined }
    const first = Promise.withResolvers<Authenticated>()
    let calls = 0
    const authenticate = (): Authenticated | Promise<Authenticated> => {
      calls += 1
      return calls === 1 ? first.promise : known
    }
    const api = smallApi()
    await using server = await serve(api, {}, { authenticator: { authenticate } })
    const leaving = new AbortController()
    const response = fetch(`${server.url}?${new URLSearchParams(subscribed)}`, {
      headers: { 'graphql-require-preflight': '1', ...accept },
      signal: leaving.signal,
    })
    await expect.poll(() => calls).toBe(1)
    leaving.abort()
    await expect(response).rejects.toThrow('aborted')
    await post(server.url, { query: '{ hello }' })
    first.resolve(known)
    await post(server.url, { query: '{ hello }' })
    expect(api.underWay()).toBe(0)
  })
})

describe('server-sent events', () => {
  let api: SmallApi
  let server: GraphQLServer
  beforeEach(async () => {
    api = smallApi()
    server = await serve(api, { pingIntervalMs: 50 })
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const events = async (query: string): Promise<string> => {
    const response = await post(server.url, { query }, accept)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    return await response.text()
  }
  const next = (payload: object): string => `event: next\ndata: ${JSON.stringify(payload)}\n\n`
  const complete = 'event: complete\ndata:\n\n'

  it('bring each result of a subscription, and say that it is complete', async () => {
    expect(await events('subscription { count(to: 3) }')).toBe(
      [1, 2, 3].map((count) => next({ data: { count } })).join('') + complete,
    )
  })

  it('bring the one answer of a query', async () => {
    expect(await events('{ hello }')).toBe(next({ data: { hello: 'hello you' } }) + complete)
  })

  it('are not for who accepts JSON before them, as urql does for every query', async () => {
    const ranges = ['application/graphql-response+json', 'application/json', 'text/event-stream']
    const accepted = { accept: [...ranges, 'multipart/mixed'].join(', ') }
    const response = await post(server.url, { query: '{ hello }' }, accepted)
    expect(response.headers.get('content-type')).toContain('application/graphql-response+json')
    expect(await response.json()).toEqual({ data: { hello: 'hello you' } })
  })

  it('bring errors with their codes', async () => {
    expect(await events('subscription { nothing }')).toMatch(/BAD_USER_INPUT.*\n\nevent: complete/s)
    expect(await events('{ refused broken }')).not.toContain('hunter2')
    const nothing = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...accept },
      body: '{',
    })
    expect(nothing.status).toBe(400)
    const { errors } = await nothing.json()
    expect(errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', hint: expect.stringContaining('query') } },
    ])
  })

  it.each([
    ['{}', {}, 'the request has no query'],
    [
      'an unknown member',
      { documentId: 'x', variables: {} },
      'the request has no query, and the gateway does not know its "documentId"',
    ],
  ])('without a document say what is missing, as a POST does: %s', async (_what, body, message) => {
    const missing = { code: 'BAD_USER_INPUT', argument: 'query', hint: expect.any(String) }
    const answer = await (await post(server.url, body)).json()
    expect(answer).toEqual({ errors: [{ message, extensions: missing }] })
    const told = await (await post(server.url, body, accept)).text()
    expect(told).toContain(`event: next\ndata: ${JSON.stringify(answer)}\n\n`)
  })

  it('of an unknown hash ask for its document, and answer once it was sent', async () => {
    const query = '{ hello }'
    const sha256Hash = createHash('sha256').update(query).digest('hex')
    const extensions = { persistedQuery: { version: 1, sha256Hash }, explain: false, client: {} }
    const told = async (body: object): Promise<string> =>
      (await post(server.url, { extensions, ...body }, accept)).text()
    expect(await told({})).toMatch(/"code":"PERSISTED_QUERY_NOT_FOUND".*\n\nevent: complete/s)
    expect(await told({ query })).toContain('hello you')
    expect(await told({})).toContain('hello you')
  })

  it('keep the connection alive while there is nothing to say, and end with their reader', async () => {
    const leaving = new AbortController()
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...accept },
      body: JSON.stringify({ query: 'subscription { held }' }),
      signal: leaving.signal,
    })
    let seen = ''
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    while (!seen.endsWith(':\n\n')) {
      seen += (await reader?.read())?.value ?? ''
    }
    expect(seen).toContain(next({ data: { held: 'first' } }))
    expect(api.underWay()).toBe(1)
    leaving.abort()
    api.release()
    await expect.poll(() => api.underWay()).toBe(0)
  })

  it('end when the server stops, without being complete', async () => {
    const response = await post(server.url, { query: 'subscription { held }' }, accept)
    const text = response.text()
    await expect.poll(() => api.underWay()).toBe(1)
    const stopped = server[Symbol.asyncDispose]()
    expect(await text).not.toContain('complete')
    api.release()
    await stopped
  })
})
