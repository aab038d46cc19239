import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { connectTo, failureOf, type LocalServer, startLocalServer } from './local-server.ts'

type Answers = Readonly<Record<string, unknown>>

/** Answers each path with its JSON, a number as a status, and everything else with 404. */
const serve = async (answers: Answers, aggregated: Answers = {}): Promise<LocalServer> =>
  startLocalServer(({ url = '', headers }, response) => {
    const isAggregated = headers.accept?.includes('v=v2') === true
    const answer = (isAggregated ? aggregated[url] : undefined) ?? answers[url] ?? 404
    if (typeof answer === 'number') response.writeHead(answer).end()
    else response.end(JSON.stringify(answer))
  })

const pod = {
  resource: 'pods',
  responseKind: { group: '', version: '', kind: 'Pod' },
  scope: 'Namespaced',
  singularResource: 'pod',
  verbs: ['get', 'list', 'watch'],
  shortNames: ['po'],
  subresources: [{ subresource: 'log' }, { subresource: 'status' }],
}

const scaler = (version: string) => ({
  version,
  freshness: 'Current',
  resources: [
    {
      resource: 'horizontalpodautoscalers',
      responseKind: { group: '', version: '', kind: 'HorizontalPodAutoscaler' },
      scope: 'Namespaced',
      singularResource: 'horizontalpodautoscaler',
      verbs: ['get', 'list'],
    },
  ],
})

const aggregated = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [
      { metadata: {}, versions: [{ version: 'v1', freshness: 'Current', resources: [pod] }] },
    ],
  },
  '/apis': {
    kind: 'APIGroupDiscoveryList',
    items: [
      { metadata: { name: 'autoscaling' }, versions: [scaler('v2'), scaler('v1')] },
      {
        metadata: { name: 'metrics.k8s.io' },
        versions: [{ version: 'v1beta1', freshness: 'Stale' }],
      },
      {
        metadata: { name: 'only.sub' },
        versions: [{ version: 'v1', resources: [{ resource: 'x', responseKind: { kind: '' } }] }],
      },
    ],
  },
}

const resourceList = (resources: readonly object[]) => ({ kind: 'APIResourceList', resources })
const plainScalers = resourceList([
  {
    name: 'horizontalpodautoscalers',
    singularName: 'horizontalpodautoscaler',
    namespaced: true,
    kind: 'HorizontalPodAutoscaler',
    verbs: ['get', 'list'],
  },
])
const plain = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'autoscaling',
        versions: [{ version: 'v2' }, { version: 'v1' }],
        preferredVersion: { version: 'v2' },
      },
      { name: 'metrics.k8s.io', versions: [{ version: 'v1beta1' }] },
    ],
  },
  '/api/v1': resourceList([
    { name: 'pods/log', namespaced: true, kind: 'Pod', verbs: ['get'] },
    {
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['get', 'list', 'watch'],
      shortNames: ['po'],
    },
    { name: 'pods/status', namespaced: true, kind: 'Pod', verbs: ['get'] },
  ]),
  '/apis/autoscaling/v1': plainScalers,
  '/apis/autoscaling/v2': plainScalers,
  '/apis/metrics.k8s.io/v1beta1': 503,
}

const expectedPods = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  singular: 'pod',
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  shortNames: ['po'],
  subresources: ['log', 'status'],
}

describe('discovery', () => {
  it.each([
    ['aggregated', plain, aggregated],
    ['plain', plain, {}],
    // Such a server knows nothing of the parameters of Accept, or refuses them.
    ['plain', plain, { '/api': 406, '/apis': 406 }],
  ])('tells what is served, and what could not be learned: %s', async (format, whole, first) => {
    await using server = await serve(whole, first)
    await using api = connectTo(server.url)
    const found = await api.discover()
    expect(found.format).toBe(format)
    expect(found.resources).toContainEqual(expectedPods)
    const versions = found.resources.map(
      ({ group, version, kind }) => `${group}/${version} ${kind}`,
    )
    expect(versions.toSorted()).toEqual([
      '/v1 Pod',
      'autoscaling/v1 HorizontalPodAutoscaler',
      'autoscaling/v2 HorizontalPodAutoscaler',
    ])
    expect(found.failures).toMatchObject([{ group: 'metrics.k8s.io', version: 'v1beta1' }])
    const error = format === 'plain' ? { httpStatus: 503 } : { code: 'STALE_GROUP' }
    expect(found.failures[0]?.error).toMatchObject(error)
  })

  it('takes a server without a core group, and one whose other groups are hidden', async () => {
    await using other = await serve({}, { '/apis': aggregated['/apis'] })
    await using otherApi = connectTo(other.url)
    const found = await otherApi.discover()
    expect([found.resources.length, found.failures.length]).toEqual([2, 1])
    await using hidden = await serve({ ...plain, '/apis': 403 })
    await using hiddenApi = connectTo(hidden.url)
    const { resources, failures } = await hiddenApi.discover()
    expect(resources).toEqual([expectedPods])
    expect(failures).toMatchObject([{ group: '*', error: { httpStatus: 403 } }])
  })

  it('fails where nothing can be discovered, or the answers are none', async () => {
    await using closed = await serve({ '/api': 403, '/apis': 403 })
    await using closedApi = connectTo(closed.url)
    expect(await failureOf(closedApi.discover())).toMatchObject({ httpStatus: 403 })
    await using other = await serve({ '/api': { hello: 'world' }, '/apis': { kind: 'X' } })
    await using otherApi = connectTo(other.url)
    expect(await failureOf(otherApi.discover())).toMatchObject({ code: 'DISCOVERY_FORMAT' })
  })
})

describe('the version of a server', () => {
  it('is read as clouds write it, too', async () => {
    for (const [major, minor, gitVersion] of [
      ['1', '36+', 'v1.36.3-gke'],
      ['', '', 'v1.36.1'],
    ]) {
      await using server = await serve({ '/version': { major, minor, gitVersion } })
      await using api = connectTo(server.url)
      expect(await api.version()).toEqual({ major: 1, minor: 36, gitVersion })
    }
  })

  it.each([{}, { gitVersion: 'dev' }])('is missing where the answer is %j', async (answer) => {
    await using server = await serve({ '/version': answer })
    await using api = connectTo(server.url)
    expect(await failureOf(api.version())).toMatchObject({ code: 'UNEXPECTED_ANSWER' })
  })
})

const index = (hash: string) => ({
  paths: {
    'api/v1': { serverRelativeURL: '/openapi/v3/api/v1?hash=A' },
    'apis/apps/v1': { serverRelativeURL: `/openapi/v3/apis/apps/v1?hash=${hash}` },
    'apis/broken/v1': { serverRelativeURL: '/openapi/v3/apis/broken/v1?hash=C' },
  },
})

describe('the OpenAPI documents', () => {
  it('are fetched once for each hash, and one that fails leaves the others whole', async () => {
    const asked: string[] = []
    let hash = 'B'
    await using server = await startLocalServer(({ url = '' }, response) => {
      asked.push(url)
      if (url === '/openapi/v3') response.end(JSON.stringify(index(hash)))
      else if (url.includes('broken')) response.writeHead(503).end()
      else response.end(JSON.stringify({ openapi: '3.0.0', info: { title: url } }))
    })
    await using api = connectTo(server.url)
    const { documents, failures } = await api.openApi()
    expect(Object.keys(documents)).toEqual(['api/v1', 'apis/apps/v1'])
    expect(failures).toMatchObject([{ code: 'OPENAPI_DOCUMENT', value: 'apis/broken/v1' }])
    asked.length = 0
    hash = 'B2'
    const again = await api.openApi({ isWanted: (path) => !path.includes('broken') })
    expect(asked).toEqual(['/openapi/v3', '/openapi/v3/apis/apps/v1?hash=B2'])
    expect(again.documents['api/v1']).toBe(documents['api/v1'])
    expect(again.failures).toEqual([])
  })

  it('are followed where one has changed after the index was written', async () => {
    await using server = await startLocalServer(({ url = '' }, response) => {
      if (url === '/openapi/v3') response.end(JSON.stringify(index('OLD')))
      else if (url.includes('?')) response.writeHead(301, { location: '/x' }).end()
      else response.end(JSON.stringify({ openapi: '3.0.0', info: { title: url } }))
    })
    await using api = connectTo(server.url)
    const { documents, failures } = await api.openApi()
    expect(failures).toEqual([])
    expect(documents['api/v1']).toMatchObject({ info: { title: '/openapi/v3/api/v1' } })
  })

  it('are not fetched again from a server that names the hash of one that another has sent, if it was of that hash', async () => {
    const text = JSON.stringify({ openapi: '3.0.0', info: { title: 'of all' } })
    const hash = createHash('sha512').update(text).digest('hex').toUpperCase()
    const asked: string[] = []
    const start = (sent: string): ReturnType<typeof startLocalServer> =>
      startLocalServer(({ url = '' }, response) => {
        if (url !== '/openapi/v3') asked.push(url)
        const serverRelativeURL = `/openapi/v3/apis/apps/v1?hash=${hash}`
        const paths = { 'apis/apps/v1': { serverRelativeURL } }
        response.end(url === '/openapi/v3' ? JSON.stringify({ paths }) : sent)
      })
    await using lying = await start(JSON.stringify({ openapi: '3.0.0', info: { title: 'a lie' } }))
    await using one = await start(text)
    await using two = await start(text)
    const documents: unknown[] = []
    for (const { url } of [lying, one, two]) {
      await using api = connectTo(url)
      documents.push((await api.openApi()).documents['apis/apps/v1'])
    }
    expect(documents[0]).toMatchObject({ info: { title: 'a lie' } })
    expect(documents[1]).toMatchObject({ info: { title: 'of all' } })
    expect(documents[2]).toBe(documents[1])
    expect(asked).toHaveLength(2)
  })

  it('are in memory once for all servers that serve the same', async () => {
    const start = (title: string): ReturnType<typeof startLocalServer> =>
      startLocalServer(({ url = '' }, response) => {
        if (url === '/openapi/v3') response.end(JSON.stringify(index('B')))
        else response.end(JSON.stringify({ openapi: '3.0.0', info: { title } }))
      })
    await using one = await start('same')
    await using two = await start('same')
    await using three = await start('of the same hash, as this server says')
    const documents = await Promise.all(
      [one, two, three].map(async ({ url }) => {
        await using api = connectTo(url)
        return (await api.openApi()).documents['api/v1']
      }),
    )
    expect(documents[1]).toBe(documents[0])
    expect(documents[2]).not.toEqual(documents[0])
  })

  it('are missing as a whole from older servers', async () => {
    await using server = await serve({})
    await using api = connectTo(server.url)
    expect(await failureOf(api.openApi())).toMatchObject({ httpStatus: 404 })
  })
})
