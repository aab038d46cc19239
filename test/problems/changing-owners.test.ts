import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { serveGateway } from '../support/gateway.ts'

const apps = '/apis/apps/v1/namespaces/live'
const core = '/api/v1/namespaces/live'
const wait = { timeout: 60_000, interval: 20 }

it('a problem moves with the owners of the owner of its object', async () => {
  await using simulator = await startSimulator({ bookmarkIntervalMs: 0 })
  await created(simulator, '/api/v1/namespaces', { metadata: { name: 'live' } })
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'main', image: 'a' }] },
  }
  const spec = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template }
  const deployment = (name: string): Promise<Fields> =>
    created(simulator, `${apps}/deployments`, { metadata: { name }, spec })
  const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: Fields): object => ({
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  })
  const [one, other] = [await deployment('one'), await deployment('other')]
  const metadata = { name: 'set', ...ownedBy(one) }
  const set = await created(simulator, `${apps}/replicasets`, { metadata, spec })
  await created(simulator, `${core}/pods`, {
    metadata: { name: 'pod', ...ownedBy(set) },
    spec: { containers: [{ name: 'main', image: 'a' }] },
  })
  const waiting = { waiting: { reason: 'ImagePullBackOff' } }
  const main = { name: 'main', image: 'a', imageID: '', ready: false, restartCount: 0 }
  const status = { phase: 'Pending', containerStatuses: [{ ...main, state: waiting }] }
  await sent(simulator, 'PATCH', `${core}/pods/pod/status`, { status })

  await using gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  const root = async (): Promise<string> => {
    const { problems } = await gateway.data('{ problems { nodes { object { kind name } count } } }')
    return JSON.stringify(problems.nodes)
  }
  const only = (kind: string, name: string): string =>
    JSON.stringify([{ object: { kind, name }, count: 1 }])
  const change = (own: object): Promise<Fields> =>
    sent(simulator, 'PATCH', `${apps}/replicasets/set`, { metadata: own })

  await expect.poll(root, wait).toBe(only('Deployment', 'one'))
  await change(ownedBy(other))
  await expect.poll(root, wait).toBe(only('Deployment', 'other'))
  await change({ ownerReferences: null })
  await expect.poll(root, wait).toBe(only('ReplicaSet', 'set'))
  await change(ownedBy(one))
  await expect.poll(root, wait).toBe(only('Deployment', 'one'))
  // Another object of the same name is not the owner that is named.
  await change({ ownerReferences: null })
  await sent(simulator, 'DELETE', `${apps}/deployments/one`)
  const again = await deployment('one')
  expect(again.metadata.uid).not.toBe(one.metadata.uid)
  await expect.poll(root, wait).toBe(only('ReplicaSet', 'set'))
  await change(ownedBy(again))
  await expect.poll(root, wait).toBe(only('Deployment', 'one'))
})
