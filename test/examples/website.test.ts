import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import {
  ask,
  type ContractServer,
  describeContract,
  type Fields,
  newConfigMap,
  newNamespace,
} from '../contract/contract-server.ts'
import { type ExampleProcess, startExample, startProgram } from '../support/example-process.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'

const user = { token: 'website-token', user: 'website', uid: 'website', groups: [] }
const merge = 'application/merge-patch+json'

/** Another program that has to do the same; bench/controller-runtime/README.md says how. It gets all rights. */
const otherProgram = process.env['WEBSITE_CONTROLLER']

async function startController(server: ContractServer): Promise<ExampleProcess> {
  const env = { NAMESPACE: 'websites', PORT: '0' }
  if (otherProgram === undefined) {
    const controller = await startExample('website-controller', server, [], env)
    await controller.printed('started controller=website')
    return controller
  }
  // Read once, at the start.
  await using kubeconfig = await writeKubeconfig(server)
  const args = ['--namespace', env.NAMESPACE]
  const controller = startProgram(otherProgram, args, { env: { KUBECONFIG: kubeconfig.path } })
  await controller.printed('Starting workers')
  return controller
}

/** The collections of the manifest's kinds. */
const pathOf: Readonly<Record<string, (namespace: string) => string>> = {
  CustomResourceDefinition: () => '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  Namespace: () => '/api/v1/namespaces',
  ServiceAccount: (namespace) => `/api/v1/namespaces/${namespace}/serviceaccounts`,
  ClusterRole: () => '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: () => '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: (namespace) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
  RoleBinding: (namespace) =>
    `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
  Deployment: (namespace) => `/apis/apps/v1/namespaces/${namespace}/deployments`,
}

/** Creates all objects of the manifest. The roles are bound to the test's user, who stands for the service account. */
async function install(server: ContractServer): Promise<void> {
  const text = await readFile('examples/website.yaml', 'utf8')
  for (const document of parseAllDocuments(text)) {
    const object = document.toJS()
    if (object.subjects !== undefined) {
      object.subjects = [{ kind: 'User', name: user.user, apiGroup: 'rbac.authorization.k8s.io' }]
    }
    if (object.rules !== undefined && otherProgram !== undefined) {
      object.rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
    }
    const path = pathOf[object.kind as string]?.(object.metadata.namespace)
    const answer = await ask(server, path ?? '', { method: 'POST', body: object })
    expect(answer.status, answer.text).toBe(201)
  }
  await expect
    .poll(async () => (await ask(server, '/apis/example.com/v1/websites')).status)
    .toBe(200)
}

describeContract(
  'The website controller',
  (server) => {
    it('deploys, reports, follows the pages and cleans up, with the rights of its manifest', async () => {
      await install(server())
      const namespace = await newNamespace(server())
      const at = {
        websites: `/apis/example.com/v1/namespaces/${namespace}/websites`,
        deployment: `/apis/apps/v1/namespaces/${namespace}/deployments/shop`,
        service: `/api/v1/namespaces/${namespace}/services/shop`,
        directory: '/api/v1/namespaces/websites/configmaps/website-directory',
        events: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
      }
      const get = async (path: string): Promise<Fields> => (await ask(server(), path)).json
      const headers = { authorization: `Bearer ${user.token}` }
      await using controller = await startController({ ...server(), headers })

      const spec = { host: 'shop.example.com', content: 'pages', replicas: 2 }
      const made = await ask(server(), at.websites, {
        method: 'POST',
        body: { apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'shop' }, spec },
      })
      expect(made.status, made.text).toBe(201)
      const shop = () => get(`${at.websites}/shop`)
      const ready = async () => {
        const { status } = await shop()
        const { status: value, reason, observedGeneration } = status?.conditions?.[0] ?? {}
        return `${value} ${reason} ${observedGeneration} ${status?.readyReplicas ?? 0}`
      }
      await expect.poll(ready).toBe('False ContentMissing 1 0')
      expect((await shop()).metadata.finalizers).toEqual(['example.com/directory'])

      await newConfigMap(server(), namespace, 'pages', { data: { 'index.html': 'one' } })
      await expect.poll(ready).toBe('False Deploying 1 0')
      const deployment = await get(at.deployment)
      expect(deployment.spec.replicas).toBe(2)
      expect(deployment.metadata.ownerReferences).toMatchObject([
        { kind: 'Website', name: 'shop', controller: true },
      ])
      expect((await get(at.service)).spec.ports).toMatchObject([{ port: 80 }])
      expect((await get(at.directory)).data).toEqual({ 'shop.example.com': `${namespace}.shop` })

      const status = { replicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 }
      await ask(server(), `${at.deployment}/status`, {
        method: 'PATCH',
        contentType: merge,
        body: { status },
      })
      await expect.poll(ready).toBe('True Published 1 2')
      const hashOf = async () =>
        (await get(at.deployment)).spec.template.metadata.annotations['example.com/content']
      const before = await hashOf()
      await ask(server(), `/api/v1/namespaces/${namespace}/configmaps/pages`, {
        method: 'PATCH',
        contentType: merge,
        body: { data: { 'index.html': 'two' } },
      })
      await expect.poll(hashOf).not.toBe(before)
      await ask(server(), at.service, { method: 'DELETE' })
      await expect.poll(async () => (await get(at.service)).spec?.ports?.[0]?.port).toBe(80)
      await expect
        .poll(async () =>
          (await get(at.events)).items.map(({ reason }: Fields) => reason).toSorted(),
        )
        .toEqual(['ContentMissing', 'Deploying', 'Published'])

      await ask(server(), `${at.websites}/shop`, { method: 'DELETE' })
      await expect.poll(async () => (await ask(server(), `${at.websites}/shop`)).status).toBe(404)
      expect((await get(at.directory)).data ?? {}).toEqual({})
      expect(await controller.interrupt('SIGTERM'), controller.lines.join('\n')).toBe(0)
      const lease = '/apis/coordination.k8s.io/v1/namespaces/websites/leases/website-controller'
      expect((await get(lease)).spec.holderIdentity ?? '').toBe('')
    })
  },
  { tokens: [user] },
)
