import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { resources } from 'informerql/kubernetes'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { startProgram } from '../support/example-process.ts'
import { firstAnswer } from '../support/gateway.ts'

const group = 'rbac.authorization.k8s.io'
const apiVersion = `${group}/v1`

it('The audit log says of each line whether it was allowed, was denied or has failed', async () => {
  await using stack = new AsyncDisposableStack()
  const simulator = stack.use(
    await startSimulator({
      authorization: 'rbac',
      users: [
        { user: 'gateway', token: 'of-gateway', groups: ['system:masters'] },
        { user: 'ann', token: 'of-ann' },
      ],
      populate(storage) {
        const metadata = { name: 'ann' }
        const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }
        const role = { apiVersion, kind: 'ClusterRole', metadata, rules: [rule] }
        storage.create(resources.clusterRoles, role)
        storage.create(resources.clusterRoleBindings, {
          apiVersion,
          kind: 'ClusterRoleBinding',
          metadata,
          roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'ann' },
          subjects: [{ apiGroup: group, kind: 'User', name: 'ann' }],
        })
      },
    }),
  )
  const folder = await mkdtemp(join(tmpdir(), 'informerql-decisions-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const [kubeconfig, audit] = [join(folder, 'kubeconfig.json'), join(folder, 'audit.log')]
  await writeFile(kubeconfig, kubeconfigText(simulator.url, 'of-gateway'))
  const args = ['serve', '--kubeconfig', kubeconfig, '--port', '0', '--auth', 'token-review']
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const gateway = stack.use(
    startProgram(
      process.execPath,
      ['src/main.ts', ...args, '--allow-writes', '--audit-file', audit],
      { env: { PATH, NODE_COMPILE_CACHE } },
    ),
  )
  await gateway.printed('informerql answers at')
  const url = /answers at ([^"\s]+)/.exec(gateway.lines.join('\n'))?.[1] ?? ''
  const authorization = 'Bearer of-ann'
  const ask = async (query: string, variables: object = {}): Promise<void> => {
    const headers = { 'content-type': 'application/json', authorization }
    const body = JSON.stringify({ query, variables })
    await (await fetch(url, { method: 'POST', headers, body })).text()
  }
  const manifest = (namespace: string): object => ({
    manifest: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one', namespace },
      data: {},
    },
  })
  const apply = 'mutation Apply($manifest: JSON!) { apply(manifest: $manifest) { object { id } } }'
  await ask('query Allowed { configMaps { totalCount } }')
  await ask('query OneField { configMaps(first: -1) { totalCount } viewer { username } }')
  await ask('query Denied { pods { totalCount } }')
  await ask('query Failed($n: Int!) { configMaps(first: $n) { totalCount } }', { n: 'x' })
  await ask(apply.replace('Apply', 'Absent'), manifest('absent'))
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'one', namespace: 'default' },
  }
  await ask(apply.replace('Apply', 'Secret'), { manifest: secret })
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { authorization },
  })
  stack.defer(async () => client.dispose())
  const follow = 'subscription Follow { configMaps(cluster: "absent") { synced } }'
  await firstAnswer(client, follow).catch(() => {})
  const decisions = async (): Promise<readonly string[]> =>
    (await readFile(audit, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, string>>)
      .map(({ event, operation, decision }) => [event, operation, decision].join(' '))
  await expect
    .poll(decisions)
    .toEqual([
      'query Allowed allowed',
      'query OneField allowed',
      'query Denied denied',
      'query Failed failed',
      'write Absent failed',
      'mutation Absent allowed',
      'write Secret denied',
      'mutation Secret denied',
      'subscription Follow failed',
    ])
})
