import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { core, type PastGateway, startPast, wait } from './past-gateway.ts'

const apps = '/apis/apps/v1/namespaces/default'
const labels = { app: 'shop' }
const template = (image: string): Fields => ({
  metadata: { labels },
  spec: { containers: [{ name: 'app', image, envFrom: [{ configMapRef: { name: 'settings' } }] }] },
})
const owned = ({ kind, metadata }: Fields): Fields => ({
  ownerReferences: [
    { apiVersion: 'apps/v1', kind, name: metadata.name, uid: metadata.uid, controller: true },
  ],
})

describe('what changed before a problem', () => {
  let past: PastGateway
  let deployment: Fields = {}
  let nodes = 0

  /** A pod of the Deployment that waits for a reason, on a node of its own. */
  const podOf = async (name: string, image: string, reason: string): Promise<void> => {
    const { make, patch } = past
    const set = await make(`${apps}/replicasets`, {
      metadata: { name: `set-of-${name}`, labels, ...owned({ kind: 'Deployment', ...deployment }) },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: template(image) },
    })
    const node = `node-${(nodes += 1)}`
    await make('/api/v1/nodes', { metadata: { name: node } })
    await make(`${core}/pods`, {
      metadata: { name, labels, ...owned({ kind: 'ReplicaSet', ...set }) },
      spec: { nodeName: node, ...template(image).spec },
    })
    await patch(`${core}/pods/${name}/status`, {
      status: {
        phase: 'Pending',
        startTime: new Date().toISOString(),
        conditions: [
          { type: 'Ready', status: 'False', lastTransitionTime: new Date().toISOString() },
        ],
        containerStatuses: [
          {
            name: 'app',
            image,
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { waiting: { reason } },
          },
        ],
      },
    })
  }

  const changesOf = async (reason: string, first = 5): Promise<readonly Fields[]> => {
    let found: readonly Fields[] = []
    await vi.waitFor(async () => {
      const { problems } = await past.gateway.data(
        `query ($first: Int) { problems(types: ["Deployment", "Pod"]) { nodes { reason changesBefore(first: $first) {
          type manager object { kind name } fields { path before after } } } } }`,
        { first },
      )
      found = problems.nodes.find((one: Fields) => one.reason === reason)?.changesBefore ?? []
      if (found.length === 0) throw new Error(JSON.stringify(problems))
    }, wait)
    return found
  }

  beforeAll(async () => {
    past = await startPast()
    const { make, seen } = past
    await make(`${core}/configmaps`, { metadata: { name: 'settings' }, data: { color: 'red' } })
    deployment = await make(`${apps}/deployments`, {
      metadata: { name: 'shop', annotations: { 'deployment.kubernetes.io/revision': '1' } },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: template('shop:1') },
    })
    await seen()
  })
  afterAll(async () => past[Symbol.asyncDispose]())

  it('tells of a rollout the image, the revision and who, before all that is newer', async () => {
    const { patch, seen } = past
    await patch(
      `${apps}/deployments/shop`,
      { spec: { template: template('shop:broken') } },
      'argocd',
    )
    const annotations = { 'deployment.kubernetes.io/revision': '2' }
    await patch(
      `${apps}/deployments/shop`,
      { metadata: { annotations } },
      'kube-controller-manager',
    )
    await seen()
    await patch(`${core}/configmaps/settings`, { data: { color: 'blue' } }, 'somebody')
    await podOf('shop-2-x', 'shop:broken', 'ImagePullBackOff')
    await seen()
    const [first, ...others] = await changesOf('ImagePullBackOff', 50)
    expect(first).toMatchObject({
      type: 'MODIFIED',
      manager: 'argocd',
      object: { kind: 'Deployment', name: 'shop' },
    })
    expect(first?.['fields']).toEqual(
      expect.arrayContaining([
        {
          path: '/metadata/annotations/deployment.kubernetes.io~1revision',
          before: '1',
          after: '2',
        },
        { path: '/spec/template/spec/containers/0/image', before: 'shop:1', after: 'shop:broken' },
      ]),
    )
    const told = others.map(({ object }) => `${object.kind} ${object.name}`)
    expect(told).toContain('ConfigMap settings')
    expect(await changesOf('ImagePullBackOff', 1)).toEqual([first])
  })

  it('names a ConfigMap that is gone before the image, where the configuration cannot be found', async () => {
    const { remove, patch, seen } = past
    await remove(`${core}/pods/shop-2-x`)
    await remove(`${core}/configmaps/settings`)
    await seen()
    await patch(`${apps}/deployments/shop`, { spec: { template: template('shop:3') } }, 'argocd')
    await podOf('shop-3-x', 'shop:3', 'CreateContainerConfigError')
    await seen()
    const [first] = await changesOf('MissingConfigMap')
    expect(first).toMatchObject({
      type: 'REMOVED',
      object: { kind: 'ConfigMap', name: 'settings' },
    })
  })

  it('passes over a restart for the rollout before it', async () => {
    const { patch, remove, seen } = past
    await remove(`${core}/pods/shop-3-x`)
    await patch(`${apps}/deployments/shop`, { spec: { template: template('shop:4') } }, 'argocd')
    await seen()
    const annotations = { 'kubectl.kubernetes.io/restartedAt': 'noon' }
    await patch(`${apps}/deployments/shop`, { spec: { template: { metadata: { annotations } } } })
    await seen()
    await podOf('shop-4-x', 'shop:4', 'RegistryUnavailable')
    await seen()
    const [first] = await changesOf('RegistryUnavailable')
    expect(first?.['fields'][0]).toMatchObject({ after: 'shop:4' })
  })

  it('asks the archive once for a page, and refuses pages of pages', async () => {
    const { data, errors } = await past.gateway.query(
      `{ ${Array.from({ length: 40 }, (_, at) => `p${at}: problems(first: 500) { nodes { changesBefore(first: 500) { id fields(first: 200) { path } } } }`).join(' ')} }`,
    )
    expect(data ?? null).toBeNull()
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }])
  })
})
