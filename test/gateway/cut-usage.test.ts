import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import { created } from './created.ts'
import type { Fields } from './test-cluster.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'

const wait = { timeout: 60_000, interval: 50 }
const podsOf = { group: '', version: 'v1', resource: 'pods' } as const

describe('What a caller is told of a cluster that is cut', () => {
  let simulators: readonly Simulator[]
  let gateway: ServedGateway

  beforeAll(async () => {
    simulators = await Promise.all(
      ['one', 'two'].map((name) =>
        startSimulator({
          metrics: true,
          bookmarkIntervalMs: 0,
          populate: (storage) => {
            storage.create(podsOf, {
              metadata: {
                name: `${name}-pod`,
                namespace: 'shop',
                annotations: { 'simulator.informerql/usage': '100m 32Mi' },
              },
              spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'a' }] },
              status: { phase: 'Running' },
            } as Fields)
          },
        }),
      ),
    )
    const definition = definitionOf('Certificate', 'cert-manager.io', [versionOf('v1', {})])
    await created(simulators[0] as Simulator, definitionsPath, definition)
    gateway = await serveGateway({
      clusters: simulators.map((one, at) => ({ name: at === 0 ? 'one' : 'two', server: one.url })),
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const one of simulators) await one[Symbol.asyncDispose]()
  })

  it.each([
    'problems(types: ["Certificate"]) { totalCount }',
    'problems(types: ["certificates"]) { totalCount }',
    'search(text: "a", types: ["Certificate"]) { totalCount }',
    'can(verb: "list", type: "Certificate", cluster: "one")',
    'pods(cluster: "one") { nodes { owned(types: ["Certificate"]) { totalCount } } }',
  ])('says which type is meant by the name of a kind: %s', async (field) => {
    const { errors } = await gateway.query(`{ ${field} }`)
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(/there is no type "[Cc]ertificates?"/),
      extensions: { code: 'BAD_USER_INPUT', hint: 'the type is "CertManagerCertificate"' },
    })
  })

  it('says which type is meant in a subscription too', async () => {
    const { errors } = await firstAnswer(
      gateway.connect(),
      'subscription { problems(types: ["Certificate"]) { totalCount } }',
    )
    expect(errors).toMatchObject([
      { extensions: { hint: 'the type is "CertManagerCertificate"', argument: 'types' } },
    ])
  })

  it('keeps its known rows, last, in an order by usage that was never read, and no message has its address', async () => {
    await gateway.data('{ pods(clusters: ["*"]) { totalCount } }')
    simulators[1]?.faults.inject({ fault: { type: 'cut' } })
    const ordered = `{ pods(clusters: ["*"], orderBy: [{ usageCpu: DESC }]) {
      nodes { name usage { cpu } } incomplete { cluster code message } } }`
    const plain = `{ pods(clusters: ["*"], orderBy: [{ usageCpu: DESC }]) { nodes { name } } }`
    await expect
      .poll(async () => (await gateway.query(plain)).data?.pods.nodes, wait)
      .toEqual([{ name: 'one-pod' }, { name: 'two-pod' }])
    const answers = [
      await gateway.query(ordered),
      await gateway.query(plain),
      await gateway.query('{ pods(cluster: "two") { totalCount } }'),
      await gateway.query(
        '{ pods(cluster: "two", orderBy: [{ usageCpu: ASC }]) { nodes { name } } }',
      ),
      await gateway.query('{ secrets(cluster: "two") { totalCount } }'),
      await gateway.query('{ configMap(cluster: "two", namespace: "a", name: "b") { name } }'),
      await gateway.query(
        '{ problems(clusters: ["*"]) { nodes { message } incomplete { message } } }',
      ),
      await gateway.query(
        '{ podLogs(cluster: "two", namespace: "shop", pod: "two-pod") { lines { text } } }',
      ),
      await firstAnswer(gateway.connect(), 'subscription { secrets(cluster: "two") { synced } }'),
      await firstAnswer(
        gateway.connect(),
        'subscription { pods(clusters: ["*"], orderBy: [{ usageCpu: DESC }]) { incomplete { code message } } }',
      ),
    ]
    const told = JSON.stringify(answers)
    expect(told).toContain('cluster two cannot be reached')
    for (const secret of [new URL(simulators[1]?.url ?? '').host, 'ECONN', '127.0.0.1']) {
      expect(told).not.toContain(secret)
    }
  })
})
