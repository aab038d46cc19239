import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { company } from '../support/company.ts'

/** Each is within its budget, and takes some milliseconds. */
const heavy = `{ pods(first: 150) { nodes { owners { kind owners { kind } } } } }`
const heavyOnes = 30
const pings = 20_000

describe('heavy operations that arrive at once take turns with everybody else', () => {
  let cluster: TestCluster
  let gateway: ServedGateway

  beforeAll(async () => {
    const now = new Date('2026-01-15T12:00:00Z')
    cluster = await startSimulatedCluster({
      populate: company({ seed: 'burst', pods: 200, now }),
    })
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
    await gateway.data(heavy)
    await gateway.data('{ namespaces { totalCount } }')
  })

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  it('so a neighbour who asks after all of them is answered before most of them', async () => {
    const client = gateway.connect()
    await firstAnswer(client, '{ namespaces { totalCount } }')
    let answered = 0
    const burst = Array.from({ length: heavyOnes }, async () => {
      await firstAnswer(client, heavy)
      answered += 1
    })
    await gateway.data('{ namespaces { totalCount } }')
    expect(answered).toBeLessThan(heavyOnes / 2)
    await Promise.all(burst)
    expect(answered).toBe(heavyOnes)
  })

  it('and so do the messages of one WebSocket', async () => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws')
    let messages = 0
    socket.on('message', () => (messages += 1))
    await once(socket, 'open')
    const acknowledged = once(socket, 'message')
    socket.send('{"type":"connection_init"}')
    await acknowledged
    for (let sent = 0; sent < pings; sent++) socket.send('{"type":"ping"}')
    await gateway.data('{ namespaces { totalCount } }')
    expect(messages).toBeLessThan(pings / 4)
    socket.terminate()
  })
})
