import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resources } from 'informerql/informer'
import type { ConfigMap } from 'informerql/kubernetes'
import { expect, it } from 'vitest'
import { ask, type ContractServer, newNamespace } from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'
import { findControlPlane } from '../support/control-plane.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { until } from '../support/informer.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { runCandidate, shortTerms } from './candidates.ts'

const namespacePath = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

/** A process that competes and writes, behind a proxy of its own. */
interface Writer extends AsyncDisposable {
  readonly identity: string
  readonly program: ExampleProcess
  readonly proxy: CutProxy
  /** Its last term; -1 before the first. */
  readonly term: () => number
}

async function startWriter(
  server: ContractServer,
  namespace: string,
  identity: string,
  skewMs: number,
): Promise<Writer> {
  await using parts = new AsyncDisposableStack()
  const proxy = parts.use(await startCutProxy(Number(new URL(server.url).port)))
  const url = `https://127.0.0.1:${proxy.port}`
  const kubeconfig = parts.use(await writeKubeconfig({ ...server, url }))
  const program = parts.use(
    startProgram(
      process.execPath,
      [
        '--conditions=informerql-source',
        'test/controller/process/leading-writer.ts',
        namespace,
        identity,
        String(skewMs),
      ],
      { env: { ...process.env, KUBECONFIG: kubeconfig.path }, timeout: 170_000 },
    ),
  )
  const all = parts.move()
  return {
    identity,
    program,
    proxy,
    term: () => {
      const last = program.lines.findLast((line) => line.startsWith('leads '))
      return Number(last?.slice('leads '.length) ?? -1)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

describeWithControlPlane('Two processes that compete for a lease', (plane) => {
  it('never write at the same time: partitions, suspension, a stop, and clocks an hour apart', async () => {
    const { url, ca, token } = plane()
    const headers = { authorization: `Bearer ${token}` }
    const server: ContractServer = { url, ca, headers, expireHistory: async () => {} }
    const namespace = await newNamespace(server)
    await using one = await startWriter(server, namespace, 'one', 0)
    await using two = await startWriter(server, namespace, 'two', 3_600_000)
    const writesOf = async (): Promise<readonly ConfigMap[]> => {
      const { json } = await ask(server, namespacePath(namespace))
      const { items } = json as { items: ConfigMap[] }
      return items
        .filter(({ data }) => data?.['term'] !== undefined)
        .toSorted((a, b) => versionOf(a) - versionOf(b))
    }
    const leader = (): Writer => (one.term() > two.term() ? one : two)
    const hasWritten = async (term: number): Promise<void> =>
      await expect
        .poll(async () => (await writesOf()).at(-1)?.data?.['term'], { timeout: 60_000 })
        .toBe(String(term))
    /** Disturbs the leader, until the other one has written. */
    const handOver = async (disturb: (writer: Writer) => unknown): Promise<Writer> => {
      await expect.poll(() => leader().term(), { timeout: 60_000 }).toBeGreaterThanOrEqual(0)
      const before = leader()
      const term = before.term()
      const other = before === one ? two : one
      await hasWritten(term)
      await disturb(before)
      await expect.poll(() => other.term(), { timeout: 60_000 }).toBeGreaterThan(term)
      await hasWritten(other.term())
      return before
    }

    const hasLost = async ({ program, term }: Writer): Promise<void> =>
      await expect.poll(() => program.lines.slice(-2)).toEqual([`ended ${term()}`, 'lost expired'])

    const hung = await handOver(({ proxy }) => proxy.hang())
    await hasLost(hung)
    hung.proxy.flow()

    const refused = await handOver(({ proxy }) => proxy.refuse())
    await hasLost(refused)
    await refused.proxy.listen()

    const suspended = await handOver(({ program }) => program.suspend())
    expect(suspended.program.lines.at(-1)).toBe(`leads ${suspended.term()}`)
    suspended.program.resume()
    await suspended.program.printed('lost ')

    const stopped = await handOver(({ program }) => program.interrupt('SIGTERM'))
    expect(stopped.program.lines.at(-1)).toBe(`ended ${stopped.term()}`)
    await leader().program.interrupt('SIGTERM')

    const writes = await writesOf()
    const termOf = ({ data }: ConfigMap): number => Number(data?.['term'])
    const isLate = (write: ConfigMap, at: number): boolean =>
      writes.slice(0, at).some((before) => termOf(before) > termOf(write))
    // One that was suspended after it had looked at the time, and before the write was sent.
    const late = writes.filter(isLate).map(({ data }) => data?.['identity'])
    expect([[], [suspended.identity]]).toContainEqual(late)
    const writers = new Map<number, Set<string>>()
    for (const { data } of writes) {
      const term = Number(data?.['term'])
      writers.set(term, (writers.get(term) ?? new Set()).add(data?.['identity'] ?? ''))
    }
    expect([...writers.values()].map(({ size }) => size)).toEqual([...writers].map(() => 1))
    expect(writers.size).toBeGreaterThanOrEqual(5)
  })

  it('share a lease with kube-controller-manager, whose candidate is client-go’s', async ({
    skip,
  }) => {
    const found = findControlPlane({ controllers: true })
    if ('missing' in found) return skip(found.missing)
    const { url, ca, token, kubeconfigPath } = plane()
    const headers = { authorization: `Bearer ${token}` }
    const server: ContractServer = { url, ca, headers, expireHistory: async () => {} }
    const namespace = await newNamespace(server)
    await using apiServer = await openApiServer(server)
    const place = { namespace, name: 'shared' }
    const candidate = (identity: string) =>
      runCandidate({ apiServer, ...place, identity, ...shortTerms })
    const specOf = async () => (await apiServer.client(resources.leases).get(place)).spec ?? {}

    await using first = candidate('first')
    await first.leads()
    const dir = await mkdtemp(join(tmpdir(), 'informerql-manager-'))
    await using manager = startManager(found.binDir, kubeconfigPath, dir, place)
    await expect
      .poll(() => manager.lines.join('\n'), { timeout: 60_000 })
      .toMatch(/acquire.*lease/i)
    const { renewals } = first
    await until(() => first.renewals > renewals + 5, 'renewals')
    expect((await specOf()).holderIdentity).toBe('first')
    expect(await first.stop()).toBeUndefined()
    await expect
      .poll(specOf, { timeout: 60_000 })
      .toMatchObject({ holderIdentity: expect.stringMatching(/_/), leaseTransitions: 1 })

    await using second = candidate('second')
    await until(() => second.events.length > 0, 'the lease of the manager')
    expect(second.events).toEqual([`new leader ${(await specOf()).holderIdentity}`])
    await manager[Symbol.asyncDispose]()
    await second.leads()
    expect(second.term?.transitions).toBe(2)
    await second.stop()
    await rm(dir, { recursive: true, force: true })
  })
})

/** kube-controller-manager, with the timing of {@link shortTerms}. */
function startManager(
  binDir: string,
  kubeconfigPath: string,
  dir: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): ExampleProcess {
  return startProgram(
    join(binDir, 'kube-controller-manager'),
    [
      `--kubeconfig=${kubeconfigPath}`,
      '--controllers=job-controller',
      '--leader-elect=true',
      '--leader-elect-lease-duration=3s',
      '--leader-elect-renew-deadline=2s',
      '--leader-elect-retry-period=200ms',
      `--leader-elect-resource-name=${name}`,
      `--leader-elect-resource-namespace=${namespace}`,
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      `--cert-dir=${dir}`,
    ],
    { timeout: 170_000 },
  )
}

const versionOf = ({ metadata }: ConfigMap): number => Number(metadata.resourceVersion)
