import { readFile } from 'node:fs/promises'
import { createClient } from 'graphql-ws'
import {
  liveCollection,
  livePage,
  type LiveSnapshot,
  type LiveTransport,
  WebSocketClient,
  type WebSocketClientOptions,
  type WebSocketConstructor,
} from 'informerql/client'
import { describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type Reply, startScriptedGateway } from './scripted-gateway.ts'
import { shopForTests } from './shop.ts'

/** What the client does: asks again, asks again with other credentials, or ends as `failed`. */
type Remedy = 'retries' | 'renews' | 'ends'

const ofCodes: Readonly<Record<string, Remedy>> = {
  BAD_USER_INPUT: 'ends',
  UNAUTHENTICATED: 'renews',
  IDENTITY_UNAVAILABLE: 'retries',
  AUDIT_UNAVAILABLE: 'retries',
  TOKEN_NEEDED: 'ends',
  FORBIDDEN: 'ends',
  NOT_FOUND: 'ends',
  ALREADY_EXISTS: 'ends',
  CONFLICT: 'ends',
  INVALID: 'ends',
  PRECONDITION_FAILED: 'ends',
  ADMISSION_DENIED: 'ends',
  DISRUPTION_BUDGET: 'ends',
  TOO_MANY_WRITES: 'ends',
  OUTCOME_UNKNOWN: 'ends',
  NOT_SYNCED: 'retries',
  CLUSTER_UNREACHABLE: 'retries',
  CLUSTER_UNAUTHORIZED: 'retries',
  NODE_UNREACHABLE: 'retries',
  CACHE_FULL: 'retries',
  NAMESPACE_NOT_CACHED: 'ends',
  NOT_SERVED: 'ends',
  QUERY_TOO_COSTLY: 'ends',
  TOO_MANY_OPERATIONS: 'retries',
  NO_ARCHIVE: 'ends',
  BEFORE_ARCHIVE: 'ends',
  ARCHIVE_GAP: 'ends',
  NOT_ARCHIVED: 'ends',
  ARCHIVE_UNREACHABLE: 'retries',
  METRICS_UNREACHABLE: 'retries',
  DEADLINE_EXCEEDED: 'retries',
  UNTRUSTED_DOCUMENT: 'ends',
  RBAC_BUDGET_EXCEEDED: 'ends',
  UNSUPPORTED: 'ends',
  PERSISTED_QUERY_NOT_FOUND: 'ends',
  SCHEMA_CHANGED: 'retries',
  INTERNAL: 'retries',
}

const ofClosings: Readonly<Record<number, Remedy>> = {
  1008: 'retries',
  1012: 'retries',
  1013: 'retries',
  4400: 'ends',
  4401: 'ends',
  4403: 'renews',
  4406: 'ends',
  4408: 'retries',
  4409: 'ends',
  4429: 'retries',
}

const frame = { reset: true, synced: true, changes: [], resumeToken: 'token' }
const query =
  'subscription ($resumeFrom: String) { pods(resumeFrom: $resumeFrom) { reset synced resumeToken changes { type objectId object { id } } } }'

/** Meets these replies, then a frame; tells what the client has come to. */
async function met(
  replies: readonly Reply[],
  params: (asked: (number | undefined)[]) => WebSocketClientOptions['connectionParams'],
) {
  await using gateway = await startScriptedGateway([...replies, { form: 'frame', frame }])
  const asked: (number | undefined)[] = []
  const client = new WebSocketClient({ url: gateway.url, connectionParams: params(asked) ?? {} })
  using pods = liveCollection<unknown, object, object>({ client, query })
  const failed = await pods.synced.then(
    () => false,
    () => true,
  )
  const { subscribed, connected } = gateway
  return { failed, status: pods.status, asked, subscribed, connected }
}

const fresh = (asked: (number | undefined)[]) => (refused?: { readonly code: number }) => {
  asked.push(refused?.code)
  return { authorization: `Bearer ${asked.length}` }
}

const expected = (remedy: Remedy) => ({
  failed: remedy === 'ends',
  status: remedy === 'ends' ? 'failed' : 'live',
  last: remedy === 'renews' ? 4403 : undefined,
})

describe('what an error means to the client', () => {
  it('is known of every documented code', async () => {
    const tables = await Promise.all(
      ['docs/clients.md', 'docs/subscriptions.md'].map(async (file) => readFile(file, 'utf8')),
    )
    const rows = (text: string | undefined, row: RegExp): string[] =>
      [...(text ?? '').matchAll(row)].flatMap(([, codes = '']) => codes.split(', ')).toSorted()
    expect(rows(tables[0]?.split('\n## Errors\n')[1], /^\| `([A-Z_]+)` +\|/gmu)).toEqual(
      Object.keys(ofCodes).toSorted(),
    )
    expect(rows(tables[1], /^\| (\d{4}(?:, \d{4})*) +\|/gmu)).toEqual(Object.keys(ofClosings))
  })

  it.each(Object.entries(ofCodes))('%s: it %s', async (code, remedy) => {
    for (const form of ['error', 'next'] as const) {
      const { asked, failed, status } = await met([{ form, code }], fresh)
      expect({ failed, status, last: asked.at(-1) }).toEqual(expected(remedy))
    }
  })

  it.each(Object.entries(ofClosings))('closed with %s: it %s', async (code, remedy) => {
    for (const form of ['refuse', 'close'] as const) {
      const { asked, failed, status } = await met([{ form, closing: Number(code) }], fresh)
      expect({ failed, status, last: asked.at(-1) }).toEqual(expected(remedy))
    }
  })

  it('is for good where other credentials are refused, too, and where there are none', async () => {
    const refused: Reply = { form: 'error', code: 'UNAUTHENTICATED' }
    const twice = await met([refused, refused], fresh)
    expect(twice).toMatchObject({ status: 'failed', asked: [undefined, 4403] })
    const fixed = () => ({ authorization: 'Bearer fixed' })
    expect(await met([refused], fixed)).toMatchObject({ status: 'failed', connected: [fixed()] })
    expect(await met([{ form: 'refuse', closing: 4403 }], fixed)).toMatchObject({
      status: 'failed',
      connected: [fixed()],
    })
  })

  it('says how long to wait at the least', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await met([{ form: 'error', code: 'NOT_SYNCED', retryAfterMs: 1_234 }], fresh)
    const delaysMs = timers.mock.calls.map(([, delayMs = 0]) => delayMs)
    timers.mockRestore()
    expect(Math.max(...delaysMs)).toBeGreaterThanOrEqual(1_234)
  })
})

describe('a selection that cannot work', () => {
  const open = shopForTests()
  const all = ['reset', 'synced', 'changes { type objectId object { id } }']
  const changes = (fields: string) => `reset synced changes { ${fields} }`
  const paged = (fields: string) => `reset synced totalCount changes { ${fields} }`

  it.each([
    ['pods', all.slice(1).join(' '), 'reset'],
    ['pods', `${all[0]} ${all[2]}`, 'synced'],
    ['pods', 'reset synced', 'changes'],
    ['pods', changes('objectId object { id }'), 'changes { type }'],
    ['pods', changes('type object { id }'), 'changes { objectId }'],
    ['pods', changes('type objectId'), 'changes { object }'],
    ['podsPage', changes('step index from objectId object { id }'), 'totalCount'],
    ['podsPage', paged('index from objectId object { id }'), 'changes { step }'],
    ['podsPage', paged('step from objectId object { id }'), 'changes { index }'],
    ['podsPage', paged('step index from object { id }'), 'changes { objectId }'],
    ['podsPage', paged('step index from objectId'), 'changes { object }'],
  ])('of %s { %s } fails, and names %s', async (field, selection, missing) => {
    const client = new WebSocketClient({ url: open().gateway.url.replace('http', 'ws') })
    const text = `subscription { ${field} { ${selection} } }`
    using live =
      field === 'pods'
        ? liveCollection<object>({ client, query: text })
        : livePage<object>({ client, query: text })
    await expect(live.synced).rejects.toThrow(`must select \`${missing}\``)
    expect(live.getSnapshot()).toMatchObject({ status: 'failed', rows: [] })
    await vi.waitFor(() => expect(client.isIdle).toBe(true))
  })
})

it('says that credentials have expired, and what to do', async () => {
  const refused: Reply = { form: 'refuse', closing: 4403 }
  await using gateway = await startScriptedGateway([refused, refused])
  const connectionParams = { authorization: 'Bearer expired' }
  const client = new WebSocketClient({ url: gateway.url, connectionParams })
  using pods = liveCollection<object>({ client, query })
  await expect(pods.synced).rejects.toThrow(
    /^the credentials have expired or are not accepted \(4403\): sign in again; .* function/,
  )
})

interface Connecting {
  readonly url: () => string
  readonly webSocket: WebSocketConstructor
  readonly connectionParams?: () => Record<string, unknown>
}

const transports: Readonly<Record<string, (options: Connecting) => LiveTransport>> = {
  'its own client': (options) => new WebSocketClient(options),
  'the client of graphql-ws': ({ webSocket, ...options }) =>
    createClient({
      ...options,
      webSocketImpl: webSocket,
      retryAttempts: Infinity,
      retryWait: () => new Promise((resolve) => void setTimeout(resolve, 50)),
      shouldRetry: () => true,
    }),
}

describe.each(Object.entries(transports))('a collection that does not connect with %s', (_, by) => {
  const open = shopForTests()

  /** Waits for the error of a collection; then, with the fault mended, for its first snapshot. */
  async function errorUntilMended(client: LiveTransport, mend: () => void): Promise<string> {
    using pods = liveCollection<unknown, object, object>({ client, query })
    const { promise, resolve } = Promise.withResolvers<LiveSnapshot<object>>()
    pods.subscribe(() => {
      const snapshot = pods.getSnapshot()
      if (snapshot.error !== undefined) resolve(snapshot)
    })
    const { status, error } = await promise
    expect(status).toBe('loading')
    mend()
    await pods.synced
    expect(pods.getSnapshot()).toMatchObject({ status: 'live', error: undefined })
    return error?.message ?? ''
  }

  it('tells that the URL is wrong, until it is live', async () => {
    const { url } = open().gateway
    let path = '/nothing'
    const client = by({
      url: () => new URL(path, url.replace('http', 'ws')).href,
      webSocket: WebSocket,
    })
    const message = await errorUntilMended(client, () => {
      path = '/graphql'
    })
    expect(message).toMatch(/404|check the URL/)
  })

  it('tells that the origin is refused, until it is live', async () => {
    let origin: string | undefined = 'https://elsewhere.example'
    class PageWebSocket extends WebSocket {
      constructor(url: string, protocol: string) {
        super(url, protocol, origin === undefined ? {} : { origin })
      }
    }
    const url = () => open().gateway.url.replace('http', 'ws')
    const message = await errorUntilMended(by({ url, webSocket: PageWebSocket }), () => {
      origin = undefined
    })
    expect(message).toMatch(/403|check the URL/)
  })

  it('tells that an expired token comes again, until it is live', async () => {
    const refused: Reply = { form: 'refuse', closing: 4403 }
    await using gateway = await startScriptedGateway([refused, refused, { form: 'frame', frame }])
    const connectionParams = () => ({ authorization: 'Bearer expired' })
    const client = by({ url: () => gateway.url, webSocket: WebSocket, connectionParams })
    expect(await errorUntilMended(client, () => {})).toContain('4403')
    expect(gateway.connected).toHaveLength(3)
  })
})
