import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.ts'

const timeout = 25_000
const maxSubscriptionsPerUser = 20
const subscriptions = {
  'with a plan': 'subscription { configMaps { synced } }',
  'without one': 'subscription { configMaps { changes { a: object { id } b: object { id } } } }',
}

interface Message {
  readonly id?: string
  readonly type: string
  readonly payload?: unknown
}

const openSocket = async ({ gateway, authorization }: AttackedGateway) => {
  const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws')
  const messages: Message[] = []
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as Message))
  await once(socket, 'open')
  const send = (message: Message): void => socket.send(JSON.stringify(message))
  send({ type: 'connection_init', payload: { authorization } })
  await once(socket, 'message')
  messages.length = 0
  return { socket, messages, send }
}

describe('what a WebSocket began ends with it', () => {
  it.each(Object.entries(subscriptions))(
    'where one id is subscribed, completed and subscribed in a burst, %s',
    async (_, query) => {
      await using world = await startAttackedGateway({ maxSubscriptionsPerUser })
      // A kind that is not loaded yet: the beginning takes long.
      world.cluster.hold('/api/v1/configmaps')
      const first = await openSocket(world)
      for (let at = 1; at < maxSubscriptionsPerUser; at += 1) {
        first.send({ type: 'subscribe', id: '1', payload: { query } })
        first.send({ type: 'complete', id: '1' })
      }
      first.send({ type: 'subscribe', id: '1', payload: { query } })
      first.send({ type: 'ping' })
      await once(first.socket, 'message')
      world.cluster.release()
      await once(first.socket, 'message')
      await world.neighbour()
      first.socket.close()
      await once(first.socket, 'close')
      await expect
        .poll(() => world.gateway.gateway.planned.liveState().members, { timeout })
        .toBe(0)
      const { socket, messages, send } = await openSocket(world)
      const allBegin = async (): Promise<number> => {
        messages.length = 0
        const ids = Array.from({ length: maxSubscriptionsPerUser }, (_one, at) => `${at}`)
        for (const id of ids) send({ type: 'subscribe', id, payload: { query } })
        await expect.poll(() => messages.length, { timeout }).toBe(maxSubscriptionsPerUser)
        for (const id of ids) send({ type: 'complete', id })
        return messages.filter((one) => !JSON.stringify(one).includes('"errors"')).length
      }
      await expect.poll(allBegin, { timeout }).toBe(maxSubscriptionsPerUser)
      socket.terminate()
    },
  )

  it('and a subscription is answered that has the id of one that was completed before it began', async () => {
    await using world = await startAttackedGateway()
    world.cluster.hold('/api/v1/configmaps')
    const { socket, messages, send } = await openSocket(world)
    send({ type: 'subscribe', id: '1', payload: { query: subscriptions['with a plan'] } })
    send({ type: 'complete', id: '1' })
    send({ type: 'subscribe', id: '1', payload: { query: 'subscription { pods { synced } }' } })
    await expect.poll(() => messages.length, { timeout }).toBe(1)
    world.cluster.release()
    await expect.poll(() => world.gateway.gateway.planned.liveState().members, { timeout }).toBe(1)
    expect(messages).toEqual([
      { id: '1', type: 'next', payload: { data: { pods: { synced: true } } } },
    ])
    socket.terminate()
  })
})

describe('an operation whose deadline has passed', () => {
  it('is answered so, and asks the API server nothing again', async () => {
    const limits = { operationDeadlineMs: 6_000, liveDeadlineMs: 100_000 }
    await using world = await startAttackedGateway({}, limits)
    const { mallory, cluster } = world
    const found = await mallory.data('{ pods(first: 1) { nodes { metadata { namespace name } } } }')
    const { namespace, name } = found.pods.nodes[0].metadata
    const path = `/namespaces/${namespace}/pods/${name}`
    const ask = () =>
      mallory.query(`{ pod(namespace: "${namespace}", name: "${name}", live: true) { id } }`)
    // The permission to look it up is known from here on.
    expect((await ask()).errors).toBeUndefined()
    const before = cluster.count(path)
    cluster.hold(path)
    expect((await ask()).errors).toMatchObject([{ extensions: { code: 'DEADLINE_EXCEEDED' } }])
    await world.neighbour()
    expect(cluster.count(path) - before).toBe(1)
  })
})
