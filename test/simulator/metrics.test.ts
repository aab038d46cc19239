import { type Simulator, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { ask, type ContractServer, type Fields } from '../contract/contract-server.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }
const nodes = { group: '', version: 'v1', resource: 'nodes' }
const pod = (name: string, namespace: string, phase = 'Running'): Fields => ({
  metadata: { name, namespace, labels: { app: name } },
  spec: {
    nodeName: 'node-1',
    containers: [
      {
        name: 'main',
        resources: { requests: { cpu: '500m', memory: '64Mi' }, limits: { memory: '64Mi' } },
      },
    ],
  },
  status: { phase },
})
const serverOf = ({ url }: Simulator): ContractServer => ({
  url,
  headers: {},
  expireHistory: async () => undefined,
})
const root = '/apis/metrics.k8s.io/v1beta1'

describe('The metrics-server of the simulator', () => {
  const start = (metrics: boolean): Promise<Simulator> =>
    startSimulator({
      metrics,
      populate: (storage) => {
        storage.create(nodes, { metadata: { name: 'node-1' } } as Fields)
        storage.create(pods, pod('a', 'shop'))
        storage.create(pods, pod('b', 'jobs'))
        storage.create(pods, pod('done', 'jobs', 'Succeeded'))
      },
    })

  it('answers in the shape of metrics-server, by name, namespace and label, without a watch', async () => {
    await using simulator = await start(true)
    const server = serverOf(simulator)
    const { json } = await ask(server, `${root}/pods`)
    expect(json).toMatchObject({
      kind: 'PodMetricsList',
      apiVersion: 'metrics.k8s.io/v1beta1',
      metadata: {},
    })
    const names = ({ items }: Fields): readonly string[] =>
      items.map(({ metadata }: Fields) => metadata.name).toSorted()
    expect(names(json)).toEqual(['a', 'b'])
    const [first] = json.items
    expect(first).toEqual({
      metadata: {
        name: expect.any(String),
        namespace: expect.any(String),
        creationTimestamp: expect.any(String),
        labels: expect.any(Object),
      },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      window: expect.stringMatching(/^[0-9.]+s$/),
      containers: [
        {
          name: 'main',
          usage: { cpu: expect.stringMatching(/^\d+n$/), memory: expect.stringMatching(/^\d+Ki$/) },
        },
      ],
    })
    // Within the limit, or it would be killed.
    const [{ usage }] = first.containers
    expect(Number(usage.memory.slice(0, -2))).toBeLessThan(64 * 1024)
    expect(names((await ask(server, `${root}/namespaces/shop/pods`)).json)).toEqual(['a'])
    expect(names((await ask(server, `${root}/pods?labelSelector=app%3Db`)).json)).toEqual(['b'])
    const one = await ask(server, `${root}/namespaces/jobs/pods/b`)
    expect(one.json).toMatchObject({ kind: 'PodMetrics', metadata: { name: 'b' } })
    expect((await ask(server, `${root}/namespaces/jobs/pods/done`)).status).toBe(404)
    const node = await ask(server, `${root}/nodes/node-1`)
    expect(node.json).toMatchObject({ kind: 'NodeMetrics', usage: { cpu: expect.any(String) } })
    expect((await ask(server, `${root}/pods?watch=1`)).status).toBe(405)
    expect((await ask(server, `${root}/nodes`, { method: 'POST', body: '{}' })).status).toBe(405)
  })

  it('is in discovery, with its APIService, only where it runs', async () => {
    for (const metrics of [true, false]) {
      await using simulator = await start(metrics)
      const server = serverOf(simulator)
      const [groups, list, service] = await Promise.all([
        ask(server, '/apis'),
        ask(server, root),
        ask(server, '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io'),
      ])
      const found = groups.json.groups.some(({ name }: Fields) => name === 'metrics.k8s.io')
      expect(found).toBe(metrics)
      expect([list.status, service.status]).toEqual(metrics ? [200, 200] : [404, 404])
      if (!metrics) continue
      const verbs = list.json.resources.map(({ name, verbs: of }: Fields) => [name, of])
      expect(verbs).toEqual([
        ['nodes', ['get', 'list']],
        ['pods', ['get', 'list']],
      ])
      expect(service.json.status.conditions).toMatchObject([{ type: 'Available', status: 'True' }])
    }
  })
})
