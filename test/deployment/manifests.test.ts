import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { serveGateway } from '../support/gateway.ts'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
}

const manifests = parseAllDocuments(readFileSync('deploy/kubernetes.yaml', 'utf8')).map(
  (document) => document.toJS() as Manifest,
)

const collections: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: '/api/v1/namespaces/informerql/serviceaccounts',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  ConfigMap: '/api/v1/namespaces/informerql/configmaps',
  Deployment: '/apis/apps/v1/namespaces/informerql/deployments',
  Service: '/api/v1/namespaces/informerql/services',
  PodDisruptionBudget: '/apis/policy/v1/namespaces/informerql/poddisruptionbudgets',
}

describe('deploy/kubernetes.yaml', () => {
  it('has a configuration that can be used', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'informerql-deploy-'))
    const file = join(folder, 'informerql.yaml')
    const config = manifests.find(({ kind }) => kind === 'ConfigMap')?.data?.['informerql.yaml']
    writeFileSync(file, config ?? '')
    await using simulator = await startSimulator()
    const program = ['src/main.ts', 'schema', '--config', file, '--server', simulator.url]
    const { stdout } = await promisify(execFile)(process.execPath, program, { maxBuffer: 1 << 26 })
    rmSync(folder, { recursive: true })
    expect(stdout).toContain('type Query')
    const { auth, server } = parse(config ?? '')
    expect(auth.mode).toBe('token-review')
    expect(server).not.toHaveProperty('insecureNoAuth')
  })
})

describeWithControlPlane('deploy/kubernetes.yaml', (plane) => {
  it('is accepted, and gives the gateway all that it needs and no Secrets', async () => {
    for (const manifest of manifests) {
      const path = collections[manifest.kind] ?? ''
      const { status, text } = await plane().request(path, { method: 'POST', body: manifest })
      expect(status, `${manifest.kind}: ${text}`).toBe(201)
    }
    const account = `${collections['ServiceAccount']}/informerql/token`
    const answer = await plane().request(account, { method: 'POST', body: { spec: {} } })
    const { token } = (JSON.parse(answer.text) as { status: { token: string } }).status
    const kubeconfig = await plane().kubeconfigFor(token)
    await using gateway = await serveGateway(
      { clusters: [{ name: 'one', kubeconfig }] },
      {},
      {
        auth: { mode: 'token-review' },
      },
    )
    const admin = gateway.as(plane().token)
    expect(
      await admin.query(`{
        namespaces { totalCount } deployments { totalCount } clusterRoles { totalCount }
        customResourceDefinitions { totalCount } priorityClasses { totalCount } nodes { totalCount }
      }`),
    ).not.toHaveProperty('errors')
    expect(await admin.query('{ secrets { totalCount } }')).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN', type: 'Secret' } }],
    })
    expect(gateway.log.join('\n')).not.toMatch(/tokenreviews|roles|customresourcedefinitions/)
  })
})
