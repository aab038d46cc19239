/**
 * Many tabs of the portal without their browsers: each sends what one tab in Chromium has sent, by a WebSocket of its own and by
 * HTTP, and reads what it is sent without parsing it. Arguments: the gateway's URL, the file with what a tab sends
 * (`portal.bench.ts`), how many tabs, how long in milliseconds.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { TabTraffic } from '../support/portal-traffic.ts'

const [url = '', file = '', count = '1', durationMs = '1000'] = process.argv.slice(2)
const { subscriptions, polls, lengthMs } = JSON.parse(readFileSync(file, 'utf8')) as TabTraffic
const agent = new Agent({ keepAlive: true, maxSockets: 200 })
const ending = new AbortController()
let bytes = 0
let answers = 0

async function openTab(number: number): Promise<void> {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws')
  socket.on('message', (data: Buffer) => {
    bytes += data.length
    if (data.includes('"type":"ping"')) socket.send('{"type":"pong"}')
  })
  await once(socket, 'open')
  socket.send('{"type":"connection_init"}')
  await once(socket, 'message')
  for (const frame of subscriptions) socket.send(frame)
  void poll((number / Number(count)) * lengthMs)
}

/** Sends the queries of a tab in their order and at their times, over and over. */
async function poll(startMs: number): Promise<void> {
  const { signal } = ending
  try {
    await delay(startMs, undefined, { signal })
    while (polls.length > 0) {
      const roundMs = performance.now()
      for (const { atMs, body } of polls) {
        await delay(Math.max(0, roundMs + atMs - performance.now()), undefined, { signal })
        void ask(body)
      }
      await delay(Math.max(0, roundMs + lengthMs - performance.now()), undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function ask(body: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  }
  const message = request(url, { agent, method: 'POST', headers })
  message.end(body)
  const [response] = (await once(message, 'response')) as [NodeJS.ReadableStream]
  for await (const part of response) bytes += (part as Buffer).length
  answers += 1
}

for (let number = 0; number < Number(count); number++) await openTab(number)
await delay(3_000)
console.log('measuring')
const [bytesBefore, answersBefore] = [bytes, answers]
await delay(Number(durationMs))
const seconds = Number(durationMs) / 1000
console.log(
  JSON.stringify({
    kbPerTabSecond: (bytes - bytesBefore) / 1000 / seconds / Number(count),
    'queries/s': (answers - answersBefore) / seconds,
  }),
)
process.exit(0)
