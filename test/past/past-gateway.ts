import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayOptions } from 'informerql'
import { startSimulator, type Simulator } from 'informerql/simulator'
import { vi } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

export const wait = { timeout: 60_000, interval: 20 }

export const core = '/api/v1/namespaces/default'

/** A simulated cluster, and a gateway that keeps its past. */
export interface PastGateway extends AsyncDisposable {
  readonly simulator: Simulator
  readonly gateway: ServedGateway
  readonly make: (path: string, body: Fields) => Promise<Fields>
  readonly patch: (path: string, body: Fields, manager?: string) => Promise<Fields>
  readonly remove: (path: string) => Promise<Fields>
  /** Waits until the archive has everything that happened before. Returns a time behind it. */
  readonly seen: () => Promise<string>
}

/** `kept`: in memory, or in a file. */
export const startPast = async (
  kept: 'memory' | 'file' = 'memory',
  options: Partial<GatewayOptions> = {},
): Promise<PastGateway> => {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'informerql-past-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const simulator = await startSimulator()
  stack.use(simulator)
  const url = kept === 'memory' ? 'memory:' : `file:${join(folder, 'archive.db')}`
  const gateway = await serveGateway({
    clusters: [{ name: 'one', server: simulator.url }],
    archive: { url, ...options.archive },
    ...options,
  })
  stack.use(gateway)
  const make: PastGateway['make'] = (path, body) => created(simulator, path, body)
  const patch: PastGateway['patch'] = (path, body, manager = 'tester') =>
    sent(simulator, 'PATCH', `${path}?fieldManager=${manager}`, body)
  const remove: PastGateway['remove'] = (path) =>
    sent(simulator, 'DELETE', `${path}?gracePeriodSeconds=0`)
  let marks = 0
  const seen = async (): Promise<string> => {
    // Kinds are written one by one, so there is a mark of each that tests look at.
    const name = `mark-${(marks += 1)}`
    const labels = { labels: { mark: name } }
    const paths = [
      [`${core}/configmaps`, 'ConfigMap', {}],
      [`${core}/pods`, 'Pod', { spec: { containers: [{ name: 'main', image: 'mark' }] } }],
      ['/apis/apps/v1/namespaces/default/deployments', 'Deployment', deploymentSpec('mark')],
    ] as const
    for (const [path, , body] of paths) {
      await make(path, { ...body, metadata: { name, ...labels } })
    }
    const types = paths.map(([, type]) => type)
    const isTold = (type: 'ADDED' | 'REMOVED'): Promise<void> =>
      vi.waitFor(async () => {
        const { changes } = await gateway.data(
          `query ($types: [String!], $name: String) {
            changes(types: $types, where: { name: { eq: $name }, type: { eq: ${type} } }) { nodes { object { kind } } } }`,
          { types, name },
        )
        const kinds = new Set(changes.nodes.map(({ object }: Fields) => object.kind))
        if (kinds.size < types.length) throw new Error('not seen yet')
      }, wait)
    await isTold('ADDED')
    for (const [path] of paths) {
      await remove(`${path}/${name}`)
    }
    // What is asked since the time that is returned is not to have the end of a mark.
    await isTold('REMOVED')
    return new Date().toISOString()
  }
  // What is there when the archive begins has not changed.
  await vi.waitFor(async () => {
    const { changes } = await gateway.data(
      'query ($since: DateTime) { changes(since: $since) { incomplete { code type } } }',
      { since: new Date().toISOString() },
    )
    const { changes: all } = await gateway.data(
      '{ changes(types: ["Pod", "ConfigMap", "Deployment", "ReplicaSet"]) { incomplete { to } } }',
    )
    const isBegun = all.incomplete.every(({ to }: Fields) => to !== null)
    if (!isBegun || changes.incomplete.length > 0) throw new Error('the archive has not begun')
  }, wait)
  const started = stack.move()
  return {
    simulator,
    gateway,
    make,
    patch,
    remove,
    seen,
    [Symbol.asyncDispose]: async () => started.disposeAsync(),
  }
}

export const deploymentSpec = (image: string): Fields => ({
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image }] },
    },
  },
})
