import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { describeSmallWorld, reads } from './small-world.ts'

/** Reads workloads and what surrounds them, but no pods and no ReplicaSets. */
const carol = caller('carol')

const names = '{ nodes { metadata { name } } }'
const namesIn = ({ nodes }: Fields): readonly string[] =>
  nodes.map(({ metadata }: Fields) => metadata.name).toSorted()

describeSmallWorld('The surroundings of a workload', (world) => {
  let served: ViewedGateway
  beforeAll(async () => {
    const labels = { app: 'idle' }
    const { make, allow } = world()
    await make('/apis/apps/v1/namespaces/one/deployments', {
      metadata: { name: 'idle' },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    })
    await make('/api/v1/namespaces/one/services', {
      metadata: { name: 'idle' },
      spec: { selector: labels, ports: [{ port: 80 }] },
    })
    await make('/apis/networking.k8s.io/v1/namespaces/one/networkpolicies', {
      metadata: { name: 'all' },
      spec: { podSelector: {} },
    })
    await make('/apis/policy/v1/namespaces/one/poddisruptionbudgets', {
      metadata: { name: 'idle' },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    })
    await allow('one', 'carol', 'carol', [
      reads('', 'services'),
      reads('apps', 'deployments'),
      reads('networking.k8s.io', 'networkpolicies'),
      reads('policy', 'poddisruptionbudgets'),
    ])
    served = await serveViewers({ clusters: [world().selection] })
  })
  afterAll(async () => served[Symbol.asyncDispose]())

  it('are there without pods, and without the right to read pods', async () => {
    const { data, errors } = await served.query(
      carol,
      `{ deployment(namespace: "one", name: "idle") {
          services ${names} networkPolicies ${names} disruptionBudgets ${names}
        }
        service(namespace: "one", name: "idle") { deployments ${names} }
        networkPolicy(namespace: "one", name: "all") { deployments ${names} }
        deployments(namespace: "one", where: { services: { some: { name: { eq: "idle" } } } }) ${names}
        services(namespace: "one", where: { deployments: { some: { name: { eq: "idle" } } } }) ${names} }`,
    )
    expect(errors).toBeUndefined()
    expect(namesIn(data.deployment.services)).toEqual(['idle'])
    expect(namesIn(data.deployment.networkPolicies)).toEqual(['all'])
    expect(namesIn(data.deployment.disruptionBudgets)).toEqual(['idle'])
    expect(namesIn(data.service.deployments)).toEqual(['idle'])
    expect(namesIn(data.networkPolicy.deployments)).toEqual(['idle', 'shop'])
    expect(namesIn(data.deployments)).toEqual(['idle'])
    expect(namesIn(data.services)).toEqual(['idle'])
  })

  it('are edges of a graph', async () => {
    const { data: roots } = await served.query(
      carol,
      '{ deployment(namespace: "one", name: "idle") { id } }',
    )
    const { data } = await served.query(
      carol,
      `query ($roots: [ID!]!) { graph(roots: $roots, depth: 1, relations: ["services"]) {
        nodes { kind name } edges { relation } } }`,
      { roots: [roots.deployment.id] },
    )
    expect(data.graph).toEqual({
      nodes: [
        { kind: 'Deployment', name: 'idle' },
        { kind: 'Service', name: 'idle' },
      ],
      edges: [{ relation: 'Service.deployments' }],
    })
  })

  it('follow the selector of a Service in a live list', async () => {
    const service = '/api/v1/namespaces/one/services/idle'
    const rows = new Map<string, readonly string[]>()
    const leave = served.connect(carol).subscribe<Fields>(
      {
        query: `subscription { deployments(namespace: "one", coalesceMs: 5) { changes { objectId object {
          metadata { name } services ${names} } } } }`,
      },
      {
        next: ({ data }) => {
          for (const { object } of data?.['deployments'].changes ?? []) {
            rows.set(object.metadata.name, namesIn(object.services))
          }
        },
        error: () => {},
        complete: () => {},
      },
    )
    await expect.poll(() => rows.get('idle')).toEqual(['idle'])
    await world().patch(service, { spec: { selector: { app: 'other' } } })
    await expect.poll(() => rows.get('idle')).toEqual([])
    await world().patch(service, { spec: { selector: { app: 'idle' } } })
    await expect.poll(() => rows.get('idle')).toEqual(['idle'])
    leave()
  })
})
