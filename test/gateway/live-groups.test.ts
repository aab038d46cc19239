import { describe, expect, it } from 'vitest'
import { firstAnswer, serveGateway } from '../support/gateway.ts'
import { freshForEachTest } from '../support/served-simulator.ts'
import { created, sent } from './created.ts'
import { follow, type FollowedSubscription } from './followed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const pods = '/api/v1/namespaces/default/pods'
const frameFields =
  'reset synced changes { type objectId object { metadata { name annotations } } }'
/** Of what is refused for want of room. */
const noRoom = { code: 'QUERY_TOO_COSTLY', retryAfterMs: 10_000 }
const pod = (name: string, labels: object = {}): object => ({
  metadata: { name, labels },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
})

describe('subscriptions that ask the same', () => {
  const fresh = freshForEachTest()

  const state = () => fresh.gateway.gateway.planned.liveState()
  const synced = async (live: FollowedSubscription): Promise<FollowedSubscription> => {
    await live.until('snapshot', () => live.fold.synced)
    return live
  }
  const patched = async (path: string, body: Fields): Promise<Fields> =>
    sent(fresh.cluster, 'PATCH', path, body)
  const phased = async (name: string, phase: string): Promise<Fields> =>
    patched(`${pods}/${name}/status`, { status: { phase } })
  const one = (live: FollowedSubscription): Fields => [...live.fold.objects.values()][0]

  it('hear of changes although the callback of another one throws, which ends that one alone', async () => {
    const { planned } = fresh.gateway.gateway
    const query =
      'subscription { pods(coalesceMs: 0) { changes { object { metadata { name } } } } }'
    const [broken, live] = [
      await planned.subscribe({ query }, {}),
      await planned.subscribe({ query }, {}),
    ]
    const failure = new Error('broken')
    broken.onReady(() => {
      throw failure
    })
    const frames: string[] = []
    const takeAll = (): void => {
      for (let frame = live.take(); frame !== undefined; frame = live.take()) {
        frames.push(String(frame))
      }
    }
    live.onReady(takeAll)
    takeAll()
    for (const name of ['a', 'b']) {
      await created(fresh.cluster, pods, pod(name))
      await expect.poll(() => frames.at(-1)).toContain(`"name":"${name}"`)
    }
    expect(broken.end).toEqual({ form: 'failed', errors: [failure] })
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    live.close()
  })

  it('share one group, which is over when the last of them leaves', async () => {
    await created(fresh.cluster, pods, pod('a'))
    const selection = 'metadata { name } status { phase }'
    const all = await Promise.all(
      Array.from({ length: 20 }, async () =>
        synced(follow(fresh.gateway.connect(), 'pods(coalesceMs: 10)', selection)),
      ),
    )
    expect(state()).toMatchObject({ groups: 1, members: 20 })
    await phased('a', 'Failed')
    await Promise.all(
      all.map(async (live) => live.until('phase', () => one(live).status.phase === 'Failed')),
    )
    const late = await synced(follow(fresh.gateway.connect(), 'pods(coalesceMs: 10)', selection))
    expect(one(late)).toEqual(one(all[0] ?? late))
    const other = await synced(follow(fresh.gateway.connect(), 'pods(coalesceMs: 20)', selection))
    expect(state()).toMatchObject({ groups: 2, members: 22 })
    expect([late, other, ...all].flatMap(({ problems }) => problems)).toEqual([])
    for (const live of [...all, late, other]) live.complete()
    await expect.poll(() => state()).toMatchObject({ groups: 0, members: 0, heldBytes: 0 })
  })

  it('are ended with QUERY_TOO_COSTLY, to come back later, where what they hold grows past the bound for all groups', async () => {
    const maxHeldBytes = 100_000
    await using bounded = await serveGateway({
      clusters: [{ name: 'one', server: fresh.cluster.url }],
      live: { maxHeldBytes },
    })
    const held = () => bounded.gateway.planned.liveState()
    const noted = async (name: string, length: number): Promise<Fields> =>
      patched(`${pods}/${name}`, { metadata: { annotations: { note: 'x'.repeat(length) } } })
    for (const name of ['a', 'b']) await created(fresh.cluster, pods, pod(name))
    const small = await synced(follow(bounded.connect(), 'pods(coalesceMs: 0)', 'status { phase }'))
    const query = `subscription { frame: pods(coalesceMs: 0) { ${frameFields} } }`
    const large = (async () => {
      let last: unknown
      for await (const { errors } of bounded.connect().iterate({ query })) last = errors?.[0]
      return last
    })()
    await expect.poll(held).toMatchObject({ groups: 2, members: 2 })
    await noted('a', 20_000)
    await expect.poll(() => held().heldBytes).toBeGreaterThan(40_000)
    expect(held()).toMatchObject({ groups: 2, members: 2 })
    await noted('b', 40_000)
    await expect.poll(held).toMatchObject({ groups: 1, members: 1 })
    expect(held().heldBytes).toBeLessThan(maxHeldBytes)
    expect(await large).toMatchObject({ extensions: noRoom })
    await phased('a', 'Failed')
    await small.until('phase', (objects) =>
      [...objects.values()].some(({ status }) => status.phase === 'Failed'),
    )
    expect(small.problems).toEqual([])
  })

  it('refuse newcomers whose snapshot there is no room for, who come in when there is', async () => {
    const maxHeldBytes = 100_000
    await using bounded = await serveGateway({
      clusters: [{ name: 'one', server: fresh.cluster.url }],
      live: { maxHeldBytes },
    })
    const held = () => bounded.gateway.planned.liveState()
    const named = (text: string): object => ({
      metadata: { name: 'a', annotations: { note: text.repeat(36_000) } },
    })
    const maps = '/api/v1/namespaces/default/configmaps'
    await created(fresh.cluster, maps, named('x'))
    const selection = 'metadata { annotations }'
    const followed = (): FollowedSubscription =>
      follow(bounded.connect(), 'configMaps(coalesceMs: 0)', selection)
    // The text takes 72,000 bytes at the most, and with the frame that it is sent in more than there is room for.
    const query = `subscription { configMaps(coalesceMs: 0) { changes { object { ${selection} } } } }`
    const { errors } = await firstAnswer(bounded.connect(), query)
    expect(errors?.[0]).toMatchObject({ extensions: noRoom })
    await expect.poll(held).toMatchObject({ groups: 0, members: 0, heldBytes: 0 })
    await patched(`${maps}/a`, { metadata: { annotations: { note: 'done' } } })
    const live = await synced(followed())
    expect(one(live).metadata.annotations.note).toBe('done')
    expect(live.problems).toEqual([])
  })

  it('count the snapshots that they are sent among what they hold', async () => {
    for (const name of ['a', 'b', 'c']) await created(fresh.cluster, pods, pod(name))
    const live = await synced(
      follow(fresh.gateway.connect(), 'pods(coalesceMs: 0)', 'metadata { name }'),
    )
    const texts = [...live.fold.objects.values()].map((object) => JSON.stringify(object).length)
    expect(state().heldBytes).toBeGreaterThan(2 * texts.reduce((sum, length) => sum + length, 0))
  })

  it('hear nothing of changes of what they have not selected', async () => {
    await created(fresh.cluster, pods, pod('a'))
    const live = await synced(
      follow(
        fresh.gateway.connect(),
        'pods(coalesceMs: 0)',
        'status { phase } metadata { labels }',
      ),
    )
    for (const note of ['1', '2', '3']) {
      await patched(`${pods}/a`, { metadata: { annotations: { note } } })
    }
    await phased('a', 'Running')
    await live.until('phase', () => one(live).status.phase === 'Running')
    expect(live.frames).toHaveLength(2)
    expect(live.problems).toEqual([])
  })

  it('hear of every change where nothing of the object is selected', async () => {
    await created(fresh.cluster, pods, pod('a'))
    const frames = fresh.gateway.connect().iterate<{ pods: { changes: { type: string }[] } }>({
      query: 'subscription { pods(coalesceMs: 0) { changes { type } } }',
    })
    expect((await frames.next()).value?.data?.pods.changes).toEqual([{ type: 'ADDED' }])
    await patched(`${pods}/a`, { metadata: { annotations: { note: '1' } } })
    expect((await frames.next()).value?.data?.pods.changes).toEqual([{ type: 'MODIFIED' }])
    await frames.return?.()
  })

  it('hear of the objects that theirs lead to: one that changes, goes, and comes', async () => {
    await created(fresh.cluster, pods, pod('a'))
    const live = await synced(
      follow(
        fresh.gateway.connect(),
        'pods(coalesceMs: 0)',
        'metadata { name } node { spec { unschedulable } }',
      ),
    )
    expect(one(live).node).toBeNull()
    const node = '/api/v1/nodes'
    await created(fresh.cluster, node, { metadata: { name: 'node-1' } })
    await live.until('node', () => one(live).node !== null)
    await patched(`${node}/node-1`, { spec: { unschedulable: true } })
    await live.until('change', () => one(live).node?.spec?.unschedulable === true)
    // Another node is of no concern.
    await created(fresh.cluster, node, { metadata: { name: 'node-2' } })
    await sent(fresh.cluster, 'DELETE', `${node}/node-1`)
    await live.until('end of the node', () => one(live).node === null)
    expect(live.frames.slice(1).flatMap(({ changes }) => changes.map(({ type }) => type))).toEqual([
      'MODIFIED',
      'MODIFIED',
      'MODIFIED',
    ])
    expect(live.problems).toEqual([])
  })

  it('hear of the many that theirs lead to', async () => {
    await created(fresh.cluster, '/api/v1/nodes', { metadata: { name: 'node-1' } })
    const live = await synced(
      follow(
        fresh.gateway.connect(),
        'nodes(coalesceMs: 0)',
        'pods(where: { phase: { eq: "Running" } }) { totalCount }',
      ),
    )
    const count = (): number => one(live).pods.totalCount
    await created(fresh.cluster, pods, pod('a'))
    await phased('a', 'Running')
    await live.until('first', () => count() === 1)
    await created(fresh.cluster, pods, pod('b'))
    await phased('b', 'Running')
    await live.until('second', () => count() === 2)
    await phased('a', 'Succeeded')
    await live.until('end of the first', () => count() === 1)
    expect(live.problems).toEqual([])
  })

  it('hear of others of their own kind that theirs lead to, also in other namespaces and after they were away', async () => {
    await created(fresh.cluster, '/api/v1/nodes', { metadata: { name: 'node-1' } })
    await created(fresh.cluster, pods, pod('a'))
    const args = 'namespace: "default", coalesceMs: 0'
    const live = await synced(
      follow(fresh.gateway.connect(), `pods(${args})`, 'node { pods { totalCount } }'),
    )
    expect(one(live).node.pods.totalCount).toBe(1)
    const { resumeToken } = live.frames.at(-1) ?? {}
    await created(fresh.cluster, '/api/v1/namespaces/kube-system/pods', pod('b'))
    await live.until('other', () => one(live).node.pods.totalCount === 2)
    const frames = fresh.gateway.connect().iterate<{ pods: Fields }>({
      query: `subscription { pods(${args}, resumeFrom: "${resumeToken}") {
        reset changes { type object { node { pods { totalCount } } } }
      } }`,
    })
    expect((await frames.next()).value?.data?.pods).toEqual({
      reset: false,
      changes: [{ type: 'MODIFIED', object: { node: { pods: { totalCount: 2 } } } }],
    })
    await frames.return?.()
    expect(live.problems).toEqual([])
  })

  it('do not ask the same by a variable that is null and by one that has its default', async () => {
    await created(fresh.cluster, pods, pod('a'))
    await created(fresh.cluster, '/api/v1/namespaces/kube-system/pods', pod('b'))
    const query = `subscription ($namespace: String = "default") {
      pods(namespace: $namespace) { changes { object { metadata { name } } } }
    }`
    const names = async (variables: Record<string, null>): Promise<string[]> => {
      const frames = fresh.gateway.connect().iterate<{ pods: Fields }>({ query, variables })
      asked.push(frames)
      const changes = (await frames.next()).value?.data?.pods.changes as Fields[]
      return changes.map(({ object }) => object.metadata.name)
    }
    const asked: AsyncIterableIterator<unknown>[] = []
    expect(await names({})).toEqual(['a'])
    expect(await names({ namespace: null })).toEqual(['a', 'b'])
    await Promise.all(asked.map(async (frames) => frames.return?.()))
  })

  it('are told of what enters and leaves their filter, and of namesakes as two', async () => {
    await created(fresh.cluster, pods, pod('a', { tier: 'x' }))
    const live = await synced(
      follow(
        fresh.gateway.connect(),
        'pods(labelSelector: "tier=x", coalesceMs: 300)',
        'metadata { uid }',
      ),
    )
    const first = one(live)
    await sent(fresh.cluster, 'DELETE', `${pods}/a?gracePeriodSeconds=0`)
    const { metadata } = await created(fresh.cluster, pods, pod('a', { tier: 'x' }))
    await live.until('namesake', () => one(live)?.metadata.uid === metadata.uid)
    expect(live.frames.at(-1)?.changes).toMatchObject([
      { type: 'REMOVED', removal: 'DELETED', objectId: first.id },
      { type: 'ADDED' },
    ])
    await patched(`${pods}/a`, { metadata: { labels: { tier: 'y' } } })
    await live.until('departure', ({ size }) => size === 0)
    await patched(`${pods}/a`, { metadata: { labels: { tier: 'x' } } })
    await live.until('return', ({ size }) => size === 1)
    const changes = live.frames.slice(-2).flatMap((frame) => frame.changes)
    expect(changes).toMatchObject([{ type: 'REMOVED', removal: 'UNMATCHED' }, { type: 'ADDED' }])
    expect(live.problems).toEqual([])
  })

  it('are told what was before: at a path, at several, as a whole', async () => {
    await created(fresh.cluster, pods, pod('a', { tier: 'x' }))
    await phased('a', 'Running')
    type Changes = readonly Fields[]
    const frames = (selection: string, variables: Record<string, unknown> = {}, more = '') =>
      fresh.gateway.connect().iterate<{ pods: { changes: Changes } }>({
        query: `subscription${Object.keys(variables).length > 0 ? '($path: String)' : ''} {
          pods(coalesceMs: 0${more}) { changes { type ${selection} } }
        }`,
        variables,
      })
    const phase = 'object { status { phase } }'
    const readers = [
      frames(`previous(path: "status.phase") ${phase}`),
      frames(
        `was: previous(path: $path) names: previous(path: "spec.containers[*].name") ${phase}`,
        {
          path: 'status.phase',
        },
      ),
      frames(`previous object { metadata { name } }`),
      frames(`previous(path: "metadata.labels.tier") ${phase}`, {}, ', labelSelector: "tier=x"'),
    ]
    const next = async (): Promise<readonly Changes[]> =>
      Promise.all(
        readers.map(async (reader) => (await reader.next()).value?.data?.pods.changes ?? []),
      )
    expect(await next()).toMatchObject([
      [{ type: 'ADDED', previous: null }],
      [{ type: 'ADDED', was: null, names: null }],
      [{ type: 'ADDED', previous: null }],
      [{ type: 'ADDED', previous: null }],
    ])
    expect(state()).toMatchObject({ groups: 4 })
    await phased('a', 'Failed')
    const [[ofPath], [ofPaths], [ofWhole], [ofLabel]] = (await next()) as [
      Changes,
      Changes,
      Changes,
      Changes,
    ]
    expect(ofPath).toEqual({
      type: 'MODIFIED',
      previous: 'Running',
      object: { status: { phase: 'Failed' } },
    })
    expect(ofPaths).toMatchObject({ type: 'MODIFIED', was: 'Running', names: ['main'] })
    expect(ofWhole).toMatchObject({ previous: { kind: 'Pod', status: { phase: 'Running' } } })
    expect(ofLabel).toMatchObject({ type: 'MODIFIED', previous: 'x' })
    // Of these, only who asks for the whole, or for labels, has something to hear.
    await patched(`${pods}/a`, { metadata: { labels: { tier: 'y' } } })
    const [, , third, fourth] = readers
    expect((await third?.next())?.value?.data?.pods.changes).toMatchObject([
      { type: 'MODIFIED', previous: { metadata: { labels: { tier: 'x' } } } },
    ])
    expect((await fourth?.next())?.value?.data?.pods.changes).toMatchObject([
      { type: 'REMOVED', previous: 'x' },
    ])
    await phased('a', 'Succeeded')
    expect((await readers[0]?.next())?.value?.data?.pods.changes).toMatchObject([
      { type: 'MODIFIED', previous: 'Failed' },
    ])
    await Promise.all(readers.map(async (reader) => reader.return?.()))
  })

  it('are told with a change that a path of what was before cannot be read', async () => {
    await created(fresh.cluster, pods, pod('a'))
    const frames = fresh.gateway.connect().iterate({
      query: 'subscription { pods(coalesceMs: 0) { changes { previous(path: "a[") } } }',
    })
    expect((await frames.next()).value?.data).toEqual({ pods: { changes: [{ previous: null }] } })
    expect(state()).toMatchObject({ groups: 1, members: 1 })
    await phased('a', 'Failed')
    expect((await frames.next()).value?.errors?.[0]).toMatchObject({
      path: ['pods', 'changes', 0, 'previous'],
      extensions: { code: 'BAD_USER_INPUT' },
    })
    await frames.return?.()
  })
})
