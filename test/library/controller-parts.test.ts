import {
  annotationsChanged,
  anyPredicate,
  controllerOf,
  createWorkQueue,
  enqueueMapped,
  enqueueObject,
  enqueueOwner,
  generationChanged,
  type KubernetesObject,
  labelsChanged,
  objectKey,
  objectPredicate,
  OwnerError,
  type ReconcileError,
  resources,
  resourceVersionChanged,
  runWorkers,
  setControllerReference,
  setOwnerReference,
  splitObjectKey,
  TerminalError,
  withPredicates,
} from 'informerql/informer'
import { describe, expect, it } from 'vitest'

const object = (name: string, more: object = {}, kind = 'ConfigMap'): KubernetesObject => ({
  apiVersion: kind === 'ReplicaSet' ? 'apps/v1' : 'v1',
  kind,
  metadata: { namespace: 'team', name, uid: `uid-${name}`, ...more },
})
const finalStateKnown = { finalStateKnown: true }

describe('A key', () => {
  it('is namespace and name, and comes apart again', () => {
    expect(objectKey({ namespace: 'team', name: 'a' })).toBe('team/a')
    expect(objectKey({ name: 'node-1' })).toBe('node-1')
    expect(splitObjectKey('team/a')).toEqual({ namespace: 'team', name: 'a' })
    expect(splitObjectKey('node-1')).toEqual({ namespace: '', name: 'node-1' })
  })

  it('that is no string is one key for equal content, at most once in work', async () => {
    interface Key {
      readonly cluster: string
      readonly key: string
    }
    const added: Key[] = []
    const queue = createWorkQueue<Key>({ observer: { added: (key) => void added.push(key) } })
    queue.add({ cluster: 'a', key: 'x' })
    queue.add({ key: 'x', cluster: 'a' })
    queue.add({ cluster: 'b', key: 'x' })
    expect([queue.length, added.length]).toEqual([2, 2])
    const first = await queue.get()
    expect(first).toEqual({ cluster: 'a', key: 'x' })
    queue.add({ cluster: 'a', key: 'x' })
    expect([queue.length, queue.depth, queue.processing]).toEqual([1, 2, [first]])
    queue.done({ key: 'x', cluster: 'a' })
    expect(queue.length).toBe(2)
    queue.addAfter({ cluster: 'c', key: 'x' }, 60_000)
    queue.addAfter({ cluster: 'c', key: 'x' }, 30_000)
    expect(queue.delayed).toBe(1)
    expect(queue.addRateLimited({ cluster: 'd', key: 'x' })).toBe(true)
    expect(queue.numRequeues({ key: 'x', cluster: 'd' })).toBe(1)
    const dropped = queue.shutDown()
    expect(dropped).toContainEqual({ cluster: 'c', key: 'x' })
  })
})

describe('A reconcile', () => {
  it('that throws a TerminalError is not tried again', async () => {
    const queue = createWorkQueue<{ readonly name: string }>()
    const stop = new AbortController()
    const failures: ReconcileError<{ readonly name: string }>[] = []
    let calls = 0
    queue.add({ name: 'a' })
    const { abandoned } = await runWorkers(
      queue,
      1,
      () => {
        calls += 1
        stop.abort()
        throw new TerminalError('the spec makes no sense')
      },
      stop.signal,
      { onFailure: (error) => void failures.push(error) },
    )
    expect([calls, abandoned, queue.numRequeues({ name: 'a' })]).toEqual([1, [], 0])
    expect(failures).toMatchObject([
      { key: { name: 'a' }, failures: 1, retried: false, cause: { code: 'TERMINAL' } },
    ])
  })
})

describe('A controller reference', () => {
  const owner = object('rs', {}, 'ReplicaSet')

  it('names the owner once, and is found again', () => {
    const owned = setControllerReference(owner, object('a'))
    expect(owned.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'rs',
        uid: 'uid-rs',
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    expect(controllerOf(owned)?.name).toBe('rs')
    expect(setControllerReference(owner, owned)).toEqual(owned)
    expect(controllerOf(object('a'))).toBeUndefined()
  })

  it('is refused to a second controller, but not to a second owner', () => {
    const owned = setControllerReference(owner, object('a'))
    const other = object('other', {}, 'ReplicaSet')
    expect(() => setControllerReference(other, owned)).toThrow(/controlled by ReplicaSet rs/)
    const both = setOwnerReference(other, owned)
    expect(both.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['rs', 'other'])
    expect(controllerOf(both)?.name).toBe('rs')
  })

  it('does not cross namespaces, and needs an owner that exists', () => {
    const elsewhere = object('rs', { namespace: 'elsewhere' }, 'ReplicaSet')
    expect(() => setControllerReference(elsewhere, object('a'))).toThrow(OwnerError)
    const unborn = object('rs', { uid: undefined }, 'ReplicaSet')
    expect(() => setControllerReference(unborn, object('a'))).toThrow(/no UID/)
    const cluster = object('node', { namespace: undefined }, 'Node')
    expect(setOwnerReference(cluster, object('a')).metadata.ownerReferences).toHaveLength(1)
  })
})

describe('Handlers that queue', () => {
  it('queue the object, or its owners of one kind, of before and after', () => {
    const keys: string[] = []
    const sink = { add: (key: string) => keys.push(key) }
    const own = enqueueObject(sink)
    void own.onAdd?.(object('a'), false)
    void own.onDelete?.(object('b'), { finalStateKnown: false })
    expect(keys.splice(0)).toEqual(['team/a', 'team/b'])

    const owners = enqueueOwner(sink, { owner: resources.replicaSets })
    const one = setControllerReference(object('one', {}, 'ReplicaSet'), object('pod'))
    const two = setOwnerReference(object('two', {}, 'ReplicaSet'), object('pod'))
    const job = setOwnerReference(object('job', {}, 'Job'), object('pod'))
    void owners.onUpdate?.(one, two)
    void owners.onAdd?.(job, false)
    expect(keys.splice(0)).toEqual(['team/one', 'team/two'])

    const controllers = enqueueOwner(sink, { owner: resources.replicaSets, onlyController: true })
    void controllers.onUpdate?.(one, two)
    expect(keys.splice(0)).toEqual(['team/one'])

    const nodes = enqueueOwner(sink, { owner: resources.nodes })
    const node = object('n', { namespace: undefined }, 'Node')
    void nodes.onDelete?.(setOwnerReference(node, object('pod')), finalStateKnown)
    expect(keys).toEqual(['n'])
  })
})

describe('A map function', () => {
  it('queues its keys once each, of the object before and after an update', () => {
    const keys: string[] = []
    const handler = enqueueMapped({ add: (key) => keys.push(key) }, ({ metadata }) =>
      Object.values(metadata.labels ?? {}),
    )
    const before = object('a', { resourceVersion: '1', labels: { one: 'x', two: 'y' } })
    const after = object('a', { resourceVersion: '2', labels: { one: 'y', two: 'z' } })
    void handler.onAdd?.(before, false)
    void handler.onUpdate?.(before, after)
    void handler.onDelete?.(after, finalStateKnown)
    expect(keys).toEqual(['x', 'y', 'x', 'y', 'z', 'y', 'z'])
  })
})

describe('Changes', () => {
  it('come before the initial list and resyncs, whatever the handler', async () => {
    const owner = object('rs', {}, 'ReplicaSet')
    const owned = (name: string, resourceVersion: string) =>
      setControllerReference(owner, object(name, { resourceVersion }))
    await using queue = createWorkQueue()
    const own = enqueueObject(queue)
    const owners = enqueueOwner(queue, { owner: resources.replicaSets })
    const mapped = enqueueMapped(queue, ({ metadata }) => [`mapped/${metadata.name}`])
    for (const handler of [own, owners, mapped]) {
      void handler.onAdd?.(owned('listed', '1'), true)
      void handler.onUpdate?.(owned('resynced', '2'), owned('resynced', '2'))
    }
    for (const handler of [mapped, own]) {
      void handler.onUpdate?.(owned('changed', '3'), owned('changed', '4'))
      void handler.onAdd?.(owned('new', '5'), false)
      void handler.onDelete?.(owned('resynced', '2'), finalStateKnown)
    }
    const order: (string | undefined)[] = []
    while (queue.length > 0) order.push(await queue.get())
    expect(order).toEqual([
      'mapped/changed',
      'mapped/new',
      'mapped/resynced',
      'team/changed',
      'team/new',
      'team/resynced',
      'team/listed',
      'team/rs',
      'mapped/listed',
    ])
  })
})

describe('Predicates', () => {
  const heard = (...predicates: Parameters<typeof withPredicates>[1][]) => {
    const events: string[] = []
    const handler = withPredicates(
      {
        onAdd: ({ metadata }) => void events.push(`+${metadata.name}`),
        onUpdate: (_, { metadata }) => void events.push(`~${metadata.name}`),
        onDelete: ({ metadata }) => void events.push(`-${metadata.name}`),
        onReset: () => void events.push('reset'),
      },
      ...predicates,
    )
    return { events, handler }
  }

  it('let pass what every one of them does', () => {
    const { events, handler } = heard(
      generationChanged,
      objectPredicate(({ metadata }) => metadata.namespace === 'team'),
    )
    void handler.onAdd?.(object('a'), false)
    void handler.onAdd?.(object('b', { namespace: 'other' }), false)
    void handler.onUpdate?.(object('a', { generation: 1 }), object('a', { generation: 1 }))
    void handler.onUpdate?.(object('a', { generation: 1 }), object('a', { generation: 2 }))
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    const going = object('c', { generation: 1, deletionTimestamp })
    void handler.onUpdate?.(object('c', { generation: 1 }), going)
    void handler.onDelete?.(object('a'), finalStateKnown)
    void handler.onReset?.()
    expect(events).toEqual(['+a', '~a', '~c', '-a', 'reset'])
  })

  it('tell labels, annotations and resyncs apart', () => {
    const before = object('a', { resourceVersion: '1', labels: { a: 'b' } })
    const relabelled = object('a', { resourceVersion: '2', labels: { a: 'c' } })
    const annotated = object('a', {
      resourceVersion: '3',
      labels: { a: 'b' },
      annotations: { x: 'y' },
    })
    for (const [predicate, expected] of [
      [labelsChanged, [false, true, false]],
      [annotationsChanged, [false, false, true]],
      [resourceVersionChanged, [false, true, true]],
      [anyPredicate(labelsChanged, annotationsChanged), [false, true, true]],
    ] as const) {
      const answers = [before, relabelled, annotated].map((after) =>
        predicate.onUpdate?.(before, after),
      )
      expect(answers).toEqual(expected)
    }
  })
})
