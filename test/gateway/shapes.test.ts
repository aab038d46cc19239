import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { makeNamespaces } from './random-writes.ts'
import { type Fields, must, startSimulatedCluster, type TestCluster } from './test-cluster.ts'

const space = 'shapes'
const containers = [{ name: 'main', image: 'nginx:1' }]
const template = { metadata: { labels: { app: 'web' } }, spec: { containers } }
const selector = { matchLabels: { app: 'web' } }

/** A Deployment with its ReplicaSet and two pods, what is said about one of them, and what scales it. */
async function populate(cluster: TestCluster): Promise<readonly Fields[]> {
  await makeNamespaces(cluster, [space])
  const make = async (path: string, body: object): Promise<Fields> =>
    must(cluster, path, { method: 'POST', body })
  const owned = ({ apiVersion, kind, metadata: { name, uid } }: Fields): object => ({
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  })
  await make('/api/v1/nodes', { metadata: { name: 'n-0' } })
  const apps = `/apis/apps/v1/namespaces/${space}`
  const deployment = await make(`${apps}/deployments`, {
    metadata: { name: 'web' },
    spec: { selector, template },
  })
  const replicaSet = await make(`${apps}/replicasets`, {
    metadata: {
      name: 'web-1',
      ...owned({ ...deployment, apiVersion: 'apps/v1', kind: 'Deployment' }),
    },
    spec: { selector, template },
  })
  const pods: Fields[] = []
  for (const [name, tier] of [
    ['web-a', 'front'],
    ['web-b', 'back'],
  ]) {
    const metadata = {
      name,
      labels: { app: 'web', tier },
      ...owned({ ...replicaSet, apiVersion: 'apps/v1', kind: 'ReplicaSet' }),
    }
    // One after the other, so that their order is that of their names.
    pods.push(await make(`/api/v1/namespaces/${space}/pods`, { metadata, spec: { containers } }))
  }
  const events = `/api/v1/namespaces/${space}/events`
  await make(events, {
    metadata: { name: 'about-pod' },
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: space,
      name: 'web-a',
      uid: pods[0]?.metadata.uid,
    },
  })
  await make(events, {
    metadata: { name: 'about-node' },
    involvedObject: { kind: 'Node', apiVersion: 'v1', name: 'n-0', uid: 'n-0' },
  })
  await make(`/apis/autoscaling/v2/namespaces/${space}/horizontalpodautoscalers`, {
    metadata: { name: 'web' },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    },
  })
  return pods
}

describe('the shapes that clients see', () => {
  let cluster: TestCluster
  let gateway: ServedGateway

  beforeAll(async () => {
    cluster = await startSimulatedCluster()
    await populate(cluster)
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const pods = async (args: string): Promise<readonly string[]> => {
    const answer = await gateway.data(`{ pods(${args}) { nodes { metadata { name } } } }`)
    return answer.pods.nodes.map(({ metadata }: Fields) => metadata.name)
  }

  it('an object says where it is', async () => {
    const { pod } = await gateway.data(
      `{ pod(namespace: "${space}", name: "web-a") { clusterName cluster { name state } namespaceObject { metadata { name } } } }`,
    )
    expect(pod).toEqual({
      clusterName: 'one',
      cluster: { name: 'one', state: 'CONNECTED' },
      namespaceObject: { metadata: { name: space } },
    })
  })

  it('name, namespace, uid, creationTimestamp and labels stand beside metadata', async () => {
    const fields = 'name namespace uid creationTimestamp labels'
    const { pod, objects, namespaces } = await gateway.data(
      `{ pod(namespace: "${space}", name: "web-a") { ${fields} metadata { ${fields} } }
         objects: search(text: "web-a", types: ["Pod"]) { nodes { object { object { ${fields} } } } }
         namespaces { nodes { namespace } } }`,
    )
    const { metadata, ...beside } = pod
    expect(beside).toEqual(metadata)
    expect(beside).toMatchObject({
      name: 'web-a',
      namespace: space,
      uid: expect.stringMatching(/./),
    })
    expect(objects.nodes.map(({ object }: Fields) => object.object)).toContainEqual(beside)
    expect(namespaces.nodes).toContainEqual({ namespace: null })
  })

  it('the chain of owners goes up to the last one', async () => {
    const { pod } = await gateway.data(`{ pod(namespace: "${space}", name: "web-a") {
      ownerChain { apiVersion kind namespace name object { __typename metadata { name } } }
    } }`)
    const ref = (kind: string, name: string): object => ({
      apiVersion: 'apps/v1',
      kind,
      namespace: space,
      name,
      object: { __typename: kind, metadata: { name } },
    })
    expect(pod.ownerChain).toEqual([ref('ReplicaSet', 'web-1'), ref('Deployment', 'web')])
  })

  it('an event says what it is about, and an autoscaler what it scales', async () => {
    const { events, horizontalPodAutoscaler } = await gateway.data(`{
      events(namespace: "${space}") { nodes { involved { kind namespace name object { id metadata { name } } } } }
      horizontalPodAutoscaler(namespace: "${space}", name: "web") { target { id kind namespace object { id } } }
    }`)
    expect(events.nodes.map(({ involved }: Fields) => involved)).toMatchObject([
      { kind: 'Node', namespace: null, name: 'n-0', object: { metadata: { name: 'n-0' } } },
      { kind: 'Pod', namespace: space, name: 'web-a', object: { metadata: { name: 'web-a' } } },
    ])
    const { target } = horizontalPodAutoscaler
    expect(target).toMatchObject({ kind: 'Deployment', namespace: space })
    const found = await gateway.data('query ($id: ID!) { object(id: $id) { id } }', {
      id: target.id,
    })
    expect(found.object).toEqual(target.object)
  })

  it('an object is found by what others call it', async () => {
    const byRef = (rest: string): string =>
      `{ objectByRef(${rest}) { __typename metadata { name } } }`
    const found = await gateway.data(
      byRef(`apiVersion: "apps/v1", kind: "Deployment", namespace: "${space}", name: "web"`),
    )
    expect(found.objectByRef).toEqual({ __typename: 'Deployment', metadata: { name: 'web' } })
    const node = await gateway.data(byRef('apiVersion: "v1", kind: "Node", name: "n-0"'))
    expect(node.objectByRef).toMatchObject({ __typename: 'Node' })
    const none = await gateway.data(byRef('apiVersion: "v1", kind: "Node", name: "n-9"'))
    expect(none.objectByRef).toBeNull()
    for (const [rest, argument] of [
      ['apiVersion: "v1", kind: "Nude", name: "x"', 'kind'],
      ['apiVersion: "v1", kind: "Pod", name: "x"', 'namespace'],
      ['cluster: "mars", apiVersion: "v1", kind: "Node", name: "x"', 'cluster'],
    ] as const) {
      const { errors } = await gateway.query(byRef(rest))
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }])
    }
  })

  it('a list takes ids and conditions on labels', async () => {
    const answer = await gateway.data(
      `{ pods(namespace: "${space}") { nodes { id } } node(name: "n-0") { id } }`,
    )
    const [first, second] = answer.pods.nodes.map(({ id }: Fields) => id)
    expect(await pods(`ids: ["${second}", "${answer.node.id}"]`)).toEqual(['web-b'])
    expect(
      await pods(
        `ids: ["${first}", "${second}"], where: { labels: [{ key: "tier", eq: "front" }] }`,
      ),
    ).toEqual(['web-a'])
    expect(await pods('ids: []')).toEqual([])
    const where = async (labels: string): Promise<readonly string[]> =>
      pods(`namespace: "${space}", where: { labels: [${labels}] }`)
    expect(await where('{ key: "app", eq: "web" }, { key: "tier", not: { eq: "front" } }')).toEqual(
      ['web-b'],
    )
    expect(await where('{ key: "tier", endsWith: "ck" }')).toEqual(['web-b'])
    expect(await where('{ key: "tier", in: ["front", "middle"] }')).toEqual(['web-a'])
    expect(await where('{ key: "nope", exists: true }')).toEqual([])
    const { errors } = await gateway.query('{ pods(ids: ["nonsense"]) { totalCount } }')
    expect(errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', argument: 'ids[0]', value: 'nonsense' } },
    ])
  })

  it('a subscription takes the same, and its token is that of a page', async () => {
    const { pods: first } = await gateway.data(
      `{ pods(namespace: "${space}", first: 1) { nodes { id } } }`,
    )
    const [{ id }] = first.nodes
    const { pods: page } = await gateway.data(
      'query ($ids: [ID!]) { pods(ids: $ids) { resumeToken } }',
      { ids: [id] },
    )
    const { data } = await firstAnswer(
      gateway.connect(),
      'subscription ($ids: [ID!]) { pods(ids: $ids) { synced resumeToken changes { type removal objectId } } }',
      { ids: [id] },
    )
    expect(data.pods).toEqual({
      synced: true,
      resumeToken: page.resumeToken,
      changes: [{ type: 'ADDED', removal: null, objectId: id }],
    })
  })

  it('a list is ordered and cut from its end, and its values are counted', async () => {
    expect(await pods(`namespace: "${space}", orderBy: [{ name: DESC }]`)).toEqual([
      'web-b',
      'web-a',
    ])
    expect(await pods(`namespace: "${space}", last: 1`)).toEqual(['web-b'])
    const answer = await gateway.data(`{ pods(namespace: "${space}") {
      facets(by: ["name", "labels[\\"app\\"]"], top: 1) { by values { value count } distinctCount missingCount }
    } }`)
    expect(answer.pods.facets).toEqual([
      { by: 'name', values: [{ value: 'web-a', count: 1 }], distinctCount: 2, missingCount: 0 },
      {
        by: 'labels["app"]',
        values: [{ value: 'web', count: 2 }],
        distinctCount: 1,
        missingCount: 0,
      },
    ])
  })
})
