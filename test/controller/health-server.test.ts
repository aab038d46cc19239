import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApiServer } from 'informerql/cluster'
import { runController } from 'informerql/controller'
import { resources } from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'

it('A run refuses a port of health that another program has', async () => {
  await using simulator = await startSimulator()
  await using apiServer = createApiServer({ server: simulator.url })
  await using taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const run = runController({
    apiServer,
    log: { info() {}, warn() {}, error() {} },
    health: { port, host: '127.0.0.1' },
    for: resources.configMaps,
    reconcile() {},
  })
  expect(await failureOf(run)).toMatchObject({
    code: 'INVALID_OPTION',
    message: `port ${port} is already in use`,
  })
})
