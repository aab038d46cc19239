import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlaneToken } from '../support/control-plane-api-server.ts'
import { ask, type ContractAnswer, type ContractServer } from './contract-server.ts'

/** The users of the suites about access, beside the administrator. */
export const tokens: readonly ControlPlaneToken[] = [
  { token: 'alice-token', user: 'alice', uid: 'alice-uid', groups: ['devs'] },
  { token: 'bob-token', user: 'bob', uid: 'bob-uid', groups: ['ops'] },
  {
    token: 'robot-token',
    user: 'system:serviceaccount:default:robot',
    uid: 'robot-uid',
    groups: ['system:serviceaccounts'],
  },
]

/** RBAC's group. */
export const group = 'rbac.authorization.k8s.io'

/** Where reviews are asked for. */
export const authentication = '/apis/authentication.k8s.io/v1'
export const authorization = '/apis/authorization.k8s.io/v1'

/** Sends a POST, as the administrator unless a token is named. */
export async function post(
  server: ContractServer,
  path: string,
  body: object,
  token?: string,
): Promise<ContractAnswer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return ask(server, path, { method: 'POST', body, headers })
}

/** Asks what somebody may do. */
export async function review(server: ContractServer, spec: object): Promise<ContractAnswer> {
  return post(server, `${authorization}/subjectaccessreviews`, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec,
  })
}

/** Makes an object of RBAC; `path` is below its version. */
export async function makeRbac(server: ContractServer, path: string, body: object): Promise<void> {
  const answer = await post(server, `/apis/${group}/v1/${path}`, body)
  if (answer.status !== 201) throw new Error(answer.text)
}

/** A role that a binding refers to, or somebody whom it binds. */
export const reference = (kind: string, name: string): object => ({ apiGroup: group, kind, name })

/** Alice reads in `default`, the devs run apps everywhere, the robot in `kube-public`. */
export async function makeRoles(server: ContractServer): Promise<void> {
  const core = { apiGroups: [''] }
  await makeRbac(server, 'namespaces/default/roles', {
    metadata: { name: 'reader' },
    rules: [
      { ...core, resources: ['pods', 'pods/log'], verbs: ['get', 'list'] },
      { ...core, resources: ['configmaps'], resourceNames: ['one'], verbs: ['get', 'list'] },
    ],
  })
  await makeRbac(server, 'namespaces/default/rolebindings', {
    metadata: { name: 'alice-reads' },
    roleRef: reference('Role', 'reader'),
    subjects: [reference('User', 'alice')],
  })
  await makeRbac(server, 'clusterroles', {
    metadata: { name: 'apps' },
    rules: [
      { apiGroups: ['apps'], resources: ['*'], verbs: ['*'] },
      { apiGroups: ['*'], resources: ['*/scale'], verbs: ['get'] },
      { nonResourceURLs: ['/metrics', '/logs/*'], verbs: ['get'] },
    ],
  })
  await makeRbac(server, 'clusterrolebindings', {
    metadata: { name: 'devs-run-apps' },
    roleRef: reference('ClusterRole', 'apps'),
    subjects: [reference('Group', 'devs')],
  })
  await makeRbac(server, 'namespaces/kube-public/rolebindings', {
    metadata: { name: 'robot-runs-apps' },
    roleRef: reference('ClusterRole', 'apps'),
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
  })
  await heard(server)
}

/** A real server hears of its own writes a moment later. */
async function heard(server: ContractServer): Promise<void> {
  const spec = {
    user: 'system:serviceaccount:default:robot',
    resourceAttributes: {
      namespace: 'kube-public',
      verb: 'get',
      group: 'apps',
      resource: 'deployments',
    },
  }
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    if ((await review(server, spec)).json.status.allowed) return
    await sleep(50)
  }
  throw new Error('the roles did not take effect')
}
