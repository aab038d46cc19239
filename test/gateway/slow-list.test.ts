import { createGateway, type GatewayLog } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { until } from '../support/informer.ts'

it('The gateway warns of a slow list, with its resource and stages', async () => {
  await using simulator = await startSimulator()
  const warnings: (readonly [string, object | undefined])[] = []
  const log: GatewayLog = {
    info: () => {},
    warn: (message, details) => warnings.push([message, details]),
    error: () => {},
  }
  await using gateway = await createGateway({
    clusters: [{ name: 'one', server: simulator.url }],
    preload: ['configMaps'],
    reflector: { slowListMs: 0 },
    log,
  })
  await until(() => gateway.readiness().ready, 'the list')
  await until(() => warnings.some(([message]) => message.includes('objects took')), 'the warning')
  expect(warnings).toEqual([
    [
      expect.stringMatching(/^\d+ objects took \d+ s$/),
      {
        cluster: 'one',
        kind: 'ConfigMap',
        firstByteMs: expect.any(Number),
        receivingMs: expect.any(Number),
        applyingMs: expect.any(Number),
      },
    ],
  ])
})
