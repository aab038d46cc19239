import { describe, expect, it } from 'vitest'
import {
  ask,
  type ContractEvent,
  type ContractServer,
  describeContract,
  type Fields,
  newConfigMap,
  newNamespace,
  watch,
} from './contract-server.ts'

const short = (event: ContractEvent | undefined): string =>
  `${event?.type} ${event?.object.metadata.name} ${event?.object.data?.a ?? ''}`.trim()

const endsInitial = ({ object }: ContractEvent): boolean =>
  object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true'

async function setUp(
  server: ContractServer,
): Promise<{ path: string; namespace: string; last: Fields }> {
  const namespace = await newNamespace(server)
  await newConfigMap(server, namespace, 'b', { labels: { tier: 'web' } })
  const last = await newConfigMap(server, namespace, 'a', { labels: { tier: 'db' } })
  return { path: `/api/v1/namespaces/${namespace}/configmaps`, namespace, last }
}

const patch = async (server: ContractServer, path: string, body: object): Promise<Fields> =>
  (await ask(server, path, { method: 'PATCH', contentType: 'application/merge-patch+json', body }))
    .json

describeContract('WATCH', (server) => {
  it('sends every change after a resource version, in order, each with the whole object', async () => {
    const { path, namespace, last } = await setUp(server())
    await using stream = await watch(
      server(),
      `${path}?watch=1&resourceVersion=${last.metadata.resourceVersion}`,
    )
    const created = await newConfigMap(server(), namespace, 'c')
    const changed = await patch(server(), `${path}/b`, { data: { a: '2' } })
    await ask(server(), `${path}/c`, { method: 'DELETE' })

    expect(await stream.next()).toEqual({ type: 'ADDED', object: created })
    expect(await stream.next()).toEqual({ type: 'MODIFIED', object: changed })
    const deleted = await stream.next()
    expect(short(deleted)).toBe('DELETED c 1')
    expect(deleted?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' })
    // A deletion is a change of its own: it carries its own resource version.
    expect(Number(deleted?.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(changed.metadata.resourceVersion),
    )
  })

  it('replays what happened since a resource version, then goes on live', async () => {
    const { path, namespace, last } = await setUp(server())
    await patch(server(), `${path}/a`, { data: { a: '2' } })
    await newConfigMap(server(), namespace, 'c')
    await using stream = await watch(
      server(),
      `${path}?watch=1&resourceVersion=${last.metadata.resourceVersion}`,
    )
    expect([short(await stream.next()), short(await stream.next())]).toEqual([
      'MODIFIED a 2',
      'ADDED c 1',
    ])
    await ask(server(), `${path}/a`, { method: 'DELETE' })
    expect(short(await stream.next())).toBe('DELETED a 2')
  })

  it.each(['', '&resourceVersion=0'])('begins with what there is%s', async (version) => {
    const { path, namespace } = await setUp(server())
    await using stream = await watch(server(), `${path}?watch=true${version}`)
    const initial = [short(await stream.next()), short(await stream.next())]
    expect(initial.toSorted()).toEqual(['ADDED a 1', 'ADDED b 1'])
    await newConfigMap(server(), namespace, 'c')
    expect(short(await stream.next())).toBe('ADDED c 1')
  })

  // What waits for a while waits together.
  it.concurrent('is silent at a resource version of the future', async () => {
    const { path, namespace } = await setUp(server())
    await using stream = await watch(
      server(),
      `${path}?watch=1&resourceVersion=99999999&timeoutSeconds=2`,
    )
    await newConfigMap(server(), namespace, 'c')
    expect(await stream.rest()).toEqual([])
  })

  it.concurrent('ends at its timeout, cleanly', async () => {
    const { path } = await setUp(server())
    await using stream = await watch(server(), `${path}?watch=1&timeoutSeconds=3`)
    expect((await stream.rest()).map(({ type }) => type)).toEqual(['ADDED', 'ADDED'])
  })

  it.concurrent('marks its position before its timeout, where bookmarks are allowed', async () => {
    const { path, last } = await setUp(server())
    const elsewhere = await newNamespace(server())
    const { resourceVersion } = last.metadata
    await using stream = await watch(
      server(),
      `${path}?watch=1&resourceVersion=${resourceVersion}&allowWatchBookmarks=true&timeoutSeconds=8`,
    )
    const { metadata } = await newConfigMap(server(), elsewhere, 'other')
    const events = await stream.rest()
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['BOOKMARK']))
    const bookmark = events.at(-1)
    expect(bookmark?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' })
    expect(Object.keys(bookmark?.object.metadata)).toEqual(['resourceVersion'])
    // What happened to other namespaces moves the position too.
    expect(Number(bookmark?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(metadata.resourceVersion),
    )
  })

  it('shows what enters a selection as ADDED and what leaves it as DELETED', async () => {
    const { path, namespace, last } = await setUp(server())
    const { resourceVersion } = last.metadata
    await using stream = await watch(
      server(),
      `${path}?watch=1&resourceVersion=${resourceVersion}&labelSelector=tier%3Dweb`,
    )
    const entered = await patch(server(), `${path}/a`, { metadata: { labels: { tier: 'web' } } })
    expect(await stream.next()).toEqual({ type: 'ADDED', object: entered })
    await patch(server(), `${path}/b`, { data: { a: '2' } })
    expect(short(await stream.next())).toBe('MODIFIED b 2')
    await newConfigMap(server(), namespace, 'unseen', { labels: { tier: 'db' } })
    const left = await patch(server(), `${path}/b`, {
      data: { a: '3' },
      metadata: { labels: { tier: 'db' } },
    })
    const gone = await stream.next()
    // It is shown as it was when it was last selected, at the version of the change.
    expect(short(gone)).toBe('DELETED b 2')
    expect(gone?.object.metadata).toMatchObject({
      labels: { tier: 'web' },
      resourceVersion: left.metadata.resourceVersion,
    })
  })

  it('watches one object by its name', async () => {
    const { path } = await setUp(server())
    await using stream = await watch(server(), `${path}?watch=1&fieldSelector=metadata.name%3Da`)
    expect(short(await stream.next())).toBe('ADDED a 1')
    await patch(server(), `${path}/b`, { data: { a: '2' } })
    await patch(server(), `${path}/a`, { data: { a: '3' } })
    expect(short(await stream.next())).toBe('MODIFIED a 3')
  })

  it('watches all namespaces', async () => {
    const { last, namespace } = await setUp(server())
    const { resourceVersion } = last.metadata
    await using stream = await watch(
      server(),
      `/api/v1/configmaps?watch=1&resourceVersion=${resourceVersion}`,
    )
    const other = await newNamespace(server())
    await newConfigMap(server(), other, 'x')
    await newConfigMap(server(), namespace, 'y')
    const seen = [await stream.next(), await stream.next()]
    expect(seen.map((event) => event?.object.metadata.namespace)).toEqual([other, namespace])
  })

  it('shows the marked object of a deletion that waits for finalizers, then its end', async () => {
    const { path, namespace, last } = await setUp(server())
    const { resourceVersion } = last.metadata
    await using stream = await watch(server(), `${path}?watch=1&resourceVersion=${resourceVersion}`)
    await newConfigMap(server(), namespace, 'held', { finalizers: ['example.com/hold'] })
    await ask(server(), `${path}/held`, { method: 'DELETE' })
    await patch(server(), `${path}/held`, { metadata: { finalizers: [] } })
    expect(short(await stream.next())).toBe('ADDED held 1')
    const marked = await stream.next()
    expect(marked?.type).toBe('MODIFIED')
    expect(marked?.object.metadata.deletionTimestamp).toBeTypeOf('string')
    const gone = await stream.next()
    expect(gone?.type).toBe('DELETED')
    expect(gone?.object.metadata.finalizers).toEqual(['example.com/hold'])
  })

  describe('with sendInitialEvents', () => {
    const initial = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'

    it.each(['', '&resourceVersion=0'])(
      'ends the initial events with an annotated bookmark%s',
      async (version) => {
        const { path, namespace, last } = await setUp(server())
        // Version 0 is whatever a server's cache has come to.
        await expect
          .poll(async () => (await ask(server(), `${path}?resourceVersion=0`)).json.items.length)
          .toBe(2)
        await using stream = await watch(
          server(),
          `${path}?${initial}&allowWatchBookmarks=true${version}`,
        )
        const first = [short(await stream.next()), short(await stream.next())]
        expect(first.toSorted()).toEqual(['ADDED a 1', 'ADDED b 1'])
        const bookmark = await stream.next()
        expect(bookmark?.type).toBe('BOOKMARK')
        expect(bookmark && endsInitial(bookmark)).toBe(true)
        expect(Number(bookmark?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
          Number(last.metadata.resourceVersion),
        )
        await newConfigMap(server(), namespace, 'c')
        expect(short(await stream.next())).toBe('ADDED c 1')
      },
    )

    it.concurrent('sends no bookmark that was not allowed', async () => {
      const { path } = await setUp(server())
      await using stream = await watch(server(), `${path}?${initial}&timeoutSeconds=3`)
      expect((await stream.rest()).map(({ type }) => type)).toEqual(['ADDED', 'ADDED'])
    })

    it.concurrent('says in an ERROR event that a resource version is of the future', async () => {
      const { path } = await setUp(server())
      const query = `${initial}&allowWatchBookmarks=true&resourceVersion=99999999`
      await using stream = await watch(server(), `${path}?${query}`)
      const event = await stream.next()
      expect(event?.type).toBe('ERROR')
      expect(event?.object).toMatchObject({
        kind: 'Status',
        code: 504,
        reason: 'Timeout',
        details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
      })
      expect(await stream.next()).toBeUndefined()
    })
  })

  it('shows metadata alone', async () => {
    const { path } = await setUp(server())
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
    await using stream = await watch(server(), `${path}?watch=1&allowWatchBookmarks=true`, {
      accept,
    })
    const events = [await stream.next(), await stream.next(), await stream.next()]
    for (const event of events) {
      expect(event?.object).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
      })
      expect(Object.keys(event?.object).toSorted()).toEqual(['apiVersion', 'kind', 'metadata'])
    }
    expect(events.map((event) => event?.type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK'])
  })

  it.each([
    ['resourceVersion=abc', 500, undefined],
    ['timeoutSeconds=abc', 400, 'BadRequest'],
    ['sendInitialEvents=true', 422, 'Invalid'],
    ['resourceVersion=5&resourceVersionMatch=NotOlderThan', 422, 'Invalid'],
    ['labelSelector=a%20in', 400, 'BadRequest'],
  ])('refuses to open with %s: %i', async (query, code, reason) => {
    const { path } = await setUp(server())
    const answer = await ask(server(), `${path}?watch=1&${query}`)
    expect(answer.status).toBe(code)
    expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', code })
    expect(answer.json.reason).toBe(reason)
  })

  it('ends with an ERROR event of 410 where its history is gone', { timeout: 60_000 }, async () => {
    const { path, namespace, last } = await setUp(server())
    await newConfigMap(server(), namespace, 'c')
    await server().expireHistory()
    await using stream = await watch(
      server(),
      `${path}?watch=1&resourceVersion=${last.metadata.resourceVersion}`,
    )
    const event = await stream.next()
    expect(event?.type).toBe('ERROR')
    expect(event?.object).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      reason: 'Expired',
      code: 410,
    })
    expect(event?.object.message).toMatch(
      new RegExp(`^too old resource version: ${last.metadata.resourceVersion} \\(\\d+\\)$`),
    )
    expect(await stream.next()).toBeUndefined()
  })
})
