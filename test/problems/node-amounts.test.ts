import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { serveGateway } from '../support/gateway.ts'

it('a pod asks for more than any Node has only where that is so, whatever unit a kubelet reports', async () => {
  await using simulator = await startSimulator()
  await created(simulator, '/api/v1/nodes', { metadata: { name: 'worker' } })
  await sent(simulator, 'PATCH', '/api/v1/nodes/worker', { spec: { taints: null } })
  await sent(simulator, 'PATCH', '/api/v1/nodes/worker/status', {
    status: {
      allocatable: { cpu: '4', memory: '16077584Ki' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  })
  await created(simulator, '/api/v1/namespaces', { metadata: { name: 'shop' } })
  for (const [name, memory] of [
    ['fits', '1Gi'],
    ['large', '64Gi'],
  ] as const) {
    const path = '/api/v1/namespaces/shop/pods'
    const spec = { containers: [{ name: 'a', image: 'a', resources: { requests: { memory } } }] }
    await created(simulator, path, { metadata: { name }, spec })
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }
    await sent(simulator, 'PATCH', `${path}/${name}/status`, {
      status: { phase: 'Pending', conditions: [{ ...condition, message: 'no room' }] },
    })
  }
  await using gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  const { problems } = await gateway.data('{ problems { nodes { message object { name } } } }')
  const messages = Object.fromEntries(
    problems.nodes.map(({ message, object }: Fields) => [object.name, message]),
  )
  expect(messages).toEqual({
    fits: 'no room',
    large: 'no Node has 65536Mi memory: the largest has 15701Mi',
  })
})
