import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { GatewayMetrics } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { isInputObjectType } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { follow } from './followed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const count = 6_000
const teams = ['red', 'green', 'blue'] as const
const pods = { group: '', version: 'v1', resource: 'pods' }
const wait = { timeout: 60_000, interval: 20 }

const podNamed = (name: string, team: string): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations: { team, of: 'settings' } },
  spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
})

describe(`Indexes that come while the gateway runs, seed ${runSeed}`, () => {
  const random = seededRandom(runSeed)
  const metrics = new GatewayMetrics()
  let directory: string
  let simulator: Simulator
  let gateway: ServedGateway

  const write = (text: string): Promise<void> =>
    writeFile(join(directory, 'own.graphql'), `extend type Pod ${text}`)
  const hasField = (name: string): boolean => {
    const type = gateway.gateway.schema.getType('PodWhere')
    return isInputObjectType(type) && Object.hasOwn(type.getFields(), name)
  }
  /** How many indexes the cache of a resource has, as the metrics tell. */
  const indexesOf = async (resource: string): Promise<number> => {
    const text = await metrics.text()
    const line = new RegExp(
      `^informerql_informer_indexes\\{[^}]*resource="${resource}"[^}]*\\} (\\d+)$`,
      'm',
    )
    return Number(line.exec(text)?.[1] ?? -1)
  }
  const churn = (times: number): void => {
    for (let at = 0; at < times; at += 1) {
      const name = `pod-${Math.floor(random() * (count + 500))}`
      const team = teams[Math.floor(random() * teams.length)] ?? 'red'
      const known = simulator.storage.get(pods, 'default', name)
      if (known === undefined) simulator.storage.create(pods, podNamed(name, team))
      else if (random() < 0.4) simulator.storage.delete(pods, 'default', name)
      else simulator.storage.update(pods, podNamed(name, team))
    }
  }
  const caughtUp = async (): Promise<void> => {
    const { revision } = simulator.storage
    await expect
      .poll(async () => {
        const data = await gateway.data('{ pods(first: 0) { resourceVersion } }')
        return Number(data.pods.resourceVersion)
      }, wait)
      .toBeGreaterThanOrEqual(revision)
  }
  const inTeam = (team: string): readonly string[] =>
    [...simulator.storage.list(pods)]
      .filter(({ metadata }: Fields) => metadata.annotations?.team === team)
      .map(({ metadata }: Fields) => metadata.name)

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'informerql-late-'))
    simulator = await startSimulator({
      bookmarkIntervalMs: 0,
      populate(storage) {
        for (let at = 0; at < count; at += 1) {
          storage.create(pods, podNamed(`pod-${at}`, teams[at % 3] ?? 'red'))
        }
        const settings = { apiVersion: 'v1', kind: 'ConfigMap' }
        const metadata = { name: 'settings', namespace: 'default' }
        storage.create(
          { group: '', version: 'v1', resource: 'configmaps' },
          { ...settings, metadata },
        )
      },
    })
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      schema: directory,
      metrics,
    })
    await gateway.data('{ pods(first: 1) { totalCount } configMaps { totalCount } }')
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  it('what nobody has asked for is not there, and it is there after the first request', async () => {
    const before = await indexesOf('pods')
    expect(before).toBeGreaterThan(4)
    await gateway.data('{ pods(first: 1, where: { phase: { eq: "Running" } }) { totalCount } }')
    await gateway.data('{ pods(first: 1) { nodes { metadata { name } } } }')
    expect(await indexesOf('pods')).toBe(before)
    const query = '{ configMaps { nodes { pods { totalCount } } } }'
    const { configMaps } = await gateway.data(query)
    expect(configMaps.nodes).toEqual([{ pods: { totalCount: 0 } }])
    expect(await indexesOf('pods')).toBe(before + 1)
    await gateway.data(query)
    expect(await indexesOf('pods')).toBe(before + 1)
    // Of ConfigMaps nothing was asked that needs an index of theirs.
    expect(await indexesOf('configmaps')).toBeLessThan(before)
  })

  it('one of an edited SDL is made in slices; whoever asks by it waits, and others do not', async () => {
    const before = await indexesOf('pods')
    await write('@index(name: "team", path: "metadata.annotations.team")')
    while (!hasField('team')) {
      churn(5)
      await nextTurn()
    }
    // It is served already, and not there yet.
    expect(await indexesOf('pods')).toBe(before)
    const asked = gateway.data('{ pods(where: { team: { eq: "red" } }, first: 0) { totalCount } }')
    const faceted = gateway.data(
      '{ pods(first: 0) { facets(by: "team") { values { value } missingCount } } }',
    )
    const client = gateway.connect()
    const red = follow(client, 'pods(where: { team: { eq: "red" } })', 'metadata { name }')
    for (let turn = 0; turn < 40; turn += 1) {
      churn(5)
      await nextTurn()
    }
    expect((await asked).pods.totalCount).toBeGreaterThan(count / 4)
    const [facet] = (await faceted).pods.facets
    expect(facet.missingCount).toBe(0)
    expect(facet.values.map(({ value }: Fields) => value).toSorted()).toEqual(teams.toSorted())
    expect(await indexesOf('pods')).toBe(before + 1)
    await caughtUp()
    const expected = new Set(inTeam('red'))
    await red.until('all that are red', (objects) => {
      const names = [...objects.values()].map(({ metadata }) => metadata.name)
      return names.length === expected.size && names.every((name) => expected.has(name))
    })
    expect(red.problems).toEqual([])
    red.complete()
  })

  it('a search that looks at one waits for it, over kinds that are named and over those in memory', async () => {
    await write(
      `@index(name: "team", path: "metadata.annotations.team")
       @index(name: "found", path: "metadata.annotations.of", searchable: true)`,
    )
    while (!hasField('found')) {
      await nextTurn()
    }
    const selection = '{ totalCount counts { type } nodes { matched value } }'
    const found = await Promise.all(
      ['', ', types: ["Pod"]'].map(async (kinds) =>
        gateway.query(`{ search(text: "settings", first: 1${kinds}) ${selection} }`),
      ),
    )
    for (const { data, errors } of found) {
      expect(errors).toBeUndefined()
      expect(data.search.totalCount).toBeGreaterThan(count / 2)
      expect(data.search.counts[0]).toEqual({ type: 'Pod' })
    }
  })

  it('says afterwards what an index that was there from the start says', async () => {
    churn(500)
    await caughtUp()
    const query = `{ ${teams
      .map((team) => `${team}: pods(where: { team: { eq: "${team}" } }, first: 0) { totalCount }`)
      .join(' ')}
      ordered: pods(orderBy: [{ team: DESC }], first: 50) { nodes { metadata { name } } } }`
    const late = await gateway.data(query)
    for (const team of teams) expect(late[team].totalCount).toBe(inTeam(team).length)
    await using fresh = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      schema: directory,
    })
    expect(await fresh.data(query)).toEqual(late)
  })

  it('one that is edited again while it is made is that of the last edit', async () => {
    await write('@index(name: "again", path: "metadata.annotations.team")')
    await expect.poll(() => hasField('again'), { timeout: 60_000, interval: 1 }).toBe(true)
    await write('@index(name: "again", path: "metadata.annotations.of")')
    await expect
      .poll(async () => {
        const query = '{ pods(where: { again: { eq: "settings" } }, first: 0) { totalCount } }'
        const { data } = await gateway.query(query)
        return data?.pods?.totalCount
      }, wait)
      .toBe([...simulator.storage.list(pods)].length)
  })
})
