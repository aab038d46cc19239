import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Storage } from 'informerql/simulator'
import { expect, it, vi } from 'vitest'
import { startCutProxy } from '../support/cut-proxy.ts'
import { needsPostgres, startPostgres } from '../support/postgres.ts'
import { listsOf } from '../support/request-proxy.ts'
import { RestartedGateway } from './restarted-gateway.ts'

/** A busy one may be so slow for seconds, as while a gateway takes a hundred clusters over. */
const slowMs = 5_000
/** Until the gateway has opened its archive, which it does while it connects. */
const openingMs = 4_000

it.skipIf(needsPostgres.skip)(
  'a gateway that starts waits for an archive that is slow, instead of listing everything',
  async () => {
    await using postgres = await startPostgres()
    const database = new URL(await postgres.database())
    await using proxy = await startCutProxy(postgres.port)
    database.port = String(proxy.port)
    const metadata = { name: 'kube-system', uid: randomUUID() }
    await using world = await RestartedGateway.start(
      { archive: { url: database.href } },
      {
        populate: (storage: Storage) =>
          void storage.create(
            { group: '', version: 'v1', resource: 'namespaces' },
            { apiVersion: 'v1', kind: 'Namespace', metadata },
          ),
      },
    )
    expect(await world.names()).toEqual(['a', 'b', 'c'])
    // The archive answers when the gateway opens it, and not when the cluster has connected.
    const [stopped, connecting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const again = world.again(() => {
      world.proxy.requests.length = 0
      world.proxy.held = () => connecting.promise
      stopped.resolve()
      return Promise.resolve()
    })
    await stopped.promise
    await vi.waitFor(() => expect(world.proxy.requests.length).toBeGreaterThan(0), 20_000)
    await sleep(openingMs)
    proxy.hang()
    connecting.resolve()
    await sleep(slowMs)
    proxy.flow()
    await again
    expect(await world.names()).toEqual(['a', 'b', 'c'])
    expect(listsOf(world.proxy, '/api/v1/pods')).toEqual([])
  },
)
