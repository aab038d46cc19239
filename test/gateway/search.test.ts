import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type Fields, startSimulatedCluster } from './test-cluster.ts'
import { company } from '../support/company.ts'

let cluster: Simulator
let gateway: ServedGateway

const populate = company({ pods: 200, seed: 'search' })

beforeAll(async () => {
  cluster = await startSimulator({ populate })
  gateway = await serveGateway({ clusters: [{ name: 'test', server: cluster.url }] })
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const fields = `nodes { object { kind namespace name object { id } } matched value }
  pageInfo { hasNextPage hasPreviousPage endCursor } totalCount counts { type count } types`

const search = async (variables: object, from: ServedGateway = gateway): Promise<Fields> => {
  const { search: found } = await from.data(
    `query ($text: String!, $types: [String!], $namespaces: [String!], $first: Int, $after: String) {
      search(text: $text, types: $types, namespaces: $namespaces, first: $first, after: $after) { ${fields} } }`,
    { ...variables },
  )
  return found
}

const list = async (path: string): Promise<readonly Fields[]> => {
  const response = await fetch(`${cluster.url}${path}`)
  const { items }: Fields = await response.json()
  return items
}

/** In the order of equally good results: workloads before their parts. */
const paths: Readonly<Record<string, string>> = {
  Deployment: '/apis/apps/v1/deployments',
  Service: '/api/v1/services',
  ConfigMap: '/api/v1/configmaps',
  Pod: '/api/v1/pods',
}
const kinds = Object.keys(paths)

/** What may be searched of an object: its name, then the rest. */
const valuesOf = (kind: string, object: Fields): readonly [string, readonly string[]] => [
  object.metadata.name,
  [
    ...Object.values<string>(object.metadata.labels ?? {}),
    ...(kind === 'Pod'
      ? [
          ...(object.status.podIPs ?? []).map(({ ip }: Fields) => ip),
          ...[...object.spec.containers, ...(object.spec.initContainers ?? [])].map(
            ({ image }: Fields) => image,
          ),
        ]
      : []),
    ...(kind === 'Service' ? (object.spec.clusterIPs ?? []) : []),
  ],
]

const rankOf = (text: string, [name, others]: readonly [string, readonly string[]]): number => {
  const quality = (value: string): number => {
    const at = value.toLowerCase().indexOf(text.toLowerCase())
    return at < 0 ? 9 : at > 0 ? 2 : value.length === text.length ? 0 : 1
  }
  const best = Math.min(...others.map(quality), 9)
  return quality(name) < 9 ? quality(name) : best + 3
}

/** The same by looking at all objects. */
const expected = async (text: string, namespace?: string): Promise<readonly string[]> => {
  const all = await Promise.all(
    kinds.map(async (kind) =>
      (await list(paths[kind] ?? '')).map((object) => ({
        rank: rankOf(text, valuesOf(kind, object)),
        namespace: object.metadata.namespace,
        kind,
        name: object.metadata.name,
      })),
    ),
  )
  return all
    .flat()
    .filter((one) => one.rank < 9 && (namespace === undefined || one.namespace === namespace))
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
        compare(a.namespace, b.namespace) ||
        compare(a.name, b.name),
    )
    .map((one) => `${one.kind} ${one.namespace}/${one.name}`)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const told = ({ nodes }: Fields): readonly string[] =>
  nodes.map(({ object: { kind, namespace, name } }: Fields) => `${kind} ${namespace}/${name}`)

describe('search', () => {
  it.each(['api', 'API', 'catalog-api', 'web', '10.', 'helm', 'a', 'shop-web', 'nothing-like-it'])(
    'finds what the raw objects hold, the best first: %s',
    async (text) => {
      const all = await expected(text)
      const found = await search({ text, types: kinds, first: 500 })
      expect(told(found)).toEqual(all.slice(0, 500))
      expect(found.totalCount).toBe(all.length)
      const counted = found.counts.map(({ type, count }: Fields) => [type, count])
      const counts = kinds.map((kind) => [
        kind,
        all.filter((one) => one.startsWith(`${kind} `)).length,
      ])
      expect(Object.fromEntries(counted)).toEqual(
        Object.fromEntries(counts.filter(([, count]) => count !== 0)),
      )
      for (const { value } of found.nodes) {
        expect(value.toLowerCase()).toContain(text.toLowerCase())
      }
    },
  )

  it('stays in the namespaces that are named', async () => {
    const [deployment] = await list(paths['Deployment'] ?? '')
    const { namespace } = deployment.metadata
    const text = 'a'
    const found = await search({ text, types: kinds, namespaces: [namespace], first: 500 })
    expect(told(found)).toEqual(await expected(text, namespace))
    expect(found.nodes.length).toBeGreaterThan(0)
    expect((await search({ text, types: kinds, namespaces: ['not-there'] })).totalCount).toBe(0)
  })

  it('says by which value an object was found', async () => {
    const [pod] = (await list(paths['Pod'] ?? '')).filter(({ status }) => status.podIP)
    const found = await search({ text: pod.status.podIP, types: ['Pod'], first: 1 })
    expect(found.nodes[0]).toMatchObject({ matched: 'podIP', value: pod.status.podIP })
    const image = pod.spec.containers[0].image
    const byImage = await search({ text: image, types: ['Pod'], first: 500 })
    expect(byImage.nodes[0]).toMatchObject({ matched: 'image', value: image })
    const { namespace, name, labels } = pod.metadata
    const [key = '', value = ''] =
      Object.entries<string>(labels).find(([, text]) => !name.includes(text)) ?? []
    const byLabel = await search({ text: value, types: ['Pod'], namespaces: [namespace] })
    const own = byLabel.nodes.find(({ object }: Fields) => object.name === name)
    expect(own).toMatchObject({ value, matched: `labels["${key}"]` })
  })

  it('is paged by cursors that hold while objects come and go', async () => {
    const text = 'api'
    const whole = await search({ text, types: kinds, first: 500 })
    const pages: string[] = []
    let after: string | undefined
    let page: Fields
    do {
      page = await search({ text, types: kinds, first: 7, after })
      pages.push(...told(page))
      expect(page.pageInfo.hasPreviousPage).toBe(after !== undefined)
      after = page.pageInfo.endCursor
    } while (page.pageInfo.hasNextPage)
    expect(pages).toEqual(told(whole))
    const [first] = (await search({ text, types: kinds, first: 7 })).nodes
    const { kind, namespace, name } = first.object
    const behind = await search({ text, types: kinds, first: 1 })
    await fetch(
      `${cluster.url}${paths[kind]?.replace(/([^/]+)$/, `namespaces/${namespace}/$1/${name}`)}`,
      {
        method: 'DELETE',
      },
    )
    await expect
      .poll(async () => told(await search({ text, types: kinds, first: 1 }))[0], {
        timeout: 60_000,
      })
      .not.toBe(told(behind)[0])
    const next = await search({ text, types: kinds, first: 5, after: behind.pageInfo.endCursor })
    expect(told(next)).toEqual(told(whole).slice(1, 6))
  })

  it('of kinds that are not named looks into those that are in memory, and starts none without common kinds', async () => {
    await using other = await serveGateway({
      clusters: [{ name: 'test', server: cluster.url }],
      commonKinds: [],
    })
    expect(await search({ text: 'a' }, other)).toMatchObject({
      types: [],
      totalCount: 0,
      nodes: [],
    })
    await other.data('{ pods { totalCount } events { totalCount } }')
    expect((await search({ text: 'a' }, other)).types).toEqual(['Pod'])
    expect((await search({ text: 'a', types: ['Service'] }, other)).types).toEqual(['Service'])
  })

  it('answers what it can where a kind cannot be read, and tells why', async () => {
    const reader = { token: 'reader-token', user: 'reader' }
    await using test = await startSimulatedCluster({ populate }, [reader])
    await using other = await serveGateway({
      clusters: [{ name: 'test', ...(await test.selectionFor(reader)) }],
      uncached: ['ConfigMap'],
    })
    const { data, errors } = await other.query(
      '{ search(text: "api", types: ["Pod", "Secret", "ConfigMap"]) { totalCount types } }',
    )
    expect(data.search.types).toEqual(['Pod'])
    expect(data.search.totalCount).toBeGreaterThan(0)
    expect(errors?.map(({ path, extensions: { code, type } }) => [path, code, type])).toEqual([
      [['search'], 'FORBIDDEN', 'Secret'],
      [['search'], 'UNSUPPORTED', 'ConfigMap'],
    ])
  })

  it.each([
    ['text: ""', 'text'],
    ['text: "   "', 'text'],
    [`text: "${'x'.repeat(300)}"`, 'text'],
    ['text: "a", types: ["Pod", "Pods"]', 'types[1]'],
    ['text: "a", first: 1000000', 'first'],
    ['text: "a", after: "no-cursor"', 'after'],
    ['text: "a", cluster: "elsewhere"', 'cluster'],
  ])('%s is refused, naming the argument', async (args, argument) => {
    const { errors } = await gateway.query(`{ search(${args}) { totalCount } }`)
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument })
  })

  it('with a cursor of another search is refused', async () => {
    const { pageInfo } = await search({ text: 'api', types: ['Pod'], first: 1 })
    const { errors } = await gateway.query(
      'query ($after: String) { search(text: "web", types: ["Pod"], after: $after) { totalCount } }',
      { after: pageInfo.endCursor },
    )
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'after' })
  })

  it('is paid for value by value', async () => {
    await using poor = await serveGateway({
      clusters: [{ name: 'test', server: cluster.url }],
      limits: { work: { tests: 100 } },
    })
    const { errors } = await poor.query('{ search(text: "zzz", types: ["Pod"]) { totalCount } }')
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }])
  })
})
