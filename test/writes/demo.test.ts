import { startSimulatedFleet } from 'informerql/simulator'
import { expect, it, vi } from 'vitest'
import { serveGateway } from '../support/gateway.ts'
import { written } from './shop.ts'

it('in the demo, invoice-worker of payments is mended by a rollback, and its pods follow at once', async () => {
  await using fleet = await startSimulatedFleet({ population: {}, churn: {} })
  const [first] = fleet.clusters
  const clusters = [{ name: 'demo', server: first?.simulator.url ?? '' }]
  await using gateway = await serveGateway({ clusters, allowWrites: true })
  const worker = `{ deployment(namespace: "payments", name: "invoice-worker") {
    id health { status } pods { nodes { health { status } image: json(path: "spec.containers[*].image") } }
  } }`
  const { deployment } = await gateway.data(worker)
  expect(deployment.health.status).toBe('DEGRADED')
  const { changes } = await written(gateway, `rollback(id: "${deployment.id}")`)
  expect(changes).toMatchObject([{}, {}, { path: '/spec/template/spec/containers/0/image' }])
  const [{ after: image }] = changes.slice(-1)
  await vi.waitFor(
    async () => {
      const { deployment: now } = await gateway.data(worker)
      expect(now.health.status).toBe('HEALTHY')
      expect(now.pods.nodes).toMatchObject(now.pods.nodes.map(() => ({ image: [image] })))
    },
    { timeout: 60_000, interval: 250 },
  )
})
