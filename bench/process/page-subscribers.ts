/**
 * Many subscribers of the pods with the most restarts, each on a WebSocket of its own. Arguments: the gateway's URL; `live` to follow
 * the page, or `again` to follow the changes of all pods and list the page again after each; the number of subscribers; the number of
 * different pages; the time in milliseconds; further arguments of the page. About every tenth subscriber parses its frames.
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { MeasuredSubscribers } from '../support/measured-subscribers.ts'
import { writtenAnnotation } from '../support/pod-updates.ts'

interface Row {
  readonly metadata: { readonly annotation: string | null }
}

interface Answer {
  readonly id: string
  readonly type: string
  readonly payload?: {
    readonly data?: {
      readonly page?: { readonly changes: readonly { readonly object: Row | null }[] }
      readonly list?: { readonly resumeToken?: string; readonly nodes: readonly Row[] }
    }
  }
}

const [url = '', way = 'live', count = '1', pages = '1', durationMs = '1000', further = ''] =
  process.argv.slice(2)
const subscribers = new MeasuredSubscribers(Number(count), 20)

const row = `metadata { name namespace annotation(key: "${writtenAnnotation}") } status { phase }`
const window = (number: number): string =>
  `first: ${20 + (number % Number(pages))}, orderBy: [{ restarts: DESC }]${further}`
const pageQuery = (number: number): string => `subscription {
  page: podsPage(${window(number)}, coalesceMs: 100) {
    reset synced totalCount changes { step index from objectId object { ${row} } }
  }
}`
const listQuery = (number: number, more = ''): string =>
  `{ list: pods(${window(number)}) { ${more} totalCount nodes { ${row} } } }`
const changesQuery = `subscription ($from: String) {
  pods(coalesceMs: 100, resumeFrom: $from) { changes { objectId } }
}`

/** Takes note of the rows that a subscriber has not been shown before. */
function reader(): (rows: Iterable<Row | null>) => void {
  const seen = new Set<string>()
  return (rows) => {
    const now = process.hrtime.bigint()
    for (const one of rows) {
      const written = one?.metadata.annotation ?? undefined
      if (written === undefined || seen.has(written)) continue
      seen.add(written)
      subscribers.hear(written, now)
    }
  }
}

async function subscribe(number: number): Promise<void> {
  const isSampled = subscribers.reads(number)
  const read = reader()
  const begun = Promise.withResolvers<void>()
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', {
    perMessageDeflate: false,
  })
  let operations = 0
  const ask = (query: string, variables = {}): string => {
    operations += 1
    const id = String(operations)
    socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query, variables } }))
    return id
  }
  let listing: string | undefined
  let isDue = false
  const again = (): void => {
    if (listing === undefined) listing = ask(listQuery(number))
    else isDue = true
  }
  const answered = ({ id, type, payload }: Answer): void => {
    if (type === 'complete') {
      if (id !== listing) return
      listing = undefined
      if (isDue) {
        isDue = false
        again()
      }
      return
    }
    if (payload?.data === undefined) throw new Error(JSON.stringify({ type, payload }))
    const { page, list } = payload.data
    if (page !== undefined) read(page.changes.map(({ object }) => object))
    if (list !== undefined) read(list.nodes)
    if (list?.resumeToken !== undefined) ask(changesQuery, { from: list.resumeToken })
    begun.resolve()
  }
  socket.on('message', (data: Buffer) => {
    const text = data.toString()
    if (text.includes('"type":"connection_ack"')) {
      if (way === 'live') ask(pageQuery(number))
      else listing = ask(listQuery(number, 'resumeToken'))
    } else if (text.includes('{"data":{"pods":')) again()
    else if (isSampled || text.endsWith('"complete"}') || text.includes('"resumeToken":')) {
      answered(JSON.parse(text) as Answer)
    } else begun.resolve()
  })
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init' }))
  await begun.promise
}

await subscribers.run(subscribe, { atOnce: 20, durationMs: Number(durationMs), heard: 'moves' })
process.exit(0)
