import { createHash, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from 'graphql-ws'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed } from '../support/random.ts'
import { type FollowedSubscription, follow } from './followed-subscription.ts'
import { makeNamespaces, writeRandomly } from './random-writes.ts'
import { describeClusters, type Fields, listAll, must, type TestCluster } from './test-cluster.ts'

const namespaces = ['fold-a', 'fold-b'] as const
const nodes = ['n-0', 'n-1', 'n-2'] as const
const selection = `metadata { namespace name uid resourceVersion labels }`
const podSelection = `${selection} ... on Pod { spec { nodeName containers { image } } status { phase } }`
const merge = 'application/merge-patch+json'

/** A subscription, and what it is to hold in the words of the raw API. */
interface Case {
  readonly field: string
  readonly path: string
  readonly matches: (object: Fields) => boolean
}

const tierOf = ({ metadata }: Fields): string | undefined => metadata.labels?.tier

const podCases: readonly Case[] = [
  { field: 'pods(coalesceMs: 0)', path: '/api/v1/pods', matches: () => true },
  {
    field: 'pods(where: { phase: { eq: "Running" } })',
    path: '/api/v1/pods',
    matches: ({ status }) => status.phase === 'Running',
  },
  {
    field:
      'pods(namespace: "fold-a", where: { or: [{ image: { eq: "redis:7" } }, { nodeName: { eq: "n-1" } }] }, coalesceMs: 10)',
    path: '/api/v1/namespaces/fold-a/pods',
    matches: ({ spec }) => spec.nodeName === 'n-1' || spec.containers[0].image === 'redis:7',
  },
  {
    field: 'pods(labelSelector: "tier in (a,b),!blocked", coalesceMs: 250)',
    path: '/api/v1/pods',
    matches: (pod) =>
      ['a', 'b'].includes(tierOf(pod) ?? '') && pod.metadata.labels.blocked === undefined,
  },
  {
    field:
      'objectList(kind: "Pod", namespace: "fold-a", where: { or: [{ image: { eq: "redis:7" } }, { nodeName: { eq: "n-1" } }] }, coalesceMs: 10)',
    path: '/api/v1/namespaces/fold-a/pods',
    matches: ({ spec }) => spec.nodeName === 'n-1' || spec.containers[0].image === 'redis:7',
  },
]
const configMapCase: Case = {
  field: 'configMaps(namespaces: ["fold-a", "fold-b"])',
  path: '/api/v1/configmaps',
  matches: ({ metadata }) => metadata.namespace.startsWith('fold-'),
}

const versionsOf = (objects: Iterable<Fields>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...objects]
      .map(({ metadata: { namespace, name, uid, resourceVersion } }) => [
        `${namespace}/${name}/${uid}`,
        resourceVersion,
      ])
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  )

let markers = 0

/** Writes a pod and a ConfigMap that every subscription is about; what is there before them has been seen with them. */
const mark = async (cluster: TestCluster): Promise<(object: Fields) => boolean> => {
  const name = `marker-${++markers}`
  const [namespace] = namespaces
  const path = `/api/v1/namespaces/${namespace}`
  await must(cluster, `${path}/configmaps`, { method: 'POST', body: { metadata: { name } } })
  const spec = { nodeName: 'n-1', containers: [{ name: 'main', image: 'nginx:1' }] }
  const body = { metadata: { name, labels: { tier: 'a' } }, spec }
  await must(cluster, `${path}/pods`, { method: 'POST', body })
  await must(cluster, `${path}/pods/${name}/status`, {
    method: 'PATCH',
    contentType: merge,
    body: { status: { phase: 'Running' } },
  })
  return ({ metadata, status }) =>
    metadata.name === name && (status === undefined || status.phase === 'Running')
}

const podNow = (namespace: string, name: string): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace,
    uid: randomUUID(),
    creationTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
  },
  spec: { nodeName: 'n-1', containers: [{ name: 'main', image: 'nginx:1' }] },
  status: { phase: 'Running' },
})

/** So that the history that the outage forgets holds something that the gateway has not seen. */
const putMissedPods = async (putPod: (pod: Fields) => Promise<void>): Promise<void> => {
  for (const namespace of namespaces) {
    await putPod(podNow(namespace, 'missed'))
  }
}

const followCase = (client: Client, { field }: Case): FollowedSubscription =>
  follow(client, field, field.startsWith('configMaps') ? selection : podSelection)

interface Fault {
  readonly title: string
  /** Strikes when this part of the writes has been made. */
  readonly outage?: { readonly forgetHistory: boolean }
}

const faults: readonly Fault[] = [
  { title: 'with nothing in the way' },
  {
    title: 'with the API server killed and restarted in the middle',
    outage: { forgetHistory: false },
  },
  {
    title: 'with the API server restarted and its history compacted in the middle',
    outage: { forgetHistory: true },
  },
]

const writes = 400
const seed = runSeed

describeClusters('a fold of subscription frames', (cluster) => {
  let gateway: ServedGateway
  const clients: Client[] = []

  /** How often the gateway has listed a kind. */
  const listsOf = (kind: string): number =>
    gateway.log.filter((line) => line.includes(`${kind}: `) && line.includes(' objects in ')).length

  beforeAll(async () => {
    await makeNamespaces(cluster(), namespaces)
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster().selection }],
      limits: { maxFrameObjects: 16 },
    })
  })
  afterEach(async () => {
    await Promise.all(clients.splice(0).map(async (client) => client.dispose()))
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  const connect = (): Client => {
    const client = gateway.connect()
    clients.push(client)
    return client
  }

  describe.each(faults)(`after ${writes} random writes (SEED=${seed}), $title,`, (fault) => {
    it('equals a LIST, for every kind of arguments', async () => {
      const client = connect()
      const cases = [...podCases, configMapCase]
      const listsBefore = listsOf('Pod')
      const followed = cases.map((one) => ({ ...one, live: followCase(client, one) }))
      await Promise.all(
        followed.map(async ({ live }) => live.until('snapshot', () => live.fold.synced)),
      )
      let outage: Promise<void> | undefined
      await writeRandomly({
        cluster: cluster(),
        seed,
        writes,
        namespaces,
        nodes,
        written: (count) => {
          if (fault.outage !== undefined && count >= writes / 2)
            outage ??= cluster().outage({ ...fault.outage, meanwhile: putMissedPods })
          // Some come when much is there already and more is under way.
          if (count % (writes / 4) === 0) {
            const late = cases[(count / (writes / 4)) % cases.length] ?? configMapCase
            followed.push({ ...late, live: followCase(client, late) })
          }
        },
      })
      await outage
      const isMarker = await mark(cluster())
      for (const { live, path, matches, field } of followed) {
        await live.until('marker', (objects) => [...objects.values()].some(isMarker))
        const listed = await listAll(cluster(), path)
        const expected = listed.filter(matches)
        expect(versionsOf(live.fold.objects.values()), field).toEqual(versionsOf(expected))
        expect([field, live.problems]).toEqual([field, []])
        expect(live.fold.synced).toBe(true)
      }
      const isListedAgain = listsOf('Pod') > listsBefore
      expect(isListedAgain || fault.outage?.forgetHistory !== true).toBe(true)
    })
  })

  it('learns of what happened while the API server was away', async () => {
    const live = follow(connect(), 'pods(namespace: "fold-b")', podSelection)
    const path = '/api/v1/namespaces/fold-b/pods'
    const names = ['away-kept', 'away-namesake'] as const
    const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
    for (const name of names) {
      await must(cluster(), path, { method: 'POST', body: { metadata: { name }, spec } })
    }
    const find = (name: string, uid?: string): Fields =>
      [...live.fold.objects.values()].find(
        ({ metadata }) => metadata.name === name && (uid === undefined || metadata.uid === uid),
      )
    await live.until('first pods', () => names.every((name) => find(name) !== undefined))
    const before = names.map((name) => find(name))
    const namesake = podNow('fold-b', names[1])
    const { uid } = namesake.metadata
    await cluster().outage({ forgetHistory: true, meanwhile: async (putPod) => putPod(namesake) })
    await live.until('namesake', () => find(names[1], uid) !== undefined)
    expect(find(names[0])?.id).toBe(before[0].id)
    expect(find(names[1]).id).not.toBe(before[1].id)
    const deletion = live.frames
      .flatMap(({ changes }) => changes)
      .find(({ type, objectId }) => type === 'REMOVED' && objectId === before[1].id)
    expect(deletion).toMatchObject({ object: before[1], finalStateKnown: false })
    expect(live.problems).toEqual([])
  })

  it('loses an object that leaves the filter, and gets a recreated one under another id', async () => {
    const client = connect()
    const filtered = follow(
      client,
      'pods(namespace: "fold-a", where: { phase: { eq: "Failed" } }, labelSelector: "leaver")',
      podSelection,
    )
    const one = follow(client, 'pod(namespace: "fold-a", name: "leaver")', podSelection)
    await Promise.all([
      filtered.until('snapshot', ({ size }) => size === 0),
      one.until('snapshot', ({ size }) => size === 0),
    ])
    expect(filtered.frames).toMatchObject([{ reset: true, synced: true, changes: [] }])
    const path = '/api/v1/namespaces/fold-a/pods'
    const setPhase = async (phase: string): Promise<Fields> =>
      must(cluster(), `${path}/leaver/status`, {
        method: 'PATCH',
        contentType: merge,
        body: { status: { phase } },
      })
    const spec = { containers: [{ name: 'main', image: 'nginx:1' }] }
    const body = { metadata: { name: 'leaver', labels: { leaver: '1' } }, spec }
    const first = await must(cluster(), path, { method: 'POST', body })
    await setPhase('Failed')
    await filtered.until('pod', ({ size }) => size === 1)
    const [[firstId] = []] = filtered.fold.objects
    await setPhase('Running')
    await filtered.until('departure', ({ size }) => size === 0)
    expect(filtered.frames.at(-1)?.changes).toMatchObject([
      {
        type: 'REMOVED',
        removal: 'UNMATCHED',
        objectId: firstId,
        object: { id: firstId },
        finalStateKnown: true,
      },
    ])
    await one.until('phase', (objects) =>
      [...objects.values()].some(({ status }) => status.phase === 'Running'),
    )
    expect([...one.fold.objects.keys()]).toEqual([firstId])

    await must(cluster(), `${path}/leaver?gracePeriodSeconds=0`, { method: 'DELETE' })
    const second = await must(cluster(), path, { method: 'POST', body })
    await setPhase('Failed')
    await filtered.until('namesake', ({ size }) => size === 1)
    await one.until('namesake', (objects) =>
      [...objects.values()].some(({ metadata }) => metadata.uid === second.metadata.uid),
    )
    expect(first.metadata.uid).not.toBe(second.metadata.uid)
    const [[secondId] = []] = filtered.fold.objects
    expect(secondId).not.toBe(firstId)
    expect([...one.fold.objects.keys()]).toEqual([secondId])

    const gone = await gateway.query('query ($id: ID!) { object(id: $id) { id } }', { id: firstId })
    expect(gone).toMatchObject({
      data: { object: null },
      errors: [{ extensions: { code: 'NOT_FOUND', successor: secondId } }],
    })
    await must(cluster(), `${path}/leaver?gracePeriodSeconds=0`, { method: 'DELETE' })
    await filtered.until('deletion', ({ size }) => size === 0)
    expect(filtered.frames.at(-1)?.changes).toMatchObject([
      {
        type: 'REMOVED',
        removal: 'DELETED',
        objectId: secondId,
        object: { id: secondId },
      },
    ])
    expect([filtered.problems, one.problems]).toEqual([[], []])
  })

  it('begins with a snapshot in frames: the first one resets, the last one is synced', async () => {
    const isMarker = await mark(cluster())
    const live = follow(connect(), 'pods', podSelection)
    await live.until('marker', (objects) => [...objects.values()].some(isMarker))
    await live.until('snapshot', () => live.fold.synced)
    const snapshot = live.frames.slice(0, live.frames.findIndex(({ synced }) => synced) + 1)
    expect(snapshot.length).toBeGreaterThan(1)
    expect(snapshot.map(({ reset }) => reset)).toEqual(snapshot.map((_, at) => at === 0))
    expect(snapshot.map(({ synced }) => synced)).toEqual(
      snapshot.map((_, at) => at === snapshot.length - 1),
    )
    const changes = snapshot.flatMap((frame) => frame.changes)
    expect(new Set(changes.map(({ type }) => type))).toEqual(new Set(['ADDED']))
    expect(changes).toHaveLength((await listAll(cluster(), '/api/v1/pods')).length)
  })

  it('begins as an event stream by the hash of its document, which an unknown hash asks for', async () => {
    await mark(cluster())
    const query =
      '# as an event stream\nsubscription { pods { reset changes { object { name } } } }'
    const sha256Hash = createHash('sha256').update(query).digest('hex')
    const extensions = { persistedQuery: { version: 1, sha256Hash } }
    const firstEvent = async (body: object): Promise<string> => {
      const response = await fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ extensions, ...body }),
      })
      let text = ''
      for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(
        new TextDecoderStream(),
      )) {
        text += chunk
        if (text.includes('\n\n')) break
      }
      return text
    }
    expect(await firstEvent({})).toContain('"code":"PERSISTED_QUERY_NOT_FOUND"')
    expect(await firstEvent({ query })).toContain('"reset":true')
    expect(await firstEvent({})).toContain('"reset":true')
  })
})
