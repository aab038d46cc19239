import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serveSimulator } from '../support/served-simulator.ts'
import { created, sent } from './created.ts'
import type { Fields } from './test-cluster.ts'

const path = '/api/v1/namespaces/default/configmaps'
const holding = (text: string): object => ({ metadata: { name: 'one' }, data: { text } })
const query = `subscription {
  configMaps(coalesceMs: 0) { synced changes { object { data } } }
}`

describe('the messages of those who are told the same', () => {
  const subscribed = async (url: string, ids: readonly string[]): Promise<readonly Fields[]> => {
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws')
    const messages: Fields[] = []
    socket.on('message', (data: Buffer) => {
      messages.push(JSON.parse(data.toString()))
      const { type } = messages.at(-1) as { readonly type: string }
      if (type !== 'connection_ack') return
      for (const id of ids) {
        socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query } }))
      }
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init' }))
    return messages
  }

  it('are whole and those of their operation, whatever its id and however long they are', async () => {
    await using served = await serveSimulator()
    const { cluster, gateway } = served
    await created(cluster, path, holding('first'))
    const ids = [
      '1',
      'äöü "quoted" \\ \u0001',
      '5f7a9c1e-8f55-4a0c-9f0e-2f6d6c0b1a77',
      'x'.repeat(300),
    ]
    const readers = await Promise.all(
      [ids, ids, ['1']].map((some) => subscribed(gateway.url, some)),
    )
    const told = (messages: readonly Fields[], text: string): readonly string[] =>
      messages.flatMap(({ id, type, payload }) =>
        type === 'next' && payload.data.configMaps.changes.at(-1)?.object.data.text === text
          ? [id as string]
          : [],
      )
    const all = async (text: string): Promise<void> => {
      await expect
        .poll(() => readers.map((messages) => told(messages, text).toSorted()))
        .toEqual([ids.toSorted(), ids.toSorted(), ['1']])
    }
    await all('first')
    for (const length of [10, 15_000, 17_000, 64_000, 66_000, 200_000]) {
      const text = `${length} ${'ü'.repeat(length)}`
      await sent(cluster, 'PATCH', `${path}/one`, holding(text))
      await all(text)
    }
    expect(gateway.gateway.planned.liveState()).toMatchObject({ groups: 1, members: 9 })
  })
})
