import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  firstAnswer,
  type GraphQLAnswer,
  type ServedGateway,
  serveGateway,
} from '../support/gateway.ts'
import { makeNamespaces } from './random-writes.ts'
import { type Fields, must, startSimulatedCluster, type TestCluster } from './test-cluster.ts'

const space = 'live'
const containers = [{ name: 'main', image: 'nginx:1' }]

const podMetrics = (name: string, labels: object): object => ({
  metadata: { name, namespace: space, labels, creationTimestamp: '2026-01-15T12:00:00Z' },
  timestamp: '2026-01-15T12:00:00Z',
  window: '15s',
  containers: [{ name: 'main', usage: { cpu: '12m', memory: '34Mi' } }],
})

/** An API server with an aggregated API besides: one that knows no watch, no `limit` and no `continue`. */
async function withMetrics(url: string): Promise<
  AsyncDisposable & {
    readonly url: string
    readonly requests: string[]
  }
> {
  const requests: string[] = []
  const ending = new AbortController()
  const metrics = ['a', 'b', 'c', 'd', 'e'].map((name) =>
    podMetrics(name, { app: name < 'c' ? 'x' : 'y' }),
  )
  const group = '/apis/metrics.k8s.io/v1beta1'
  const versions = [{ groupVersion: 'metrics.k8s.io/v1beta1', version: 'v1beta1' }]
  const answers: Record<string, (search: URLSearchParams) => unknown> = {
    [group]: () => ({
      kind: 'APIResourceList',
      groupVersion: 'metrics.k8s.io/v1beta1',
      resources: [
        {
          name: 'pods',
          singularName: '',
          namespaced: true,
          kind: 'PodMetrics',
          verbs: ['get', 'list'],
        },
      ],
    }),
    [`${group}/namespaces/${space}/pods`]: (search) => {
      const wanted = search.get('labelSelector')?.split('=')[1]
      const items = metrics.filter(
        (one: Fields) => (wanted ?? one.metadata.labels.app) === one.metadata.labels.app,
      )
      return { kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items }
    },
    [`${group}/namespaces/${space}/pods/b`]: () => ({
      kind: 'PodMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      ...metrics[1],
    }),
  }
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '', url)
    requests.push(`${request.method} ${request.url}`)
    const own = answers[pathname]
    if (own !== undefined) {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(own(searchParams)))
      return
    }
    if (pathname.startsWith(group)) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound' }),
      )
      return
    }
    // Never answered.
    if (/\/(?:pods|podtemplates)\/slow$/.test(pathname)) return
    try {
      const { accept = '', authorization = '' } = request.headers
      const isRoot = pathname === '/api' || pathname === '/apis'
      const answer = await fetch(new URL(request.url ?? '', url), {
        // The one form of the root that is extended here.
        headers: { accept: isRoot ? 'application/json' : accept, authorization },
        signal: ending.signal,
      })
      const type = answer.headers.get('content-type') ?? ''
      response.writeHead(answer.status, { 'content-type': type })
      if (pathname === '/apis') {
        const list: Fields = await answer.json()
        list.groups.push({ name: 'metrics.k8s.io', versions, preferredVersion: versions[0] })
        response.end(JSON.stringify(list))
        return
      }
      for await (const chunk of answer.body ?? []) response.write(chunk)
      response.end()
    } catch {
      response.destroy()
    }
  }
  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      ending.abort()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('what no cache serves', () => {
  let cluster: TestCluster
  let server: Awaited<ReturnType<typeof withMetrics>>
  let gateway: ServedGateway

  beforeAll(async () => {
    cluster = await startSimulatedCluster()
    await makeNamespaces(cluster, [space])
    for (const [name, tier] of [
      ['c-1', 'a'],
      ['c-2', 'b'],
      ['c-3', 'a'],
      ['c-4', 'a'],
      ['c-5', 'b'],
    ]) {
      await must(cluster, `/api/v1/namespaces/${space}/configmaps`, {
        method: 'POST',
        body: { metadata: { name, labels: { tier } }, data: { name } },
      })
    }
    await must(cluster, `/api/v1/namespaces/${space}/pods`, {
      method: 'POST',
      body: { metadata: { name: 'p', managedFields: [] }, spec: { containers } },
    })
    await must(cluster, `/api/v1/namespaces/${space}/secrets`, {
      method: 'POST',
      body: { metadata: { name: 's' }, stringData: { password: 'hunter2' } },
    })
    for (const name of ['slow', 't-1', 't-2']) {
      await must(cluster, `/api/v1/namespaces/${space}/podtemplates`, {
        method: 'POST',
        body: { metadata: { name }, template: { spec: { containers } } },
      })
    }
    const { kubeconfig } = cluster.selection
    if (kubeconfig === undefined) throw new Error('the cluster has no kubeconfig')
    const { readFile, writeFile } = await import('node:fs/promises')
    const config = JSON.parse(await readFile(kubeconfig, 'utf8'))
    server = await withMetrics(config.clusters[0].cluster.server)
    config.clusters[0].cluster.server = server.url
    await writeFile(kubeconfig, JSON.stringify(config))
    gateway = await serveGateway({
      clusters: [{ name: 'one', kubeconfig }],
      uncached: ['ConfigMap', 'Secret'],
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const readsOf = async (part: string, ask: () => Promise<unknown>): Promise<readonly string[]> => {
    const before = server.requests.length
    await ask()
    return server.requests.slice(before).filter((line) => line.includes(part))
  }

  it('is read from the API server each time: kinds that cannot be watched', async () => {
    const query = `{
      podMetricsList(namespace: "${space}", labelSelector: "app=y") {
        totalCount
        nodes { id clusterName metadata { name } }
      }
      podMetrics(namespace: "${space}", name: "b") { kind json(path: "containers[*].usage.cpu") }
      none: podMetrics(namespace: "${space}", name: "nobody") { kind }
    }`
    const requests = await readsOf('metrics.k8s.io', async () => {
      expect(await gateway.data(query)).toMatchObject({
        podMetricsList: {
          totalCount: 3,
          nodes: ['c', 'd', 'e'].map((name) => ({ clusterName: 'one', metadata: { name } })),
        },
        podMetrics: { kind: 'PodMetrics', json: ['12m'] },
        none: null,
      })
    })
    expect(requests).toHaveLength(3)
    expect(await readsOf('metrics.k8s.io', () => gateway.data(query))).toHaveLength(3)
  })

  it('is found by the id of an object without a UID', async () => {
    const { podMetrics: found } = await gateway.data(
      `{ podMetrics(namespace: "${space}", name: "b") { id } }`,
    )
    const query =
      'query ($id: ID!) { object(id: $id) { metadata { name } } objects(ids: [$id]) { kind } }'
    expect(await gateway.data(query, { id: found.id })).toEqual({
      object: { metadata: { name: 'b' } },
      objects: [{ kind: 'PodMetrics' }],
    })
  })

  it('is paged although the server knows no pages', async () => {
    const pages: string[][] = []
    let after: string | null = null
    for (let hasNextPage = true; hasNextPage;) {
      const data: Fields = await gateway.data(
        `query ($after: String) { podMetricsList(namespace: "${space}", first: 2, after: $after) { edges { cursor node { metadata { name } } } pageInfo { hasNextPage endCursor } } }`,
        { after },
      )
      const { edges, pageInfo } = data.podMetricsList
      pages.push(edges.map(({ node }: Fields) => node.metadata.name))
      expect(edges.at(-1).cursor).toBe(pageInfo.endCursor)
      after = pageInfo.endCursor
      hasNextPage = pageInfo.hasNextPage
    }
    expect(pages).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  it("is paged by the server's own pages, from any cursor, of a kind that is configured so", async () => {
    const query = `query ($after: String) { configMaps(namespace: "${space}", labelSelector: "tier=a", first: 2, after: $after) { resourceVersion edges { cursor node { metadata { name } data } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`
    const first = (await gateway.data(query)).configMaps
    expect(first.edges.map(({ node }: Fields) => node.metadata.name)).toEqual(['c-1', 'c-3'])
    expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
    expect(first.resourceVersion).toMatch(/^\d+$/)
    const second = (await gateway.data(query, { after: first.pageInfo.endCursor })).configMaps
    expect(second.edges.map(({ node }: Fields) => node.metadata.name)).toEqual(['c-4'])
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    const behindFirst = (await gateway.data(query, { after: first.edges[0].cursor })).configMaps
    expect(behindFirst.edges.map(({ node }: Fields) => node.metadata.name)).toEqual(['c-3', 'c-4'])
    const { gatewayClusters } = await gateway.data(
      '{ gatewayClusters { resources(loaded: true) { type } } }',
    )
    expect(gatewayClusters[0].resources).not.toContainEqual({ type: 'ConfigMap' })
  })

  it('is listed the same by `objectList`, which refuses the same arguments', async () => {
    const of = '{ edges { cursor node { name } } pageInfo { hasNextPage endCursor } }'
    const args = `namespace: "${space}", labelSelector: "tier=a", first: 2`
    const { own, any, page } = await gateway.data(`{
      own: configMaps(${args}) ${of}
      any: objectList(group: "", kind: "ConfigMap", ${args}) ${of}
      page: podMetricsList(namespace: "${space}", first: 2) { pageInfo { endCursor } }
    }`)
    expect(any).toEqual(own)
    const next = await gateway.data(
      `query ($after: String) { objectList(kind: "PodMetrics", namespace: "${space}", first: 2, after: $after) { nodes { name } } }`,
      { after: page.pageInfo.endCursor },
    )
    expect(next.objectList.nodes).toEqual([{ name: 'c' }, { name: 'd' }])
    const { errors } = await gateway.query(
      `{ objectList(kind: "ConfigMap", where: { name: { eq: "c-1" } }) { totalCount } }`,
    )
    expect(errors).toMatchObject([{ extensions: { code: 'UNSUPPORTED', argument: 'where' } }])
    const jump = await gateway.query('{ configMaps(offset: 1) { nodes { name } } }')
    expect(jump.errors).toMatchObject([{ extensions: { code: 'UNSUPPORTED', argument: 'offset' } }])
  })

  it('holds the metadata of Secrets alone', async () => {
    const text = await gateway.queryText(
      `{ secret(namespace: "${space}", name: "s") { json } secrets(namespace: "${space}") { nodes { json } } }`,
    )
    expect(JSON.parse(text).data.secrets.nodes[0].json.metadata.name).toBe('s')
    expect(text).not.toContain(Buffer.from('hunter2').toString('base64'))
    expect(text).not.toContain('password')
  })

  it('is an object that is asked for live, also where its kind is cached, and its relations', async () => {
    const query = `{ pod(namespace: "${space}", name: "p", live: true) { metadata { labels } namespaceObject { metadata { name } } } }`
    await gateway.data(query)
    await must(cluster, `/api/v1/namespaces/${space}/pods/p`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { now: 'new' } } },
    })
    const requests = await readsOf('/pods/p', async () => {
      expect(await gateway.data(query)).toEqual({
        pod: {
          metadata: { labels: { now: 'new' } },
          namespaceObject: { metadata: { name: space } },
        },
      })
    })
    expect(requests).toEqual([`GET /api/v1/namespaces/${space}/pods/p`])
    const cached = query.replace('true', 'false')
    expect(await readsOf('/pods/p', () => gateway.data(cached))).toEqual([])
  })

  it('is read once for all fields of an operation that ask alike', async () => {
    const aliases = Array.from(
      { length: 20 },
      (_, at) => `a${at}: pod(namespace: "${space}", name: "p", live: true) { metadata { name } }`,
    )
    const requests = await readsOf('/pods/p', () => gateway.data(`{ ${aliases.join(' ')} }`))
    expect(requests).toHaveLength(1)
  })

  it('is bounded in its number, and refused before any of it is read', async () => {
    const aliases = Array.from(
      { length: 101 },
      (_, at) => `a${at}: pod(namespace: "${space}", name: "p-${at}", live: true) { kind }`,
    )
    const requests = await readsOf('/pods/p-', async () => {
      const { errors } = await gateway.query(`{ ${aliases.join(' ')} }`)
      expect(errors?.[0]).toMatchObject({ extensions: { code: 'QUERY_TOO_COSTLY', value: 101 } })
    })
    expect(requests).toEqual([])
  })

  const refused = (argument: string): object => ({
    errors: [{ extensions: { code: 'UNSUPPORTED', argument, type: 'ConfigMap' } }],
  })
  it.each([
    ['where', '(where: { name: { eq: "a" } })'],
    ['orderBy', '(orderBy: [{ name: ASC }])'],
    ['ids', '(ids: [])'],
    ['namespaces', '(namespaces: ["a"])'],
    ['last', '(last: 2)'],
    ['before', '(before: "x")'],
  ])('is not read by what needs an index: %s', async (argument, list) => {
    expect(await gateway.query(`{ configMaps${list} { nodes { kind } } }`)).toMatchObject(
      refused(argument),
    )
  })

  it.each([
    ['facets', 'facets(by: ["name"]) { by }'],
    ['resumeToken', 'resumeToken'],
    ['totalCount', 'totalCount'],
  ])('has no %s where only an index could tell', async (argument, selection) => {
    const list = `configMaps(namespace: "${space}", labelSelector: "tier=a", first: 1)`
    expect(await gateway.query(`{ ${list} { ${selection} } }`)).toMatchObject(refused(argument))
  })

  it('has the zero values of Kubernetes in metadata that the server does not store', async () => {
    const { podMetricsList } = await gateway.data(
      `{ podMetricsList(namespace: "${space}") { nodes { name uid creationTimestamp metadata { uid creationTimestamp } } } }`,
    )
    for (const { name: own, ...found } of podMetricsList.nodes as readonly Fields[]) {
      const { metadata, ...beside } = found
      expect(own).toMatch(/./)
      expect(beside).toEqual(metadata)
      expect(metadata).toMatchObject({ uid: '', creationTimestamp: expect.stringMatching(/Z$/) })
    }
    expect(podMetricsList.nodes).not.toEqual([])
  })

  it('has no subscriptions and no relations, and says so', async () => {
    const answers: readonly GraphQLAnswer[] = await Promise.all([
      firstAnswer(gateway.connect(), 'subscription { configMaps { synced } }'),
      firstAnswer(gateway.connect(), 'subscription { podMetricsList { synced } }'),
      gateway.query(
        `{ podMetrics(namespace: "${space}", name: "b") { namespaceObject { kind } } }`,
      ),
    ])
    for (const { errors } of answers) {
      expect(errors).toMatchObject([
        {
          message: expect.stringMatching(/is read (live|from the API server)/),
          extensions: { code: 'UNSUPPORTED' },
        },
      ])
    }
  })

  it.each([
    ['a selector', '(labelSelector: "a in (")', 'labelSelector'],
    ['a page size', '(first: -1)', 'first'],
    ['a cursor', '(after: "nonsense")', 'after'],
  ])('refuses %s that is wrong, naming the argument', async (_, list, argument) => {
    expect(await gateway.query(`{ configMaps${list} { nodes { kind } } }`)).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT', argument } }],
    })
  })

  it('refuses a cursor of another list', async () => {
    const { configMaps } = await gateway.data(
      `{ configMaps(namespace: "${space}", first: 1) { pageInfo { endCursor } } }`,
    )
    const query = 'query ($after: String) { configMaps(after: $after) { nodes { kind } } }'
    const { errors } = await gateway.query(query, { after: configMaps.pageInfo.endCursor })
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'after' } }])
  })

  it('is told apart in an explanation', async () => {
    const query = `{ configMaps(namespace: "${space}") { nodes { kind } } }`
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-informerql-explain': '1' },
      body: JSON.stringify({ query }),
    })
    const { extensions }: Fields = await response.json()
    expect(extensions.explain).toMatchObject({
      answeredBy: 'plan',
      fields: [{ path: 'configMaps', access: ['live'], reads: 1, returned: 5 }],
    })
  })

  it('is waited for until a deadline', async () => {
    const { kubeconfig } = cluster.selection
    await using hurried = await serveGateway({
      clusters: [{ name: 'one', ...(kubeconfig === undefined ? {} : { kubeconfig }) }],
      limits: { liveDeadlineMs: 200 },
    })
    const { errors } = await hurried.query(
      `{ pod(namespace: "${space}", name: "slow", live: true) { kind } }`,
    )
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('within 200 ms'),
        extensions: { code: 'CLUSTER_UNREACHABLE' },
      },
    ])
    const { data, errors: told } = await hurried.query(
      `{ podTemplate(namespace: "${space}", name: "slow") { kind printerColumns { name } } }`,
    )
    expect(data.podTemplate).toEqual({ kind: 'PodTemplate', printerColumns: null })
    expect(told).toMatchObject([
      {
        message: expect.stringContaining('within 200 ms'),
        path: ['podTemplate', 'printerColumns'],
        extensions: { code: 'CLUSTER_UNREACHABLE', type: 'PodTemplate' },
      },
    ])
  })

  it('is asked for once: the columns of many objects that only the server knows', async () => {
    const path = `/api/v1/namespaces/${space}/podtemplates`
    const query = (args: string): string =>
      `{ podTemplates(namespace: "${space}"${args}) { nodes { printerColumns { name type value } } } }`
    await gateway.data(query(''))
    const many = await readsOf('podtemplates', async () => {
      const { podTemplates } = await gateway.data(query(''))
      expect(podTemplates.nodes.map((node: Fields) => node.printerColumns[0].value)).toEqual([
        'slow',
        't-1',
        't-2',
      ])
      const age = podTemplates.nodes[0].printerColumns.find(({ name }: Fields) => name === 'Age')
      expect(age).toMatchObject({ type: 'date', value: expect.stringMatching(/^20.*Z$/) })
    })
    expect(many).toEqual([`GET ${path}?limit=500`])
    const one = await readsOf('podtemplates', () => gateway.data(query(', last: 1')))
    expect(one).toEqual([`GET ${path}/t-2`])
  })
})
