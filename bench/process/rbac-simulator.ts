/**
 * A simulated API server whose RBAC decides, for one benchmark, until its parent goes. Arguments: pods; namespaces that the
 * viewer of namespaces may read. Tells its parent `{ url }`.
 */
import { population, startSimulator } from '../../src/simulator.ts'
import { gatewayToken, viewerTokens } from '../support/identities.ts'
import { serveParent } from '../support/service.ts'

const [pods = '', namespaces = ''] = process.argv.slice(2)
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const apiVersion = `${rbac.group}/${rbac.version}`
const reading = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }]
const binds = (user: string) => ({
  roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'reads' },
  subjects: [{ apiGroup: rbac.group, kind: 'User', name: user }],
})

const simulator = await startSimulator({
  authorization: 'rbac',
  users: [
    { token: gatewayToken, user: 'gateway', groups: ['system:masters'] },
    ...Object.entries(viewerTokens).map(([user, token]) => ({ token, user })),
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
    make('clusterrolebindings', 'ClusterRoleBinding', { name: 'everywhere' }, binds('everywhere'))
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
await serveParent({ url: simulator.url })
await simulator[Symbol.asyncDispose]()
