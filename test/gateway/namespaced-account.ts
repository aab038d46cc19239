import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type Fields, inParallel, kubeconfigText } from './test-cluster.ts'

type Send = (
  method: 'POST' | 'PUT' | 'DELETE' | 'GET',
  path: string,
  body?: Fields,
) => Promise<Fields>

const rbac = '/apis/rbac.authorization.k8s.io/v1'

export const namespaces: readonly string[] = ['red', 'green', 'blue', 'white', 'black']

/** A cluster with an account that has Roles in some namespaces only. */
export interface NamespacedAccountWorld {
  /** As the account `name`, a ServiceAccount in the namespace `red`. */
  readonly selection: (name: string) => Promise<{ name: string; kubeconfig: string }>
  readonly send: Send
  /** Gives the account the Role in a namespace, which may read everything there. */
  readonly grant: (account: string, namespace: string) => Promise<void>
  readonly revoke: (account: string, namespace: string) => Promise<void>
  /** Lets the account list namespaces, so that it finds those where it has a Role. */
  readonly letListNamespaces: (account: string) => Promise<void>
  readonly makePod: (namespace: string, name: string) => Promise<void>
}

const furnish = async (
  send: Send,
  kubeconfigFor: (token: string) => Promise<string>,
): Promise<NamespacedAccountWorld> => {
  const make = (path: string, body: Fields): Promise<Fields> => send('POST', path, body)
  const subject = (name: string): Fields => ({ kind: 'ServiceAccount', namespace: 'red', name })
  const makePod = async (namespace: string, name: string): Promise<void> => {
    await make(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name, labels: { app: 'shop' } },
      spec: { containers: [{ name: 'main', image: 'shop:1' }], serviceAccountName: 'shop' },
    })
  }
  await inParallel(namespaces, async (namespace) => {
    await make('/api/v1/namespaces', { metadata: { name: namespace } })
    await make(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'shop' } })
    await make(`${rbac}/namespaces/${namespace}/roles`, {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
    })
    await make(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'settings' } })
    for (const name of ['first', 'second']) await makePod(namespace, name)
  })
  const bindingsOf = (namespace: string): string => `${rbac}/namespaces/${namespace}/rolebindings`
  return {
    send,
    makePod,
    selection: async (name) => {
      const accounts = '/api/v1/namespaces/red/serviceaccounts'
      await make(accounts, { metadata: { name } })
      const { status } = await make(`${accounts}/${name}/token`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 3_600 },
      })
      return { name: 'test', kubeconfig: await kubeconfigFor(status.token) }
    },
    grant: async (account, namespace) => {
      await make(bindingsOf(namespace), {
        metadata: { name: account },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [subject(account)],
      })
    },
    revoke: async (account, namespace) => {
      await send('DELETE', `${bindingsOf(namespace)}/${account}`)
    },
    letListNamespaces: async (account) => {
      await make(`${rbac}/clusterroles`, {
        metadata: { name: `namespaces-${account}` },
        rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] }],
      })
      await make(`${rbac}/clusterrolebindings`, {
        metadata: { name: `namespaces-${account}` },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: `namespaces-${account}`,
        },
        subjects: [subject(account)],
      })
    },
  }
}

/** Declares a suite twice: on the simulator, and on a real API server where there is one. */
export const describeNamespacedAccount = (
  name: string,
  body: (world: () => NamespacedAccountWorld) => void,
): void => {
  describe(`${name}, on the simulator`, () => {
    const stack = new AsyncDisposableStack()
    let world: NamespacedAccountWorld
    beforeAll(async () => {
      const simulator = stack.use(
        await startSimulator({
          authorization: 'rbac',
          users: [{ token: 'admin-token', user: 'root', groups: ['system:masters'] }],
        }),
      )
      const dir = await mkdtemp(join(tmpdir(), 'informerql-namespaces-'))
      stack.defer(() => rm(dir, { recursive: true, force: true }))
      let files = 0
      world = await furnish(
        async (method, path, content) => {
          const response = await fetch(new URL(path, simulator.url), {
            method,
            headers: { 'content-type': 'application/json', authorization: 'Bearer admin-token' },
            ...(content === undefined ? {} : { body: JSON.stringify(content) }),
          })
          const text = await response.text()
          if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
          return JSON.parse(text)
        },
        async (token) => {
          const kubeconfig = join(dir, `${++files}.json`)
          await writeFile(kubeconfig, kubeconfigText(simulator.url, token))
          return kubeconfig
        },
      )
    }, 60_000)
    afterAll(async () => stack[Symbol.asyncDispose]())
    body(() => world)
  })
  describeWithControlPlane(name, (plane) => {
    let world: NamespacedAccountWorld
    beforeAll(async () => {
      world = await furnish(
        async (method, path, content) => {
          const answer = await plane().request(path, { method, body: content })
          if (answer.status < 300) return answer.json()
          throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
        },
        (token) => plane().kubeconfigFor(token),
      )
    }, 60_000)
    body(() => world)
  })
}
