import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { describeClusters, type Fields, must } from './test-cluster.ts'

const namespace = 'static-pods'
const core = `/api/v1/namespaces/${namespace}`
/** What the kubelet takes as the UID of the pod that it runs. */
const hash = '6a8b1e3f2d4c5b6a7980f1e2d3c4b5a6'
const names = '{ nodes { metadata { name } } }'

const namesIn = ({ nodes }: Fields): readonly string[] =>
  nodes.map(({ metadata }: Fields) => metadata.name).toSorted()

describeClusters('the events of a static pod', (cluster) => {
  let gateway: ServedGateway

  const event = (name: string, pod: string, uid: string): Promise<Fields> =>
    must(cluster(), `${core}/events`, {
      method: 'POST',
      body: {
        metadata: { name, namespace },
        reason: 'Started',
        involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: pod, uid },
      },
    })

  beforeAll(async () => {
    await must(cluster(), '/api/v1/namespaces', {
      method: 'POST',
      body: { metadata: { name: namespace } },
    })
    await must(cluster(), `${core}/serviceaccounts`, {
      method: 'POST',
      body: { metadata: { name: 'default' } },
    })
    for (const [name, annotations] of [
      ['etcd-worker', { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash }],
      ['web', {}],
    ] as const) {
      await must(cluster(), `${core}/pods`, {
        method: 'POST',
        body: {
          metadata: { name, annotations },
          spec: { nodeName: 'worker', containers: [{ name: 'main', image: 'a' }] },
        },
      })
    }
    await event('started', 'etcd-worker', hash)
    const formerHash = '0'.repeat(hash.length)
    await event('former', 'etcd-worker', formerHash)
    await event('of-web', 'web', formerHash)
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster().selection }] })
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it('are found by the hash of its configuration', async () => {
    const query = `{
      etcd: pod(namespace: "${namespace}", name: "etcd-worker") { events ${names} }
      web: pod(namespace: "${namespace}", name: "web") { events ${names} }
      started: pods(namespace: "${namespace}", where: { events: { some: { reason: { eq: "Started" } } } }) ${names}
      events(namespace: "${namespace}") { nodes { metadata { name } involved { name object { metadata { name } } } } }
    }`
    const { etcd, web, started, events } = await gateway.data(query)
    expect(namesIn(etcd.events)).toEqual(['started'])
    expect(namesIn(web.events)).toEqual([])
    expect(namesIn(started)).toEqual(['etcd-worker'])
    const objects = events.nodes.map(({ metadata, involved }: Fields) => [
      metadata.name,
      involved.object?.metadata.name ?? null,
    ])
    expect(Object.fromEntries(objects)).toEqual({
      started: 'etcd-worker',
      former: null,
      'of-web': null,
    })
  })

  it('lead to the pod by the id of what they are about', async () => {
    const { events } = await gateway.data(
      `{ events(namespace: "${namespace}") { nodes { name involved { id } } } }`,
    )
    const answer = async (name: string): Promise<Fields> => {
      const { involved } = events.nodes.find((one: Fields) => one.name === name)
      const query = `query ($id: ID!) { object(id: $id) { name } objects(ids: [$id]) { name } }`
      const { data } = await gateway.query(query, { id: involved.id })
      const { object, objects } = data
      return [object, ...objects].map((one) => one?.name ?? null)
    }
    expect(await answer('started')).toEqual(['etcd-worker', 'etcd-worker'])
    expect(await answer('former')).toEqual([null, null])
  })
})
