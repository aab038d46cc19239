import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  firstAnswer,
  type ServedGateway,
  serveGateway,
  type Variables,
} from '../support/gateway.ts'
import { startSimulatedCluster, type TestCluster } from './test-cluster.ts'

/** Three lists, each within the one before. */
const nested = (arguments_: readonly [string, string, string]): string => {
  const [deployments, replicaSets, pods] = arguments_
  return `{ deployments${deployments} { nodes { replicaSets${replicaSets} { nodes { pods${pods} { nodes { kind } } } } } } }`
}

describe('an operation whose page sizes alone ask for too much', () => {
  let cluster: TestCluster
  let gateway: ServedGateway
  beforeAll(async () => {
    cluster = await startSimulatedCluster()
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster.selection }],
      limits: { maxPathRows: 1_000 },
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  it.each<[string, string, Variables, string, number, string]>([
    [
      'by default sizes',
      nested(['', '', '']),
      {},
      'deployments.replicaSets.pods: pages of 100 x 100 x 100',
      1_000_000,
      'first',
    ],
    [
      'by literals',
      nested(['(first: 5)', '(last: 30)', '(first: 20)']),
      {},
      'deployments.replicaSets.pods: pages of 5 x 30 x 20',
      3_000,
      'last',
    ],
    [
      'by variables, and by their defaults',
      'query ($n: Int = 40, $m: Int) { services(first: $n) { nodes { pods(first: $m) { edges { node { kind } } } } } }',
      { m: 50 },
      'services.pods: pages of 40 x 50',
      2_000,
      'first',
    ],
    [
      'through fragments and aliases',
      `query { all: services { ...Page } }
       fragment Page on ServiceConnection { edges { ...Edge } }
       fragment Edge on ServiceEdge { node { ...Selected } }
       fragment Selected on KubernetesObject { ... on Service { its: pods { nodes { kind } } } }`,
      {},
      'all.its: pages of 100 x 100',
      10_000,
      'first',
    ],
    [
      'through a relation to one, which counts as one',
      '{ pods(first: 50) { nodes { node { pods(first: 50) { nodes { kind } } } } } }',
      {},
      'pods.pods: pages of 50 x 50',
      2_500,
      'first',
    ],
    [
      'below objects by their ids',
      `{ objects(ids: [${'"a",'.repeat(11)}]) { owned { nodes { kind } } } }`,
      {},
      'objects.owned: pages of 11 x 100',
      1_100,
      'first',
    ],
  ])('is refused %s, by both transports', async (_, query, variables, message, value, argument) => {
    const [byHttp, byWebSocket] = await Promise.all([
      gateway.query(query, variables),
      firstAnswer(gateway.connect(), query, variables),
    ])
    expect(byHttp).not.toHaveProperty('data')
    expect(byHttp.errors).toHaveLength(1)
    expect(byHttp.errors?.[0]).toMatchObject({
      message: expect.stringContaining(`${message} make ${value} objects, and at most 1000`),
      locations: [{ line: expect.any(Number) }],
      extensions: {
        code: 'QUERY_TOO_COSTLY',
        argument,
        value,
        hint: expect.stringContaining(`smaller \`${argument}\` of`),
      },
    })
    expect(byWebSocket.errors).toEqual(byHttp.errors)
  })

  it.each<[string, string, Variables?]>([
    ['that just fit', '{ services(first: 10) { nodes { pods { nodes { kind } } } } }'],
    [
      'of lists of which only the number is asked for',
      '{ services { nodes { pods { totalCount pageInfo { hasNextPage } } } } }',
    ],
    [
      'that the request leaves out',
      'query ($all: Boolean!) { services { nodes { pods @include(if: $all) { nodes { kind } } } } }',
      { all: false },
    ],
    [
      'side by side',
      '{ a: services(first: 500) { nodes { kind } } b: services(first: 500) { nodes { kind } } c: pods { nodes { kind } } }',
    ],
    [
      'of as many objects as there are ids',
      '{ services(ids: []) { nodes { pods { nodes { kind } } } } }',
    ],
  ])('is answered with page sizes %s', async (_, query, variables) => {
    const { errors, data } = await gateway.query(query, variables)
    expect(errors).toBeUndefined()
    expect(data).toBeDefined()
  })

  it('leaves a size that its field refuses to the field', async () => {
    const query = '{ services(first: 501) { nodes { pods { nodes { kind } } } } }'
    const { errors } = await gateway.query(query)
    expect(errors).toMatchObject([
      { path: ['services'], extensions: { code: 'BAD_USER_INPUT', argument: 'first' } },
    ])
  })

  it('refuses no subscription for the objects of its frames, but for the lists within them', async () => {
    const query = `subscription { services { changes { object { pods(first: 100) { nodes { services(first: 20) { nodes { kind } } } } } } } }`
    const answer = await firstAnswer(gateway.connect(), query)
    expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COSTLY', value: 2_000 })
  })
})
