import { once } from 'node:events'
import { resources, type Unstructured } from 'informerql/kubernetes'
import {
  type Simulator,
  startSimulator,
  createChurn,
  type Churn,
  type ChurnOptions,
  type PopulationOptions,
  population,
} from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { inconsistencies, resourcesOf, stored } from './cluster-invariants.ts'
import { type Collected, noon, valueAt, valuesAt } from './collected.ts'
import { OpenApiShape } from './open-api-shape.ts'

interface Town extends AsyncDisposable {
  readonly simulator: Simulator
  readonly churn: Churn
}

/** A simulator with a population and its churn, whose clock goes 50 ms per reading. */
async function town(
  options: PopulationOptions = {},
  churnOptions: Partial<ChurnOptions> = {},
): Promise<Town> {
  const simulator = await startSimulator({
    populate: (storage) => {
      for (const { resource, object } of population({ now: noon, ...options }))
        storage.create(resource, object)
    },
  })
  let clockMs = noon.getTime()
  const now = (): number => (clockMs += 50)
  const churn = createChurn({ writer: simulator.storage, now, ...churnOptions })
  return { simulator, churn, [Symbol.asyncDispose]: async () => simulator[Symbol.asyncDispose]() }
}

function steps(churn: Churn, count: number): number {
  let writes = 0
  for (let step = 0; step < count; step++) writes += churn.step()
  return writes
}

/** Steps until something holds, which is looked at now and then; at most so many. */
function stepsUntil(churn: Churn, most: number, holds: () => boolean): void {
  for (let done = 0; done < most && !holds(); done += 100) steps(churn, 100)
}

/** What is there after some steps, as text. */
async function remains(seed: string): Promise<string> {
  await using home = await town({ pods: 80 }, { seed })
  steps(home.churn, 500)
  const { storage } = home.simulator
  return JSON.stringify(resourcesOf(storage).map((resource) => [...storage.list(resource)]))
}

describe('churn', () => {
  it('starts from a consistent cluster', async () => {
    await using home = await town()
    expect(inconsistencies(stored(home.simulator.storage))).toEqual([])
  })

  it('keeps counters, endpoints and pods in agreement at every step', async () => {
    await using home = await town({ pods: 60, namespaces: 3 })
    for (let step = 0; step < 120; step++) {
      expect(home.churn.step()).toBeGreaterThan(0)
      expect(inconsistencies(stored(home.simulator.storage))).toEqual([])
    }
  })

  it('keeps them so over 5,000 steps, and the cluster neither grows nor dies', async () => {
    await using home = await town({ pods: 250 }, { maxEvents: 300 })
    const before = stored(home.simulator.storage)
    expect(steps(home.churn, 5000)).toBeGreaterThan(10_000)
    const after = stored(home.simulator.storage)
    expect(inconsistencies(after)).toEqual([])
    expect(after.all('Pod').length).toBeGreaterThan(before.all('Pod').length * 0.7)
    expect(after.all('Pod').length).toBeLessThan(before.all('Pod').length * 1.6)
    expect(after.all('Event').length).toBeLessThanOrEqual(300)
    expect(after.all('Job').length).toBeLessThanOrEqual(after.all('CronJob').length * 5)
    expect(after.all('ReplicaSet').length).toBeLessThanOrEqual(after.all('Deployment').length * 4)
    const shape = new OpenApiShape()
    for (const kind of after.kinds())
      expect(after.all(kind).flatMap((object) => shape.problems(object))).toEqual([])
  })

  it('spreads the endpoints of large Services over slices', async () => {
    await using home = await town({ pods: 700, namespaces: 1 })
    steps(home.churn, 600)
    const cluster = stored(home.simulator.storage)
    expect(inconsistencies(cluster)).toEqual([])
    const sizes = cluster
      .all('EndpointSlice')
      .map((slice) => valuesAt(slice, 'endpoints[*]').length)
    expect(Math.max(...sizes)).toBe(100)
  })

  it('shows everything that goes on in a cluster', async () => {
    await using home = await town({ pods: 250 }, { maxEvents: 5000 })
    const before = stored(home.simulator.storage)
    steps(home.churn, 4000)
    const after = stored(home.simulator.storage)
    const reasons = new Set(after.all('Event').map((event) => (event as Unstructured)['reason']))
    for (const reason of [
      'ScalingReplicaSet',
      'NewReplicaSetCreated',
      'SuccessfulCreate',
      'Scheduled',
      'Started',
      'Killing',
      'BackOff',
      'SuccessfulRescale',
      'Completed',
    ])
      expect(reasons).toContain(reason)
    const mostRepeated = (cluster: Collected): number =>
      Math.max(...cluster.all('Event').map((event) => Number((event as Unstructured)['count'])))
    expect(mostRepeated(after)).toBeGreaterThan(mostRepeated(before))
    const replaced = before
      .all('Pod')
      .filter((pod) => pod.metadata.ownerReferences?.[0]?.kind === 'StatefulSet')
      .filter(({ metadata: { namespace = '', name, uid } }) => {
        const now = after.get('Pod', namespace, name)
        return now !== undefined && now.metadata.uid !== uid
      })
    expect(replaced.length).toBeGreaterThan(0)
    const [lease] = after.all('Lease')
    const old = before.get('Lease', 'kube-node-lease', lease?.metadata.name ?? '')
    expect(valueAt(lease, 'spec.renewTime')).not.toBe(valueAt(old, 'spec.renewTime'))
  })

  it('leaves what is broken on purpose broken', async () => {
    await using home = await town()
    steps(home.churn, 3000)
    const pods = stored(home.simulator.storage).all('Pod')
    const reasons = pods.flatMap((pod) =>
      valuesAt(pod, 'status.containerStatuses[*].state.waiting.reason'),
    )
    expect(reasons).toContain('ImagePullBackOff')
    const restarts = pods.flatMap((pod) =>
      valuesAt(pod, 'status.containerStatuses[*].restartCount'),
    )
    expect(Math.max(...restarts.map(Number))).toBeGreaterThan(20)
  })

  it('changes what is broken every few seconds of its clock', async () => {
    let clockMs = noon.getTime()
    await using home = await town({ pods: 250 }, { now: () => (clockMs += 500) })
    const { storage } = home.simulator
    const reason = 'status.containerStatuses[*].lastState.terminated.reason'
    const broken = () =>
      JSON.stringify(
        [...storage.list(resources.pods)]
          .map((pod) => JSON.parse(JSON.stringify(pod)) as Unstructured)
          .filter((pod) => valuesAt(pod, reason).includes('Error'))
          .map((pod) => pod['status']),
      )
    const seen = new Set<string>()
    for (let round = 0; round < 10; round++) {
      steps(home.churn, 12)
      seen.add(broken())
    }
    expect(seen.size).toBe(10)
  })

  it('is the same for the same seed', async () => {
    expect(await remains('one')).toBe(await remains('one'))
    expect(await remains('one')).not.toBe(await remains('two'))
  })

  it('replaces pods that somebody else deletes, and reaches replicas and images that somebody else sets', async () => {
    await using home = await town({ pods: 60, namespaces: 2 })
    const { storage } = home.simulator
    steps(home.churn, 50)
    for (const pod of stored(storage).all('Pod'))
      if (pod.metadata.labels?.['app.kubernetes.io/name'] === 'shop-web')
        storage.delete(resources.pods, 'storefront', pod.metadata.name)
    const deployment = storage.get(resources.deployments, 'storefront', 'cart-api')
    expect(deployment).toBeDefined()
    if (deployment === undefined) return
    const spec = JSON.parse(JSON.stringify(deployment['spec'])) as CartSpec
    spec.replicas = 1
    for (const container of spec.template.spec.containers)
      container.image = 'example.com/cart:9.9.9'
    storage.update(resources.deployments, { ...deployment, spec })
    const named = (name: string): readonly Unstructured[] =>
      Array.from(storage.list(resources.pods)).filter(
        ({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === name,
      )
    const images = (): readonly unknown[] =>
      named('cart-api').flatMap((pod) => valuesAt(pod, 'spec.containers[*].image'))
    const set = (image: unknown): boolean => String(image).startsWith('example.com/cart:')
    const broken = (): readonly string[] => inconsistencies(stored(storage))
    const isReached = (): boolean =>
      named('shop-web').length > 0 && images().length > 0 && images().every(set)
    stepsUntil(home.churn, 4000, () => isReached() && broken().length === 0)
    expect(broken()).toEqual([])
    expect(named('shop-web').length).toBeGreaterThan(0)
    expect(images().length).toBeGreaterThan(0)
    expect(images().filter((image) => !set(image))).toEqual([])
  })

  it('lets a broken image fail in every new pod, and repairs the app when its image is another', async () => {
    await using home = await town()
    const { storage } = home.simulator
    const invoices = (): readonly Unstructured[] =>
      Array.from(storage.list(resources.pods, 'payments')).filter(({ metadata }) =>
        metadata.name.startsWith('invoice-worker-'),
      )
    const reasons = (pod: Unstructured): readonly unknown[] =>
      valuesAt(pod, 'status.containerStatuses[*].state.waiting.reason')
    const crashing = (): Unstructured | undefined =>
      invoices().find((pod) => reasons(pod).includes('CrashLoopBackOff'))
    const first = crashing()
    expect(first).toBeDefined()
    storage.delete(resources.pods, 'payments', first?.metadata.name ?? '')
    stepsUntil(home.churn, 6000, () => crashing() !== undefined)
    expect(crashing()?.metadata.uid).not.toBe(first?.metadata.uid)
    const deployment = storage.get(resources.deployments, 'payments', 'invoice-worker')
    if (deployment === undefined) throw new Error('there is no invoice-worker')
    const spec = JSON.parse(JSON.stringify(deployment['spec'])) as CartSpec
    for (const container of spec.template.spec.containers)
      container.image = 'example.com/invoice:1.0.0'
    storage.update(resources.deployments, { ...deployment, spec })
    const repaired = (): boolean =>
      invoices().length > 0 &&
      invoices().every((pod) =>
        valuesAt(pod, 'status.containerStatuses[*]').every(
          (status) =>
            valueAt(status, 'ready') === true &&
            valueAt(status, 'image') === 'example.com/invoice:1.0.0',
        ),
      )
    stepsUntil(home.churn, 6000, repaired)
    expect(repaired()).toBe(true)
  })

  it('gives a Deployment and a Job that somebody else creates their pods', async () => {
    await using home = await town({ pods: 60, namespaces: 2 })
    const { storage } = home.simulator
    steps(home.churn, 20)
    const labels = { app: 'mine' }
    const containers = [{ name: 'main', image: 'example.com/mine:1.0.0' }]
    const metadata = { name: 'mine', namespace: 'storefront' }
    storage.create(resources.deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    })
    storage.create(resources.jobs, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { ...metadata, name: 'once' },
      spec: {
        template: {
          metadata: { labels: { job: 'once' } },
          spec: { containers, restartPolicy: 'Never' },
        },
      },
    })
    const ready = (): unknown =>
      valueAt(storage.get(resources.deployments, 'storefront', 'mine'), 'status.readyReplicas')
    const ended = (): readonly unknown[] =>
      valuesAt(storage.get(resources.jobs, 'storefront', 'once'), 'status.conditions[*].type')
    stepsUntil(home.churn, 6000, () => ready() === 3 && ended().length > 0)
    expect(ready()).toBe(3)
    expect(ended().length).toBeGreaterThan(0)
  })

  it('clears away what a deleted Deployment owned', async () => {
    await using home = await town({ pods: 60, namespaces: 2 })
    const { storage } = home.simulator
    steps(home.churn, 50)
    storage.delete(resources.deployments, 'storefront', 'catalog-api')
    const left = (): readonly Unstructured[] =>
      [
        ...storage.list(resources.pods, 'storefront'),
        ...storage.list(resources.replicaSets, 'storefront'),
      ].filter(({ metadata }) => metadata.name.startsWith('catalog-api-'))
    expect(left()).not.toEqual([])
    stepsUntil(home.churn, 6000, () => left().length === 0)
    expect(left()).toEqual([])
  })

  it('runs by itself until the signal is aborted', async () => {
    await using home = await town({ pods: 30 }, { eventsPerSecond: 500, now: Date.now })
    const first = home.simulator.storage.revision
    const abort = new AbortController()
    const running = home.churn.run(abort.signal)
    await expect.poll(() => home.simulator.storage.revision).toBeGreaterThan(first + 100)
    abort.abort()
    await running
    expect(inconsistencies(stored(home.simulator.storage))).toEqual([])
  })

  it('stands still at a rate of 0, and in an empty cluster', async () => {
    await using home = await town({ pods: 30 }, { eventsPerSecond: 0 })
    const abort = new AbortController()
    const running = home.churn.run(abort.signal)
    setImmediate(() => abort.abort())
    await once(abort.signal, 'abort')
    await running
    await using empty = await startSimulator()
    expect(createChurn({ writer: empty.storage }).step()).toBe(0)
  })
})

interface CartSpec {
  replicas: number
  readonly template: { readonly spec: { readonly containers: { image: string }[] } }
}
