import { expect, it } from 'vitest'
import { firstAnswer } from '../support/gateway.ts'
import { startAttackedGateway } from './attacked-gateway.ts'

const many = 40

it('behind many subscriptions of one user a neighbour hears of a change before most of them', async () => {
  await using target = await startAttackedGateway()
  const { gateway, cluster } = target
  const told = new Set<number>()
  const mallory = target.mallory.connect()
  for (let number = 0; number < many; number += 1) {
    // All pods on a node are told with it.
    const query = `subscription Number${number} { pods(coalesceMs: 0) { changes { object { json node { json } } } } }`
    mallory.subscribe({ query }, { next: () => told.add(number), error() {}, complete() {} })
  }
  await expect.poll(() => told.size).toBe(many)
  const ann = gateway.as('of-ann')
  const node = 'node { metadata { name annotations } }'
  const { pods } = await ann.data(`{ pods(first: 1) { nodes { ${node} } } }`)
  const frames = ann.connect().iterate({
    query: `subscription { pods(coalesceMs: 0) { changes { object { ${node} } } } }`,
  })
  await frames.next()
  told.clear()
  const path = `/api/v1/nodes/${pods.nodes[0].node.metadata.name}`
  const response = await fetch(new URL(path, cluster.url), {
    method: 'PATCH',
    headers: {
      authorization: 'Bearer of-the-gateway',
      'content-type': 'application/merge-patch+json',
    },
    body: JSON.stringify({ metadata: { annotations: { changed: 'now' } } }),
  })
  expect(response.status).toBe(200)
  await frames.next()
  expect(told.size).toBeLessThan(many / 2)
  await expect.poll(() => told.size).toBe(many)
})

it('beside many long queries of one user the short ones of a neighbour do not wait for one each', async () => {
  await using target = await startAttackedGateway()
  const aliases = Array.from({ length: 400 }, (_, at) => `c${at}: cursor`).join(' ')
  const long = `{ pods(first: 60) { edges { ${aliases} } } }`
  const mallory = target.mallory.connect()
  const twenty = async () => Promise.all(Array.from({ length: 20 }, target.neighbour))
  await twenty()
  let answered = 0
  const all = Array.from({ length: many }, async () => {
    expect((await firstAnswer(mallory, long)).errors).toBeUndefined()
    answered += 1
  })
  await expect.poll(() => answered, { interval: 5 }).toBeGreaterThan(0)
  const before = answered
  await twenty()
  expect(answered - before).toBeLessThan(15)
  await Promise.all(all)
})
