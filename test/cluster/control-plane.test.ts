import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { KubeConfig } from '@kubernetes/client-node'
import { expect, it } from 'vitest'
import { requestApiServer } from '../support/control-plane-client.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import type { ControlPlane } from '../support/control-plane.ts'

interface ListAnswer {
  readonly metadata: { readonly resourceVersion: string }
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

interface WatchFrame {
  readonly type: string
  readonly object: { readonly code?: number; readonly metadata: { readonly name?: string } }
}

const pods = '/api/v1/namespaces/default/pods'

const podNamed = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'nginx' }] },
})

const listPods = async (plane: ControlPlane): Promise<ListAnswer> =>
  (await plane.request(pods)).json() as ListAnswer

const namesOf = ({ items }: ListAnswer): readonly string[] =>
  items.map(({ metadata }) => metadata.name)

const createPod = async (plane: ControlPlane, name: string): Promise<number> =>
  (await plane.request(pods, { method: 'POST', body: podNamed(name) })).status

/** The frames that a watch from this version brings within a second. */
const framesSince = async (
  plane: ControlPlane,
  version: string,
  seconds = 4,
): Promise<readonly WatchFrame[]> => {
  const query = `watch=true&timeoutSeconds=${seconds}&resourceVersion=${version}`
  const { text } = await plane.request(`${pods}?${query}`, { timeoutMs: 90_000 })
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as WatchFrame)
}

/** Whether somebody watches the pods of one namespace, as the server counts. */
const isWatched = async (plane: ControlPlane): Promise<boolean> => {
  const { text } = await plane.request('/metrics')
  const counts = text
    .split('\n')
    .filter((line) => line.startsWith('apiserver_longrunning_requests{'))
  return counts.some(
    (line) =>
      ['resource="pods"', 'scope="namespace"', 'verb="WATCH"'].every((part) =>
        line.includes(part),
      ) && !line.endsWith(' 0'),
  )
}

const reader = { token: 'a-reader', user: 'reader', uid: 'reader', groups: ['team-a'] }

describeWithControlPlane(
  'the control plane',
  (plane) => {
    it('creates a pod and lists it', async () => {
      expect(await createPod(plane(), 'one')).toBe(201)
      expect(namesOf(await listPods(plane()))).toContain('one')
    })

    it('serves objects that were put straight into etcd, and watches see them come', async () => {
      const before = await listPods(plane())
      const frames = framesSince(plane(), before.metadata.resourceVersion)
      await plane().put('/registry/pods/default/two', podNamed('two'))
      expect((await frames).map(({ object }) => object.metadata.name)).toContain('two')
      const many = Array.from({ length: 500 }, (_, index) => `many-${index}`)
      await plane().putMany(many.map((name) => [`/registry/pods/default/${name}`, podNamed(name)]))
      expect(namesOf(await listPods(plane()))).toEqual(expect.arrayContaining(many))
    })

    it('knows further users, who may do what RBAC allows them', async () => {
      const asReader = await plane().request(pods, { token: reader.token })
      expect([asReader.status, asReader.json()]).toMatchObject([403, { reason: 'Forbidden' }])
      expect((await plane().request(pods, { token: 'nobody' })).status).toBe(401)
    })

    it('writes kubeconfig files that clients can read', async () => {
      const config = new KubeConfig()
      config.loadFromFile(await plane().kubeconfigFor(reader.token))
      expect(config.getCurrentCluster()?.server).toBe(plane().url)
      expect(config.getCurrentUser()?.token).toBe(reader.token)
    })

    it('defines and serves custom resources', async () => {
      const definition = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.stable.example.com' },
        spec: {
          group: 'stable.example.com',
          scope: 'Namespaced',
          names: { kind: 'Widget', plural: 'widgets' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object' } },
            },
          ],
        },
      }
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      expect((await plane().request(path, { method: 'POST', body: definition })).status).toBe(201)
      await expect
        .poll(async () => (await plane().request('/apis/stable.example.com/v1/widgets')).status, {
          timeout: 60_000,
        })
        .toBe(200)
    })

    it('loses its clients when killed and serves the same state at the same address afterwards', async () => {
      const before = namesOf(await listPods(plane()))
      const { metadata } = await listPods(plane())
      const watch = framesSince(plane(), metadata.resourceVersion, 60).catch(String)
      await expect.poll(async () => isWatched(plane())).toBe(true)
      await plane().killServer()
      expect(await watch).toMatch(/ECONNRESET|aborted|hang up/)
      await expect(plane().request(pods)).rejects.toThrow('ECONNREFUSED')
      await plane().startServer()
      expect(namesOf(await listPods(plane()))).toEqual(before)
    }, 150_000)

    it('answers 410 to a watch from before the compaction, once restarted', async () => {
      const { metadata } = await listPods(plane())
      await createPod(plane(), 'three')
      await createPod(plane(), 'four')
      await plane().compact()
      const stillServed = await framesSince(plane(), metadata.resourceVersion)
      expect(stillServed.map(({ type }) => type)).toEqual(['ADDED', 'ADDED'])
      await plane().killServer()
      await plane().startServer()
      const gone = await framesSince(plane(), metadata.resourceVersion)
      expect(gone).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }])
    }, 150_000)

    it('goes back to a snapshot, where later versions are in the future', async () => {
      const before = namesOf(await listPods(plane()))
      const snapshot = await plane().snapshotData()
      // More than the few dozen revisions that a starting server writes for itself.
      const late = Array.from({ length: 200 }, (_, index) => `late-${index}`)
      await plane().putMany(late.map((name) => [`/registry/pods/default/${name}`, podNamed(name)]))
      const { metadata } = await listPods(plane())
      await plane().restoreData(snapshot)
      expect(namesOf(await listPods(plane()))).toEqual(before)
      const query = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`
      const future = await plane().request(`${pods}?${query}`)
      expect([future.status, future.text]).toEqual([504, expect.stringContaining('Too large')])
    }, 150_000)

    it('ends with the process that started it, even one that is killed', async () => {
      const module = JSON.stringify(join(import.meta.dirname, '../support/control-plane.ts'))
      const source = `
        import { startControlPlane } from ${module}
        const { url, ca, token, kubeconfigPath } = await startControlPlane()
        console.log(JSON.stringify({ url, ca, token, kubeconfigPath }))`
      const owner = spawn(process.execPath, ['--input-type=module', '-e', source], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const signal = AbortSignal.timeout(60_000)
      const [line] = (await once(createInterface(owner.stdout), 'line', { signal })) as [string]
      const orphan = JSON.parse(line) as ControlPlane
      expect((await requestApiServer(orphan, '/readyz')).status).toBe(200)
      owner.kill('SIGKILL')
      await expect
        .poll(async () => requestApiServer(orphan, '/readyz').then(() => 'up', String), {
          timeout: 60_000,
        })
        .toContain('ECONNREFUSED')
      await expect.poll(() => existsSync(dirname(orphan.kubeconfigPath))).toBe(false)
    })
  },
  { tokens: [reader] },
)
