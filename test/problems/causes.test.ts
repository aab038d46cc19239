import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'

const wait = { timeout: 60_000, interval: 20 }
const labels = { app: 'web' }
const podSpec = { containers: [{ name: 'main', image: 'a' }] }
const template = { metadata: { labels }, spec: podSpec }
const workload = { replicas: 2, selector: { matchLabels: labels }, template }

describe('A problem', () => {
  let simulator: Simulator
  /** Pods may be unready for 10 minutes, and for one. */
  let gateway: ServedGateway
  let late: ServedGateway

  beforeAll(async () => {
    simulator = await startSimulator({ bookmarkIntervalMs: 0 })
    const clusters = [{ name: 'one', server: simulator.url }]
    gateway = await serveGateway({ clusters })
    late = await serveGateway({ clusters, limits: { problemAfterMs: 60_000 } })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await late[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const make = (path: string, body: Fields): Promise<Fields> => created(simulator, path, body)
  const setStatus = (path: string, status: Fields): Promise<Fields> =>
    sent(simulator, 'PATCH', `${path}/status`, { status })
  const owned = ({ apiVersion, kind, metadata: { name, uid } }: Fields): Fields => ({
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  })
  const rows = async (from: ServedGateway, namespace: string): Promise<readonly Fields[]> => {
    const { problems } = await from.data(`{ problems(namespace: "${namespace}") { nodes {
      id reason message severity count ready wanted object { kind name }
      objects { kind name } behind { kind name } } } }`)
    return problems.nodes
  }
  const only = async (from: ServedGateway, namespace: string): Promise<Fields> => {
    const found = await rows(from, namespace)
    expect(found).toHaveLength(1)
    return found[0] ?? {}
  }
  /** A namespace with a Deployment, its ReplicaSet and an unready pod. */
  const unreadyIn = async (namespace: string): Promise<Fields> => {
    await make('/api/v1/namespaces', { metadata: { name: namespace } })
    const apps = `/apis/apps/v1/namespaces/${namespace}`
    const deployment = await make(`${apps}/deployments`, {
      metadata: { name: 'web' },
      spec: workload,
    })
    const metadata = { name: 'web-1', ...owned(deployment) }
    const set = await make(`${apps}/replicasets`, { metadata, spec: workload })
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const pod = await make(pods, { metadata: { name: 'a', labels, ...owned(set) }, spec: podSpec })
    const since = new Date(Date.now() - 120_000).toISOString().replace(/\.\d+/, '')
    const unready = { type: 'Ready', status: 'False', reason: 'ContainersNotReady' }
    await setStatus(`${pods}/a`, {
      phase: 'Running',
      conditions: [
        { ...unready, message: 'containers with unready status', lastTransitionTime: since },
      ],
    })
    return pod
  }
  const report = (pod: Fields, reason: string, message: string): Promise<Fields> => {
    const { namespace, name, uid } = pod['metadata']
    return make(`/api/v1/namespaces/${namespace}/events`, {
      metadata: { name: `${name}.1` },
      type: 'Warning',
      reason,
      message,
      count: 5,
      lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    })
  }

  it('counts no more replicas than an Int holds, however many its workloads want', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'huge' } })
    await make('/api/v1/nodes', { metadata: { name: 'without-os' } })
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' }
    await setStatus('/api/v1/nodes/without-os', { conditions: [ready] })
    const spec = { ...podSpec, nodeSelector: { 'huge.example.com/os': 'linux' } }
    for (const name of ['one', 'two']) {
      const own = { app: name }
      const huge = {
        replicas: 2 ** 31 - 1,
        selector: { matchLabels: own },
        template: { metadata: { labels: own }, spec },
      }
      const at = { metadata: { name, labels: own } }
      const deployment = await make('/apis/apps/v1/namespaces/huge/deployments', {
        ...at,
        spec: huge,
      })
      const metadata = { ...at.metadata, ...owned(deployment) }
      const pods = '/api/v1/namespaces/huge/pods'
      await make(pods, { metadata, spec })
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }
      const message =
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
      await setStatus(`${pods}/${name}`, {
        phase: 'Pending',
        conditions: [{ ...condition, message }],
      })
    }
    const wants = async (): Promise<unknown> =>
      (await rows(gateway, 'huge')).map(({ count, wanted }) => [count, wanted])
    await expect.poll(wants, wait).toEqual([[2, 2 ** 31 - 1]])
  })

  it.each([
    ['Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503'],
    ['FailedMount', 'MountVolume.SetUp failed for volume "data"'],
    ['FailedToAllocateAddress', 'no address is left'],
  ])(
    'keeps its id and %s when it has lasted, when the rollout is stuck, and when the Event is gone',
    async (reason, message) => {
      const namespace = reason.toLowerCase()
      const pod = await unreadyIn(namespace)
      await report(pod, reason, message)
      await expect.poll(async () => (await rows(gateway, namespace)).length, wait).toBe(1)
      const first = await only(gateway, namespace)
      expect(first).toMatchObject({ reason, message, severity: 'CRITICAL', ready: 0, wanted: 2 })
      expect(await only(late, namespace)).toMatchObject({
        id: first['id'],
        reason,
        message,
        count: 1,
      })
      await setStatus(`/apis/apps/v1/namespaces/${namespace}/deployments/web`, {
        conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
      })
      const id = first['id']
      await sent(simulator, 'DELETE', `/api/v1/namespaces/${namespace}/events/a.1`)
      await expect
        .poll(() => rows(late, namespace), wait)
        .toMatchObject([{ id, reason: 'ContainersNotReady', severity: 'CRITICAL', count: 1 }])
      await expect
        .poll(() => rows(gateway, namespace), wait)
        .toMatchObject([{ id, reason: 'ProgressDeadlineExceeded', severity: 'CRITICAL' }])
    },
  )

  it('keeps its id for a claim of a class that does not exist, whatever is said of it', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'claims' } })
    const claims = '/api/v1/namespaces/claims/persistentvolumeclaims'
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const claim = await make(claims, {
      metadata: { name: 'data' },
      spec: { ...spec, storageClassName: 'nope' },
    })
    await setStatus(`${claims}/data`, { phase: 'Pending' })
    await expect.poll(async () => (await rows(gateway, 'claims')).length, wait).toBe(1)
    const first = await only(gateway, 'claims')
    await make('/api/v1/namespaces/claims/events', {
      metadata: { name: 'data.1' },
      type: 'Warning',
      reason: 'ProvisioningFailed',
      message: 'storageclass.storage.k8s.io "nope" not found',
      count: 5,
      lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
      involvedObject: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: 'claims',
        name: 'data',
        uid: claim['metadata'].uid,
      },
    })
    for (const from of [gateway, late]) {
      const row = await only(from, 'claims')
      expect(row['id']).toBe(first['id'])
      expect(row['message']).toContain('nope')
    }
  })

  it('says who notices it: Services, and the Ingresses that lead to them', async () => {
    const pod = await unreadyIn('noticed')
    await report(pod, 'Unhealthy', 'Readiness probe failed')
    const core = '/api/v1/namespaces/noticed/services'
    const ports = [{ port: 80 }]
    await make(core, { metadata: { name: 'web' }, spec: { selector: labels, ports } })
    await make(core, { metadata: { name: 'other' }, spec: { selector: { app: 'other' }, ports } })
    await make('/apis/networking.k8s.io/v1/namespaces/noticed/ingresses', {
      metadata: { name: 'shop' },
      spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    })
    const behind = [
      { kind: 'Service', name: 'web' },
      { kind: 'Ingress', name: 'shop' },
    ]
    const deployment = async (): Promise<unknown> =>
      (await rows(gateway, 'noticed')).find(({ object }) => object.kind === 'Deployment')?.[
        'behind'
      ]
    await expect.poll(deployment, wait).toEqual(behind)
    const { data } = await firstAnswer(
      gateway.connect(),
      `subscription { problems(namespace: "noticed") {
        changes { object { kind behind(first: 5) { kind name } } } } }`,
    )
    const changes: readonly Fields[] = data?.['problems'].changes
    expect(changes.find(({ object }) => object.kind === 'Deployment')?.['object'].behind).toEqual(
      behind,
    )
  })

  it('of a pod on a node that is down stays its own, if the node does not cause it', async () => {
    const { metadata } = await unreadyIn('image')
    await make('/api/v1/nodes', { metadata: { name: 'gone' } })
    await setStatus('/api/v1/nodes/gone', {
      conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }],
    })
    const spec = { ...podSpec, nodeName: 'gone' }
    const pods = '/api/v1/namespaces/image/pods'
    const { ownerReferences } = metadata
    for (const [name, reason] of [
      ['b', 'ImagePullBackOff'],
      ['c', undefined],
    ] as const) {
      await make(pods, { metadata: { name, labels, ownerReferences }, spec })
      const main = { name: 'main', image: 'a', imageID: '', ready: false, restartCount: 0 }
      await setStatus(`${pods}/${name}`, {
        phase: 'Pending',
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'ContainersNotReady',
            lastTransitionTime: metadata.creationTimestamp,
          },
        ],
        containerStatuses: reason && [{ ...main, state: { waiting: { reason } } }],
      })
    }
    const told = async (): Promise<readonly unknown[]> =>
      (await rows(gateway, 'image'))
        .map(({ object, reason, count }) => `${object.kind} ${reason} ${count}`)
        .toSorted()
    await expect.poll(told, wait).toEqual(['Deployment ImagePullBackOff 1', 'Node NotReady 1'])
  })
})
