import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { type FaultOrder, type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ask, type ContractServer, newConfigMap, watch } from '../contract/contract-server.ts'

const path = '/api/v1/namespaces/default/configmaps'

let simulator: Simulator
let server: ContractServer

beforeEach(async () => {
  simulator = await startSimulator()
  server = { url: simulator.url, headers: {}, expireHistory: async () => undefined }
  for (const name of ['a', 'b', 'c']) await newConfigMap(server, 'default', name)
})

afterEach(async () => simulator[Symbol.asyncDispose]())

const order = async (body: FaultOrder): Promise<number> =>
  (await ask(server, '/simulator/faults', { method: 'POST', body })).status

const connectionsAfter = async (type: string): Promise<string> =>
  (await ask(server, '/simulator/faults', { method: 'POST', body: { fault: { type } } })).json
    .connections

const rawLines = async (query: string): Promise<string[]> => {
  const answer = await ask(server, `${path}?watch=1&timeoutSeconds=1&${query}`)
  return answer.text.split('\n').filter((line) => line !== '')
}

describe('Faults', () => {
  it('are ordered over HTTP, listed, forgotten, and refused when there is no such fault', async () => {
    const fault = { type: 'status', code: 503 } as const
    expect(await order({ fault, match: { resource: 'pods' }, times: 2 })).toBe(200)
    const listed = await ask(server, '/simulator/faults')
    expect(listed.json.pending).toEqual([{ fault, match: { resource: 'pods' }, remaining: 2 }])
    await ask(server, '/simulator/faults', { method: 'DELETE' })
    expect((await ask(server, '/simulator/faults')).json.pending).toEqual([])
    const unknown = await ask(server, '/simulator/faults', {
      method: 'POST',
      body: { fault: { type: 'x' } },
    })
    expect(unknown.status).toBe(400)
  })

  it('of a sequence strike one request after the other', async () => {
    const fault = [
      { type: 'status', code: 409 },
      { type: 'none' },
      { type: 'status', code: 429 },
    ] as const
    expect(await order({ fault, match: { verb: 'update' }, times: 2 })).toBe(200)
    const statuses: number[] = []
    const { json } = await ask(server, `${path}/a`)
    for (let asked = 0; asked < 7; asked += 1) {
      const answer = await ask(server, `${path}/a`, { method: 'PUT', body: json })
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([409, 200, 429, 409, 200, 429, 200])
    expect(simulator.faults.pending()).toEqual([])
    for (const wrong of [
      [],
      [{ type: 'x' }],
      [{ type: 'status', code: 409 }, { type: 'drop-connections' }],
    ]) {
      expect(await order({ fault: wrong as never }), JSON.stringify(wrong)).toBe(400)
    }
  })

  it('strike as many matching requests as they are ordered for, and no others', async () => {
    simulator.faults.inject({
      fault: { type: 'status', code: 429, retryAfterSeconds: 3 },
      match: { resource: 'configmaps', verb: 'list' },
      times: 2,
    })
    expect((await ask(server, '/api/v1/pods')).status).toBe(200)
    expect((await ask(server, `${path}/a`)).status).toBe(200)
    const struck = await ask(server, path)
    expect(struck.status).toBe(429)
    expect(struck.headers['retry-after']).toBe('3')
    expect(struck.json).toMatchObject({
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 3 },
    })
    expect((await ask(server, path)).status).toBe(429)
    expect((await ask(server, path)).status).toBe(200)
  })

  it('expire later pages only, where the match says so', async () => {
    simulator.faults.inject({ fault: { type: 'expired' }, match: { page: 'later', verb: 'list' } })
    const first = await ask(server, `${path}?limit=1`)
    expect(first.status).toBe(200)
    const next = encodeURIComponent(first.json.metadata.continue)
    expect((await ask(server, `${path}?limit=1&continue=${next}`)).json.reason).toBe('Expired')
  })

  it('say in three ways that a resource version is too large', async () => {
    for (const encoding of ['cause-reason', 'cause-message', 'message'] as const) {
      await order({ fault: { type: 'too-large-resource-version', encoding } })
      const { json } = await ask(server, path)
      const found = {
        'cause-reason': json.details?.causes[0].reason === 'ResourceVersionTooLarge',
        'cause-message': json.details?.causes[0].message === 'Too large resource version',
        message: json.message.includes('Too large resource version'),
      }
      expect(Object.entries(found).filter(([, said]) => said)).toEqual([[encoding, true]])
    }
  })

  it('close a connection without an answer', async () => {
    await order({ fault: { type: 'disconnect' } })
    await expect(ask(server, path)).rejects.toThrow('socket hang up')
  })

  it('cut an answer in the middle', async () => {
    await order({ fault: { type: 'truncate', afterBytes: 100 } })
    await expect(ask(server, path)).rejects.toThrow('aborted')
  })

  it('change neither the bytes of a split answer nor those of a slow one', async () => {
    const whole = await ask(server, path)
    await order({ fault: { type: 'split', everyBytes: 7 } })
    expect((await ask(server, path)).text).toBe(whole.text)
    await order({ fault: { type: 'slow', bytesPerSecond: 10_000 } })
    expect((await ask(server, path)).text).toBe(whole.text)
  })

  it('leave a connection open and silent', async () => {
    await order({ fault: { type: 'half-open', afterBytes: 50 } })
    const message = request(new URL(path, server.url)).end()
    const [response] = (await once(message, 'response')) as [IncomingMessage]
    const [chunk] = (await once(response, 'data')) as [Buffer]
    expect(chunk).toHaveLength(50)
    expect(response.complete).toBe(false)
    message.on('error', () => undefined)
    response.on('error', () => undefined)
    message.destroy()
  })

  it('repeat, invent and garble the events of a watch', async () => {
    await order({ fault: { type: 'duplicate-event', frame: 1 } })
    expect((await rawLines('')).map((line) => JSON.parse(line).object.metadata.name)).toEqual([
      'a',
      'b',
      'b',
      'c',
    ])
    await order({ fault: { type: 'wrong-kind-event', frame: 0 } })
    expect((await rawLines('')).map((line) => JSON.parse(line).object.kind)).toEqual([
      'Widget',
      'ConfigMap',
      'ConfigMap',
      'ConfigMap',
    ])
    await order({ fault: { type: 'malformed-event', frame: 2 } })
    expect(() => JSON.parse('{"type":"ADDED","object":{"kind":')).toThrow(SyntaxError)
    expect((await rawLines('')).at(2)).toBe('{"type":"ADDED","object":{"kind":')
  })

  it('end a watch with an ERROR event', async () => {
    await order({ fault: { type: 'error-event', frame: 1, code: 500 } })
    const [first, second, ...more] = (await rawLines('')).map((line) => JSON.parse(line))
    expect(first.object.metadata.name).toBe('a')
    expect(second).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 500 } })
    expect(more).toEqual([])
  })

  it('withhold the end of the initial events', async () => {
    const query =
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    await order({ fault: { type: 'no-initial-events-end' }, match: { verb: 'watch' } })
    expect(await rawLines(query)).toHaveLength(3)
    expect(await rawLines(query)).toHaveLength(4)
  })

  describe('of the whole server', () => {
    it('break every connection', async () => {
      await using stream = await watch(server, `${path}?watch=1&resourceVersion=0`)
      await stream.next()
      simulator.faults.inject({ fault: { type: 'drop-connections' } })
      await expect(stream.rest()).rejects.toThrow('aborted')
      expect((await ask(server, path)).status).toBe(200)
    })

    it('refuse connections for a while', async () => {
      simulator.faults.inject({ fault: { type: 'refuse-connections', forMs: 60_000 } })
      await expect(ask(server, path)).rejects.toThrow(/socket hang up|ECONNRESET/)
      simulator.faults.inject({ fault: { type: 'refuse-connections', forMs: 0 } })
      expect((await ask(server, path)).status).toBe(200)
    })

    it('cut the server off until it is mended, and are ordered all the same', async () => {
      await using stream = await watch(server, `${path}?watch=1&resourceVersion=0`)
      await stream.next()
      expect(await connectionsAfter('cut')).toBe('cut')
      await expect(stream.rest()).rejects.toThrow('aborted')
      await expect(ask(server, path)).rejects.toThrow(/socket hang up|ECONNRESET/)
      expect(await connectionsAfter('mend')).toBe('served')
      expect((await ask(server, path)).status).toBe(200)
    })

    it('keep everything waiting until the server is mended, and answer it then', async () => {
      await using stream = await watch(server, `${path}?watch=1&fieldSelector=metadata.name%3Dd`)
      expect(await connectionsAfter('hang')).toBe('hanging')
      const next = stream.next()
      const asked = ask(server, path)
      simulator.storage.create(
        { group: '', version: 'v1', resource: 'configmaps' },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'd', namespace: 'default' } },
      )
      expect(await Promise.race([next, asked, turn('nothing')])).toBe('nothing')
      expect(await connectionsAfter('mend')).toBe('served')
      expect((await next)?.object.metadata.name).toBe('d')
      expect((await asked).status).toBe(200)
    })

    it('leave what is connected without a word, and serve who comes anew', async () => {
      await using frozen = await watch(server, `${path}?watch=1&fieldSelector=metadata.name%3Da`)
      await frozen.next()
      simulator.faults.inject({ fault: { type: 'freeze-connections' } })
      await using fresh = await watch(server, `${path}?watch=1&resourceVersion=0`)
      await newConfigMap(server, 'default', 'd')
      const body = { data: { a: '2' } }
      const contentType = 'application/merge-patch+json'
      await ask(server, `${path}/a`, { method: 'PATCH', contentType, body })
      const seen = [await fresh.next(), await fresh.next(), await fresh.next(), await fresh.next()]
      expect(seen.at(3)?.object.metadata.name).toBe('d')
      expect((await fresh.next())?.type).toBe('MODIFIED')
      const next = frozen.next()
      await ask(server, `${path}/a`, { method: 'PATCH', contentType, body: { data: { a: '3' } } })
      expect((await fresh.next())?.type).toBe('MODIFIED')
      const quiet = await Promise.race([next, turn('nothing')])
      expect(quiet).toBe('nothing')
    })

    it('end every watch of a resource with an ERROR event', async () => {
      await using stream = await watch(server, `${path}?watch=1&fieldSelector=metadata.name%3Da`)
      await stream.next()
      simulator.faults.inject({ fault: { type: 'end-watches', resource: 'configmaps' } })
      expect(await stream.next()).toMatchObject({
        type: 'ERROR',
        object: { code: 410, reason: 'Expired' },
      })
      expect(await stream.next()).toBeUndefined()
    })

    it('forget the history', async () => {
      const { metadata } = await newConfigMap(server, 'default', 'd')
      await newConfigMap(server, 'default', 'e')
      simulator.faults.inject({ fault: { type: 'compact-history' } })
      const [line = ''] = await rawLines(`resourceVersion=${metadata.resourceVersion}`)
      expect(JSON.parse(line)).toMatchObject({ type: 'ERROR', object: { code: 410 } })
    })
  })
})
