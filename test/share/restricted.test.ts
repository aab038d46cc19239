import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { company } from '../support/company.ts'
import { type GraphQLAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'

const names = ['ap', 'eu', 'us'] as const

describe('an operation that extensions.clusters restricts', () => {
  const simulators: Simulator[] = []
  let gateway: ServedGateway

  beforeAll(async () => {
    for (const name of names) {
      const populate = company({ pods: 40, seed: `restricted ${name}` })
      simulators.push(await startSimulator({ populate }))
    }
    gateway = await serveGateway({
      clusters: names.map((name, at) => ({ name, server: simulators[at]?.url ?? '' })),
    })
  })

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const one of simulators) await one[Symbol.asyncDispose]()
  })

  const asked = async (
    query: string,
    clusters: unknown,
    explain = false,
  ): Promise<GraphQLAnswer> => {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, extensions: { clusters, explain } }),
    })
    return (await response.json()) as GraphQLAnswer
  }
  const pods = (args: string): string =>
    `{ pods(${args}, first: 5) { totalCount incomplete { cluster } nodes { clusterName name } edges { cursor } } }`
  const clustersIn = ({ data }: GraphQLAnswer): readonly string[] => [
    ...new Set<string>(data.pods.nodes.map((pod: { clusterName: string }) => pod.clusterName)),
  ]

  it('is about these clusters, whether it names all, some of them, or others as well', async () => {
    for (const args of ['clusters: ["*"]', 'clusters: ["eu", "us"]', 'clusterSelector: ""']) {
      const answer = await asked(pods(args), ['eu'])
      expect(answer).not.toHaveProperty('errors')
      expect(clustersIn(answer)).toEqual(['eu'])
      expect(answer.data.pods.incomplete).toEqual([])
    }
    const none = await asked(pods('clusters: ["ap"]'), ['eu'])
    expect(none).toEqual({
      data: { pods: { totalCount: 0, incomplete: [], nodes: [], edges: [] } },
    })
    const { data } = await asked('{ gatewayClusters { name } }', ['us', 'ap'])
    expect(data.gatewayClusters).toEqual([{ name: 'ap' }, { name: 'us' }])
  })

  it('has the cursors that it has without the restriction', async () => {
    const args = 'clusters: ["*"], orderBy: [{ name: DESC }]'
    const whole = await gateway.data(pods(args))
    const last = whole.pods.edges.at(-1).cursor
    const { data, errors } = await asked(pods(`${args}, after: "${last}"`), ['eu', 'us'])
    expect(errors).toBeUndefined()
    const next = await gateway.data(pods(`${args}, after: "${last}"`))
    const cursors = new Set(next.pods.edges.map(({ cursor }: { cursor: string }) => cursor))
    expect(data.pods.edges.some(({ cursor }: { cursor: string }) => cursors.has(cursor))).toBe(true)
  })

  it('refuses what is about a cluster that is left out, and says so', async () => {
    const { pods: found } = await gateway.data('{ pods(cluster: "us", first: 1) { nodes { id } } }')
    const id = JSON.stringify(found.nodes[0].id)
    for (const query of [
      '{ pods { totalCount } }',
      '{ pods(cluster: "us") { totalCount } }',
      `{ object(id: ${id}) { id } }`,
    ]) {
      const { data, errors } = await asked(query, ['eu'])
      expect(Object.values(data)).toEqual([null])
      expect(errors?.[0]?.extensions.code).toBe('CLUSTER_UNREACHABLE')
    }
    expect(await asked(`{ object(id: ${id}) { id } }`, ['us'])).not.toHaveProperty('errors')
  })

  it('is refused for a cluster that the gateway does not know, and for what is no list of names', async () => {
    for (const explain of [false, true]) {
      const { errors } = await asked(pods('clusters: ["*"]'), ['eu', 'nowhere'], explain)
      expect(errors?.[0]?.extensions).toMatchObject({
        code: 'CLUSTER_UNREACHABLE',
        cluster: 'nowhere',
      })
      const wrong = await asked(pods('clusters: ["*"]'), 'eu', explain)
      expect(wrong.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
    }
  })
})
