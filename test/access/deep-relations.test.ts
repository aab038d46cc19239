import { expect, it } from 'vitest'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { reads, startSmallWorld } from './small-world.ts'

const query = `{ deployments(first: 2) { nodes { replicaSets(first: 2) { nodes { pods(first: 2) { nodes { services(first: 2) { nodes {
  metadata { name } ingresses { totalCount } endpoints { metadata { name } } namespaceObject { metadata { name } }
} } } } } } } } }`

it('relations one within the other are answered at once to somebody of whom nothing is known yet', async () => {
  await using world = await startSmallWorld()
  const rules = [
    reads('', 'pods', 'services', 'endpoints', 'namespaces'),
    reads('apps', 'deployments', 'replicasets'),
    reads('networking.k8s.io', 'ingresses'),
  ]
  const service = {
    metadata: { name: 'shop' },
    ingresses: { totalCount: 0 },
    endpoints: null,
    namespaceObject: { metadata: { name: 'one' } },
  }
  const pods = { nodes: [{ services: { nodes: [service] } }] }
  const expected = {
    data: { deployments: { nodes: [{ replicaSets: { nodes: [{ pods }] } }] } },
  }
  await world.allow('one', 'deep', 'deep', rules)
  await using served = await serveViewers({ clusters: [world.selection] })
  expect(await served.query(caller('deep'), query)).toEqual(expected)
})
