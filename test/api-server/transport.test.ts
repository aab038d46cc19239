import { getEventListeners, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { ConnectionError, ApiStatusError } from 'informerql/cluster'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  connectTo,
  failureOf,
  neverAborted,
  pods,
  readFrames,
  startLocalServer,
} from './local-server.ts'

const answerJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Never answers. */
const silence = (): void => {}

describe('requests', () => {
  it('share one pool of connections, and leave them open for the next', async () => {
    await using server = await startLocalServer((_, response) => answerJson(response, {}))
    await using api = connectTo(server.url)
    for (let round = 0; round < 3; round++) {
      await Promise.all([1, 2, 3].map(async () => api.request('GET', '/version')))
    }
    expect(server.sockets.length).toBeLessThanOrEqual(3)
  })

  it('say who they are, and ask for plain bytes', async () => {
    let seen: IncomingMessage | undefined
    await using server = await startLocalServer((request, response) => {
      seen = request
      answerJson(response, { ok: true })
    })
    await using api = connectTo(`${server.url}/k8s/clusters/c-1/`)
    expect(await api.request('GET', '/api/v1/nodes?limit=1')).toEqual({ ok: true })
    expect(seen?.url).toBe('/k8s/clusters/c-1/api/v1/nodes?limit=1')
    expect(seen?.headers['user-agent']).toMatch(/^informerql/)
    expect(seen?.headers).toMatchObject({
      'accept-encoding': 'identity',
      accept: 'application/json',
    })
    expect(seen?.headers.authorization).toBeUndefined()
  })

  it('send JSON, with the content type of a patch where there is one', async () => {
    const seen: string[] = []
    await using server = await startLocalServer(async (request, response) => {
      const chunks = await request.toArray()
      seen.push(
        `${request.method} ${request.headers['content-type']} ${Buffer.concat(chunks).toString()}`,
      )
      response.end()
    })
    await using api = connectTo(server.url)
    const contentType = 'application/merge-patch+json'
    expect(await api.request('PATCH', '/x', { body: { a: 'é' }, contentType })).toBeUndefined()
    expect(seen).toEqual([`PATCH ${contentType} {"a":"é"}`])
  })

  it('take compressed answers when asked to, but not for watches', async () => {
    const encodings: unknown[] = []
    const list = '{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"a":1},{"a":2}]}'
    await using server = await startLocalServer((request, response) => {
      encodings.push(request.headers['accept-encoding'])
      if (request.headers['accept-encoding'] !== 'gzip') return void response.end('{"a":1}\n')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(list))
    })
    await using api = connectTo(server.url, { gzip: true })
    const stream = await api.resource(pods).list({}, neverAborted())
    expect(await readFrames(stream)).toEqual(['{"a":1}', '{"a":2}'])
    expect(await readFrames(await api.resource(pods).watch({}, neverAborted()))).toEqual([
      '{"a":1}',
    ])
    expect(encodings).toEqual(['gzip', 'identity'])
  })

  it('notice a compressed answer that was cut', async () => {
    const whole = gzipSync(`{"items":[${'{},'.repeat(10_000)}{}]}`)
    await using server = await startLocalServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(whole.subarray(0, -20))
    })
    await using api = connectTo(server.url, { gzip: true })
    const stream = await api.resource(pods).list({}, neverAborted())
    expect(await failureOf(readFrames(stream))).toMatchObject({ failure: 'reset' })
  })

  it('are repeated over a new connection when the pooled one turns out to be closed', async () => {
    const used = new Set<Socket>()
    await using server = await startLocalServer((request, response) => {
      const isStale = used.has(request.socket)
      used.add(request.socket)
      if (isStale) request.socket.resetAndDestroy()
      else answerJson(response, { connection: used.size })
    })
    await using api = connectTo(server.url)
    expect(await api.request('GET', '/a')).toEqual({ connection: 1 })
    expect(await api.request('GET', '/b')).toEqual({ connection: 2 })
    const review = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    expect(await api.request('POST', review, { body: {} })).toEqual({ connection: 3 })
    // What may have been done must not be done twice.
    expect(await failureOf(api.request('POST', '/c'))).toMatchObject({ failure: 'reset' })
  })

  it('are not late when the answer came while the event loop was blocked', async () => {
    const server = new Worker(
      `const { createServer } = require('node:http')
      const { parentPort } = require('node:worker_threads')
      const server = createServer((_, response) => setTimeout(() => response.end('{}'), 100))
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
      { eval: true },
    )
    onTestFinished(async () => void (await server.terminate()))
    const [port] = await once(server, 'message')
    await using api = connectTo(`http://127.0.0.1:${port}`)
    await api.request('GET', '/a')
    const answer = api.request('GET', '/b', { deadlineMs: 1_000 })
    await sleep(50)
    // Timers are next.
    await setImmediate()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
    expect(await answer).toEqual({})
  })

  it('refuse an answer that is too large or no JSON', async () => {
    await using server = await startLocalServer((request, response) => {
      if (request.url === '/html') response.end('<html>hello')
      else response.end(JSON.stringify('x'.repeat(1000)))
    })
    await using api = connectTo(server.url, { maxAnswerBytes: 500 })
    expect(await failureOf(api.request('GET', '/large'))).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
    })
    expect(String(await failureOf(api.request('GET', '/html')))).toContain('<html>hello')
  })
})

/** The error that an answer of this kind becomes. */
const refusedBy = async (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<ApiStatusError> => {
  await using server = await startLocalServer((_, response) => {
    response.writeHead(status, headers).end(body)
  })
  await using api = connectTo(server.url)
  const error = await failureOf(api.request('GET', '/api/v1/pods?limit=1'))
  expect(error).toBeInstanceOf(ApiStatusError)
  return error as ApiStatusError
}

/** A date of HTTP so many seconds from now. */
const dateIn = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString()

describe('refusals', () => {
  it('carry the Status and the request', async () => {
    const status = { kind: 'Status', reason: 'Forbidden', message: 'pods is forbidden', code: 403 }
    const error = await refusedBy(403, {}, JSON.stringify(status))
    expect(error).toMatchObject({ httpStatus: 403, status, retryAfterMs: undefined })
    expect(error.message).toBe('GET /api/v1/pods: 403 Forbidden: pods is forbidden')
  })

  it.each([
    [401, 'Unauthorized\n', 'Unauthorized', 'Unauthorized'],
    [
      503,
      '<html><head><title>503 No\n backend</title></head></html>',
      'ServiceUnavailable',
      '503 No backend',
    ],
    [502, '', 'Unknown', 'the response has no body'],
    [404, '{"kind":"Other"}', 'NotFound', '{"kind":"Other"}'],
    [302, 'Found', 'Unknown', 'Found'],
  ])('make a Status of other answers: %i', async (code, body, reason, message) => {
    const error = await refusedBy(code, { location: '/elsewhere' }, body)
    expect(error.status).toMatchObject({ kind: 'Status', code, reason, message })
  })

  it('read Retry-After as seconds and as a date, and take it from the Status otherwise', async () => {
    expect((await refusedBy(429, { 'retry-after': '7' }, '')).retryAfterMs).toBe(7_000)
    const dated = (await refusedBy(503, { 'retry-after': dateIn(100) }, '')).retryAfterMs
    expect(dated).toBeGreaterThan(90_000)
    expect((await refusedBy(503, { 'retry-after': dateIn(-100) }, '')).retryAfterMs).toBe(0)
    expect((await refusedBy(503, { 'retry-after': 'soon' }, '')).retryAfterMs).toBeUndefined()
    const status = { kind: 'Status', details: { retryAfterSeconds: 3 } }
    expect((await refusedBy(429, {}, JSON.stringify(status))).retryAfterMs).toBe(3_000)
  })

  it('are read up to a bound', async () => {
    const error = await refusedBy(500, {}, 'x'.repeat(10_000_000))
    expect(error.message.length).toBeLessThan(1_000)
  })
})

describe('connections that fail', () => {
  it('say that nothing listens', async () => {
    const server = await startLocalServer(silence)
    await server[Symbol.asyncDispose]()
    await using api = connectTo(server.url)
    const error = await failureOf(api.request('GET', '/version'))
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toMatchObject({
      code: 'CONNECTION_REFUSED',
      refused: true,
      host: `127.0.0.1:${server.port}`,
    })
  })

  it('say that the name is unknown', async () => {
    await using api = connectTo('http://no-such-host.invalid')
    const error = await failureOf(api.request('GET', '/version'))
    expect(error).toMatchObject({ code: 'CONNECTION_NAME', refused: false })
  })

  it('say that the connection was reset, before the answer and within', async () => {
    const isRead = Promise.withResolvers<void>()
    await using server = await startLocalServer(async (request, response) => {
      if (request.url?.includes('watch') !== true) return void request.socket.resetAndDestroy()
      response.write('{"a":1}\n{"b"')
      await isRead.promise
      request.socket.resetAndDestroy()
    })
    await using api = connectTo(server.url)
    expect(await failureOf(api.request('GET', '/version'))).toMatchObject({
      code: 'CONNECTION_RESET',
      refused: false,
    })
    const frames: string[] = []
    const stream = await api.resource(pods).watch({}, neverAborted())
    const error = await failureOf(
      (async () => {
        for await (const batch of stream) {
          frames.push(...batch.map(String))
          isRead.resolve()
        }
      })(),
    )
    expect(error).toMatchObject({ code: 'CONNECTION_RESET' })
    expect(frames).toHaveLength(1)
  })

  it('say that the answer is not HTTP', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await using api = connectTo(`http://127.0.0.1:${port}`)
    expect(await failureOf(api.request('GET', '/version'))).toMatchObject({ failure: 'protocol' })
    server.close()
  })
})

/** What a deadline says that ended this. */
const timesOut = async (promise: Promise<unknown>): Promise<string> => {
  const error = await failureOf(promise)
  expect(error).toMatchObject({ code: 'CONNECTION_TIMEOUT', refused: false })
  return String(error)
}

describe('deadlines', () => {
  it('bound the wait for a connection', async () => {
    // Takes TCP connections, and says nothing where a TLS handshake is due.
    const server = createServer(silence)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const api = connectTo(`https://127.0.0.1:${port}`, { connectDeadlineMs: 50 })
    expect(await timesOut(api.request('GET', '/version'))).toContain('connecting')
    await api[Symbol.asyncDispose]()
    server.close()
  })

  it('bound the wait for a connection of the pool', async () => {
    await using server = await startLocalServer(silence)
    await using api = connectTo(server.url, { connectDeadlineMs: 50, maxConnections: 1 })
    const first = failureOf(api.request('GET', '/a'))
    expect(await timesOut(api.request('GET', '/b'))).toContain('connecting')
    await api[Symbol.asyncDispose]()
    expect(await first).toMatchObject({ code: 'CONNECTION_CLOSED' })
  })

  it('bound the wait for the beginning of an answer', async () => {
    await using server = await startLocalServer(silence)
    await using api = connectTo(server.url, { responseDeadlineMs: 50 })
    const listing = api.resource(pods).list({}, neverAborted())
    expect(await timesOut(listing)).toContain('the beginning of the response')
    expect(await timesOut(api.request('GET', '/a', { deadlineMs: 50 }))).toContain('50 ms')
  })

  it('bound the silence within a list, however long its reader takes', async () => {
    const lists: ServerResponse[] = []
    await using server = await startLocalServer((_, response) => {
      response.write('{"items":[{},')
      lists.push(response)
    })
    await using api = connectTo(server.url, { listIdleDeadlineMs: 300 })
    const begin = async () => {
      const stream = await api.resource(pods).list({}, neverAborted())
      const batches = stream[Symbol.asyncIterator]()
      await batches.next()
      return batches
    }
    const leisurely = await begin()
    // As long as the one is read in vain, the other is not read at all.
    expect(await timesOut((await begin()).next())).toContain('the next bytes')
    lists[0]?.write('{},')
    expect(await leisurely.next()).toMatchObject({ done: false })
    expect(await timesOut(leisurely.next())).toContain('the next bytes')
  })

  it('bound a watch: by its timeout and the grace after it, and by silence where asked for', async () => {
    await using server = await startLocalServer((_, response) => {
      response.writeHead(200).write('{"a":1}\n')
      const beat = setInterval(() => response.write('{"a":1}\n'), 10)
      response.on('close', () => clearInterval(beat))
    })
    await using capped = connectTo(server.url, { watchGraceMs: 100 })
    const endless = capped.resource(pods).watch({ timeoutSeconds: 0 }, neverAborted())
    expect(await timesOut(endless.then(readFrames))).toContain('the whole response')
    await using quietServer = await startLocalServer((_, response) => {
      response.writeHead(200).write('{"a":1}\n')
    })
    await using quiet = connectTo(quietServer.url, { watchIdleDeadlineMs: 50 })
    const stream = await quiet.resource(pods).watch({ timeoutSeconds: 300 }, neverAborted())
    expect(await timesOut(readFrames(stream))).toContain('the next bytes')
  })
})

describe('an aborted signal', () => {
  it('ends a request in whatever state it is, with its reason', async () => {
    let requests = 0
    await using server = await startLocalServer((request, response) => {
      requests += 1
      if (request.url?.includes('watch') === true) response.writeHead(200).write('{"a":1}\n')
    })
    await using api = connectTo(server.url)
    const reason = new Error('enough')
    expect(await failureOf(api.request('GET', '/', { signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    )
    const waiting = new AbortController()
    const request = failureOf(api.request('GET', '/', { signal: waiting.signal }))
    await expect.poll(() => requests).toBe(1)
    waiting.abort(reason)
    expect(await request).toBe(reason)
    const watching = new AbortController()
    const stream = await api.resource(pods).watch({}, watching.signal)
    const batches = stream[Symbol.asyncIterator]()
    await batches.next()
    const reading = failureOf(batches.next())
    watching.abort(reason)
    expect(await reading).toBe(reason)
    await Promise.all(
      server.sockets.map(async (socket) => socket.destroyed || once(socket, 'close')),
    )
  })

  it('leaves no listeners on a signal that lives on', async () => {
    await using server = await startLocalServer((_, response) => answerJson(response, {}))
    await using api = connectTo(server.url)
    const { signal } = new AbortController()
    for (let round = 0; round < 5; round++) await api.request('GET', '/', { signal })
    await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('a reader', () => {
  it('that leaves early closes the connection', async () => {
    await using server = await startLocalServer((_, response) => {
      response.writeHead(200).write('{"a":1}\n')
    })
    await using api = connectTo(server.url)
    for await (const batch of await api.resource(pods).watch({}, neverAborted())) {
      expect(batch).toHaveLength(1)
      break
    }
    const [socket] = server.sockets
    if (socket?.destroyed === false) await once(socket, 'close')
    expect(socket?.destroyed).toBe(true)
  })

  it('that is slow holds the server back', async () => {
    const line = `${JSON.stringify({ a: 'x'.repeat(100_000) })}\n`
    let written = 0
    await using server = await startLocalServer(async ({ url }, response) => {
      if (url === '/version') return answerJson(response, {})
      while (written < 2_000 && !response.destroyed) {
        written += 1
        if (!response.write(line)) await once(response, 'drain').catch(() => {})
      }
      response.end()
    })
    await using api = connectTo(server.url)
    const stream = await api.resource(pods).watch({}, neverAborted())
    // Until nothing more is written while others are answered.
    for (let before = -1; before < written;) {
      before = written
      for (let round = 0; round < 100; round += 1) await api.request('GET', '/version')
    }
    // 200 MB in all; the kernel's buffers and ours hold some.
    expect(written).toBeLessThan(500)
    expect(await readFrames(stream)).toHaveLength(2_000)
  })
})

describe('a closed connection to a cluster', () => {
  it('ends what is under way, and refuses what comes', async () => {
    const asked = Promise.withResolvers<void>()
    await using server = await startLocalServer(() => asked.resolve())
    const api = connectTo(server.url)
    const request = failureOf(api.request('GET', '/'))
    await asked.promise
    await api[Symbol.asyncDispose]()
    expect(await request).toMatchObject({ code: 'CONNECTION_CLOSED' })
    expect(await failureOf(api.request('GET', '/'))).toMatchObject({ code: 'CONNECTION_CLOSED' })
  })
})
