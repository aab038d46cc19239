import { FrameFold } from 'informerql/client'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { company } from '../support/company.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created, sent } from './created.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import { appliedSteps, type HeldPage } from './followed-page.ts'
import type { Fields } from './test-cluster.ts'

const wait = { timeout: 60_000, interval: 50 }
// The one name is the beginning of the other.
const names = ['eu', 'eu-2'] as const

describe('kubernetesObjects', () => {
  const simulators = new Map<string, Simulator>()
  let gateway: ServedGateway

  beforeAll(async () => {
    for (const name of names) {
      const populate = company({ pods: 60, seed: `kinds ${name}` })
      const simulator = await startSimulator({ bookmarkIntervalMs: 0, populate })
      simulators.set(name, simulator)
      if (name === 'eu-2') continue
      for (const [kind, group] of [
        ['Gear', 'fleet.example.com'],
        ['Wheel', 'parts.fleet.example.com'],
      ] as const) {
        const versions = [versionOf('v1', { teeth: { type: 'integer' } })]
        await created(simulator, definitionsPath, definitionOf(kind, group, versions))
        const path = `/apis/${group}/v1/namespaces/default/${kind.toLowerCase()}s`
        const object = { apiVersion: `${group}/v1`, kind, metadata: { name: 'one' } }
        await created(simulator, path, object)
      }
    }
    gateway = await serveGateway({
      clusters: names.map((name) => ({ name, server: simulators.get(name)?.url ?? '' })),
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const simulator of simulators.values()) await simulator[Symbol.asyncDispose]()
  })

  const ask: ServedGateway['query'] = async (query, variables) => gateway.query(query, variables)

  const fields = 'id kind clusterName name namespace creationTimestamp health { status }'

  it('is one list over kinds and clusters, in any order, page by page', async () => {
    const lists = await gateway.data(
      `{ ${names
        .map(
          (name) => `
      pods_${name.length}: pods(cluster: "${name}", first: 500) { nodes { ${fields} } }
      deployments_${name.length}: deployments(cluster: "${name}", first: 500) { nodes { ${fields} } }`,
        )
        .join(' ')} }`,
    )
    const all = Object.values(lists as Record<string, Fields>).flatMap(
      ({ nodes }) => nodes as Fields[],
    )
    const severity = ['DEGRADED', 'UNKNOWN', 'PROGRESSING', 'TERMINATING', 'SUSPENDED', 'HEALTHY']
    const typed = (one: Fields): string =>
      `${one.clusterName}\0${one.kind}\0${one.namespace}/${one.name}`
    const orders: readonly (readonly [string, (one: Fields) => string])[] = [
      ['', () => ''],
      ['{ name: ASC }', ({ name }) => name as string],
      ['{ age: DESC }', ({ creationTimestamp }) => creationTimestamp as string],
      ['{ health: ASC }', ({ health }) => String(severity.indexOf(health.status as string))],
    ]
    for (const [key, valueOf] of orders) {
      const expected = all.toSorted((a, b) => {
        const [left, right] = [valueOf(a), valueOf(b)]
        if (left !== right) return left < right ? -1 : 1
        return typed(a) < typed(b) ? -1 : 1
      })
      const found: string[] = []
      for (let after = ''; ;) {
        const { data } = await ask(`{ kubernetesObjects(kinds: ["Deployment", "pods"],
          clusters: ["*"], first: 83, orderBy: [${key}] ${after}) {
            nodes { id ... on Pod { spec { nodeName } } } totalCount pageInfo { hasNextPage endCursor }
            types complete incomplete { code } counts { type count } } }`)
        const list = data.kubernetesObjects
        found.push(...(list.nodes as Fields[]).map(({ id }) => id as string))
        const pods = all.filter(({ kind }) => kind === 'Pod').length
        expect(list).toMatchObject({
          totalCount: all.length,
          types: ['Deployment', 'Pod'],
          complete: true,
          incomplete: [],
          counts: [
            { type: 'Pod', count: pods },
            { type: 'Deployment', count: all.length - pods },
          ],
        })
        if (list.pageInfo.hasNextPage !== true) break
        after = `after: "${list.pageInfo.endCursor}"`
      }
      expect(found, key).toEqual(expected.map(({ id }) => id as string))
    }
  })

  it('filters by what every kind has', async () => {
    const { data } = await ask(`{
      broken: kubernetesObjects(kinds: ["Pod", "Deployment"], where: { health: { eq: DEGRADED } }) {
        nodes { health { status } } totalCount }
      named: kubernetesObjects(kinds: ["*"], namespace: "default", where: { name: { contains: "e" }, labels: [{ key: "app", exists: true }] }) {
        nodes { name labels namespace } }
      changed: kubernetesObjects(kinds: ["Pod"], orderBy: [{ changed: DESC }], where: { changed: { exists: true } }, first: 3) {
        totalCount nodes { name } }
    }`)
    const { broken, named, changed } = data
    expect(broken.totalCount).toBeGreaterThan(0)
    for (const { health } of broken.nodes) expect(health.status).toBe('DEGRADED')
    for (const { name, labels, namespace } of named.nodes) {
      expect([name.includes('e'), labels.app !== undefined, namespace]).toEqual([
        true,
        true,
        'default',
      ])
    }
    expect(changed.totalCount).toBeGreaterThan(50)
  })

  it('finds all kinds of a group, and says what a cluster does not serve only of named kinds', async () => {
    const query = (
      kinds: string,
    ): string => `{ kubernetesObjects(kinds: ${kinds}, clusters: ["*"]) {
      nodes { clusterName kind name } incomplete { cluster type code } types } }`
    await expect
      .poll(async () => {
        const { data } = await ask(query('["*.example.com"]'))
        return data?.kubernetesObjects.nodes
      }, wait)
      .toEqual([
        { clusterName: 'eu', kind: 'Gear', name: 'one' },
        { clusterName: 'eu', kind: 'Wheel', name: 'one' },
      ])
    const named = await ask(query('["Gear"]'))
    expect(named.errors).toBeUndefined()
    expect(named.data.kubernetesObjects.incomplete).toEqual([
      { cluster: 'eu-2', type: 'FleetExampleComGear', code: 'NOT_SERVED' },
    ])
    const pattern = await ask(query('["*.example.com"]'))
    expect(pattern.data.kubernetesObjects.incomplete).toEqual([])
  })

  it('is followed live, as a list and as a page, over kinds and clusters', async () => {
    const args =
      'kinds: ["ConfigMap", "Service", "Gear"], clusters: ["*"], where: { name: { startsWith: "live" } }'
    const fold = new FrameFold<Fields>()
    let gaps: readonly Fields[] = []
    let page: HeldPage = { rows: [], totalCount: -1 }
    const problems: string[] = []
    const client = gateway.connect()
    const row = 'id kind clusterName name json(path: "data.value")'
    client.subscribe<Fields>(
      {
        query: `subscription { kubernetesObjects(${args}, coalesceMs: 10) {
          reset synced incomplete { cluster type code } changes { type objectId object { ${row} } } } }`,
      },
      {
        next({ data, errors }) {
          if (errors !== undefined) problems.push(JSON.stringify(errors))
          fold.apply(data?.kubernetesObjects)
          gaps = data?.kubernetesObjects.incomplete
        },
        error: (error) => void problems.push(JSON.stringify(error)),
        complete: () => void problems.push('completed'),
      },
    )
    client.subscribe<Fields>(
      {
        query: `subscription { kubernetesObjectsPage(${args}, orderBy: [{ namespace: DESC }], first: 3, coalesceMs: 10) {
          reset synced totalCount changes { step index from objectId object { ${row} } } } }`,
      },
      {
        next({ data, errors }) {
          if (errors !== undefined) problems.push(JSON.stringify(errors))
          page = appliedSteps(page, data?.kubernetesObjectsPage, (text) => void problems.push(text))
        },
        error: (error) => void problems.push(JSON.stringify(error)),
        complete: () => void problems.push('completed'),
      },
    )
    const expectSame = async (): Promise<void> => {
      const [listed, ordered] = await Promise.all([
        gateway.query(`{ kubernetesObjects(${args}) { nodes { ${row} } } }`),
        gateway.query(
          `{ kubernetesObjects(${args}, orderBy: [{ namespace: DESC }], first: 3) { totalCount nodes { ${row} } } }`,
        ),
      ])
      const byId = (nodes: readonly Fields[]): readonly Fields[] =>
        nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const { nodes, totalCount } = ordered.data.kubernetesObjects
      await expect
        .poll(() => byId([...fold.objects.values()]), wait)
        .toEqual(byId(listed.data.kubernetesObjects.nodes as Fields[]))
      await expect.poll(() => page, wait).toEqual({ rows: nodes, totalCount })
    }
    await expect.poll(() => fold.synced, wait).toBe(true)
    const at = (cluster: string): Simulator => simulators.get(cluster) as Simulator
    const maps = '/api/v1/namespaces/default/configmaps'
    const services = '/api/v1/namespaces/default/services'
    const gears = '/apis/fleet.example.com/v1/namespaces/default/gears'
    const seen = async (count: number): Promise<void> => {
      await expect.poll(() => fold.objects.size, wait).toBe(count)
      await expectSame()
    }
    await created(at('eu'), maps, { metadata: { name: 'live-a' }, data: { value: '1' } })
    await created(at('eu-2'), maps, { metadata: { name: 'live-b' }, data: { value: '1' } })
    await created(at('eu-2'), services, {
      metadata: { name: 'live-c' },
      spec: { ports: [{ port: 80 }] },
    })
    const gear = { apiVersion: 'fleet.example.com/v1', kind: 'Gear', metadata: { name: 'live-d' } }
    await created(at('eu'), gears, gear)
    await seen(4)
    await sent(at('eu-2'), 'PATCH', `${maps}/live-b`, { data: { value: '2' } })
    await expect
      .poll(() => [...fold.objects.values()].some(({ json }) => json === '2'), wait)
      .toBe(true)
    await expectSame()
    await sent(at('eu'), 'DELETE', `${gears}/live-d`)
    await seen(3)
    expect(gaps).toEqual([{ cluster: 'eu-2', type: 'FleetExampleComGear', code: 'NOT_SERVED' }])
    expect(problems).toEqual([])
  })

  it('takes a kind as one however often it is named', async () => {
    const query = 'query($kinds: [String!]!) { kubernetesObjects(kinds: $kinds) { totalCount } }'
    const once = await ask(query, { kinds: ['Pod'] })
    const kinds = Array.from({ length: 20_000 }, (_, at) => ['Pod', 'po', 'PODS'][at % 3] ?? '')
    expect(await ask(query, { kinds })).toEqual(once)
  })

  it('refuses kinds that do not exist, and names the nearest', async () => {
    const { errors = [] } = await ask(
      '{ kubernetesObjects(kinds: ["Pod", "Deploymnt"]) { totalCount } }',
    )
    expect(errors[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'kinds[1]',
      value: 'Deploymnt',
      hint: 'there is "Deployment"',
    })
  })
})
