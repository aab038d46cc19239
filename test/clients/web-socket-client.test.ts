import { once } from 'node:events'
import { WebSocketClient } from 'informerql/client'
import { afterEach, expect, it, vi } from 'vitest'
import { startCutProxy } from '../support/cut-proxy.ts'
import { startScriptedGateway } from './scripted-gateway.ts'

const request = { query: 'subscription { pods { reset } }', variables: {} }
const sink = { next: () => {}, error: () => {}, complete: () => {} }

afterEach(() => {
  vi.useRealTimers()
})

/** Resolves when the client tells it next. */
async function told(client: WebSocketClient, event: 'connected' | 'closed'): Promise<void> {
  const target = new EventTarget()
  const forget = client.on(event, () => target.dispatchEvent(new Event('told')))
  await once(target, 'told')
  forget()
}

it('a client of WebSockets that is told that the network is back does not wait for its next attempt', async () => {
  await using gateway = await startScriptedGateway([{ form: 'frame', frame: { reset: true } }])
  await using proxy = await startCutProxy(Number(new URL(gateway.url).port))
  const client = new WebSocketClient({ url: `ws://127.0.0.1:${proxy.port}` })
  expect(client.isIdle).toBe(true)
  client.reconnect()
  const connected = told(client, 'connected')
  const leave = client.subscribe(request, sink)
  expect(client.isIdle).toBe(false)
  await connected
  const closed = told(client, 'closed')
  // The next attempt would never come.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  proxy.cut()
  await closed
  const again = told(client, 'connected')
  client.reconnect()
  await again
  expect(gateway.connected).toHaveLength(2)
  leave()
  expect(client.isIdle).toBe(true)
})

it('a client of WebSockets that is told that the network has changed notices at once that its connection is dead, and keeps a live one', async () => {
  await using gateway = await startScriptedGateway([{ form: 'frame', frame: { reset: true } }])
  await using proxy = await startCutProxy(Number(new URL(gateway.url).port))
  // By itself it would notice in half an hour.
  const pingIntervalMs = 3_600_000
  const client = new WebSocketClient({ url: `ws://127.0.0.1:${proxy.port}`, pingIntervalMs })
  const connected = told(client, 'connected')
  const leave = client.subscribe(request, sink)
  await connected
  client.reconnect()
  await expect.poll(() => gateway.pings()).toBe(1)
  proxy.mute()
  const closed = told(client, 'closed')
  client.reconnect()
  await closed
  expect(gateway.connected).toHaveLength(1)
  proxy.cut()
  client.reconnect()
  await expect.poll(() => gateway.connected.length).toBe(2)
  leave()
})
