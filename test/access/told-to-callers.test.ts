import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { firstAnswer } from '../support/gateway.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'

/** The account of the gateway, which may not read Deployments. */
const account = 'account-of-the-gateway'
const ann = caller('ann', 'system:masters')
const address = 'http://127.0.0.1:1'

describe('callers who are asked who they are', () => {
  let cluster: TestCluster
  let served: ViewedGateway

  beforeAll(async () => {
    const user = { token: 'of-the-gateway', user: account }
    cluster = await startSimulatedCluster({}, [user])
    served = await serveViewers({
      clusters: [
        { name: 'good', ...(await cluster.selectionFor(user)) },
        { name: 'broken', server: address },
      ],
    })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const lookup = (cluster_: string, rest: string): string =>
    `{ deployment(cluster: "${cluster_}", namespace: "default", name: "a"${rest}) { kind } }`

  it.each([
    ['a kind that the gateway may not read', '{ deployments { totalCount } }', 'FORBIDDEN'],
    ['a live read that it may not make', lookup('good', ', live: true'), 'FORBIDDEN'],
    [
      'a cluster that cannot be reached',
      '{ deployments(cluster: "broken") { totalCount } }',
      'CLUSTER_UNREACHABLE',
    ],
    ['a live read of it', lookup('broken', ', live: true'), 'CLUSTER_UNREACHABLE'],
    [
      'a subscription to what the gateway may not read',
      'subscription { deployments { synced } }',
      'FORBIDDEN',
    ],
  ])('are told neither its account nor addresses by the error of %s', async (_, query, code) => {
    const answers = await Promise.all([
      ...(query.startsWith('{') ? [served.query(ann, query)] : []),
      firstAnswer(served.connect(ann), query),
    ])
    for (const answer of answers) {
      expect(answer.errors).toMatchObject([{ extensions: { code } }])
      expect(JSON.stringify(answer)).not.toMatch(new RegExp(`${account}|127\\.0\\.0\\.1|kube`))
    }
  })

  it('are not told what the API server says to the gateway, either', async () => {
    const { data } = await served.query(
      ann,
      '{ gatewayClusters { name state resources(loaded: true) { type state lastError } } }',
    )
    expect(JSON.stringify(data)).not.toContain(account)
    const { resources } = data.gatewayClusters[0]
    expect(resources).toContainEqual({
      type: 'Deployment',
      state: expect.any(String),
      lastError: null,
    })
  })

  it('learn by /readyz whether the gateway is ready, and no names, addresses or files', async () => {
    const response = await fetch(new URL('/readyz', served.url))
    expect([response.status, await response.text()]).toEqual([200, 'ok\n'])
    expect(served.gateway.readiness().reasons).toEqual([
      expect.stringContaining('cluster broken: 127.0.0.1:1'),
    ])
  })
})
