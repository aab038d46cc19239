import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const wait = { timeout: 60_000, interval: 200 }
const labels = { app: 'web' }
const containers = [{ name: 'web', image: 'web:1' }]

describeWithControlPlane(
  'What controllers find wrong',
  (plane) => {
    let gateway: ServedGateway
    const send = async (method: 'POST' | 'PATCH', path: string, body: Fields): Promise<Fields> => {
      const contentType = method === 'POST' ? 'application/json' : 'application/merge-patch+json'
      const answer = await plane().request(path, { method, body, contentType })
      if (answer.status < 300) return answer.json()
      throw new Error(`${path}: ${answer.status} ${answer.text}`)
    }
    const deployment = {
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        progressDeadlineSeconds: 2,
        minReadySeconds: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    }
    beforeAll(async () => {
      for (const name of ['late', 'full', 'failed']) {
        await send('POST', '/api/v1/namespaces', { metadata: { name } })
      }
      gateway = await serveGateway({
        clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }],
      })
    })
    afterAll(async () => gateway[Symbol.asyncDispose]())

    const rows = async (namespace: string): Promise<readonly unknown[]> => {
      const { problems } = await gateway.data(`{ problems(namespace: "${namespace}") {
        nodes { kind reason severity count object { name } } } }`)
      return problems.nodes.map(({ kind, reason, severity, count, object }: Fields) => [
        `${kind}/${object.name}`,
        reason,
        severity,
        count,
      ])
    }

    it('is one row for a rollout past its deadline', async () => {
      await send('POST', '/apis/apps/v1/namespaces/late/deployments', deployment)
      await expect
        .poll(() => rows('late'), wait)
        .toEqual([['Deployment/web', 'ProgressDeadlineExceeded', 'CRITICAL', 1]])
    })

    it('is one row for a quota that refuses pods', async () => {
      const quotas = '/api/v1/namespaces/full/resourcequotas'
      await send('POST', quotas, { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } })
      const status = { hard: { pods: '0' }, used: { pods: '0' } }
      await send('PATCH', `${quotas}/none/status`, { status })
      await send('POST', '/apis/apps/v1/namespaces/full/deployments', deployment)
      await expect
        .poll(() => rows('full'), wait)
        .toEqual([['Deployment/web', 'FailedCreate', 'CRITICAL', 1]])
    })

    it('says who changed it, and what, of Deployments and of StatefulSets whose revisions are not in memory', async () => {
      await send('POST', '/api/v1/namespaces', { metadata: { name: 'changed' } })
      const apps = '/apis/apps/v1/namespaces/changed'
      const sets = { ...deployment.spec, serviceName: 'web' }
      const { progressDeadlineSeconds: _, minReadySeconds: _s, ...set } = sets
      const spec = { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } }
      const at = `changes { path before after }`
      for (const [plural, body] of [
        ['deployments', deployment],
        ['statefulsets', { metadata: { name: 'db' }, spec: set }],
      ] as const) {
        const path = `${apps}/${plural}`
        const { name } = body.metadata
        await send('POST', `${path}?fieldManager=helm`, body)
        await expect
          .poll(async () => {
            const { status }: Fields = (await plane().request(`${path}/${name}`)).json()
            return status.observedGeneration
          }, wait)
          .toBe(1)
        await send('PATCH', `${path}/${name}?fieldManager=kubectl-edit`, { spec })
      }
      await using soon = await serveGateway({
        clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }],
        limits: { problemAfterMs: 0 },
      })
      const changes = async (): Promise<unknown> => {
        const { problems } = await soon.data(`{ problems(namespace: "changed") {
          nodes { object { name } change { from to by ${at} } } } }`)
        const found = problems.nodes.map(({ object, change }: Fields) => [object.name, change])
        return Object.fromEntries(found)
      }
      const change = {
        from: 1,
        to: 2,
        by: 'kubectl-edit',
        changes: [{ path: '/spec/containers/0/image', before: 'web:1', after: 'web:2' }],
      }
      await expect.poll(changes, wait).toEqual({ web: change, db: change })
    })

    it('names the finalizers of what is left in a namespace that is deleted', async () => {
      await using soon = await serveGateway({
        clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }],
        limits: { problemAfterMs: 0 },
      })
      await send('POST', '/api/v1/namespaces', { metadata: { name: 'leaving' } })
      await send('POST', '/api/v1/namespaces/leaving/configmaps', {
        metadata: { name: 'kept', finalizers: ['example.com/keep'] },
      })
      await plane().request('/api/v1/namespaces/leaving', { method: 'DELETE' })
      // As the controller of namespaces says it, which the suite does not run.
      const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '')
      const remaining = (type: string, reason: string, text: string): Fields => ({
        type,
        reason,
        message: text,
        status: 'True',
        lastTransitionTime,
      })
      await send('PATCH', '/api/v1/namespaces/leaving/status', {
        status: {
          conditions: [
            remaining('NamespaceContentRemaining', 'SomeResourcesRemain', 'configmaps. has 1'),
            remaining(
              'NamespaceFinalizersRemaining',
              'SomeFinalizersRemain',
              'example.com/keep in 1 resource instances',
            ),
          ],
        },
      })
      const message = async (): Promise<string> => {
        const { problems } = await soon.data(
          '{ problems(types: ["Namespace"]) { nodes { reason message object { name } } } }',
        )
        const row = problems.nodes.find(({ object }: Fields) => object.name === 'leaving')
        return `${row?.reason} ${row?.message}`
      }
      await expect
        .poll(message, wait)
        .toBe('Terminating example.com/keep in 1 resource instances; configmaps. has 1')
    })

    it('is one row for a Job whose pod has failed', async () => {
      await send('POST', '/apis/batch/v1/namespaces/failed/jobs', {
        metadata: { name: 'import' },
        spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers } } },
      })
      const pods = '/api/v1/namespaces/failed/pods'
      const names = async (): Promise<readonly string[]> => {
        const { items }: Fields = (await plane().request(pods)).json()
        return items.map(({ metadata }: Fields) => metadata.name)
      }
      await expect.poll(async () => (await names()).length, wait).toBe(1)
      const [name = ''] = await names()
      await send('PATCH', `${pods}/${name}/status`, { status: { phase: 'Failed' } })
      await expect
        .poll(() => rows('failed'), wait)
        .toEqual([['Job/import', 'BackoffLimitExceeded', 'CRITICAL', 1]])
    })
  },
  { controllers: true },
)
