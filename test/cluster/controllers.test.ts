import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import type { ControlPlane } from '../support/control-plane.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runFakeKubelet } from './fake-kubelet.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- objects are read by the names that the API gives them
type Fields = any

const namespace = 'default'
const labels = { app: 'web' }

const deployment = (image: string, replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    revisionHistoryLimit: 5,
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { nodeName: 'worker', containers: [{ name: 'web', image }] },
    },
  },
})

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: labels, ports: [{ port: 80 }] },
}

const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
const services = `/api/v1/namespaces/${namespace}/services`

const must = async (
  plane: ControlPlane,
  path: string,
  options?: Parameters<ControlPlane['request']>[1],
): Promise<Fields> => {
  const answer = await plane.request(path, options)
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.json()
}

const ref = '{ metadata { uid name } }'

/** All that is asked of one moment, forwards and backwards. */
const question = `{
  deployments(namespace: "${namespace}") { nodes { id metadata { uid }
    replicaSets { nodes ${ref} } pods { nodes ${ref} } } }
  replicaSets(namespace: "${namespace}") { nodes { metadata { uid name } spec { replicas }
    deployment ${ref} pods { nodes ${ref} } owners { ... on Deployment ${ref} } } }
  pods(namespace: "${namespace}") { nodes { metadata { uid name }
    replicaSet ${ref} deployment ${ref} services { nodes ${ref} } owners { metadata { uid } }
    ownerChain { kind name } } }
  services(namespace: "${namespace}", where: { name: { eq: "web" } }) { nodes { metadata { uid }
    pods { nodes ${ref} } endpointSlices { nodes { metadata { uid } service ${ref}
      endpoints: json(path: "endpoints[*].targetRef.uid") } } owned { nodes { kind metadata { uid } } } } }
}`

const uids = (connection: Fields): readonly string[] =>
  connection.nodes.map(({ metadata }: Fields) => metadata.uid).toSorted()

/** What one moment looks like: the pods of each ReplicaSet, those of the Service, those that its slices name. */
interface Moment {
  readonly replicaSets: Readonly<Record<string, number>>
  readonly pods: number
  readonly served: number
  readonly endpoints: number
  readonly slices: number
}

const empty: Moment = { replicaSets: {}, pods: 0, served: 0, endpoints: 0, slices: 0 }

/** Reads one moment; in each the relations must agree in both directions, whatever the controllers are doing. */
const momentOf = async (gateway: ServedGateway): Promise<Moment> => {
  const data = await gateway.data(question)
  const pods: readonly Fields[] = data.pods.nodes
  const sets: readonly Fields[] = data.replicaSets.nodes
  const [owner] = data.deployments.nodes
  const podsOf = (condition: (pod: Fields) => boolean): readonly string[] =>
    uids({ nodes: pods.filter(condition) })
  for (const set of sets) {
    expect(uids(set.pods)).toEqual(
      podsOf(({ replicaSet }) => replicaSet?.metadata.uid === set.metadata.uid),
    )
    for (const one of set.owners) expect(one.metadata.uid).toBe(set.deployment.metadata.uid)
  }
  for (const pod of pods) {
    // An owner that is gone already is not there.
    expect(pod.owners.map(({ metadata }: Fields) => metadata.uid)).toEqual(
      pod.replicaSet === null ? [] : [pod.replicaSet.metadata.uid],
    )
    const set = sets.find(({ metadata }) => metadata.uid === pod.replicaSet?.metadata.uid)
    expect(pod.deployment?.metadata.uid).toBe(set?.deployment?.metadata.uid)
  }
  if (owner !== undefined) {
    const isOwn = (one: Fields): boolean => one.deployment?.metadata.uid === owner.metadata.uid
    expect(uids(owner.replicaSets)).toEqual(uids({ nodes: sets.filter(isOwn) }))
    expect(uids(owner.pods)).toEqual(podsOf(isOwn))
  }
  const [web] = data.services.nodes
  if (web !== undefined) {
    const isServed = ({ services: of }: Fields): boolean => uids(of).includes(web.metadata.uid)
    expect(uids(web.pods)).toEqual(podsOf(isServed))
    for (const slice of web.endpointSlices.nodes) {
      expect(slice.service.metadata.uid).toBe(web.metadata.uid)
    }
  }
  const slices: readonly Fields[] = web?.endpointSlices.nodes ?? []
  return {
    replicaSets: Object.fromEntries(
      sets.map(({ metadata, pods: own }) => [metadata.name, own.nodes.length]),
    ),
    pods: owner?.pods.nodes.length ?? 0,
    served: web?.pods.nodes.length ?? 0,
    endpoints: slices.flatMap(({ endpoints }) => endpoints).length,
    slices: slices.length,
  }
}

const deadlineMs = 40_000

/** Reads moments until one is as it should be; answers with all of them. */
const watchUntil = async (
  gateway: ServedGateway,
  isThere: (moment: Moment) => boolean,
): Promise<readonly Moment[]> => {
  const moments: Moment[] = []
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const moment = await momentOf(gateway)
    moments.push(moment)
    if (isThere(moment)) return moments
    expect(performance.now(), JSON.stringify(moment)).toBeLessThan(deadline)
  }
}

/** How many pods each ReplicaSet has, those without any left out. */
const inUse = ({ replicaSets }: Moment): readonly number[] =>
  Object.values(replicaSets).filter((count) => count > 0)

const isAt =
  (replicas: number) =>
  (moment: Moment): boolean =>
    moment.pods === replicas &&
    moment.served === replicas &&
    moment.endpoints === replicas &&
    inUse(moment).length === Math.min(1, replicas)

describeWithControlPlane(
  'relations while controllers work',
  (plane) => {
    let gateway: ServedGateway
    const stopping = new AbortController()
    let kubelet: Promise<void>
    beforeAll(async () => {
      gateway = await serveGateway({
        clusters: [{ name: 'test', kubeconfig: plane().kubeconfigPath }],
      })
      await must(plane(), '/api/v1/nodes', {
        method: 'POST',
        body: { metadata: { name: 'worker' } },
      })
      kubelet = runFakeKubelet(plane(), namespace, stopping.signal)
      await momentOf(gateway)
    })
    afterAll(async () => {
      stopping.abort()
      await kubelet
      await gateway[Symbol.asyncDispose]()
    })

    it('from a Deployment to its first pods, and from a Service to them and its EndpointSlices', async () => {
      await must(plane(), services, { method: 'POST', body: service })
      await must(plane(), deployments, { method: 'POST', body: deployment('web:1', 4) })
      const moments = await watchUntil(gateway, isAt(4))
      expect(moments.at(-1)?.slices).toBe(1)
      const { pods } = await gateway.data(
        `{ pods(namespace: "${namespace}") { nodes { ownerChain { kind name } } } }`,
      )
      for (const { ownerChain } of pods.nodes) {
        expect(ownerChain).toMatchObject([
          { kind: 'ReplicaSet' },
          { kind: 'Deployment', name: 'web' },
        ])
      }
    })

    it('through a rollout, with pods of two ReplicaSets on the way', async () => {
      await must(plane(), `${deployments}/web`, {
        method: 'PATCH',
        contentType: 'application/strategic-merge-patch+json',
        body: { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } } },
      })
      let isUnderWay = false
      const moments = await watchUntil(gateway, (moment) => {
        isUnderWay ||= inUse(moment).length === 2
        return isUnderWay && isAt(4)(moment)
      })
      for (const { pods } of moments) expect(pods).toBeGreaterThanOrEqual(4)
    })

    it('through a scale-down', async () => {
      await must(plane(), `${deployments}/web/scale`, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { spec: { replicas: 1 } },
      })
      const moments = await watchUntil(gateway, isAt(1))
      expect(Object.keys(moments.at(-1)?.replicaSets ?? {})).toHaveLength(2)
    })

    it('as a graph, the same from either end', async () => {
      const data = await gateway.data(question)
      const [{ id }] = data.deployments.nodes
      const relations = [
        'Deployment.replicaSets',
        'Deployment.pods',
        'ReplicaSet.pods',
        'Pod.services',
        'endpointSlices',
      ]
      const { graph } = await gateway.data(
        'query ($roots: [ID!]!, $relations: [String!]) { graph(roots: $roots, depth: 5, relations: $relations) { nodes { kind } edges { relation } } }',
        { roots: [id], relations },
      )
      const kinds = graph.nodes.map(({ kind }: Fields) => kind).toSorted()
      expect(kinds).toEqual([
        'Deployment',
        'EndpointSlice',
        'Pod',
        'ReplicaSet',
        'ReplicaSet',
        'Service',
      ])
      const edges = graph.edges.map(({ relation }: Fields) => relation).toSorted()
      expect(edges).toEqual([
        'EndpointSlice.pods',
        'EndpointSlice.service',
        'Pod.deployment',
        'Pod.replicaSet',
        'ReplicaSet.deployment',
        'ReplicaSet.deployment',
        'Service.pods',
      ])
    })

    it('through a cascade delete, until nothing is left', async () => {
      await must(plane(), `${deployments}/web`, {
        method: 'DELETE',
        body: { propagationPolicy: 'Foreground' },
      })
      await watchUntil(gateway, (moment) => isAt(0)(moment) && inUse(moment).length === 0)
      await must(plane(), `${services}/web`, { method: 'DELETE' })
      const moments = await watchUntil(
        gateway,
        (moment) => JSON.stringify(moment) === JSON.stringify(empty),
      )
      expect(moments.at(-1)).toEqual(empty)
      await expect
        .poll(
          async () =>
            (
              await gateway.data(
                `{ endpointSlices(namespace: "${namespace}") { nodes { metadata { name } } } }`,
              )
            ).endpointSlices.nodes.filter(({ metadata }: Fields) =>
              metadata.name.startsWith('web-'),
            ),
          { timeout: deadlineMs },
        )
        .toEqual([])
    })
  },
  { controllers: true },
)
