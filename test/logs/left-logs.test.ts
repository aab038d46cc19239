import { resources, type Unstructured } from 'informerql/kubernetes'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { startCountedServer } from '../access/counted-server.ts'
import { serveGateway } from '../support/gateway.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { followLogs, isIn } from './followed-logs.ts'
import { namespace, putNodes, putPod, running } from './small-town.ts'

const admin = { token: 'gateway-token', user: 'gateway', groups: ['system:masters'] }
const group = 'rbac.authorization.k8s.io'
const rbac = (kind: string, name: string, rest: object): Unstructured => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name },
  ...rest,
})

it('a reader who leaves while their right to a log is reviewed leaves no stream and no place taken', async () => {
  await using stack = new AsyncDisposableStack()
  const users = [admin, ...['ann', 'bob'].map((user) => ({ token: `token-of-${user}`, user }))]
  const cluster = stack.use(
    await startSimulator({
      users,
      authorization: 'rbac',
      populate(storage) {
        putNodes(storage)
        storage.create(resources.namespaces, {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: namespace },
        })
        putPod(storage, 'one', running(0))
        const rules = [
          { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list', 'watch'] },
        ]
        const place = { group, version: 'v1' }
        storage.create(
          { ...place, resource: 'clusterroles' },
          rbac('ClusterRole', 'reader', { rules }),
        )
        storage.create(
          { ...place, resource: 'clusterrolebindings' },
          rbac('ClusterRoleBinding', 'readers', {
            roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'reader' },
            subjects: ['ann', 'bob'].map((name) => ({ apiGroup: group, kind: 'User', name })),
          }),
        )
      },
    }),
  )
  const review = Promise.withResolvers<void>()
  let waiting = 0
  const between = stack.use(
    await startCountedServer(cluster.url, (_, body) => {
      if (!body.includes('"subresource":"log"') || !body.includes('"ann"')) return undefined
      waiting += 1
      return review.promise
    }),
  )
  const kubeconfig = stack.use(
    await writeKubeconfig({
      url: between.url,
      headers: { authorization: `Bearer ${admin.token}` },
      expireHistory: async () => {},
    }),
  )
  const gateway = stack.use(
    await serveGateway(
      {
        clusters: [{ name: 'one', kubeconfig: kubeconfig.path }],
        logs: { maxStreams: 1 },
      },
      {},
      { auth: { mode: 'token-review' } },
    ),
  )
  const all = `namespace: "${namespace}", tailLines: 1`
  const client = gateway.as('token-of-ann').connect()
  for (let round = 0; round < 3; round++) {
    const logs = followLogs(client, all)
    await logs.until('frame', () => logs.frames.length > 0)
    logs.close()
  }
  expect(waiting).toBeGreaterThan(0)
  // What is received after the readers have left is in order: the query below comes after it.
  await gateway.as('token-of-bob').query('{ __typename }')
  review.resolve()
  await gateway.as('token-of-ann').data(`{ can: podLogs(${all}) { lines { text } } }`)
  const bob = followLogs(gateway.as('token-of-bob').connect(), all)
  await bob.until('lines', () => bob.lines.length > 0)
  expect(isIn(bob, 'one', 'STREAMING')).toBe(true)
  expect(bob.notFollowed()).toBe(0)
})
