import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GraphQLAnswer, firstAnswer, type ServedGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { openShell } from '../exec/shell-client.ts'
import { created, sent } from '../gateway/created.ts'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { serveGateway } from '../support/gateway.ts'
import { heldAt, sharedBetween } from './settled-holders.ts'
import { behind, freePort, SharedGateways, type SharingGateway } from './shared-gateways.ts'

const patience = { timeout: 60_000, interval: 200 }

/** The first results of an operation by server-sent events. */
async function byEvents(url: string, query: string, count = 1): Promise<readonly GraphQLAnswer[]> {
  const leaving = new AbortController()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
    signal: leaving.signal,
  })
  const answers: GraphQLAnswer[] = []
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const [, data] = /^event: next\ndata: (.*)$/s.exec(event) ?? []
      if (data !== undefined) answers.push(JSON.parse(data) as GraphQLAnswer)
    }
    if (answers.length >= count) break
  }
  leaving.abort()
  return answers.slice(0, count)
}

describe('an operation about a cluster that another gateway holds', needsPostgres, () => {
  let shared: SharedGateways
  let here: SharingGateway
  let there: SharingGateway
  /** Between them. */
  let proxy: CutProxy
  let cluster = ''
  let podId = ''

  const serveThere = async (): Promise<SharingGateway> => {
    const port = await freePort()
    const between = await startCutProxy(port)
    proxy = between
    const address = `http://127.0.0.1:${between.port}`
    const options = { ...shared.options, share: { address }, allowWrites: true }
    return behind(await serveGateway(options, { port }), between)
  }

  beforeAll(async () => {
    shared = await SharedGateways.start(5)
    here = await shared.serve({ allowWrites: true }, { exec: {} })
    const between = await sharedBetween(here, serveThere)
    there = between.there
    ;[cluster = ''] = heldAt(there, between.held)
    const { pods } = await there.data(`{ pods(cluster: "${cluster}") { nodes { id } } }`)
    podId = pods.nodes[0].id
  }, 240_000)

  afterAll(async () => {
    await there[Symbol.asyncDispose]()
    await shared[Symbol.asyncDispose]()
  })

  const asked = (): readonly string[] => {
    const at = `cluster: "${cluster}"`
    return [
      `{ pods(${at}) { totalCount nodes { id clusterName metadata { name labels } } pageInfo { endCursor } } }`,
      `{ pods(clusters: ["${cluster}"]) { nodes { metadata { name } } incomplete { code } } }`,
      `{ pod(${at}, namespace: "default", name: "pod-of-${cluster}") { id json } }`,
      `{ pod(${at}, namespace: "default", name: "none") { id } __typename viewer { username } }`,
      `{ object(id: "${podId}") { id kind } objects(ids: ["${podId}"]) { id } }`,
      `{ object(id: "${cluster}/Pod/default/pod-of-${cluster}") { id } }`,
      `{ objectByRef(${at}, apiVersion: "v1", kind: "Pod", namespace: "default", name: "pod-of-${cluster}") { id } }`,
      `{ objectList(${at}, kind: "Pod") { nodes { id } } kubernetesObjects(${at}, kinds: ["Pod"]) { totalCount } }`,
      `{ search(${at}, text: "pod-of") { nodes { matched object { name } } } problems(${at}) { totalCount } }`,
      `{ graph(roots: ["${podId}"]) { nodes { id } } can(${at}, verb: "list", resource: "pods") }`,
      `{ pods(${at}) { nodes { usageHistory(minutes: 5) { source counts } } } }`,
      `{ pods(${at}, after: "wrong") { totalCount } }`,
      `{ pods(${at}, where: { phase: { eq: "None" } }) { facets(by: ["phase"]) { values { value } } } }`,
    ]
  }

  it('has the answer of its holder, whichever gateway is asked, by every transport', async () => {
    const [near, far] = [here.connect(), there.connect()]
    for (const query of asked()) {
      const right = await there.queryText(query)
      expect(await here.queryText(query), query).toBe(right)
      const answer = JSON.parse(right) as GraphQLAnswer
      expect(await firstAnswer(near, query), query).toEqual(await firstAnswer(far, query))
      expect(await firstAnswer(near, query), query).toEqual(answer)
      expect(await byEvents(here.url, query), query).toEqual([answer])
      expect(await here.gateway.execute({ query }), query).toEqual(answer)
      const url = `${here.url}?query=${encodeURIComponent(query)}`
      const got = await fetch(url, { headers: { 'graphql-require-preflight': '1' } })
      expect(await got.json(), query).toEqual(answer)
    }
  })

  it('has no shell where its holder opens none, and names it', async () => {
    const start = { cluster, namespace: 'default', pod: `pod-of-${cluster}` }
    using shell = await openShell(here.url, start)
    const end = await shell.ended()
    expect(end.code).toBe('UNSUPPORTED')
    expect(end.message).toContain(`the gateway at ${there.address}, which holds cluster ${cluster}`)
    expect(end.hint).toContain('--allow-exec')
  })

  it('is explained by its holder', async () => {
    const query = `{ pods(cluster: "${cluster}") { totalCount } }`
    const explained = await fetch(here.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, extensions: { explain: true } }),
    })
    const { data, extensions } = (await explained.json()) as GraphQLAnswer
    expect(data).toEqual(await there.data(query))
    expect(extensions).toHaveProperty('explain')
  })

  it('may be a write, by POST and WebSocket, but not by GET', async () => {
    const write = (team: string): string =>
      `mutation { label(id: "${podId}", labels: { team: "${team}" }) { object { metadata { labels } } } }`
    const labels = (answer: GraphQLAnswer): unknown => answer.data?.label.object.metadata.labels
    expect(labels(await here.query(write('one')))).toMatchObject({ team: 'one' })
    expect(labels(await firstAnswer(here.connect(), write('two')))).toMatchObject({ team: 'two' })
    expect(
      labels((await here.gateway.execute({ query: write('three') })) as GraphQLAnswer),
    ).toMatchObject({
      team: 'three',
    })
    const url = `${here.url}?query=${encodeURIComponent(write('four'))}`
    const got = await fetch(url, { headers: { 'graphql-require-preflight': '1' } })
    expect(((await got.json()) as GraphQLAnswer).errors).toHaveLength(1)
    const wrong = `mutation { label(id: "${podId}", labels: { team: 1 }) { dryRun } }`
    expect(await here.query(wrong)).toEqual(await there.query(wrong))
    const { pods } = await there.data(
      `{ pods(cluster: "${cluster}") { nodes { metadata { labels } } } }`,
    )
    expect(pods.nodes[0].metadata.labels).toMatchObject({ team: 'three' })
  })

  it('may be a subscription, with the frames of the holder', async () => {
    const query = `subscription { pods(cluster: "${cluster}", coalesceMs: 0) { synced changes { type object { metadata { name } } } } }`
    const frames: GraphQLAnswer[] = []
    const leave = here
      .connect()
      .subscribe(
        { query },
        { next: (frame) => void frames.push(frame as GraphQLAnswer), error() {}, complete() {} },
      )
    const events = byEvents(here.url, query, 2)
    await expect.poll(() => frames.some(({ data }) => data.pods.synced), patience).toBe(true)
    const simulator = shared.simulators[shared.names.indexOf(cluster)]
    if (simulator === undefined) throw new Error('no simulator')
    await created(simulator, podsPath, podOf('added-later'))
    await expect.poll(() => JSON.stringify(frames), patience).toContain('added-later')
    expect(JSON.stringify(await events)).toContain('"synced":true')
    leave()
  })

  it('is asked once more if its answer is cut off, unless it is a write', async () => {
    const cutOff = async (query: string): Promise<GraphQLAnswer> => {
      proxy.hang()
      const answer = here.query(query)
      await sleep(1_000)
      proxy.cut()
      proxy.flow()
      return await answer
    }
    const query = `{ pods(cluster: "${cluster}") { nodes { metadata { labels } } } }`
    const before = await there.query(query)
    expect(await cutOff(query)).toEqual(before)
    const write = `mutation { label(id: "${podId}", labels: { team: "five" }) { dryRun } }`
    expect(await cutOff(write)).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'OUTCOME_UNKNOWN' } }],
    })
  })

  it('is answered while another caller follows much, of its holder and of all, and reads nothing', async () => {
    const queries = [`cluster: "${cluster}"`, 'clusters: ["*"]'].map(
      (which) =>
        `subscription { pods(${which}, coalesceMs: 0) { changes { object { metadata { name annotations } } } } }`,
    )
    const sockets = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const socket = new WebSocket(here.url.replace('http', 'ws'), 'graphql-transport-ws')
        await once(socket, 'open')
        socket.send(JSON.stringify({ type: 'connection_init' }))
        await once(socket, 'message')
        socket.pause()
        for (let id = 0; id < 100; id += 1) {
          const payload = { query: queries[id % 2] }
          socket.send(JSON.stringify({ type: 'subscribe', id: String(id), payload }))
        }
        return socket
      }),
    )
    const simulator = shared.simulators[shared.names.indexOf(cluster)]
    if (simulator === undefined) throw new Error('no simulator')
    const before = process.memoryUsage().rss
    const large = 'x'.repeat(100_000)
    for (let at = 0; at < 60; at += 1) {
      const body = { metadata: { annotations: { large: `${at} ${large}` } } }
      await sent(simulator, 'PATCH', `${podsPath}/pod-of-${cluster}`, body)
    }
    const count = `{ pods(cluster: "${cluster}") { totalCount } }`
    expect(await here.query(count)).toEqual(await there.query(count))
    // Each of the 200 would have 6 MB, here and there.
    expect(process.memoryUsage().rss - before).toBeLessThan(600 << 20)
    for (const socket of sockets) socket.terminate()
  })

  it('goes one hop, whatever its sender says', async () => {
    const ask = async (gateway: ServedGateway, query: string): Promise<GraphQLAnswer> => {
      const headers = { 'content-type': 'application/json', 'informerql-forwarded': 'http://evil' }
      const body = JSON.stringify({ query })
      return (await (
        await fetch(gateway.url, { method: 'POST', headers, body })
      ).json()) as GraphQLAnswer
    }
    const query = `{ pods(cluster: "${cluster}") { totalCount } }`
    expect(await ask(here, query)).toMatchObject({
      errors: [{ extensions: { code: 'CLUSTER_UNREACHABLE', retryAfterMs: 1_000 } }],
    })
    expect((await ask(there, query)).errors).toBeUndefined()
  })

  it('is refused for a caller that only the program knows', async () => {
    const viewer = { username: 'ann', uid: '', groups: [], extra: {} }
    const query = `{ pods(cluster: "${cluster}") { totalCount } }`
    expect(await here.gateway.execute({ query, viewer })).toMatchObject({
      errors: [{ extensions: { code: 'UNSUPPORTED' } }],
    })
  })

  it('is unreachable when its holder dies, until another gateway takes over; its subscriptions say so', async () => {
    const query = `{ pods(cluster: "${cluster}") { nodes { metadata { name } } } }`
    const live = `subscription { pods(cluster: "${cluster}") { synced } }`
    const ended = Promise.withResolvers<void>()
    const frames: GraphQLAnswer[] = []
    here.connect().subscribe(
      { query: live },
      {
        next: (frame) => void frames.push(frame as GraphQLAnswer),
        error: (error) => ended.reject(error as Error),
        complete: () => ended.resolve(),
      },
    )
    await expect.poll(() => frames.length, patience).toBeGreaterThan(0)
    await there[Symbol.asyncDispose]()
    await ended.promise
    expect(frames.at(-1)?.errors).toMatchObject([
      { extensions: { code: 'CLUSTER_UNREACHABLE', retryAfterMs: 1_000 } },
    ])
    const names = async (): Promise<string> => JSON.stringify(await here.query(query))
    await expect.poll(names, patience).toContain(`pod-of-${cluster}`)
  })
})
