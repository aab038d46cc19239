/**
 * A simulated API server whose RBAC decides, for one benchmark, until its parent goes. Arguments: pods; namespaces that the
 * viewer of namespaces may read; how many users see the same; updates of pods per second. Tells its parent `{ url }`.
 */
import { population, startSimulator } from '../../src/simulator.ts'
import { gatewayToken, readersGroup, viewerToken, viewerTokens } from '../support/identities.ts'
import { updatePods } from '../support/pod-updates.ts'
import { serveParent } from '../support/service.ts'

const [pods = '', namespaces = '', users = '0', updatesPerSecond = '0'] = process.argv.slice(2)
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const apiVersion = `${rbac.group}/${rbac.version}`
const reading = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }]
const writing = [
  { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['patch', 'delete'] },
]
const binds = (name: string, kind = 'User', role = 'reads') => ({
  roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: rbac.group, kind, name }],
})

const simulator = await startSimulator({
  authorization: 'rbac',
  users: [
    { token: gatewayToken, user: 'gateway', groups: ['system:masters'] },
    ...Object.entries(viewerTokens).map(([user, token]) => ({ token, user })),
    ...Array.from({ length: Number(users) }, (_, number) => {
      const token = viewerToken(number)
      return { token, user: token, groups: [readersGroup] }
    }),
  ],
  populate(storage) {
    const now = new Date('2026-01-15T12:00:00Z')
    for (const { resource, object } of population({ seed: 'bench', pods: Number(pods), now })) {
      storage.create(resource, object)
    }
    const make = (resource: string, kind: string, metadata: object, rest: object): void => {
      storage.create({ ...rbac, resource }, { apiVersion, kind, metadata, ...rest } as never)
    }
    make('clusterroles', 'ClusterRole', { name: 'reads' }, { rules: reading })
    for (const name of ['everywhere', 'mallory']) {
      make('clusterrolebindings', 'ClusterRoleBinding', { name }, binds(name))
    }
    make('clusterroles', 'ClusterRole', { name: 'writes' }, { rules: writing })
    const writes = binds('mallory', 'User', 'writes')
    const home = 'default'
    make('rolebindings', 'RoleBinding', { name: 'writes', namespace: home }, writes)
    for (const [resource, kind, name, data] of [
      ['configmaps', 'ConfigMap', 'large', { text: 'x'.repeat(1_000_000) }],
      ['secrets', 'Secret', 'door', { password: 'aHVudGVyMg==' }],
    ] as const) {
      const object = { apiVersion: 'v1', kind, metadata: { name, namespace: home }, data }
      storage.create({ group: '', version: 'v1', resource }, object)
    }
    const readers = binds(readersGroup, 'Group')
    make('clusterrolebindings', 'ClusterRoleBinding', { name: readersGroup }, readers)
    for (let number = 0; number < Number(namespaces); number += 1) {
      const namespace = `cold-${number}`
      storage.create(
        { group: '', version: 'v1', resource: 'namespaces' },
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: namespace },
        },
      )
      make('rolebindings', 'RoleBinding', { name: 'reads', namespace }, binds('namespaces'))
    }
  },
})
const stopping = new AbortController()
const updating = updatePods(simulator.storage, Number(updatesPerSecond), stopping.signal)
await serveParent({ url: simulator.url })
stopping.abort()
await updating
await simulator[Symbol.asyncDispose]()
