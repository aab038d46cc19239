import { startSimulator, type Simulator } from 'informerql/simulator'
import type { GatewayOptions } from 'informerql'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { startRequestProxy } from '../support/request-proxy.ts'
import { created } from './created.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import { follow } from './followed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const wait = { timeout: 60_000, interval: 50 }
const integer = { type: 'integer' }
const string = { type: 'string' }

const gears = (properties: object): object =>
  definitionOf('Gear', 'hot.example.com', [versionOf('v1', properties)])

describe('clusters that come and go while the gateway runs', () => {
  let one: Simulator
  let two: Simulator
  let gateway: ServedGateway
  const at = (name: string, { url }: Pick<Simulator, 'url'>): { name: string; server: string } => ({
    name,
    server: url,
  })
  beforeEach(async () => {
    ;[one, two] = await Promise.all([startSimulator(), startSimulator()])
  })
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]()
    await one[Symbol.asyncDispose]()
    await two[Symbol.asyncDispose]()
  })

  const configMap = (simulator: Simulator, name: string): Promise<unknown> =>
    created(simulator, '/api/v1/namespaces/default/configmaps', { metadata: { name } })

  const gear = (simulator: Simulator, name: string, spec: object): Promise<unknown> =>
    created(simulator, '/apis/hot.example.com/v1/namespaces/default/gears', {
      apiVersion: 'hot.example.com/v1',
      kind: 'Gear',
      metadata: { name },
      spec,
    })

  it('one that is added is served, and what is read of the others goes on', async () => {
    gateway = await serveGateway({ clusters: [at('one', one)] })
    const live = follow(gateway.connect(), 'configMaps', 'metadata { name }')
    await live.until('snapshot', () => live.fold.synced)
    await configMap(two, 'elsewhere')
    await gateway.gateway.configureClusters([at('one', one), at('two', two)])
    const { configMaps, gatewayClusters } = await gateway.data(`{
      configMaps(cluster: "two", namespace: "default") { nodes { clusterName metadata { name } } }
      gatewayClusters { name state }
    }`)
    expect(configMaps.nodes).toContainEqual({ clusterName: 'two', metadata: { name: 'elsewhere' } })
    expect(gatewayClusters).toEqual([
      { name: 'one', state: 'CONNECTED' },
      { name: 'two', state: 'CONNECTED' },
    ])
    await configMap(one, 'here')
    await live.until('here', (objects) =>
      [...objects.values()].some(({ metadata }) => metadata.name === 'here'),
    )
    expect(live.problems).toEqual([])
    const names = [...live.fold.objects.values()].map(({ metadata }) => metadata.name as string)
    expect(names).not.toContain('elsewhere')
  })

  it('one that is taken away ends its subscriptions only, by an error that says so', async () => {
    gateway = await serveGateway({ clusters: [at('one', one), at('two', two)] })
    const client = gateway.connect()
    const onOne = follow(client, 'configMaps', 'metadata { name }')
    const onTwo = follow(client, 'configMaps(cluster: "two")', 'metadata { name }')
    for (const live of [onOne, onTwo]) await live.until('snapshot', () => live.fold.synced)
    await gateway.gateway.configureClusters([at('one', one)])
    await expect.poll(() => onTwo.ended(), wait).toBe(true)
    expect(onTwo.problems.join('\n')).toContain('SCHEMA_CHANGED')
    expect(onTwo.problems.join('\n')).toContain('cluster two is no longer served')
    const { errors = [] } = await gateway.query('{ configMaps(cluster: "two") { totalCount } }')
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'cluster' })
    await configMap(one, 'later')
    await onOne.until('later', (objects) =>
      [...objects.values()].some(({ metadata }) => metadata.name === 'later'),
    )
    expect(onOne.problems).toEqual([])
  })

  it('labels are those of the configuration, and a change of them disturbs nothing', async () => {
    const labelled = (labels: Record<string, string>): GatewayOptions['clusters'] => [
      { ...at('one', one), labels },
      at('two', two),
    ]
    gateway = await serveGateway({ clusters: labelled({ region: 'eu' }) })
    const live = follow(gateway.connect(), 'configMaps', 'metadata { name }')
    await live.until('snapshot', () => live.fold.synced)
    const asked = '{ gatewayClusters { name labels } }'
    expect(await gateway.data(asked)).toEqual({
      gatewayClusters: [
        { name: 'one', labels: { region: 'eu' } },
        { name: 'two', labels: {} },
      ],
    })
    await gateway.gateway.configureClusters(labelled({ region: 'us', 'example.com/tier': '' }))
    expect((await gateway.data(asked)).gatewayClusters[0]).toEqual({
      name: 'one',
      labels: { region: 'us', 'example.com/tier': '' },
    })
    await configMap(one, 'later')
    await live.until('later', (objects) =>
      [...objects.values()].some(({ metadata }) => metadata.name === 'later'),
    )
    expect(live.problems).toEqual([])
    expect(gateway.log.filter((line) => line.startsWith('one: v1.'))).toHaveLength(1)
  })

  it('one that cannot be reached is served when it can be, and does not blank the others', async () => {
    gateway = await serveGateway({ clusters: [at('one', one)], retryMs: 100 })
    two.faults.inject({ fault: { type: 'refuse-connections', forMs: 1_500 } })
    await gateway.gateway.configureClusters([at('one', one), at('two', two)])
    const both = `{
      pods { totalCount }
      two: pods(cluster: "two") { totalCount }
    }`
    const answer = await gateway.query(both)
    expect(answer.data.pods).toEqual({ totalCount: 0 })
    expect(answer.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['two'], 'CLUSTER_UNREACHABLE'],
    ])
    await expect.poll(async () => (await gateway.query(both)).errors, wait).toBeUndefined()
  })

  describe('and are replaced', () => {
    const stack = new AsyncDisposableStack()
    const started = async (name: string): Promise<Simulator> => {
      const simulator = stack.use(await startSimulator())
      await configMap(simulator, name)
      return simulator
    }
    const asked = `{
      one: configMaps(cluster: "one", namespace: "default") { nodes { metadata { name } } }
      two: configMaps(cluster: "two", namespace: "default") { nodes { metadata { name } } }
    }`
    const shown = async (): Promise<Readonly<Record<string, string>>> => {
      const { data } = await gateway.query(asked)
      return Object.fromEntries(
        Object.entries<Fields>(data ?? {}).map(([cluster, list]) => {
          const names = list?.['nodes'].map(({ metadata }: Fields) => metadata.name)
          return [cluster, names?.filter((name: string) => name.startsWith('of-')).join() ?? '']
        }),
      )
    }
    afterAll(() => stack.disposeAsync())

    it('each answers by its new server at once, and by its former one while the new one hangs', async () => {
      await configMap(one, 'of-one')
      await configMap(two, 'of-two')
      gateway = await serveGateway({ clusters: [at('one', one), at('two', two)] })
      expect(await shown()).toEqual({ one: 'of-one', two: 'of-two' })
      const [other, further] = [await started('of-other'), await started('of-further')]
      other.faults.inject({ fault: { type: 'hang' } })
      const configured = gateway.gateway.configureClusters([at('one', other), at('two', further)])
      // The first answer of the new server.
      let first = {}
      const newOfTwo = async (): Promise<unknown> => ((first = await shown()) as Fields)['two']
      await expect.poll(newOfTwo, wait).toBe('of-further')
      expect(first).toEqual({ one: 'of-one', two: 'of-further' })
      other.faults.inject({ fault: { type: 'mend' } })
      await configured
      expect(await shown()).toEqual({ one: 'of-other', two: 'of-further' })
    })

    it('one that is wanted no more before it has answered changes nothing', async () => {
      await configMap(one, 'of-one')
      await configMap(two, 'of-two')
      gateway = await serveGateway({ clusters: [at('one', one), at('two', two)] })
      const live = follow(gateway.connect(), 'configMaps', 'metadata { name }')
      await live.until('snapshot', () => live.fold.synced)
      const other = stack.use(await startRequestProxy((await started('of-other')).url))
      const { promise, resolve } = Promise.withResolvers<void>()
      other.held = () => promise
      const configured = gateway.gateway.configureClusters([at('one', other), at('two', two)])
      await expect.poll(() => other.requests.length, wait).toBeGreaterThan(0)
      await gateway.gateway.configureClusters([at('one', one), at('two', two)])
      await configured
      resolve()
      await configMap(one, 'of-later')
      await live.until('of-later', (objects) =>
        [...objects.values()].some(({ metadata }) => metadata.name === 'of-later'),
      )
      expect(live.problems).toEqual([])
      expect(await shown()).toEqual({ one: 'of-later,of-one', two: 'of-two' })
      expect(gateway.log.filter((line) => line.startsWith('one: v1.'))).toHaveLength(1)
    })

    it('one that hangs for long is replaced all the same, and served when it answers', async () => {
      await configMap(one, 'of-one')
      gateway = await serveGateway({
        clusters: [at('one', one), at('two', two)],
        retryMs: 100,
      })
      const other = await started('of-other')
      other.faults.inject({ fault: { type: 'hang' } })
      const configured = gateway.gateway.configureClusters([at('one', other), at('two', two)])
      await expect.poll(async () => (await shown())['one'], wait).toBe('')
      other.faults.inject({ fault: { type: 'mend' } })
      await configured
      await expect.poll(async () => (await shown())['one'], wait).toBe('of-other')
    })
  })

  it('a kind that differs is JSON where types conflict, and null where a field is missing', async () => {
    await created(one, definitionsPath, gears({ size: integer, colour: string }))
    await created(two, definitionsPath, gears({ size: string }))
    gateway = await serveGateway({ clusters: [at('one', one)] })
    const query = (cluster: string): string =>
      `{ gears: hotExampleComGears(cluster: "${cluster}") { nodes { spec { size colour } } } }`
    await gear(one, 'a', { size: 3, colour: 'red' })
    await gear(two, 'b', { size: 'large' })
    expect(await gateway.data(query('one'))).toEqual({
      gears: { nodes: [{ spec: { size: 3, colour: 'red' } }] },
    })
    await gateway.gateway.configureClusters([at('one', one), at('two', two)])
    expect(await gateway.data(query('one'))).toEqual({
      gears: { nodes: [{ spec: { size: 3, colour: 'red' } }] },
    })
    expect(await gateway.data(query('two'))).toEqual({
      gears: { nodes: [{ spec: { size: 'large', colour: null } }] },
    })
  })

  it('a kind that one of them does not have fails its own field', async () => {
    await created(one, definitionsPath, gears({ size: integer }))
    gateway = await serveGateway({ clusters: [at('one', one), at('two', two)] })
    const { data, errors = [] } = await gateway.query(`{
      one: hotExampleComGears { totalCount }
      two: hotExampleComGears(cluster: "two") { totalCount }
      pods(cluster: "two") { totalCount }
    }`)
    expect(data).toEqual({ one: { totalCount: 0 }, two: null, pods: { totalCount: 0 } })
    expect(errors.map(({ extensions }) => extensions)).toMatchObject([
      { code: 'NOT_FOUND', cluster: 'two' },
    ])
  })

  it('relations, from queries and from subscriptions, stay within the cluster of their object', async () => {
    const pod = {
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    }
    for (const simulator of [one, two]) {
      await created(simulator, '/api/v1/nodes', { metadata: { name: 'n' } })
      await created(simulator, '/api/v1/namespaces/default/pods', pod)
    }
    gateway = await serveGateway({ clusters: [at('one', one), at('two', two)] })
    const selection = 'clusterName node { clusterName pods { nodes { clusterName } } }'
    const related = {
      clusterName: 'two',
      node: { clusterName: 'two', pods: { nodes: [{ clusterName: 'two' }] } },
    }
    const { pods } = await gateway.data(`{ pods(cluster: "two") { nodes { ${selection} } } }`)
    expect(pods.nodes).toEqual([related])
    const live = follow(gateway.connect(), 'pods(cluster: "two")', selection)
    await live.until('snapshot', () => live.fold.synced)
    expect([...live.fold.objects.values()]).toEqual([expect.objectContaining(related)])
    expect(live.problems).toEqual([])
  })
})
