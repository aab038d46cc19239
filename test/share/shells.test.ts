import { expect, it } from 'vitest'
import { putNodes, putPod, running } from '../logs/small-town.ts'
import { openShell, type ShellClient } from '../exec/shell-client.ts'
import { serveGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { freePort, holdersBy, SharedGateways } from './shared-gateways.ts'

const patience = { timeout: 120_000, interval: 200 }

it(
  'a shell ends when its cluster goes to another gateway, since no access is reviewed here any more',
  { ...needsPostgres, timeout: 300_000 },
  async () => {
    await using shared = await SharedGateways.start(6)
    for (const { storage } of shared.simulators) {
      putNodes(storage)
      putPod(storage, 'web', running(0))
    }
    const port = await freePort()
    const address = `http://127.0.0.1:${port}`
    const options = { ...shared.options, share: { address } }
    await using here = await serveGateway(options, { port }, { exec: {} })
    const held = async (): Promise<readonly string[]> =>
      Object.entries(await holdersBy(here)).flatMap(([name, holder]) =>
        holder === address ? [name] : [],
      )
    await expect.poll(held, patience).toHaveLength(shared.names.length)
    const shells = new Map<string, ShellClient>()
    await using stack = new AsyncDisposableStack()
    for (const cluster of shared.names) {
      const shell = stack.use(await openShell(here.url, { cluster }))
      await shell.printed('# ')
      shells.set(cluster, shell)
    }

    await shared.serve()
    await expect.poll(async () => (await held()).length, patience).toBeLessThan(6)
    const kept = await held()
    const moved = shared.names.filter((name) => !kept.includes(name))
    for (const cluster of moved) {
      expect(await shells.get(cluster)?.ended()).toMatchObject({
        code: 'CLUSTER_UNREACHABLE',
        message: expect.stringContaining('no longer held'),
      })
    }
  },
)
