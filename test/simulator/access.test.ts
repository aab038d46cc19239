import { type Simulator, type SimulatorUser, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { ask, type ContractServer, type Fields } from '../contract/contract-server.ts'

const admin = { token: 'admin', user: 'admin', groups: ['system:masters'] }
const group = 'rbac.authorization.k8s.io'
const clusterRoles = { group, version: 'v1', resource: 'clusterroles' }

const asUser = ({ url }: Simulator, token: string): ContractServer => ({
  url,
  headers: { authorization: `Bearer ${token}` },
  expireHistory: async () => undefined,
})

const isAllowed = async (simulator: Simulator, spec: object): Promise<boolean> => {
  const server = asUser(simulator, 'admin')
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  return (await ask(server, path, { method: 'POST', body: { spec } })).json.status.allowed
}

describe('Authorization', () => {
  it('by RBAC has the usual roles, and keeps aggregated ones in step', async () => {
    await using simulator = await startSimulator({ users: [admin], authorization: 'rbac' })
    const server = asUser(simulator, 'admin')
    const bindings = `/apis/${group}/v1/namespaces/default/rolebindings`
    for (const name of ['view', 'edit', 'admin']) {
      await ask(server, bindings, {
        method: 'POST',
        body: {
          metadata: { name },
          roleRef: { apiGroup: group, kind: 'ClusterRole', name },
          subjects: [{ apiGroup: group, kind: 'User', name }],
        },
      })
    }
    const may = async (user: string, verb: string, more: Fields): Promise<boolean> =>
      isAllowed(simulator, { user, resourceAttributes: { namespace: 'default', verb, ...more } })
    const secrets = { resource: 'secrets' }
    const roles = { group, resource: 'roles' }
    expect([
      await may('view', 'get', { resource: 'pods' }),
      await may('view', 'delete', { resource: 'pods' }),
      await may('view', 'get', secrets),
      await may('edit', 'get', secrets),
      await may('edit', 'create', roles),
      await may('admin', 'create', roles),
    ]).toEqual([true, false, false, true, false, true])

    const widgets = { group: 'stable.example.com', resource: 'widgets' }
    expect(await may('edit', 'get', widgets)).toBe(false)
    simulator.storage.create(clusterRoles, {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'widgets', labels: { [`${group}/aggregate-to-view`]: 'true' } },
      rules: [{ apiGroups: [widgets.group], resources: ['widgets'], verbs: ['get'] }],
    })
    // What is added to `view` goes on to `edit` and `admin`.
    expect([await may('view', 'get', widgets), await may('admin', 'get', widgets)]).toEqual([
      true,
      true,
    ])
    simulator.storage.delete(clusterRoles, '', 'widgets')
    expect(await may('admin', 'get', widgets)).toBe(false)
  })

  it('by denial is what reviews answer too', async () => {
    const users = [admin, { token: 'bob', user: 'bob', denied: ['secrets'] }]
    await using simulator = await startSimulator({ users })
    const bob = asUser(simulator, 'bob')
    expect((await ask(bob, '/api/v1/secrets')).status).toBe(403)
    expect((await ask(bob, '/api/v1/pods')).status).toBe(200)
    const asked = { user: 'bob', resourceAttributes: { verb: 'list', resource: 'secrets' } }
    expect(await isAllowed(simulator, asked)).toBe(false)
  })

  it('by RBAC needs users', async () => {
    const users: SimulatorUser[] = []
    await expect(startSimulator({ users, authorization: 'rbac' })).rejects.toMatchObject({
      code: 'SIMULATOR_OPTIONS',
    })
  })
})
