import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { freshForEachTest } from '../support/served-simulator.ts'
import { appliedSteps, type HeldPage } from './followed-page.ts'
import { applied, type Held } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const
const pod = (name: string, text = ''): Fields => ({
  metadata: { name, namespace: 'default', annotations: { text } },
  spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
})
const waitMs = { timeout: 60_000 }

/** A subscription by server-sent events; its reader can stop reading, down to the socket. */
interface EventReader extends Disposable {
  /** The data of each `next`. */
  readonly frames: readonly Fields[]
  readonly comments: () => number
  readonly pause: () => void
  readonly resume: () => void
}

function readEvents(url: string, query: string): EventReader {
  const frames: Fields[] = []
  let rest = ''
  let comments = 0
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const asked = request(url, { method: 'POST', headers })
  const { promise, resolve } = Promise.withResolvers<NodeJS.ReadableStream>()
  asked.on('error', () => {})
  asked.on('response', (response) => {
    resolve(response)
    response.on('error', () => {})
    response.setEncoding('utf8').on('data', (text: string) => {
      const events = (rest + text).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        if (event === ':') comments += 1
        const [, data] = /^event: next\ndata: (.*)$/su.exec(event) ?? []
        if (data !== undefined) frames.push(JSON.parse(data).data.frame)
      }
    })
  })
  asked.end(JSON.stringify({ query }))
  return {
    frames,
    comments: () => comments,
    pause: () => void promise.then((response) => response.pause()),
    resume: () => void promise.then((response) => response.resume()),
    [Symbol.dispose]: () => void asked.destroy(),
  }
}

const held = ({ frames }: EventReader): Held =>
  frames.reduce<Held>((all, frame) => applied(all, frame), new Map())
const heldPage = ({ frames }: EventReader): HeldPage =>
  frames.reduce<HeldPage>(
    (page, frame) =>
      appliedSteps(page, frame, (problem) => {
        throw new Error(problem)
      }),
    { rows: [], totalCount: -1 },
  )

const forms = {
  list: {
    field: 'pods(coalesceMs: 0',
    /** Whether a token leads to the changes since then; else to all of it. */
    goesOn: true,
    selection: `reset synced resumeToken changes { type objectId object { id metadata { name annotations } } }`,
    names: (reader: EventReader) => [...held(reader).values()].map(({ metadata }) => metadata.name),
  },
  page: {
    field: 'podsPage(first: 3, coalesceMs: 0',
    goesOn: false,
    selection: `reset synced totalCount resumeToken changes { step index from objectId object { id metadata { name annotations } } }`,
    names: (reader: EventReader) => heldPage(reader).rows.map(({ metadata }) => metadata.name),
  },
} as const

describe.each(Object.entries(forms))('frames of a %s by server-sent events', (_, form) => {
  const fresh = freshForEachTest({
    gateway: { live: { maxFrames: 8, maxBytes: 1 << 20 } },
    server: { pingIntervalMs: 50 },
  })

  const subscription = (from?: string): string => {
    const resumeFrom = from === undefined ? '' : `, resumeFrom: ${JSON.stringify(from)}`
    return `subscription { frame: ${form.field}${resumeFrom}) { ${form.selection} } }`
  }
  const showing = async (reader: EventReader, ...names: readonly string[]): Promise<void> => {
    await expect.poll(() => new Set<string>(form.names(reader)), waitMs).toEqual(new Set(names))
  }

  it('are those of WebSockets, of the same group, with comments in between', async () => {
    fresh.cluster.storage.create(podsOf, pod('a'))
    using reader = readEvents(fresh.gateway.url, subscription())
    await showing(reader, 'a')
    const frames = fresh.gateway.connect().iterate<{ frame: Fields }>({ query: subscription() })
    expect((await frames.next()).value?.data?.frame).toEqual(reader.frames[0])
    expect(fresh.gateway.gateway.planned.liveState()).toMatchObject({ groups: 1, members: 2 })
    fresh.cluster.storage.create(podsOf, pod('b'))
    await showing(reader, 'a', 'b')
    expect((await frames.next()).value?.data?.frame).toEqual(reader.frames[1])
    await expect.poll(reader.comments, waitMs).toBeGreaterThan(1)
    await frames.return?.()
  })

  it('are told by a token what has happened since', async () => {
    fresh.cluster.storage.create(podsOf, pod('a'))
    const before = readEvents(fresh.gateway.url, subscription())
    await showing(before, 'a')
    before[Symbol.dispose]()
    fresh.cluster.storage.create(podsOf, pod('b'))
    using after = readEvents(fresh.gateway.url, subscription(before.frames.at(-1)?.['resumeToken']))
    const frames = () => [...before.frames, ...after.frames]
    await expect
      .poll(
        () => (after.frames.length === 0 ? [] : form.names({ ...after, frames: frames() })),
        waitMs,
      )
      .toEqual(['a', 'b'])
    expect(after.frames[0]).toMatchObject({ reset: !form.goesOn })
  })

  it('are fewer for a reader that stops, which begins anew when it reads again', async () => {
    const { storage } = fresh.cluster
    for (const name of ['a', 'b']) storage.create(podsOf, pod(name))
    using stopped = readEvents(fresh.gateway.url, subscription())
    using other = readEvents(fresh.gateway.url, subscription())
    await showing(stopped, 'a', 'b')
    await showing(other, 'a', 'b')
    stopped.pause()
    for (let round = 1; round <= 60; round += 1) {
      const { length } = other.frames
      for (const name of ['a', 'b']) {
        const before = storage.get(podsOf, 'default', name) as Fields
        const annotations = { text: `${round} ${'x'.repeat(200_000)}` }
        storage.update(podsOf, { ...before, metadata: { ...before['metadata'], annotations } })
      }
      await expect
        .poll(() => other.frames.length, { ...waitMs, interval: 2 })
        .toBeGreaterThan(length)
    }
    storage.create(podsOf, pod('c'))
    await showing(other, 'a', 'b', 'c')
    expect(stopped.frames.length).toBeLessThan(other.frames.length)
    stopped.resume()
    await showing(stopped, 'a', 'b', 'c')
    expect(stopped.frames.filter(({ reset }) => reset === true)).toHaveLength(2)
    expect(fresh.gateway.gateway.planned.liveState().resets).toBe(1)
  })
})
