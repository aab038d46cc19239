import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway, type Variables } from '../support/gateway.ts'
import { type Fields, startSimulatedCluster, type TestCluster } from './test-cluster.ts'
import { company } from '../support/company.ts'

describe('an answer that is to be explained', () => {
  let cluster: TestCluster
  let gateway: ServedGateway
  beforeAll(async () => {
    cluster = await startSimulatedCluster({
      bookmarkIntervalMs: 0,
      populate: company({ pods: 2_000, seed: 'explain' }),
    })
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const ask = async (body: object, headers: Record<string, string> = {}): Promise<Fields> => {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return await response.json()
  }
  const explained = async (query: string, variables: Variables = {}): Promise<Fields> => {
    const { data, errors, extensions } = await ask({
      query,
      variables,
      extensions: { explain: true },
    })
    expect(errors).toBeUndefined()
    expect(data, 'the same as without').toEqual(await gateway.data(query, variables))
    return extensions.explain
  }

  it('says nothing unless asked', async () => {
    const query = '{ pods(first: 1) { nodes { kind } } }'
    for (const extensions of [undefined, {}, { explain: false }]) {
      expect(await ask({ query, extensions })).not.toHaveProperty('extensions')
    }
    expect(await ask({ query }, { 'x-informerql-explain': '0' })).not.toHaveProperty('extensions')
  })

  it('is, by the body, by a header, by WebSocket, and by an event stream', async () => {
    const query = '{ pods(first: 1) { nodes { kind } } }'
    const told = { explain: { answeredBy: 'plan', fields: [{ path: 'pods', returned: 1 }] } }
    const byBody = await ask({ query, extensions: { explain: true } })
    expect(byBody.extensions).toMatchObject(told)
    const byHeader = await ask({ query }, { 'x-informerql-explain': '1' })
    expect(byHeader.extensions).toMatchObject(told)
    const bySocket = await gateway
      .connect()
      .iterate({ query, extensions: { explain: true } })
      .next()
    expect(bySocket.value?.extensions).toMatchObject(told)
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, extensions: { explain: true } }),
    })
    const [, data = ''] = /^event: next\ndata: (.*)$/m.exec(await response.text()) ?? []
    expect(JSON.parse(data).extensions).toMatchObject(told)
  })

  it('names the index that answered, what had to be tested, and how many rows it took', async () => {
    const { nodes } = (await gateway.data('{ nodes(first: 1) { nodes { metadata { name } } } }'))
      .nodes
    const name: string = nodes[0].metadata.name
    const { pods } = await gateway.data(
      'query ($name: String) { pods(where: { nodeName: { eq: $name } }) { totalCount } }',
      { name },
    )
    const { fields } = await explained(
      'query ($name: String) { pods(where: { nodeName: { eq: $name } }, labelSelector: "no-such!=x", orderBy: [{ restarts: DESC }]) { totalCount nodes { kind } } }',
      { name },
    )
    expect(fields).toEqual([
      {
        path: 'pods',
        types: ['Pod'],
        reads: 1,
        access: ['postings'],
        postings: ['nodeName'],
        values: [],
        tested: ['not labels["no-such"]'],
        forwards: [],
        backwards: [],
        order: ['restarts'],
        scanned: false,
        examined: pods.totalCount,
        tests: expect.any(Number),
        returned: pods.totalCount,
      },
    ])
  })

  it('says of a selector that no index serves that it scanned', async () => {
    const { fields } = await explained(
      '{ pods(labelSelector: "no-such!=x", first: 500) { totalCount nodes { kind } } }',
    )
    expect(fields).toMatchObject([
      { scanned: true, tested: ['not labels["no-such"]'], postings: [], returned: 500 },
    ])
    expect(fields[0].examined).toBeGreaterThanOrEqual(500)
  })

  it('says of a test that it tried the values of its index', async () => {
    const { fields } = await explained(
      '{ pods(where: { name: { contains: "a-name-that-nobody-has" } }) { nodes { kind } } }',
    )
    expect(fields[0]).toMatchObject({ path: 'pods', returned: 0 })
    expect([...fields[0].values, ...fields[0].tested]).toEqual(['name'])
  })

  it('says of a filter by related objects from which side it was answered', async () => {
    const { nodes } = (await gateway.data('{ nodes(first: 1) { nodes { metadata { name } } } }'))
      .nodes
    const name: string = nodes[0].metadata.name
    const backwards = await explained(
      'query ($name: String) { pods(where: { node: { is: { name: { eq: $name } } } }) { totalCount } }',
      { name },
    )
    expect(backwards.fields).toMatchObject([
      {
        types: ['Node', 'Pod'],
        postings: ['node(name)'],
        backwards: ['Pod.node'],
        forwards: [],
        scanned: false,
      },
    ])
    const forwards = await explained(
      '{ nodes(where: { pods: { none: { phase: { eq: "Running" } } } }) { totalCount } }',
    )
    expect(forwards.fields).toMatchObject([
      { types: ['Node', 'Pod'], tested: ['not pods(phase)'], forwards: ['Node.pods'] },
    ])
  })

  it('says of a list without a condition that it walked the order, no further than it had to', async () => {
    const { fields } = await explained('{ pods(first: 10) { nodes { kind } } }')
    expect(fields).toMatchObject([
      { access: ['order'], scanned: false, examined: 11, returned: 10 },
    ])
  })

  it('tells of relations on all rows together', async () => {
    const query = `{ __schema { queryType { name } } few: deployments(first: 5) { edges { node { its: replicaSets(first: 3) { nodes { pods(first: 4) { totalCount nodes { node { kind } } } } } } } } pod(namespace: "none", name: "none") { kind } }`
    const { data } = await ask({ query })
    const replicaSets: Fields[] = data.few.edges.flatMap(({ node }: Fields) => node.its.nodes)
    const pods: Fields[] = replicaSets.flatMap(({ pods: { nodes } }) => nodes)
    const told = await explained(query)
    expect(told.answeredBy).toBe('plan')
    expect(told.fields).toMatchObject([
      { path: 'few', types: ['Deployment'], reads: 1, returned: 5 },
      {
        path: 'few.its',
        types: ['ReplicaSet'],
        reads: 5,
        access: ['postings'],
        returned: replicaSets.length,
        scanned: false,
      },
      { path: 'few.its.pods', types: ['Pod'], reads: replicaSets.length, returned: pods.length },
      {
        path: 'few.its.pods.node',
        types: ['Node'],
        access: ['key'],
        returned: pods.filter(({ node }) => node !== null).length,
      },
      { path: 'pod', types: ['Pod'], access: ['key'], reads: 1, examined: 1, returned: 0 },
    ])
  })

  it('tells the hits and misses of fragments', async () => {
    const query = '{ services(first: 7) { nodes { metadata { name creationTimestamp } } } }'
    const body = { query, extensions: { explain: true } }
    const first = await ask(body)
    expect(first.extensions.explain.fragments).toEqual({ hits: 0, misses: 7 })
    const second = await ask(body)
    expect(second.extensions.explain.fragments).toEqual({ hits: 7, misses: 0 })
  })

  it('tells of each kind how far its cache is behind, and at which resource version', async () => {
    const query = '{ nodes(first: 3) { resourceVersion nodes { pods(first: 1) { totalCount } } } }'
    const { types } = await explained(query)
    const { nodes } = await gateway.data(query)
    expect(types).toHaveLength(2)
    expect(types).toEqual(
      expect.arrayContaining([
        {
          cluster: 'one',
          type: 'Node',
          state: 'SYNCED',
          objects: expect.any(Number),
          resourceVersion: nodes.resourceVersion,
          lagMs: expect.any(Number),
        },
        expect.objectContaining({ type: 'Pod', objects: 2_000 }),
      ]),
    )
  })

  it('says how far it got where there are errors', async () => {
    const { errors, extensions } = await ask({
      query: '{ pods(first: -1) { nodes { kind } } nodes(first: 1) { nodes { kind } } }',
      extensions: { explain: true },
    })
    expect(errors).toHaveLength(1)
    expect(extensions.explain).toMatchObject({
      answeredBy: 'plan',
      fields: [{ path: 'nodes', returned: 1 }],
    })
  })
})
