import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type AccessCluster, populate, startSimulated } from '../access/access-cluster.ts'
import type { ServedGateway } from '../support/gateway.ts'
import { apps, populateShop, serveShop } from '../writes/shop.ts'
import { createProject, type Project } from './project.ts'
import { watchConsole } from './shop.ts'
import { type WritingApp, writingApps } from './writing-clients.ts'

const waitMs = { timeout: 60_000 }
const profile = {
  include: { kinds: ['Deployment', 'ReplicaSet', 'Pod', 'Namespace', 'Node'] },
  descriptions: false,
}

const manifestOf = (name: string, spec: object = {}) => {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'shop' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'web:1' }] } },
      ...spec,
    },
  }
}

describe.each(Object.entries(writingApps))('mutations by %s', (_, start) => {
  const parts = new AsyncDisposableStack()
  let cluster: AccessCluster
  let gateway: ServedGateway
  let project: Project
  let open: () => WritingApp
  let id = ''

  beforeAll(async () => {
    cluster = parts.use(await startSimulated())
    await populate(cluster)
    await populateShop(cluster)
    gateway = parts.use(await serveShop(cluster, { profile }))
    project = parts.use(await createProject())
    await project.write('informerql.yaml', JSON.stringify({ profile, allowWrites: true }))
    const opened = await start(project, (client) =>
      project.informerql(
        'schema',
        '--config',
        'informerql.yaml',
        '--allow-writes',
        '--for',
        client,
      ),
    )
    const ann = gateway.as('ann-token')
    open = () =>
      opened({ url: gateway.url, token: 'ann-token', socket: ann.connect(), query: ann.query })
    id = await vi.waitFor(async () => {
      const { it: found } = await ann.data(
        '{ it: deployment(namespace: "shop", name: "web") { id } }',
      )
      return found.id as string
    }, waitMs)
  })
  afterAll(() => parts.disposeAsync())

  const replicasOf = async (name: string): Promise<unknown> =>
    (await cluster.must(`${apps}/deployments/${name}`)).spec.replicas

  it('a dry run shows what it would do, and leaves the cache as it is', async () => {
    using said = watchConsole()
    const app = open()
    await app.load()
    const before = app.shown()
    const { payload, codes } = await app.scale({ id, replicas: 9, dryRun: true })
    expect(codes).toEqual([])
    expect(payload).toMatchObject({ object: null, preview: { name: 'web', json: 9 }, errors: [] })
    expect(payload?.changes).toContainEqual(
      expect.objectContaining({ path: '/spec/replicas', after: 9 }),
    )
    expect(app.shown()).toEqual(before)
    expect(before).toEqual({ web: 2 })
    expect(said.lines).toEqual([])
  })

  it('an answer is shown before it is there, and the real one takes its place', async () => {
    const app = open()
    await app.load()
    using following = app.follow()
    await following.synced
    const answered = app.scale({ id, replicas: 4 }, true)
    await vi.waitFor(() => expect(app.shown()).toEqual({ web: 4 }), waitMs)
    const { payload } = await answered
    expect(payload?.object).toMatchObject({ id })
    expect(app.shown()).toEqual({ web: 4 })
    await app.scale({ id, replicas: 2 })
    expect(app.shown()).toEqual({ web: 2 })
    expect(await replicasOf('web')).toBe(2)
  })

  it('an answer that was shown before it was there goes when the write is refused', async () => {
    const app = open()
    await app.load()
    const seen: unknown[] = []
    const answered = app.scale({ id, replicas: -1 }, true)
    await Promise.resolve()
    seen.push(app.shown())
    const { payload, codes } = await answered
    expect(seen).toEqual([{ web: -1 }])
    expect(codes).toEqual(['BAD_USER_INPUT'])
    expect(payload).toMatchObject({ object: null, errors: [{ code: 'BAD_USER_INPUT' }] })
    expect(app.shown()).toEqual({ web: 2 })
  })

  it('what is created and deleted comes into a followed list and goes, without the help of the app', async () => {
    using said = watchConsole()
    const app = open()
    await app.load()
    using following = app.follow()
    await following.synced
    const dry = await app.write('create', { manifest: manifestOf('fresh'), dryRun: true })
    expect(dry.payload).toMatchObject({ object: null, preview: { name: 'fresh' } })
    const { payload, codes } = await app.write('create', { manifest: manifestOf('fresh') })
    expect(codes).toEqual([])
    await vi.waitFor(() => expect(app.shown()).toEqual({ web: 2, fresh: 1 }), waitMs)
    const deleted = await app.write('delete', { id: payload?.object?.id })
    expect(deleted.codes).toEqual([])
    await vi.waitFor(() => expect(app.shown()).toEqual({ web: 2 }), waitMs)
    expect(said.lines).toEqual([])
  })

  it('a conflict names the fields and their managers, and force takes them over', async () => {
    const app = open()
    await app.load()
    await cluster.must(`${apps}/deployments?fieldManager=other`, {
      method: 'POST',
      body: manifestOf('owned'),
    })
    const manifest = manifestOf('owned', { replicas: 3 })
    const refused = await app.write('apply', { manifest })
    expect(refused.codes).toEqual(['CONFLICT'])
    expect(refused.payload?.object).toBeNull()
    expect(refused.payload?.errors).toContainEqual(
      expect.objectContaining({
        code: 'CONFLICT',
        manager: 'other',
        field: expect.stringContaining('replicas'),
      }),
    )
    expect(await replicasOf('owned')).toBe(1)
    const forced = await app.write('apply', { manifest, force: true })
    expect(forced).toMatchObject({ codes: [], payload: { errors: [] } })
    expect(await replicasOf('owned')).toBe(3)
    await app.write('delete', { id: forced.payload?.object?.id })
  })

  it('errors have their code, field and message as data, beside the error of the answer', async () => {
    const app = open()
    const invalid = manifestOf('invalid', { selector: { matchLabels: { app: 'elsewhere' } } })
    const { payload, codes } = await app.write('create', { manifest: invalid })
    expect(codes).toEqual(['INVALID'])
    const [error] = payload?.errors ?? []
    expect(error).toMatchObject({ code: 'INVALID', message: expect.any(String) })
    expect(error?.field).toContain('template')
    const twice = await app.write('create', { manifest: manifestOf('web') })
    expect(twice).toMatchObject({
      codes: ['ALREADY_EXISTS'],
      payload: { errors: [{ code: 'ALREADY_EXISTS', field: null }] },
    })
  })
})
