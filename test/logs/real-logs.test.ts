import { beforeAll, expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { serveGateway } from '../support/gateway.ts'
import { logFields } from './followed-logs.ts'

/** There is no kubelet: what an API server says by itself. */
describeWithControlPlane('podLogs', (plane) => {
  const send = async (path: string, body: object, contentType?: string, method = 'POST') => {
    const given = { method: method as 'POST', body, ...(contentType && { contentType }) }
    const { status, text } = await plane().request(path, given)
    if (status >= 300) throw new Error(text)
  }
  const newPod = async (name: string, nodeName: string): Promise<void> => {
    const containers = [{ name: 'app', image: 'app:1' }]
    const spec = { nodeName, containers, automountServiceAccountToken: false }
    await send('/api/v1/namespaces/logs/pods', { metadata: { name }, spec })
    const state = { running: { startedAt: new Date().toISOString() } }
    const one = { name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0, state }
    const status = { phase: 'Running', containerStatuses: [{ ...one, containerID: `x://${name}` }] }
    const path = `/api/v1/namespaces/logs/pods/${name}/status`
    await send(path, { status }, 'application/merge-patch+json', 'PATCH')
  }

  beforeAll(async () => {
    await send('/api/v1/namespaces', { metadata: { name: 'logs' } })
    await send('/api/v1/namespaces/logs/serviceaccounts', { metadata: { name: 'default' } })
    await send('/api/v1/nodes', { metadata: { name: 'silent' } })
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
    const patch = 'application/merge-patch+json'
    await send('/api/v1/nodes/silent/status', { status: { addresses } }, patch, 'PATCH')
  })

  it.each(['silent', 'absent'])(
    'a node that is %s is NODE_UNREACHABLE, and says how',
    async (node) => {
      await newPod(`on-${node}`, node)
      const clusters = [{ name: 'one', kubeconfig: plane().kubeconfigPath }]
      await using gateway = await serveGateway({ clusters })
      const where = `namespace: "logs", where: { name: { eq: "on-${node}" } }`
      const { errors } = await gateway.query(`{ podLogs(${where}) { ${logFields} } }`)
      expect(errors).toMatchObject([
        { extensions: { code: 'NODE_UNREACHABLE', cluster: 'one', type: 'Pod' } },
      ])
      expect(errors?.[0]?.message).toMatch(/connection refused|not found/)
    },
  )

  it('a caller without rights is refused, and one with them reads with their own token', async () => {
    const account = '/api/v1/namespaces/logs/serviceaccounts/default/token'
    const { text } = await plane().request(account, { method: 'POST', body: { spec: {} } })
    const { token } = (JSON.parse(text) as { readonly status: { readonly token: string } }).status
    const clusters = [{ name: 'one', kubeconfig: plane().kubeconfigPath }]
    await using gateway = await serveGateway({ clusters }, {}, { auth: { mode: 'token-review' } })
    const read = `{ podLogs(namespace: "logs") { ${logFields} } }`
    const { errors } = await gateway.as(token).query(read)
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
    await newPod('for-callers', 'silent')
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/logs'
    await send(`${rbac}/roles`, {
      metadata: { name: 'reader' },
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
      ],
    })
    await send(`${rbac}/rolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'logs', name: 'default' }],
    })
    await expect
      .poll(async () => (await gateway.as(token).query(read)).errors)
      .toMatchObject([{ extensions: { code: 'NODE_UNREACHABLE' } }])
  })
})
