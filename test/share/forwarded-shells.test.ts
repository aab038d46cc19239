import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecEndReport, ExecReport } from 'informerql'
import { resources } from 'informerql/kubernetes'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openShell, refusedExec, type ShellClient, type ShellStart } from '../exec/shell-client.ts'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { putNodes, putPod, running } from '../logs/small-town.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { serveGateway } from '../support/gateway.ts'
import { needsPostgres, startPostgres } from '../support/postgres.ts'
import { heldAt, sharedBetween } from './settled-holders.ts'
import { behind, freePort, type SharingGateway } from './shared-gateways.ts'

const users = [
  { user: 'gateway', token: 'of-gateway', groups: ['system:masters'] },
  { user: 'ann', token: 'of-ann', groups: [] },
  { user: 'bob', token: 'of-bob', groups: [] },
]

/** What the audit log of one gateway gets. */
interface Audited {
  readonly began: ExecReport[]
  readonly ended: ExecEndReport[]
  readonly refused: ExecEndReport[]
}

const startCluster = async (): Promise<Simulator> =>
  await startSimulator({
    authorization: 'rbac',
    users,
    populate(storage) {
      putNodes(storage)
      putPod(storage, 'web', running(0))
      const reads = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }
      const shells = { apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] }
      const types = { apiVersion: 'rbac.authorization.k8s.io/v1' }
      const grant = (name: string, rules: readonly object[]): void => {
        const metadata = { name }
        storage.create(resources.clusterRoles, { ...types, kind: 'ClusterRole', metadata, rules })
        storage.create(resources.clusterRoleBindings, {
          ...types,
          kind: 'ClusterRoleBinding',
          metadata,
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
          subjects: [{ kind: 'User', name }],
        })
      }
      grant('ann', [reads, shells])
      grant('bob', [reads])
    },
  })

describe('a shell in a cluster that another gateway holds', needsPostgres, () => {
  const stack = new AsyncDisposableStack()
  const clusters: { readonly name: string; readonly kubeconfig: string; everywhere: boolean }[] = []
  const audits = new Map<string, Audited>()
  let archive = ''
  let here: SharingGateway
  let there: SharingGateway
  /** Between them. */
  let proxy: CutProxy
  let cluster = ''

  const serve = async (): Promise<SharingGateway> => {
    const port = await freePort()
    proxy = await startCutProxy(port)
    const address = `http://127.0.0.1:${proxy.port}`
    const share = { address }
    const options = {
      clusters,
      archive: { url: archive, kinds: ['pods'] },
      share,
      preload: ['pods'],
    }
    const audited: Audited = { began: [], ended: [], refused: [] }
    audits.set(address, audited)
    const gateway = await serveGateway(
      options,
      { port },
      {
        auth: { mode: 'token-review', tokenClusters: clusters.map(({ name }) => name) },
        exec: { maxSessionsPerUser: 2 },
        observer: {
          refused: () => {},
          execBegan: (report) => void audited.began.push(report),
          execEnded: (report) => void audited.ended.push(report),
          execRefused: (report) => void audited.refused.push(report),
        },
      },
    )
    return { ...behind({ ...gateway, ...gateway.as('of-ann') }, proxy) }
  }

  beforeAll(async () => {
    const postgres = stack.use(await startPostgres())
    archive = await postgres.database()
    const folder = await mkdtemp(join(tmpdir(), 'informerql-shells-'))
    stack.defer(async () => rm(folder, { recursive: true }))
    for (const name of ['c-0', 'c-1', 'c-2', 'c-3', 'c-4']) {
      const simulator = stack.use(await startCluster())
      const kubeconfig = join(folder, `${name}.json`)
      await writeFile(kubeconfig, kubeconfigText(simulator.url, 'of-gateway'))
      clusters.push({ name, kubeconfig, everywhere: name === 'c-0' })
    }
    here = stack.use(await serve())
    const between = await sharedBetween(here, serve)
    there = stack.use(between.there)
    ;[cluster = ''] = heldAt(there, between.held)
  }, 240_000)

  afterAll(async () => {
    await stack.disposeAsync()
  })

  const open = async (
    start: ShellStart = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ShellClient> =>
    await openShell(here.url, { authorization: 'Bearer of-ann', cluster, ...start }, headers)
  const auditOf = ({ address }: SharingGateway): Audited => {
    const audited = audits.get(address)
    if (audited === undefined) throw new Error(`nothing is audited at ${address}`)
    return audited
  }

  it('prints and ends as its process does, and is recorded once, by the holder, with the caller', async () => {
    using shell = await open()
    await shell.printed('# ')
    shell.type('echo from afar\r')
    await shell.printed('\nfrom afar')
    const authorization = 'Bearer of-ann'
    shell.socket.send(JSON.stringify({ type: 'credentials', authorization }))
    shell.type('exit 3\r')
    expect(await shell.ended()).toEqual({
      type: 'end',
      code: 'EXITED',
      message: 'the process has exited with 3',
      exitCode: 3,
    })
    expect(shell.closed).toEqual({ code: 1000, reason: 'EXITED: the process has exited with 3' })
    expect(shell.container).toBeDefined()
    const viewer = expect.objectContaining({ username: 'ann' })
    expect(auditOf(there).ended).toEqual([
      expect.objectContaining({ outcome: 'EXITED', exitCode: 3, cluster, viewer }),
    ])
    expect(auditOf(here)).toEqual({ began: [], ended: [], refused: [] })
  })

  it('is opened by the header of the caller as well', async () => {
    using shell = await openShell(here.url, { cluster }, { authorization: 'Bearer of-ann' })
    await shell.printed('# ')
    shell.type('exit\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 0 })
  })

  it('takes what is typed before it is open, and the end of the input', async () => {
    using shell = await open({ tty: false })
    shell.type('echo early\n')
    shell.endInput()
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 0 })
    expect(shell.output).toContain('early')
  })

  it('is refused to callers without the right, or with wrong messages, as the holder says', async () => {
    using bob = await open({ authorization: 'Bearer of-bob' })
    expect(await bob.ended()).toMatchObject({ code: 'FORBIDDEN' })
    expect(bob.closed?.code).toBe(4403)
    expect(auditOf(here).refused).toEqual([])
    using nobody = await open({ authorization: 'Bearer of-nobody' })
    expect(await nobody.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
    using wrong = await open()
    await wrong.printed('# ')
    wrong.socket.send(Buffer.of(7, 7))
    expect(await wrong.ended()).toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  it('is refused to pages of other origins, where they arrive', async () => {
    const foreign = await refusedExec(here.url, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
  })

  it('takes a place of its user', async () => {
    using first = await open()
    using second = await open()
    await first.printed('# ')
    await second.printed('# ')
    using third = await open()
    expect(await third.ended()).toMatchObject({ code: 'TOO_MANY_OPERATIONS' })
  })

  it('goes one hop: what another gateway has passed on goes no further', async () => {
    using shell = await open({}, { 'informerql-forwarded': there.address })
    expect(await shell.ended()).toMatchObject({ code: 'CLUSTER_UNREACHABLE', retryAfterMs: 1_000 })
    expect(shell.closed?.code).toBe(1013)
  })

  it('ends there when its client is gone', async () => {
    const { ended } = auditOf(there)
    const before = ended.length
    using shell = await open()
    await shell.printed('# ')
    shell.socket.terminate()
    await expect.poll(() => ended.slice(before).map(({ outcome }) => outcome)).toContain('CLOSED')
  })

  it('ends with CLUSTER_UNREACHABLE when the holder is gone', async () => {
    using shell = await open()
    await shell.printed('# ')
    proxy.cut()
    expect(await shell.ended()).toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      message: expect.stringContaining(`the gateway that holds cluster ${cluster} is lost`),
      retryAfterMs: 1_000,
    })
  })
})
