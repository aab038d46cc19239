import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { population } from '../../src/simulator.ts'
import type { ControlPlane } from '../../test/support/control-plane.ts'

const settleDeadlineMs = 120_000

/** Writes the pods of a population straight into etcd; resolves when the API server's cache has them all. */
export async function fillWithPods(plane: ControlPlane, count: number): Promise<void> {
  await plane.putMany(podsOf(count))
  const deadline = performance.now() + settleDeadlineMs
  // The smallest answer: of 100,000 pods, another one is longer than a string may be.
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
  while (performance.now() < deadline) {
    const { text } = await plane.request('/api/v1/pods?resourceVersion=0&includeObject=None', {
      accept,
    })
    if (text.split('"cells":').length > count) return
    await delay(500)
  }
  throw new Error(`the API server did not have ${count} pods within ${settleDeadlineMs} ms`)
}

/** Resolves when the API server's cache has everything that was written so far. */
export async function caughtUp(plane: ControlPlane): Promise<void> {
  // Without a limit, or the answer would come from etcd, past the cache.
  const path = '/api/v1/namespaces/none/pods'
  const { text } = await plane.request(path)
  const { metadata } = JSON.parse(text) as { metadata: { resourceVersion: string } }
  const query = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`
  const deadline = performance.now() + settleDeadlineMs
  while (performance.now() < deadline) {
    const { status } = await plane.request(`${path}?${query}`)
    if (status === 200) return
    await delay(500)
  }
  throw new Error(`the API server did not catch up within ${settleDeadlineMs} ms`)
}

function* podsOf(count: number): Generator<readonly [key: string, object: object]> {
  const now = new Date('2026-01-15T12:00:00Z')
  for (const { resource, object } of population({ seed: 'bench', pods: count, now })) {
    const { namespace, name } = object.metadata
    if (resource.resource === 'pods') yield [`/registry/pods/${namespace}/${name}`, object]
  }
}

/** A process that updates pods at an even pace, straight in etcd; see `bench/client-go/cmd/writer`. */
export class EtcdWriter {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  constructor(program: string, plane: ControlPlane, updatesPerSecond: number) {
    this.#child = spawn(
      program,
      ['-kubeconfig', plane.kubeconfigPath, '-etcd', plane.etcdUrl, '-rate', `${updatesPerSecond}`],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** Resolves when it is ready to write. */
  async ready(): Promise<void> {
    const { done } = await this.#lines.next()
    if (done === true) throw new Error('the writer has failed')
  }

  begin(): void {
    this.#child.stdin.write('\n')
  }

  /** Ends it; resolves with the rate that it achieved, per second. */
  async end(): Promise<number> {
    this.#child.stdin.end()
    const { done, value } = await this.#lines.next()
    if (done === true) throw new Error('the writer has failed')
    return Number(value)
  }
}
