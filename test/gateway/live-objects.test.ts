import { type Frame, FrameFold } from 'informerql/client'
import { describe, expect, it } from 'vitest'
import { startCutProxy } from '../support/cut-proxy.ts'
import { type AnsweredError, firstAnswer, serveGateway } from '../support/gateway.ts'
import { freshForEachTest } from '../support/served-simulator.ts'
import { Waits } from '../support/waits.ts'
import { created, sent } from './created.ts'
import { definitionOf, definitionsPath, versionOf } from './definitions.ts'
import { follow, followSynced } from './followed-subscription.ts'
import { resume } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const pods = '/api/v1/namespaces/default/pods'
const configMaps = '/api/v1/namespaces/default/configmaps'
const pod = (name: string): object => ({
  metadata: { name, labels: { app: 'web' } },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1' }] },
})
const reference = (kind: string, name: string, apiVersion = 'v1', more = ''): string =>
  `objectByRef(apiVersion: "${apiVersion}", kind: "${kind}", namespace: "default", name: "${name}"${more}, coalesceMs: 0)`
const wait = { timeout: 60_000 }

describe('a subscription to an object of any kind', () => {
  const fresh = freshForEachTest()
  const idOf = async (field: string): Promise<string> => {
    const { object } = await fresh.gateway.data(`{ object: ${field} { id } }`)
    return object.id
  }
  const labelled = (path: string, labels: object): Promise<Fields> =>
    sent(fresh.cluster, 'PATCH', path, { metadata: { labels } })
  const gone = (path: string): Promise<Fields> =>
    sent(fresh.cluster, 'DELETE', `${path}?gracePeriodSeconds=0`)
  const podId = (name: string): Promise<string> =>
    idOf(`pod(namespace: "default", name: "${name}")`)

  it('by its id brings the object, its changes and its end; a namesake does not come back', async () => {
    await created(fresh.cluster, pods, pod('a'))
    await created(fresh.cluster, pods, pod('b'))
    const field = `object(id: "${await podId('a')}", coalesceMs: 0)`
    const live = await followSynced(
      fresh.gateway.connect(),
      field,
      'labels ... on Pod { spec { nodeName } }',
    )
    expect([...live.fold.objects.values()]).toMatchObject([
      { labels: { app: 'web' }, spec: { nodeName: 'node-1' } },
    ])
    await labelled(`${pods}/b`, { app: 'other' })
    await labelled(`${pods}/a`, { app: 'changed' })
    await live.until('change', (held) => [...held.values()][0]?.labels.app === 'changed')
    await gone(`${pods}/a`)
    await live.until('end', (held) => held.size === 0)
    await created(fresh.cluster, pods, pod('a'))
    const other = await followSynced(fresh.gateway.connect(), reference('Pod', 'a'), 'name')
    expect([...other.fold.objects.values()]).toMatchObject([{ name: 'a' }])
    await labelled(`${pods}/a`, { app: 'late' })
    expect(live.frames.flatMap(({ changes }) => changes)).toMatchObject([
      { type: 'ADDED' },
      { type: 'MODIFIED' },
      { type: 'REMOVED', removal: 'DELETED' },
    ])
    expect(live.problems).toEqual([])
  })

  it('by its name is there before the object is, and for each object of the name', async () => {
    const live = await followSynced(
      fresh.gateway.connect(),
      reference('ConfigMap', 'late'),
      'kind ... on ConfigMap { data }',
    )
    expect(live.frames).toMatchObject([{ reset: true, synced: true, changes: [] }])
    for (const of of ['first', 'second']) {
      await created(fresh.cluster, configMaps, { metadata: { name: 'late' }, data: { of } })
      await live.until(of, (held) => [...held.values()][0]?.data.of === of)
      expect([...live.fold.objects.values()]).toMatchObject([{ kind: 'ConfigMap' }])
      await gone(`${configMaps}/late`)
      await live.until('end', (held) => held.size === 0)
    }
    expect(live.problems).toEqual([])
  })

  it('by the id of a reference without a UID follows the name', async () => {
    const { cluster, gateway } = fresh
    await created(cluster, pods, {
      metadata: { name: 'a' },
      spec: {
        serviceAccountName: 'builder',
        nodeName: 'node-1',
        containers: [{ name: 'main', image: 'nginx:1' }],
      },
    })
    const { pod: found } = await gateway.data(
      '{ pod(namespace: "default", name: "a") { graph: json(path: "spec.nodeName") } }',
    )
    expect(found.graph).toBe('node-1')
    const text = ['1', 'one', '', 'ServiceAccount', 'default', 'builder'].join('\0')
    const id = Buffer.from(text).toString('base64url')
    const live = await followSynced(gateway.connect(), `object(id: "${id}", coalesceMs: 0)`, 'name')
    expect(live.fold.objects.size).toBe(0)
    await created(cluster, '/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'builder' },
    })
    await live.until('object', (held) => [...held.values()][0]?.name === 'builder')
  })

  it.each([
    [
      'JSON filters',
      'objectList(kind: "Pod", where: { phase: { eq: "Running" } }, coalesceMs: 0',
      'pods(where: { phase: { eq: "Running" } }, coalesceMs: 0',
    ],
    [
      'ids',
      'objectList(kind: "pods", ids: ["IDS"], coalesceMs: 0',
      'pods(ids: ["IDS"], coalesceMs: 0',
    ],
    [
      'a selector and a namespace',
      'objectList(group: "", kind: "Pod", labelSelector: "app=web", namespace: "default", coalesceMs: 0',
      'pods(labelSelector: "app=web", namespace: "default", coalesceMs: 0',
    ],
  ])(
    'lists of its kind follow %s, and go on from a token of the field of the kind',
    async (_, any, own) => {
      for (const name of ['a', 'b']) await created(fresh.cluster, pods, pod(name))
      const id = await podId('a')
      const phased = (name: string, phase: string): Promise<Fields> =>
        sent(fresh.cluster, 'PATCH', `${pods}/${name}/status`, { status: { phase } })
      for (const name of ['a', 'b']) await phased(name, 'Running')
      const selection = 'name ... on Pod { status { phase } }'
      const asked = (field: string) => ({ field: field.replace('IDS', id), selection })
      const before = resume(fresh.gateway.connect(), asked(own))
      await before.until((held) => [...held.values()].some(({ name }) => name === 'a'))
      before.leave()
      await phased('a', 'Failed')
      const after = resume(fresh.gateway.connect(), asked(any), before.seen.at(-1))
      await after.until((held) =>
        [...held.values()].every((one) => one.name !== 'a' || one.status.phase === 'Failed'),
      )
      expect(after.seen[0]?.frame.reset).toBe(false)
      await phased('a', 'Running')
      await after.until((held) =>
        [...held.values()].some((one) => one.name === 'a' && one.status.phase === 'Running'),
      )
      const fromStart = resume(fresh.gateway.connect(), asked(own))
      await fromStart.until((held) => held.size === after.held().size)
      const rows = (held: ReadonlyMap<string, Fields>): string[] =>
        [...held.values()].map((one) => JSON.stringify(one)).toSorted()
      expect(rows(after.held())).toEqual(rows(fromStart.held()))
      fromStart.leave()
      after.leave()
    },
  )

  it('lists of its kind lose what matches no more, by filters on related objects too', async () => {
    for (const name of ['node-1', 'node-2']) {
      await created(fresh.cluster, '/api/v1/nodes', { metadata: { name, labels: { zone: name } } })
    }
    await created(fresh.cluster, pods, pod('a'))
    const query = `subscription ($where: JSON) {
      objectList(kind: "Pod", where: $where, coalesceMs: 0) { synced changes { type removal object { name } } }
    }`
    const where = { node: { is: { labels: [{ key: 'zone', eq: 'node-1' }] } } }
    const changes: Fields[] = []
    fresh.gateway.connect().subscribe<{ objectList: Fields }>(
      { query, variables: { where } },
      {
        next: ({ data, errors }) => changes.push(...(data?.objectList.changes ?? [errors])),
        error: (error) => changes.push(error),
        complete: () => {},
      },
    )
    await expect.poll(() => changes, wait).toHaveLength(1)
    await labelled('/api/v1/nodes/node-1', { zone: 'other' })
    await expect.poll(() => changes, wait).toHaveLength(2)
    expect(changes).toMatchObject([
      { type: 'ADDED', object: { name: 'a' } },
      { type: 'REMOVED', removal: 'UNMATCHED', object: { name: 'a' } },
    ])
  })

  it('is one group for all who ask for the same object', async () => {
    await created(fresh.cluster, pods, pod('a'))
    await created(fresh.cluster, pods, pod('b'))
    const query = `subscription ($id: ID!) { object(id: $id, coalesceMs: 0) { changes { objectId } } }`
    const leave = await Promise.all(
      ['a', 'a', 'b'].map(async (name) => {
        const id = await podId(name)
        const frames: unknown[] = []
        const sink = {
          next: (frame: unknown) => frames.push(frame),
          error: () => {},
          complete: () => {},
        }
        const stop = fresh.gateway.connect().subscribe({ query, variables: { id } }, sink)
        await expect.poll(() => frames.length, wait).toBe(1)
        return stop
      }),
    )
    const state = fresh.gateway.gateway.planned.liveState()
    expect(state).toMatchObject({ groups: 2, members: 3 })
    for (const stop of leave) stop()
  })

  it('reads objects of different kinds by one document, each with its fields', async () => {
    await created(fresh.cluster, pods, pod('a'))
    await created(fresh.cluster, configMaps, { metadata: { name: 'm' }, data: { a: 'b' } })
    const query = `subscription ($kind: String!, $name: String!) {
      objectByRef(apiVersion: "v1", kind: $kind, namespace: "default", name: $name) {
        __typename
        changes { __typename object { __typename name ... on Pod { spec { nodeName } } ...Map } }
      }
    }
    fragment Map on ConfigMap { data owners { name } }`
    const first = (kind: string, name: string): Promise<Fields> =>
      firstAnswer(fresh.gateway.connect(), query, { kind, name })
    const frame = { __typename: 'KubernetesObjectFrame' }
    const change = { __typename: 'KubernetesObjectChange' }
    expect(await first('Pod', 'a')).toEqual({
      data: {
        objectByRef: {
          ...frame,
          changes: [
            { ...change, object: { __typename: 'Pod', name: 'a', spec: { nodeName: 'node-1' } } },
          ],
        },
      },
    })
    expect(await first('ConfigMap', 'm')).toEqual({
      data: {
        objectByRef: {
          ...frame,
          changes: [
            {
              ...change,
              object: { __typename: 'ConfigMap', name: 'm', data: { a: 'b' }, owners: [] },
            },
          ],
        },
      },
    })
  })

  it('writes the object again when an object that it leads to changes', async () => {
    await created(fresh.cluster, '/api/v1/nodes', { metadata: { name: 'node-1' } })
    await created(fresh.cluster, pods, pod('a'))
    const field = `object(id: "${await podId('a')}", coalesceMs: 0)`
    const selection = '... on Pod { node { labels pods { totalCount } } }'
    const live = await followSynced(fresh.gateway.connect(), field, selection)
    const node = (): Fields => [...live.fold.objects.values()][0].node
    expect(node()).toEqual({ labels: null, pods: { totalCount: 1 } })
    await labelled('/api/v1/nodes/node-1', { zone: 'x' })
    await live.until('label', () => node().labels?.zone === 'x')
    await created(fresh.cluster, pods, pod('b'))
    await live.until('pod', () => node().pods.totalCount === 2)
    expect(live.problems).toEqual([])
  })

  it('comes back by its token with all that it missed', async () => {
    await created(fresh.cluster, configMaps, { metadata: { name: 'a' } })
    const asked = {
      field: `object(id: "${await idOf('configMap(namespace: "default", name: "a")')}", coalesceMs: 0`,
      selection: 'labels',
    }
    const before = resume(fresh.gateway.connect(), asked)
    await before.until((held) => held.size === 1)
    before.leave()
    const stood = before.seen.at(-1)
    await labelled(`${configMaps}/a`, { app: 'missed' })
    const after = resume(fresh.gateway.connect(), asked, stood)
    await after.until((held) => [...held.values()][0]?.labels?.app === 'missed')
    expect(after.seen[0]?.frame.reset).toBe(false)
    await gone(`${configMaps}/a`)
    await after.until((held) => held.size === 0)
    const ended = after.seen.at(-1)
    after.leave()
    await created(fresh.cluster, configMaps, { metadata: { name: 'a' } })
    const late = resume(fresh.gateway.connect(), asked, ended)
    await late.until(() => true)
    expect(late.seen[0]?.frame).toMatchObject({ reset: false, changes: [] })
    late.leave()
  })

  it('takes the token of the field of its kind, where both follow an object by name', async () => {
    await created(fresh.cluster, pods, pod('a'))
    const ofKind = {
      field: 'pod(namespace: "default", name: "a", coalesceMs: 0',
      selection: 'name',
    }
    const live = resume(fresh.gateway.connect(), ofKind)
    await live.until((held) => held.size === 1)
    live.leave()
    const field = reference('Pod', 'a').slice(0, -1)
    const after = resume(fresh.gateway.connect(), { field, selection: 'name' }, live.seen.at(-1))
    await after.until(() => true)
    expect(after.seen[0]?.frame).toMatchObject({ reset: false, changes: [] })
    after.leave()
  })

  it.each([
    ['objectList(kind: "Podd")', { code: 'BAD_USER_INPUT', argument: 'kind' }],
    [
      'objectList(kind: "Pod", where: { phse: { eq: "Running" } })',
      { code: 'BAD_USER_INPUT', argument: 'where.phse', value: 'phse' },
    ],
    [
      'objectList(kind: "Pod", where: { phase: { eq: "running" } })',
      { code: 'BAD_USER_INPUT', argument: 'where.phase.eq', value: 'running' },
    ],
    [
      'objectList(kind: "Node", namespace: "default")',
      { code: 'BAD_USER_INPUT', argument: 'namespace', value: 'default' },
    ],
    ['object(id: "junk")', { code: 'BAD_USER_INPUT', argument: 'id', value: 'junk' }],
    [
      'objectByRef(apiVersion: "v1", kind: "Pd", name: "x")',
      { code: 'BAD_USER_INPUT', argument: 'kind', value: 'Pd' },
    ],
    [
      'objectByRef(apiVersion: "v1", kind: "Pod", name: "x")',
      { code: 'BAD_USER_INPUT', argument: 'namespace' },
    ],
    [
      'objectByRef(apiVersion: "v1", kind: "Pod", namespace: "default", name: "x", cluster: "two")',
      { code: 'BAD_USER_INPUT', argument: 'cluster', value: 'two' },
    ],
    [
      'objectByRef(apiVersion: "v1", kind: "Pod", namespace: "default", name: "x", coalesceMs: -1)',
      { code: 'BAD_USER_INPUT', argument: 'coalesceMs', value: -1 },
    ],
  ])('refuses %s', async (field, extensions) => {
    const query = `subscription { frame: ${field} { reset } }`
    const { errors } = await firstAnswer(fresh.gateway.connect(), query)
    expect(errors).toMatchObject([{ extensions }])
  })

  it('says of the id of a kind that is not served that it may come back, and follows it when it does', async () => {
    const group = 'live.example.com'
    const definition = definitionOf('Gadget', group, [
      versionOf('v1', { size: { type: 'integer' } }),
    ])
    await created(fresh.cluster, definitionsPath, definition)
    const gadgets = `/apis/${group}/v1/namespaces/default/gadgets`
    const gadget = (size: number): object => ({
      apiVersion: `${group}/v1`,
      kind: 'Gadget',
      metadata: { name: 'g' },
      spec: { size },
    })
    const query = `{ objectByRef(apiVersion: "${group}/v1", kind: "Gadget", namespace: "default", name: "g") { id } }`
    await expect.poll(async () => (await fresh.gateway.query(query)).errors, wait).toBeUndefined()
    await created(fresh.cluster, gadgets, gadget(1))
    let id = ''
    const known = async (): Promise<boolean> => {
      id = (await fresh.gateway.data(query)).objectByRef?.id ?? ''
      return id !== ''
    }
    await expect.poll(known, wait).toBe(true)
    const live = await followSynced(
      fresh.gateway.connect(),
      `object(id: "${id}", coalesceMs: 0)`,
      'json(path: "spec.size")',
    )
    await sent(fresh.cluster, 'PATCH', `${gadgets}/g`, { spec: { size: 2 } })
    await live.until('change', (held) => [...held.values()][0]?.json === 2)
    await sent(fresh.cluster, 'DELETE', `${definitionsPath}/gadgets.${group}`)
    await expect.poll(() => live.ended(), wait).toBe(true)
    const again = `subscription { object(id: "${id}") { reset } }`
    const refused = async (): Promise<AnsweredError | undefined> =>
      (await firstAnswer(fresh.gateway.connect(), again)).errors?.[0]
    await expect.poll(refused, wait).toMatchObject({
      extensions: {
        code: 'NOT_FOUND',
        argument: 'id',
        value: id,
        cluster: 'one',
        retryAfterMs: 5_000,
      },
    })
    await created(fresh.cluster, definitionsPath, definition)
    await expect.poll(refused, wait).toBeUndefined()
    const back = follow(
      fresh.gateway.connect(),
      reference('Gadget', 'g', `${group}/v1`),
      'json(path: "spec.size")',
    )
    await expect
      .poll(
        async () =>
          created(fresh.cluster, gadgets, gadget(3)).then(
            () => true,
            () => false,
          ),
        wait,
      )
      .toBe(true)
    await back.until('object', (held) => [...held.values()][0]?.json === 3)
  })

  it('says since when it is stale, and when it is in step again', async () => {
    await created(fresh.cluster, pods, pod('a'))
    await using proxy = await startCutProxy(Number(new URL(fresh.cluster.url).port))
    await using gateway = await serveGateway({
      clusters: [{ name: 'one', server: `http://127.0.0.1:${proxy.port}` }],
      cache: { staleAfterMs: 1_000 },
    })
    const frames: Fields[] = []
    const fold = new FrameFold<Fields>()
    const waits = new Waits(20_000)
    gateway.connect().subscribe<{ frame: Frame<Fields> }>(
      {
        query: `subscription {
          frame: ${reference('Pod', 'a')} { reset synced staleSince resumeToken changes { type objectId object { name } } }
        }`,
      },
      {
        next: ({ data }) => {
          if (data?.frame === undefined) return
          frames.push(data.frame)
          fold.apply(data.frame)
          waits.changed()
        },
        error: () => {},
        complete: () => {},
      },
    )
    await expect.poll(() => fold.synced, wait).toBe(true)
    await proxy.refuse()
    await expect.poll(() => frames.at(-1)?.staleSince, wait).toEqual(expect.any(String))
    await proxy.listen()
    await expect.poll(() => frames.at(-1)?.staleSince, wait).toBeNull()
    expect(frames.slice(1).every(({ changes }) => changes.length === 0)).toBe(true)
  })
})
