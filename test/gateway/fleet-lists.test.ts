import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { company } from '../support/company.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { created } from './created.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import type { Fields } from './test-cluster.ts'

const wait = { timeout: 60_000, interval: 50 }
const names = ['ap', 'eu', 'us'] as const

const podFields =
  'id clusterName name namespace creationTimestamp spec { nodeName } restarts: json(path: "status.containerStatuses[*].restartCount")'

/** The values that the test orders by, as the indexes have them; undefined is last. */
const ordered: Readonly<Record<string, (pod: Fields) => string | number | undefined>> = {
  name: ({ name }) => name,
  namespace: ({ namespace }) => namespace,
  creationTimestamp: ({ creationTimestamp }) => creationTimestamp,
  nodeName: ({ spec }) => spec.nodeName ?? undefined,
  restarts: ({ restarts }) => (restarts ?? []).reduce((sum: number, one: number) => sum + one, 0),
}

type Key = readonly [index: string, direction: 'ASC' | 'DESC']

const compared = (keys: readonly Key[]) => {
  const values: readonly ((pod: Fields) => readonly [string | number | undefined, boolean])[] = [
    ...keys.map(
      ([index, direction]) =>
        (pod: Fields) =>
          [ordered[index]?.(pod), direction === 'DESC'] as const,
    ),
    ...['clusterName', 'namespace', 'name'].map(
      (field) => (pod: Fields) => [pod[field] as string, false] as const,
    ),
  ]
  return (a: Fields, b: Fields): number => {
    for (const valueOf of values) {
      const [[left, isDescending], [right]] = [valueOf(a), valueOf(b)]
      if (left === right) continue
      if (left === undefined) return 1
      if (right === undefined) return -1
      return left < right === isDescending ? 1 : -1
    }
    return 0
  }
}

const orderText = (keys: readonly Key[]): string =>
  keys.length === 0
    ? ''
    : `orderBy: [${keys.map(([index, direction]) => `{ ${index}: ${direction} }`).join(', ')}]`

describe(`lists over clusters, seed ${runSeed}`, () => {
  const simulators = new Map<string, Simulator>()
  let gateway: ServedGateway
  let all: readonly Fields[]

  beforeAll(async () => {
    for (const name of names) {
      const populate = company({ pods: 60, seed: `fleet ${name}` })
      simulators.set(name, await startSimulator({ bookmarkIntervalMs: 0, populate }))
    }
    const at = (name: string): string => simulators.get(name)?.url ?? ''
    await created(
      simulators.get('eu') as Simulator,
      definitionsPath,
      definitionOf('Gear', 'fleet.example.com', [versionOf('v1', { teeth: { type: 'integer' } })]),
    )
    gateway = await serveGateway({
      clusters: [
        { name: 'us', server: at('us'), labels: { env: 'production', region: 'us' } },
        { name: 'eu', server: at('eu'), labels: { env: 'production', region: 'eu' } },
        { name: 'ap', server: at('ap'), labels: { env: 'staging' } },
      ],
    })
    const lists = await Promise.all(
      names.map((name) =>
        gateway.data(`{ pods(cluster: "${name}", first: 500) { nodes { ${podFields} } } }`),
      ),
    )
    all = lists.flatMap(({ pods }) => pods.nodes as Fields[])
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const simulator of simulators.values()) await simulator[Symbol.asyncDispose]()
  })

  const ask: ServedGateway['query'] = async (query, variables) => gateway.query(query, variables)

  const ids = (nodes: readonly Fields[]): readonly string[] => nodes.map(({ id }) => id as string)

  it('are in any order, forwards and backwards, page by page, with ties by cluster', async () => {
    const random = seededRandom(runSeed)
    const below = (limit: number): number => Math.floor(random() * limit)
    const indexes = Object.keys(ordered)
    for (let round = 0; round < 12; round += 1) {
      const count = round === 0 ? 0 : 1 + below(2)
      const keys: Key[] = []
      while (keys.length < count) {
        const index = indexes[below(indexes.length)] ?? 'name'
        if (keys.some(([known]) => known === index)) continue
        keys.push([index, below(2) === 0 ? 'ASC' : 'DESC'])
      }
      const expected = ids(all.toSorted(compared(keys)))
      const order = orderText(keys)
      const size = 7 + below(40)
      const forwards: string[] = []
      for (let after = ''; ;) {
        const { data } = await ask(`{ pods(clusters: ["*"], first: ${size}, ${order} ${after}) {
          nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } totalCount } }`)
        forwards.push(...ids(data.pods.nodes))
        expect(data.pods.totalCount, order).toBe(all.length)
        expect(data.pods.pageInfo.hasPreviousPage).toBe(after !== '')
        if (data.pods.pageInfo.hasNextPage !== true) break
        after = `after: "${data.pods.pageInfo.endCursor}"`
      }
      expect(forwards, order).toEqual(expected)
      const backwards: string[] = []
      for (let before = ''; ;) {
        const { data } = await ask(`{ pods(clusters: ["*"], last: ${size}, ${order} ${before}) {
          nodes { id } pageInfo { hasPreviousPage startCursor } } }`)
        backwards.unshift(...ids(data.pods.nodes))
        if (data.pods.pageInfo.hasPreviousPage !== true) break
        before = `before: "${data.pods.pageInfo.startCursor}"`
      }
      expect(backwards, `${order} backwards`).toEqual(expected)
      const offset = below(all.length)
      const jumped = await ask(
        `{ pods(clusters: ["*"], offset: ${offset}, first: 5, ${order}) { nodes { id } } }`,
      )
      expect(ids(jumped.data.pods.nodes)).toEqual(expected.slice(offset, offset + 5))
    }
  })

  it('have the filters, relations and counts of each cluster, added up', async () => {
    const fields = `totalCount facets(by: ["phase", "nodeName", "cluster"], top: 1000) { by distinctCount missingCount values { value count } }`
    const list = (place: string): string =>
      `pods(${place}, first: 500, where: { phase: { in: ["Running", "Pending"] } }) {
        ${fields} nodes { id node { clusterName name } } }`
    const { data } = await ask(
      `{ fleet: ${list('clusters: ["eu", "us"]')} eu: ${list('cluster: "eu"')} us: ${list('cluster: "us"')} }`,
    )
    const { fleet, eu, us } = data
    expect(fleet.totalCount).toBe(eu.totalCount + us.totalCount)
    expect(fleet.nodes).toEqual([...eu.nodes, ...us.nodes])
    for (const [at, facet] of (fleet.facets as Fields[]).entries()) {
      const counts = new Map<unknown, number>()
      for (const { value, count } of [...eu.facets[at].values, ...us.facets[at].values]) {
        counts.set(value, (counts.get(value) ?? 0) + count)
      }
      const found = new Map((facet.values as Fields[]).map(({ value, count }) => [value, count]))
      expect(found).toEqual(counts)
      expect(facet.distinctCount).toBe(counts.size)
      expect(facet.missingCount).toBe(eu.facets[at].missingCount + us.facets[at].missingCount)
    }
  })

  it('have the sums of each cluster, added up', async () => {
    const summed = '["cpuRequests", "memoryRequests", "restarts"]'
    const fields = `sum(of: ${summed}) { of value number count } facets(by: ["namespace", "cluster"], top: 1000, sum: ${summed}) {
      values { value count sums { of number count } } }`
    const where = 'where: { phase: { not: { in: ["Succeeded", "Failed"] } } }'
    const list = (place: string): string => `pods(${place}, first: 0, ${where}) { ${fields} }`
    const { data } = await ask(
      `{ fleet: ${list('clusters: ["*"]')} ${names.map((name) => `${name}: ${list(`cluster: "${name}"`)}`).join(' ')} }`,
    )
    const lists: readonly Fields[] = names.map((name) => data[name])
    const added = (sums: readonly (readonly Fields[])[]): readonly Fields[] =>
      ['cpuRequests', 'memoryRequests', 'restarts'].map((of, at) => ({
        of,
        // In whole thousandths and bytes, so that adding up does not round.
        number: sums.reduce((total, one) => total + Math.round(one[at].number * 1000), 0) / 1000,
        count: sums.reduce((total, one) => total + (one[at].count as number), 0),
      }))
    expect(data.fleet.sum).toMatchObject(added(lists.map(({ sum }) => sum)))
    expect(data.fleet.sum[0].number).toBeGreaterThan(0)
    for (const [at, facet] of (data.fleet.facets as Fields[]).entries()) {
      const parts = lists.flatMap(({ facets }) => facets[at].values as Fields[])
      expect(facet.values.length).toBeGreaterThan(2)
      for (const { value, sums } of facet.values) {
        const ofValue = parts.filter((part) => part.value === value)
        expect(sums).toEqual(added(ofValue.map((part) => part.sums)))
      }
    }
  })

  it('are of the clusters that a selector finds, and of the ids that are named', async () => {
    const { data } = await ask(`{
      production: pods(clusterSelector: "env=production", first: 500) { nodes { id } }
      none: pods(clusterSelector: "env=none") { nodes { id } totalCount incomplete { code } }
      no: pods(clusters: []) { totalCount }
    }`)
    const isProduction = ({ clusterName }: Fields): boolean => clusterName !== 'ap'
    expect(ids(data.production.nodes).toSorted()).toEqual(ids(all.filter(isProduction)).toSorted())
    expect(data.none).toEqual({ nodes: [], totalCount: 0, incomplete: [] })
    expect(data.no).toEqual({ totalCount: 0 })
    const named = ids([all[3], all[70], all[130]] as Fields[])
    const found = await ask(
      'query ($ids: [ID!]) { pods(clusters: ["*"], ids: $ids) { nodes { id } } }',
      { ids: named },
    )
    expect(ids(found.data.pods.nodes).toSorted()).toEqual(named.toSorted())
  })

  it('are searched and completed over clusters, with what is found in each', async () => {
    const search = (place: string): string => `search(text: "kind:pod a", ${place}, first: 500) {
      nodes { object { id } matched value } totalCount counts { type count } incomplete { code } types complete }`
    const complete = (
      place: string,
    ): string => `complete(text: "kind:pod c", ${place}, first: 100) {
      completions { term insert count } types incomplete { code } }`
    const { data } = await ask(`{
      ${names.map((name) => `${name}: ${search(`cluster: "${name}"`)}`).join(' ')}
      all: ${search('clusters: ["*"]')}
      ${names.map((name) => `c_${name}: ${complete(`cluster: "${name}"`)}`).join(' ')}
      c_all: ${complete('clusters: ["*"]')}
    }`)
    const found = (name: string): readonly string[] =>
      (data[name].nodes as Fields[]).map(({ object }) => object.id as string).toSorted()
    expect(found('all')).toEqual(names.flatMap(found).toSorted())
    expect(data.all.totalCount).toBe(names.reduce((sum, name) => sum + data[name].totalCount, 0))
    expect(data.all).toMatchObject({ types: ['Pod'], complete: true, incomplete: [] })
    const counts = new Map<string, number>()
    for (const { term, insert, count } of names.flatMap(
      (name) => data[`c_${name}`].completions as Fields[],
    )) {
      counts.set(`${term} ${insert}`, (counts.get(`${term} ${insert}`) ?? 0) + count)
    }
    for (const { term, insert, count } of data.c_all.completions as Fields[]) {
      expect(count, insert).toBe(counts.get(`${term} ${insert}`))
    }
    const paged: string[] = []
    for (let after = ''; ;) {
      const page = await ask(`{ search(text: "kind:pod a", clusters: ["*"], first: 30 ${after}) {
        nodes { object { id } } pageInfo { hasNextPage endCursor } } }`)
      paged.push(...(page.data.search.nodes as Fields[]).map(({ object }) => object.id as string))
      if (page.data.search.pageInfo.hasNextPage !== true) break
      after = `after: "${page.data.search.pageInfo.endCursor}"`
    }
    expect(paged).toEqual((data.all.nodes as Fields[]).map(({ object }) => object.id as string))
  })

  it('are counted live over clusters, as a query counts them', async () => {
    const args = 'clusters: ["*"], namespace: "default", by: ["cluster", "name"], top: 100'
    const fields = 'facets(by: ["cluster", "name"], top: 100) { by values { value count } }'
    let frame: Fields = {}
    const problems: string[] = []
    const leave = gateway.connect().subscribe<Fields>(
      {
        query: `subscription { serviceFacets(${args}, coalesceMs: 10) {
          totalCount facets { by values { value count } } incomplete { cluster code } } }`,
      },
      {
        next({ data, errors }) {
          if (errors !== undefined) problems.push(JSON.stringify(errors))
          frame = data?.serviceFacets
        },
        error: (error) => void problems.push(JSON.stringify(error)),
        complete: () => {},
      },
    )
    const path = '/api/v1/namespaces/default/services'
    const counted = async (): Promise<void> => {
      const { data } = await gateway.query(
        `{ services(clusters: ["*"], namespace: "default", first: 0) { totalCount ${fields} } }`,
      )
      await expect.poll(() => frame, wait).toEqual({ ...data.services, incomplete: [] })
    }
    await counted()
    for (const [at, name] of names.entries()) {
      const metadata = { name: `live-${at}` }
      await created(simulators.get(name) as Simulator, path, {
        metadata,
        spec: { ports: [{ port: 80 }] },
      })
      const expected = (frame['totalCount'] as number) + 1
      await expect.poll(() => frame['totalCount'] as number, wait).toBe(expected)
      await counted()
    }
    expect(problems).toEqual([])
    leave()
  })

  it('hand over to a subscription that continues after the page, in every cluster', async () => {
    const place = 'clusters: ["*"], namespace: "default"'
    const [first] = [simulators.get('ap') as Simulator]
    const path = '/api/v1/namespaces/default/configmaps'
    await created(first, path, { metadata: { name: 'before' } })
    const listed = await gateway.data(
      `{ configMaps(${place}, first: 500) { resumeToken totalCount incomplete { code } } }`,
    )
    expect(listed.configMaps.incomplete).toEqual([])
    await created(simulators.get('us') as Simulator, path, { metadata: { name: 'after' } })
    const frames: Fields[] = []
    gateway.connect().subscribe<Fields>(
      {
        query: `subscription ($from: String) { configMaps(${place}, resumeFrom: $from, coalesceMs: 10) {
          reset synced changes { type object { clusterName name } } } }`,
        variables: { from: listed.configMaps.resumeToken },
      },
      {
        next: ({ data }) => void frames.push(data?.configMaps),
        error: (error) => void frames.push({ error }),
        complete: () => {},
      },
    )
    const changes = (): readonly Fields[] => frames.flatMap((frame) => frame.changes as Fields[])
    await expect.poll(() => changes().length, wait).toBeGreaterThan(0)
    expect(frames.map(({ reset }) => reset)).not.toContain(true)
    expect(changes()).toEqual([{ type: 'ADDED', object: { clusterName: 'us', name: 'after' } }])
  })

  it('are asked for by variables too, also by those that name one cluster', async () => {
    const query = `query ($clusters: [String!], $cluster: String) {
      pods(clusters: $clusters, cluster: $cluster, first: 3) { nodes { clusterName } totalCount }
      objectList(kind: "Pod", clusters: $clusters, cluster: $cluster) { totalCount type }
    }`
    const inEu = all.filter(({ clusterName }) => clusterName === 'eu').length
    const one = await ask(query, { cluster: 'eu' })
    expect(one.data.pods.totalCount).toBe(inEu)
    const several = await ask(query, { clusters: ['*'] })
    expect(several.data).toMatchObject({
      pods: { totalCount: all.length },
      objectList: { totalCount: all.length, type: 'Pod' },
    })
  })

  it('refuse clusters that are unknown, named twice over, or selected in a wrong way', async () => {
    const refused = async (args: string): Promise<unknown> => {
      const { errors = [] } = await ask(`{ pods(${args}) { totalCount } }`)
      return errors.map(({ extensions: { code, argument, value } }) => [code, argument, value])
    }
    expect(await refused('clusters: ["eu", "mars"]')).toEqual([
      ['BAD_USER_INPUT', 'clusters', 'mars'],
    ])
    expect(await refused('clusters: ["eu"], cluster: "us"')).toEqual([
      ['BAD_USER_INPUT', 'clusters', ['eu']],
    ])
    expect(await refused('clusterSelector: "env in prod"')).toEqual([
      ['BAD_USER_INPUT', 'clusterSelector', 'env in prod'],
    ])
    expect(await refused('clusters: ["*"], after: "x"')).toEqual([['BAD_USER_INPUT', 'after', 'x']])
  })

  it('name some of many clusters where they refuse an unknown one', async () => {
    const server = simulators.get('eu')?.url ?? ''
    const clusters = Array.from({ length: 25 }, (_, at) => ({ name: `one-${at}`, server }))
    await using many = await serveGateway({ clusters })
    const { errors: [error] = [] } = await many.query('{ pods(clusters: ["mars"]) { totalCount } }')
    expect(error?.extensions.hint).toMatch(
      /^there are one-0, .*one-19, and 5 more: gatewayClusters/,
    )
  })

  it('say which cluster does not serve the kind, which is no error', async () => {
    await created(
      simulators.get('eu') as Simulator,
      '/apis/fleet.example.com/v1/namespaces/default/gears',
      {
        apiVersion: 'fleet.example.com/v1',
        kind: 'Gear',
        metadata: { name: 'one' },
      },
    )
    const query = `{ fleetExampleComGears(clusters: ["*"]) {
      nodes { clusterName name } incomplete { cluster type code since } } }`
    await expect
      .poll(async () => (await ask(query)).data.fleetExampleComGears.nodes, wait)
      .toEqual([{ clusterName: 'eu', name: 'one' }])
    const { data, errors } = await ask(query)
    expect(errors).toBeUndefined()
    const gap = { type: 'FleetExampleComGear', code: 'NOT_SERVED', since: null }
    expect(data.fleetExampleComGears.incomplete).toEqual([
      { cluster: 'ap', ...gap },
      { cluster: 'us', ...gap },
    ])
  })

  it('keep what a cluster held when it was last reached, and say so until it is back', async () => {
    const us = simulators.get('us') as Simulator
    const query = `{
      pods(clusters: ["*"]) { totalCount incomplete { cluster type code since } }
      secrets(clusters: ["*"], first: 1) { incomplete { cluster type code since } }
    }`
    us.faults.inject({ fault: { type: 'refuse-connections', forMs: 8_000 } })
    us.faults.inject({ fault: { type: 'drop-connections' } })
    await expect
      .poll(async () => (await gateway.query(query)).data.pods.incomplete.length, wait)
      .toBe(1)
    const { data, errors = [] } = await gateway.query(query)
    expect(data.pods.totalCount).toBe(all.length)
    expect(data.pods.incomplete).toMatchObject([
      { cluster: 'us', type: 'Pod', code: 'CLUSTER_UNREACHABLE' },
    ])
    expect(data.secrets.incomplete).toMatchObject([
      { cluster: 'us', type: 'Secret', code: 'CLUSTER_UNREACHABLE' },
    ])
    expect(errors.map(({ path, extensions: { code, cluster } }) => [path, code, cluster])).toEqual([
      [['pods'], 'CLUSTER_UNREACHABLE', 'us'],
      [['secrets'], 'CLUSTER_UNREACHABLE', 'us'],
    ])
    await expect
      .poll(async () => (await gateway.query(query)).data.pods.incomplete, wait)
      .toEqual([])
    expect((await gateway.query(query)).errors).toBeUndefined()
  })
})
