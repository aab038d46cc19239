/**
 * Many graphql-ws subscribers of all pods, each on a WebSocket of its own. Arguments: the gateway's URL, how many, how long in
 * milliseconds, coalesceMs, the number of different selections, the number of subscribers that stop reading, and the number of
 * users, whose tokens are `viewer-0` and so on (0: no authentication). About every fiftieth subscriber parses its frames. The others
 * only read the bytes, so that the benchmark does not measure the subscribers. A subscriber that stops first queries all whole pods
 * several times, which is more than the kernel's buffers hold.
 */
import { once } from 'node:events'
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { WebSocket } from 'ws'
import { viewerToken } from '../support/identities.ts'
import { MeasuredSubscribers } from '../support/measured-subscribers.ts'
import { writtenAnnotation } from '../support/pod-updates.ts'

interface Answer {
  readonly type: string
  readonly payload?: {
    readonly data?: {
      readonly pods: {
        readonly synced: boolean
        readonly changes: readonly {
          readonly object: { readonly metadata: { readonly annotation: string | null } } | null
        }[]
      }
    }
  }
}

const [
  url = '',
  count = '1',
  durationMs = '1000',
  coalesceMs = '0',
  selections = '1',
  stopping = '0',
  users = '0',
] = process.argv.slice(2)
const subscribers = new MeasuredSubscribers(Number(count), 50)

/** Aliases make selections different that are the same work. */
const queryOf = (number: number): string => `subscription {
  pods(coalesceMs: ${coalesceMs}) {
    reset synced
    changes {
      type objectId
      object {
        metadata { name namespace annotation(key: "${writtenAnnotation}") }
        status { phase s${number % Number(selections)}: containerStatuses { restartCount } }
      }
    }
  }
}`

const wholePods = 'subscription { pods(coalesceMs: 0) { changes { object { json } } } }'
const wholeIds = ['2', '3', '4', '5', '6', '7', '8', '9']

let stopped = 0

const readInto = Buffer.allocUnsafe(65_536)

/**
 * What it reads goes through one buffer, and nowhere else once it is left alone. Node reads into a buffer of 64 KiB each time, and
 * thousands of them a second have V8 collect all of the heap twice a second: the subscribers would wait for their own garbage.
 */
function quietConnection(isLeftAlone: () => boolean): (options: TcpNetConnectOpts) => Socket {
  return (options) => {
    const connection: Socket = connect({
      ...options,
      onread: {
        buffer: readInto,
        callback: (length): boolean =>
          isLeftAlone() || connection.push(Buffer.from(readInto.subarray(0, length))),
      },
    })
    return connection
  }
}

async function subscribe(number: number): Promise<void> {
  const synced = Promise.withResolvers<void>()
  let isSynced = false
  const isSampled = subscribers.reads(number)
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', {
    createConnection: quietConnection(() => isSynced && !isSampled) as typeof connect,
    perMessageDeflate: false,
  })
  socket.on('message', (data: Buffer) => {
    const { type, payload } = JSON.parse(data.toString()) as Answer
    if (type === 'connection_ack') {
      const query = queryOf(number)
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }))
      return
    }
    if (payload?.data === undefined) throw new Error(data.toString().slice(0, 500))
    const { pods } = payload.data
    isSynced ||= pods.synced
    if (isSynced) synced.resolve()
    if (!subscribers.measuring) return
    const now = process.hrtime.bigint()
    for (const { object } of pods.changes) {
      const written = object?.metadata.annotation
      if (written !== undefined && written !== null) {
        subscribers.hear(written, now)
      }
    }
  })
  await once(socket, 'open')
  const authorization = `Bearer ${viewerToken(number % Number(users))}`
  const payload = Number(users) === 0 ? {} : { payload: { authorization } }
  socket.send(JSON.stringify({ type: 'connection_init', ...payload }))
  await synced.promise
  if (isSampled || stopped === Number(stopping)) return
  stopped += 1
  socket.pause()
  for (const id of wholeIds) {
    socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query: wholePods } }))
  }
}

await subscribers.run(subscribe, { atOnce: 50, durationMs: Number(durationMs), heard: 'changes' })
process.exit(0)
