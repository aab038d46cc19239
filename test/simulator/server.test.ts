import { type Simulator, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { rawRequest } from '../server/raw-request.ts'
import { ask, type ContractServer, type Fields, watch } from '../contract/contract-server.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }
const pod = (name: string, size = 0): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations: { padding: 'x'.repeat(size) } },
  spec: {},
  status: { phase: 'Running' },
})
const serverOf = ({ url }: Simulator, token?: string): ContractServer => ({
  url,
  headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  expireHistory: async () => undefined,
})

describe('The simulated API server', () => {
  it('serves what it was populated with, and no history of it', async () => {
    await using simulator = await startSimulator({
      populate: (storage) => {
        for (const name of ['b', 'a', 'c']) storage.create(pods, pod(name))
      },
    })
    const { json } = await ask(serverOf(simulator), '/api/v1/pods')
    expect(json.items.map(({ metadata }: Fields) => metadata.name)).toEqual(['a', 'b', 'c'])
    expect(json.items[0].status).toEqual({ phase: 'Running' })
    await using stream = await watch(serverOf(simulator), '/api/v1/pods?watch=1&resourceVersion=1')
    expect(await stream.next()).toMatchObject({ type: 'ERROR', object: { code: 410 } })
  })

  it('shows the writes of its own process to watches and lists', async () => {
    await using simulator = await startSimulator()
    await using stream = await watch(serverOf(simulator), '/api/v1/pods?watch=1')
    const created = simulator.storage.create(pods, pod('a'))
    expect(await stream.next()).toEqual({ type: 'ADDED', object: created })
    const updated = simulator.storage.update(pods, { ...created, status: { phase: 'Failed' } })
    expect(await stream.next()).toEqual({ type: 'MODIFIED', object: updated })
    expect(simulator.storage.get(pods, 'default', 'a')).toEqual(updated)
    expect([...simulator.storage.list(pods)]).toEqual([updated])
    simulator.storage.delete(pods, 'default', 'a')
    expect((await stream.next())?.type).toBe('DELETED')
    expect(() => simulator.storage.delete(pods, 'default', 'a')).toThrow('pods "a" not found')
  })

  it('answers for its own names, and not for one that a foreign page has let resolve to this machine', async () => {
    await using simulator = await startSimulator({ allowedHosts: ['api.dev.example'] })
    const { port, host: own } = new URL(simulator.url)
    const seen = async (host: string, path = '/api/v1/secrets'): Promise<number> => {
      const answer = await rawRequest(Number(port), [`GET ${path} HTTP/1.1`, `host: ${host}`])
      answer.socket.destroy()
      return answer.status
    }
    for (const host of [
      own,
      'localhost',
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      'api.dev.example:1',
    ])
      expect(await seen(host), host).toBe(200)
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '']) {
      expect(await seen(host), host).toBe(403)
      expect(await seen(host, '/simulator/faults'), host).toBe(403)
    }
    await using everywhere = await startSimulator({ host: '0.0.0.0' })
    expect((await ask(serverOf(everywhere), '/api/v1/secrets')).status).toBe(200)
  })

  it('answers 410 for what its bounded history no longer holds', async () => {
    await using simulator = await startSimulator({ historyEvents: 5 })
    const first = simulator.storage.create(pods, pod('first'))
    for (let index = 0; index < 5; index++) simulator.storage.create(pods, pod(`p${index}`))
    const version = first.metadata.resourceVersion
    await using inside = await watch(
      serverOf(simulator),
      `/api/v1/pods?watch=1&resourceVersion=${version}`,
    )
    expect((await inside.next())?.object.metadata.name).toBe('p0')
    simulator.storage.create(pods, pod('one-more'))
    await using outside = await watch(
      serverOf(simulator),
      `/api/v1/pods?watch=1&resourceVersion=${version}`,
    )
    expect((await outside.next())?.object).toMatchObject({ code: 410 })
  })

  it('disconnects a watch that falls behind the history', async () => {
    await using simulator = await startSimulator({ historyEvents: 10 })
    await using stream = await watch(serverOf(simulator), '/api/v1/pods?watch=1')
    simulator.storage.create(pods, pod('a'))
    await stream.next()
    // Within one turn, so that the watch cannot follow.
    for (let index = 0; index < 50; index++) simulator.storage.create(pods, pod(`p${index}`))
    await expect(stream.rest()).rejects.toThrow('aborted')
  })

  it('sends bookmarks as often as it is told to', async () => {
    await using simulator = await startSimulator({ bookmarkIntervalMs: 10 })
    const path = `/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=${simulator.storage.revision}`
    await using stream = await watch(serverOf(simulator), path)
    expect((await stream.next())?.type).toBe('BOOKMARK')
    expect((await stream.next())?.type).toBe('BOOKMARK')
  })

  it('lets in who has a token, and to what', async () => {
    const users = [{ token: 'secret', user: 'alice', denied: ['secrets', 'deployments.apps'] }]
    await using simulator = await startSimulator({ users })
    expect((await ask(serverOf(simulator), '/api/v1/pods')).json).toMatchObject({
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    })
    const alice = serverOf(simulator, 'secret')
    expect((await ask(alice, '/api/v1/pods')).status).toBe(200)
    expect((await ask(alice, '/api/v1/namespaces/default/secrets')).json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" in the namespace "default"',
      reason: 'Forbidden',
      details: { kind: 'secrets' },
      code: 403,
    })
    expect((await ask(alice, '/apis/apps/v1/deployments')).json.message).toBe(
      'deployments.apps is forbidden: User "alice" cannot list resource "deployments" in API group "apps" at the cluster scope',
    )
  })

  it('streams a list of many objects, each as it is, while they change', async () => {
    await using simulator = await startSimulator({
      populate: (storage) => {
        for (let index = 0; index < 3000; index++) storage.create(pods, pod(`p${index}`, 2000))
      },
    })
    const answering = ask(serverOf(simulator), '/api/v1/pods')
    const churn = setInterval(() => {
      const [first] = simulator.storage.list(pods)
      if (first !== undefined) simulator.storage.delete(pods, 'default', first.metadata.name)
    }, 1)
    const { items, metadata } = (await answering).json
    clearInterval(churn)
    const newest = Math.max(...items.map((item: Fields) => Number(item.metadata.resourceVersion)))
    expect(Number(metadata.resourceVersion)).toBeGreaterThanOrEqual(newest)
    expect(items.length).toBeGreaterThan(2000)
  })
})
