import { liveCollection, livePage, type LiveSnapshot, WebSocketClient } from 'informerql/client'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'
import type { Fields } from './test-cluster.ts'

const patience = { timeout: 60_000 }
const aMoment = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)

/** The frames of a subscription to one field, as they arrive. */
function framesFrom(served: ServedGateway, query: string): Fields[] {
  const frames: Fields[] = []
  served.connect().subscribe(
    { query },
    {
      next: ({ data }) => void frames.push(...Object.values(data ?? {})),
      error: () => {},
      complete: () => {},
    },
  )
  return frames
}

async function clusterStateAt(served: ServedGateway): Promise<string> {
  const { gatewayClusters } = await served.data('{ gatewayClusters { state } }')
  return gatewayClusters[0].state
}

describe('on the simulator', () => {
  let simulator: Simulator
  let proxy: CutProxy
  let gateway: ServedGateway
  let startedMs: number
  beforeEach(async () => {
    startedMs = Date.now()
    simulator = await startSimulator({ bookmarkIntervalMs: 200 })
    proxy = await startCutProxy(Number(new URL(simulator.url).port))
    await created(simulator, '/api/v1/namespaces/default/pods', {
      metadata: { name: 'one' },
      spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
    })
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: `http://127.0.0.1:${proxy.port}` }],
      cache: { staleAfterMs: 3_000 },
    })
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const framesOf = (query: string): Fields[] => framesFrom(gateway, query)
  const stateOfCluster = (): Promise<string> => clusterStateAt(gateway)

  describe('while the API server is away', () => {
    it('a cluster of which nothing is cached is UNREACHABLE, and CONNECTED when the server is back', async () => {
      expect(await stateOfCluster()).toBe('CONNECTED')
      await proxy.refuse()
      await expect.poll(stateOfCluster, patience).toBe('UNREACHABLE')
      await proxy.listen()
      await expect.poll(stateOfCluster, patience).toBe('CONNECTED')
    })

    it('an answer says since when its kinds may be out of date, and no longer when the server is back', async () => {
      const query = `{
        pods { staleSince nodes { usedConfigMaps: configMaps { staleSince } } }
        nodes(where: { pods: { some: { phase: { eq: "Running" } } } }) { staleSince }
        services { totalCount }
        search(text: "one", types: ["Pod"]) { staleSince }
      }`
      const told = async (): Promise<unknown> => {
        const { data, extensions } = await gateway.query(query)
        const { pods, nodes, search } = data
        const [{ usedConfigMaps }] = pods.nodes
        const types = extensions?.stale?.map(({ type }: Fields) => type).toSorted()
        return [[pods, nodes, search, usedConfigMaps].map(({ staleSince }) => staleSince), types]
      }
      const nothing = [[null, null, null, null], undefined]
      expect(await told()).toEqual(nothing)
      await proxy.refuse()
      await expect.poll(told, patience).toEqual([
        [aMoment, aMoment, aMoment, aMoment],
        ['ConfigMap', 'Node', 'Pod', 'Service'],
      ])
      const { data, extensions } = await gateway.query(query)
      expect(Date.parse(data.pods.staleSince)).toBeGreaterThan(startedMs)
      expect(extensions.stale).toContainEqual({
        cluster: 'one',
        type: 'Pod',
        since: data.pods.staleSince,
      })
      await proxy.listen()
      await expect.poll(told, patience).toEqual(nothing)
    })

    it.each([
      ['list', 'pods', 'changes { type objectId }'],
      [
        'list that reads further kinds',
        'pods',
        'changes { object { node { metadata { name } } } }',
      ],
      ['page', 'podsPage', 'totalCount changes { step }'],
      ['object', 'pod(namespace: "default", name: "one")', 'changes { type }'],
    ])(
      'a live %s says when it may be out of date and when it no longer is, without other changes',
      async (_what, field, selection) => {
        const frames = framesOf(
          `subscription { live: ${field} { reset synced staleSince ${selection} } }`,
        )
        const silent = framesOf(`subscription { live: ${field} { reset synced ${selection} } }`)
        await expect.poll(() => frames.at(-1), patience).toMatchObject({ synced: true })
        await expect.poll(() => silent.at(-1), patience).toMatchObject({ synced: true })
        const before = frames.length
        const silentBefore = silent.length
        await proxy.refuse()
        await expect.poll(() => frames.length, patience).toBe(before + 1)
        const told = { reset: false, synced: true, changes: [] }
        expect(frames.at(-1)).toMatchObject({ ...told, staleSince: aMoment })
        const late = framesOf(`subscription { live: ${field} { synced staleSince ${selection} } }`)
        await expect.poll(() => late.at(-1), patience).toMatchObject({ staleSince: aMoment })
        await proxy.listen()
        await expect.poll(() => frames.length, patience).toBe(before + 2)
        expect(frames.at(-1)).toMatchObject({ ...told, staleSince: null })
        await expect.poll(() => late.at(-1), patience).toMatchObject({ staleSince: null })
        expect(silent).toHaveLength(silentBefore)
      },
    )

    it.each([
      ['a relation', 'namespaces', 'pods { staleSince }', ['pods', 'staleSince']],
      ['several kinds', 'pods', 'owned { staleSince }', ['owned', 'staleSince']],
    ])(
      'staleSince of a row, which would not follow, names that of the frame: %s',
      async (_what, field, selection, below) => {
        const query = `subscription { live: ${field} { changes { object { name ${selection} } } } }`
        const { value } = await gateway.connect().iterate<Fields>({ query }).next()
        const { errors, data } = value
        expect(data.live.changes[0].object).toMatchObject({ name: expect.any(String) })
        expect(errors[0].path).toEqual(['live', 'changes', 0, 'object', ...below])
        expect(errors[0].extensions).toEqual({
          code: 'UNSUPPORTED',
          hint: 'select staleSince of the frame: it is about all kinds that the subscription reads',
        })
      },
    )

    it('what changed meanwhile arrives, and the list says that it is in step again', async () => {
      const frames = framesOf(
        'subscription { pods(coalesceMs: 0) { staleSince changes { type } } }',
      )
      await expect.poll(() => frames.length, patience).toBe(1)
      await proxy.refuse()
      await expect.poll(() => frames.at(-1)?.staleSince, patience).toEqual(aMoment)
      await proxy.listen()
      await created(simulator, '/api/v1/namespaces/default/pods', {
        metadata: { name: 'two' },
        spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
      })
      await expect.poll(() => frames.at(-1)?.staleSince, patience).toBeNull()
      await expect
        .poll(() => frames.flatMap(({ changes }) => changes).length, patience)
        .toBeGreaterThanOrEqual(2)
    })

    const makePod = (name: string): Promise<unknown> =>
      created(simulator, '/api/v1/namespaces/default/pods', {
        metadata: { name },
        spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
      })

    it('changes that are gathered meanwhile arrive with what is true when they are sent', async () => {
      const frames = framesOf(
        'subscription { pods(coalesceMs: 5000) { staleSince changes { type } } }',
      )
      const told = (): readonly unknown[] =>
        frames.map(({ staleSince, changes }) => [staleSince, changes.length])
      await expect.poll(told, patience).toEqual([[null, 1]])
      await makePod('two')
      const count = async () => (await gateway.data('{ pods { totalCount } }')).pods.totalCount
      await expect.poll(count, patience).toBe(2)
      await proxy.refuse()
      const during = [
        [null, 1],
        [aMoment, 0],
        [aMoment, 1],
      ]
      await expect.poll(told, patience).toEqual(during)
      await makePod('three')
      await proxy.listen()
      await expect.poll(told, patience).toEqual([...during, [null, 0], [null, 1]])
    })

    it.each([
      ['list', 'pods(coalesceMs: 0)', 'changes { type }'],
      ['page', 'podsPage(coalesceMs: 0)', 'changes { step }'],
    ])(
      'a reader of a %s who was behind gets one frame, with what is true now',
      async (_what, field, selection) => {
        const query = `subscription { live: ${field} { staleSince ${selection} } }`
        const [reader, slow] = [
          await gateway.gateway.planned.subscribe({ query }, {}),
          await gateway.gateway.planned.subscribe({ query }, {}),
        ]
        const from = (stream: typeof slow) => (): unknown => {
          const payload = stream.take()
          if (payload === undefined) return undefined
          const { staleSince, changes } = JSON.parse(payload.toString()).data.live
          return [staleSince, changes.length]
        }
        for (const stream of [reader, slow]) expect(from(stream)()).toEqual([null, 1])
        const read = async (frame: readonly unknown[]): Promise<void> => {
          await expect.poll(from(reader), patience).toEqual(frame)
        }
        for (const name of ['two', 'three', 'four']) {
          await makePod(name)
          await read([null, 1])
        }
        await proxy.refuse()
        await read([aMoment, 0])
        expect([from(slow)(), from(slow)()]).toEqual([[aMoment, 3], undefined])
        await proxy.listen()
        await read([null, 0])
        for (const name of ['five', 'six', 'seven']) {
          await makePod(name)
          await read([null, 1])
        }
        expect([from(slow)(), from(slow)()]).toEqual([[null, 3], undefined])
        reader.close()
        slow.close()
      },
    )

    it.each([
      ['liveCollection', 'pods', 'type', liveCollection<unknown>],
      ['livePage', 'podsPage', 'totalCount', livePage<unknown>],
    ] as const)('%s has staleSince in its snapshots', async (_name, field, kind, open) => {
      const url = gateway.url.replace('http', 'ws')
      const client = new WebSocketClient({ url, webSocket: WebSocket })
      const [own, inChange] =
        kind === 'type' ? ['', 'type removal'] : ['totalCount', 'step index from']
      const query = `subscription ($resumeFrom: String) {
      ${field}(resumeFrom: $resumeFrom) {
        reset synced staleSince resumeToken ${own} changes { ${inChange} objectId object { id } }
      }
    }`
      using live = open({ client, query, variables: {} })
      const snapshots: LiveSnapshot<unknown>[] = []
      live.subscribe(() => void snapshots.push(live.getSnapshot()))
      await live.synced
      expect(live.getSnapshot()).toMatchObject({ status: 'live', staleSince: null })
      await proxy.refuse()
      await expect.poll(() => snapshots.at(-1)?.staleSince, patience).toEqual(aMoment)
      expect(live.getSnapshot()).toMatchObject({ status: 'live', rows: [{}] })
      await proxy.listen()
      await expect.poll(() => snapshots.at(-1)?.staleSince, patience).toBeNull()
      expect(live.getSnapshot()).toMatchObject({ status: 'live', rows: [{}] })
    })
  })

  it('a cluster whose connections hang is UNREACHABLE, and CONNECTED when they go on', async () => {
    await gateway.data('{ pods { totalCount } }')
    expect(await stateOfCluster()).toBe('CONNECTED')
    proxy.hang()
    await expect.poll(stateOfCluster, patience).toBe('UNREACHABLE')
    proxy.flow()
    await expect.poll(stateOfCluster, patience).toBe('CONNECTED')
  })

  it('a connection that has fallen silent makes what is read from it stale, until something is heard again', async () => {
    const read = async (): Promise<string | null> =>
      (await gateway.data('{ pods { staleSince } }')).pods.staleSince
    const frames = framesOf('subscription { pods { synced staleSince changes { type } } }')
    await expect.poll(() => frames.at(-1), patience).toMatchObject({ staleSince: null })
    expect(await read()).toBeNull()
    // Only a bookmark can take pods to the version of a change of another kind.
    const versionOf = async (): Promise<number> =>
      Number((await gateway.data('{ pods { resourceVersion } }')).pods.resourceVersion)
    const before = await versionOf()
    await created(simulator, '/api/v1/namespaces/default/configmaps', { metadata: { name: 'one' } })
    await expect.poll(versionOf, patience).toBeGreaterThan(before)
    simulator.faults.inject({ fault: { type: 'freeze-connections' } })
    await expect.poll(read, patience).toEqual(aMoment)
    await expect.poll(() => frames.at(-1), patience).toMatchObject({ staleSince: aMoment })
    proxy.cut()
    await expect.poll(read, patience).toBeNull()
    await expect.poll(() => frames.at(-1), patience).toMatchObject({ staleSince: null })
  })

  it('a watch that breaks and is established again at once makes nothing stale', async () => {
    const frames = framesOf('subscription { pods { synced staleSince changes { type } } }')
    await expect.poll(() => frames.at(-1), patience).toMatchObject({ synced: true })
    proxy.cut()
    await created(simulator, '/api/v1/namespaces/default/pods', {
      metadata: { name: 'two' },
      spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
    })
    await expect.poll(() => frames.at(-1)?.changes, patience).toEqual([{ type: 'ADDED' }])
    expect(frames.every(({ staleSince }) => staleSince === null)).toBe(true)
  })
})

describeWithControlPlane('staleness', (plane) => {
  it('begins when the server is killed and ends when it is back, for queries, subscriptions and the cluster', async () => {
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }],
    })
    const frames = framesFrom(
      gateway,
      'subscription { namespaces { synced staleSince changes { type } } }',
    )
    const told = async (): Promise<unknown> => {
      const text = await gateway.queryText(
        '{ namespaces { staleSince } gatewayClusters { state } }',
      )
      const { data, extensions } = JSON.parse(text)
      const { namespaces, gatewayClusters } = data
      return [
        namespaces.staleSince,
        extensions?.stale,
        gatewayClusters[0].state,
        frames.at(-1)?.staleSince,
      ]
    }
    const inStep = [null, undefined, 'CONNECTED', null]
    await expect.poll(told, patience).toEqual(inStep)
    await plane().killServer()
    await expect
      .poll(told, patience)
      .toEqual([
        aMoment,
        [{ cluster: 'one', type: 'Namespace', since: aMoment }],
        'UNREACHABLE',
        aMoment,
      ])
    await plane().startServer()
    await expect.poll(told, { timeout: 60_000 }).toEqual(inStep)
  })
})
