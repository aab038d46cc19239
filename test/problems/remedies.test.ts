import { startSimulator, type Simulator } from 'informerql/simulator'
import { resources, type Unstructured } from 'informerql/kubernetes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { failed, namespace, podOf, putNodes } from '../logs/small-town.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } }
const run = { state: waiting, lastState: failed(3), restartCount: 4 }
const template = (image: string, level: string, hash: string): Fields => ({
  metadata: { labels: { app: 'x', 'pod-template-hash': hash } },
  spec: { containers: [{ name: 'app', image, env: [{ name: 'LEVEL', value: level }] }] },
})

interface PutRevision {
  readonly revision: number
  readonly template: Fields
  /** The number of available pods. */
  readonly available: number
}

const twoRevisions: readonly PutRevision[] = [
  { revision: 34, template: template('app:1', 'info', '34'), available: 1 },
  { revision: 35, template: template('app:2', 'debug', '35'), available: 1 },
]

/** A Deployment that went from revision 34 to 35, and a pod of 35 that crashes. */
const putBroken = (
  { storage }: Simulator,
  name: string,
  more: Fields = {},
  labels: Fields = {},
  revisions = twoRevisions,
  status: Fields = {},
): void => {
  const apps = { apiVersion: 'apps/v1' }
  const owned = ({ kind, metadata }: Unstructured): Fields => ({
    ownerReferences: [
      { ...apps, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true },
    ],
  })
  const deployment = storage.create(resources.deployments, {
    ...apps,
    kind: 'Deployment',
    metadata: { name, namespace, annotations: { 'deployment.kubernetes.io/revision': '35' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'x' } },
      template: template('app:2', 'debug', ''),
      ...more,
    },
    status: { replicas: 2, readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 },
  })
  const sets = revisions.map(({ revision, template: own, available }) =>
    storage.create(resources.replicaSets, {
      ...apps,
      kind: 'ReplicaSet',
      metadata: {
        name: `${name}-${revision}`,
        namespace,
        labels: { app: 'x', ...labels },
        annotations: {
          'deployment.kubernetes.io/revision': String(revision),
          'kubernetes.io/change-cause': `deploy ${own['spec'].containers[0].image}`,
        },
        ...owned(deployment),
      },
      spec: { replicas: 1, template: own },
      status: { replicas: 1, readyReplicas: available, availableReplicas: available },
    }),
  )
  const newest = sets.at(-1)
  if (newest === undefined) return
  const pod = podOf(`${name}-pod`, run, { owner: newest })
  storage.create(resources.pods, { ...pod, status: { ...(pod as Fields)['status'], ...status } })
}

const restartedAt = '/metadata/annotations/kubectl.kubernetes.io~1restartedAt'

/** The template of a container that asks for so much, of pods that were last restarted then. */
const asking = (image: string, cpu: string, at?: string): Fields => ({
  metadata: {
    labels: { app: 'x' },
    ...(at !== undefined && { annotations: { 'kubectl.kubernetes.io/restartedAt': at } }),
  },
  spec: { containers: [{ name: 'app', image, resources: { requests: { cpu, memory: cpu } } }] },
})

describe('what to do about a problem', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  beforeAll(async () => {
    simulator = await startSimulator({ populate: putNodes })
    putBroken(simulator, 'web')
    putBroken(simulator, 'paused', { paused: true }, { 'app.kubernetes.io/managed-by': 'Helm' })
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: simulator.url }],
      allowWrites: true,
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const fields = `
    object { name }
    change { from to at cause by changes { path before after } }
    lastLines { pod { name } container previous exitCode at lines }
    actions { action mutation object { name } arguments can }`
  const problemOf = async (name: string, selected = fields): Promise<Fields> => {
    const { problems } = await gateway.data(`{
      problems(types: ["Deployment"]) { nodes { object { name } ${selected} } }
    }`)
    return problems.nodes.find(({ object }: Fields) => object.name === name)
  }

  it('says what the last revision changed, and what the container wrote last', async () => {
    const { change, lastLines } = await problemOf('web')
    expect(change).toEqual({
      from: 34,
      to: 35,
      at: expect.any(String),
      cause: 'deploy app:2',
      by: null,
      changes: [
        { path: '/spec/containers/0/env/0/value', before: 'info', after: 'debug' },
        { path: '/spec/containers/0/image', before: 'app:1', after: 'app:2' },
      ],
    })
    expect(lastLines).toEqual({
      pod: { name: 'web-pod' },
      container: 'app',
      previous: true,
      exitCode: 1,
      at: expect.any(String),
      lines: [expect.any(String), expect.any(String), expect.any(String)],
    })
    expect(lastLines.lines.at(-1)).toContain('queue.dsn is not set')
  })

  it('compares with the last revision that came up, not with the one before a restart', async () => {
    const later: readonly PutRevision[] = [
      { revision: 7, template: asking('app:2', '1'), available: 0 },
      { revision: 8, template: asking('app:2', '1', 'noon'), available: 0 },
    ]
    const first = { revision: 5, template: asking('app:0', '1'), available: 1 }
    const second = { revision: 6, template: asking('app:1', '1'), available: 0 }
    putBroken(simulator, 'restarted', {}, {}, [first, second, ...later])
    putBroken(simulator, 'none-came-up', {}, {}, [{ ...first, available: 0 }, second, ...later])
    const changeAndBack = async (name: string): Promise<Fields> => {
      await expect.poll(async () => problemOf(name, 'reason')).toBeDefined()
      return problemOf(name, 'change { from to changes { path before } } actions { arguments }')
    }
    const restart = { path: restartedAt, before: null }
    const image = { path: '/spec/containers/0/image', before: 'app:0' }
    const cameUp = await changeAndBack('restarted')
    expect(cameUp['change']).toEqual({ from: 5, to: 8, changes: [image, restart] })
    expect(cameUp['actions'][0].arguments).toMatchObject({ toRevision: 5 })
    const { change } = await changeAndBack('none-came-up')
    expect(change).toEqual({ from: 6, to: 8, changes: [{ ...image, before: 'app:1' }, restart] })
    putBroken(simulator, 'only-restarted', {}, {}, [
      { revision: 1, template: asking('app:1', '1'), available: 0 },
      { revision: 2, template: asking('app:2', '1'), available: 1 },
      { revision: 3, template: asking('app:2', '1', 'noon'), available: 0 },
    ])
    expect((await changeAndBack('only-restarted'))['change']).toBeNull()
  })

  it('compares a StatefulSet with its current revision, however many failed since', async () => {
    const apps = { apiVersion: 'apps/v1' }
    const revisions = ['app:1', 'app:2', 'app:3']
    const { storage } = simulator
    const set = storage.create(resources.statefulSets, {
      ...apps,
      kind: 'StatefulSet',
      metadata: { name: 'kept', namespace },
      spec: { replicas: 1, selector: { matchLabels: { app: 'kept' } } },
      status: { replicas: 1, currentRevision: 'kept-1', updateRevision: 'kept-3' },
    })
    const owner = { ...apps, kind: 'StatefulSet', name: 'kept', uid: set.metadata.uid ?? '' }
    for (const [at, image] of revisions.entries()) {
      storage.create(resources.controllerRevisions, {
        ...apps,
        kind: 'ControllerRevision',
        metadata: {
          name: `kept-${at + 1}`,
          namespace,
          labels: { app: 'kept' },
          ownerReferences: [{ ...owner, controller: true }],
        },
        revision: at + 1,
        data: { spec: { template: asking(image, '1') } },
      })
    }
    storage.create(resources.pods, podOf('kept-0', run, { owner: set }))
    const changeOf = async (): Promise<unknown> => {
      const { problems } = await gateway.data(
        '{ problems(types: ["StatefulSet"]) { nodes { change { from to } } } }',
      )
      return problems.nodes[0]?.change
    }
    await expect.poll(changeOf).toEqual({ from: 1, to: 3 })
  })

  it('begins with the fields that the message names, and then that the reason is about', async () => {
    const message = '0/2 nodes are available: 2 Insufficient memory.'
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
    const pending = { phase: 'Pending', conditions: [condition], containerStatuses: [] }
    putBroken(
      simulator,
      'too-big',
      {},
      {},
      [
        { revision: 1, template: asking('app:1', '1'), available: 1 },
        { revision: 2, template: asking('app:2', '48', 'noon'), available: 0 },
      ],
      pending,
    )
    await expect.poll(async () => problemOf('too-big', 'reason')).toBeDefined()
    const { reason, change } = await problemOf('too-big', 'reason change { changes { path } }')
    expect(reason).toBe('Unschedulable')
    expect(change.changes.map(({ path }: Fields) => path)).toEqual([
      '/spec/containers/0/resources/requests/memory',
      '/spec/containers/0/resources/requests/cpu',
      '/spec/containers/0/image',
      restartedAt,
    ])
  })

  it('says which writes apply, with their arguments, and they work as they are', async () => {
    const { actions } = await problemOf('web')
    expect(actions.map(({ action, mutation }: Fields) => `${action} ${mutation}`)).toEqual([
      'ROLL_BACK rollback',
      'RESTART restart',
      'SCALE scale',
      'EDIT apply',
    ])
    expect(actions.map(({ can }: Fields) => can)).toEqual([true, true, true, true])
    const [back] = actions
    expect(back.arguments).toEqual({ id: expect.any(String), toRevision: 34 })
    const paused = await problemOf('paused')
    expect(paused['actions'].map(({ action }: Fields) => action)).toEqual([
      'RESUME',
      'RESTART',
      'SCALE',
      'EDIT',
    ])
    const { rollback } = await gateway.data(
      `mutation ($id: ID!, $toRevision: Int) {
        rollback(id: $id, toRevision: $toRevision, dryRun: true) { dryRun }
      }`,
      back.arguments,
    )
    expect(rollback).toEqual({ dryRun: true })
  })

  it('offers no writes where the gateway allows none', async () => {
    const reading = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
    try {
      const { problems } = await reading.data('{ problems { nodes { actions { action } } } }')
      expect(new Set(problems.nodes.flatMap(({ actions }: Fields) => actions))).toEqual(new Set())
    } finally {
      await reading[Symbol.asyncDispose]()
    }
  })

  it('says who changed it by the label of the revision, where nobody manages its fields', async () => {
    const by = async (): Promise<unknown> =>
      (await problemOf('paused', 'change { by }'))['change'].by
    expect(await by()).toBe('Helm')
    // Whoever changes the template is told instead.
    const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/paused`
    await sent(simulator, 'PATCH', `${deployment}?fieldManager=edit`, {
      spec: { template: { spec: { containers: [{ name: 'app', image: 'app:3' }] } } },
    })
    expect(await by()).toBe('edit')
  })

  it('is as of the last change in a subscription, without the last lines', async () => {
    const client = gateway.connect()
    const query = `subscription {
      problems(types: ["Deployment"]) {
        changes { object { object { name } change { to } lastLines { lines } } }
      }
    }`
    for await (const { data, errors } of client.iterate({ query }) as AsyncIterable<Fields>) {
      const found = data?.problems.changes.find(
        ({ object }: Fields) => object.object.name === 'web',
      )
      if (found === undefined) continue
      expect(found.object).toMatchObject({ change: { to: 35 }, lastLines: null })
      expect(errors?.[0]?.extensions.code).toBe('UNSUPPORTED')
      break
    }
  })

  it('keeps the rows when a log cannot be read: the field alone is null, with the reason', async () => {
    const { storage } = simulator
    const lost = podOf('lost-log', run, { node: 'down' })
    storage.create(resources.pods, lost)
    const query = '{ problems { nodes { kind reason count lastLines { lines } } } }'
    const ofNode = async (): Promise<Fields> => {
      const { data, errors } = await gateway.query(query)
      const row = data.problems.nodes.find(({ kind }: Fields) => kind === 'Node')
      return { row, errors }
    }
    await expect.poll(async () => (await ofNode())['errors']).not.toBeUndefined()
    const { row, errors } = await ofNode()
    expect(row).toMatchObject({ reason: 'NotReady', lastLines: null })
    expect(errors).toMatchObject([
      {
        path: ['problems', 'nodes', expect.any(Number), 'lastLines'],
        extensions: { code: 'NODE_UNREACHABLE' },
      },
    ])
    storage.delete(resources.pods, namespace, 'lost-log')
  })

  it('reads as many logs as one operation may, of however many rows ask for them', async () => {
    const { storage } = simulator
    for (let number = 0; number < 500; number++) {
      storage.create(resources.pods, podOf(`alone-${number}`, run))
    }
    await expect
      .poll(async () => (await gateway.data('{ problems { totalCount } }')).problems.totalCount)
      .toBeGreaterThanOrEqual(500)
    const { data, errors } = await gateway.query(
      '{ problems(types: ["Pod"], first: 500) { nodes { reason lastLines(lines: 1) { lines } } } }',
    )
    const read = data.problems.nodes.filter(({ lastLines }: Fields) => lastLines !== null)
    expect(data.problems.nodes).toHaveLength(500)
    expect(read.length).toBeLessThanOrEqual(10)
    expect(read.length).toBeGreaterThan(0)
    expect(errors?.[0]?.extensions?.['code']).toBe('QUERY_TOO_COSTLY')
  })
})
