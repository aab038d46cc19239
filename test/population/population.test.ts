import type { Unstructured } from 'informerql/kubernetes'
import { population } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { collect, noon, valueAt, valuesAt } from './collected.ts'

const text = (options: object): string => JSON.stringify([...population({ now: noon, ...options })])

describe('the population', () => {
  it('is the same, byte by byte, for the same seed and moment', () => {
    expect(text({ pods: 120 })).toBe(text({ pods: 120 }))
    expect(text({ pods: 120, seed: 'another' })).not.toBe(text({ pods: 120 }))
    expect(text({ pods: 120, now: new Date(0) })).not.toBe(text({ pods: 120 }))
  })

  it.each([0, 1, 7, 40, 250, 1234])('has exactly the pods that were asked for: %i', (pods) => {
    expect(collect({ pods }).all('Pod')).toHaveLength(pods)
  })

  it('has the nodes and the namespaces of teams that were asked for', () => {
    const collected = collect({ pods: 90, nodes: 5, namespaces: 3 })
    expect(collected.all('Node')).toHaveLength(5)
    const namespaces = collected.all('Namespace').map(({ metadata }) => metadata.name)
    expect(namespaces).toEqual(expect.arrayContaining(['storefront', 'payments', 'search']))
    expect(namespaces).not.toContain('identity')
  })

  it('leaves the resource version to the server, and gives all else that identifies an object', () => {
    for (const { object, resource } of population({ now: noon })) {
      expect(object.metadata.resourceVersion).toBeUndefined()
      expect(object.metadata.uid).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
      expect(Date.parse(object.metadata.creationTimestamp ?? '')).toBeLessThanOrEqual(
        noon.getTime(),
      )
      expect([resource.apiVersion, resource.kind]).toEqual([object.apiVersion, object.kind])
    }
  })

  it('has pods of the size that real ones have: 9 to 13 KB, 5 to 8 KB without managed fields', () => {
    const pods = collect({ pods: 500 }).all('Pod')
    const bytes = (objects: readonly object[]): number =>
      JSON.stringify(objects).length / pods.length
    const bare = pods.map((pod) => ({
      ...pod,
      metadata: { ...pod.metadata, managedFields: undefined },
    }))
    expect(bytes(pods)).toBeGreaterThan(9000)
    expect(bytes(pods)).toBeLessThan(13_000)
    expect(bytes(bare)).toBeGreaterThan(5000)
    expect(bytes(bare)).toBeLessThan(8000)
  })

  it('has the troubles that the guide describes', () => {
    const collected = collect()
    const pods = collected.all('Pod')
    const waiting = pods.flatMap((pod) =>
      valuesAt(pod, 'status.containerStatuses[*].state.waiting.reason'),
    )
    expect(new Set(waiting)).toEqual(new Set(['CrashLoopBackOff', 'ImagePullBackOff']))
    expect(waiting).toHaveLength(2)
    const reasons = pods.flatMap((pod) => valuesAt(pod, 'status.conditions[*].reason'))
    expect(reasons).toContain('Unschedulable')
    const jobs = collected.all('Job').flatMap((job) => valuesAt(job, 'status.conditions[*].type'))
    expect(jobs.filter((type) => type === 'Failed')).toHaveLength(1)
    const ready = collected
      .all('Node')
      .flatMap((node) => valuesAt(node, 'status.conditions[*]'))
      .filter((condition) => valueAt(condition, 'type') === 'Ready')
    expect(ready.filter((condition) => valueAt(condition, 'status') === 'Unknown')).toHaveLength(1)
    const warnings = collected.all('Event').map((event) => (event as Unstructured)['reason'])
    expect(warnings).toEqual(
      expect.arrayContaining(['BackOff', 'FailedScheduling', 'NodeNotReady']),
    )
  })

  it.each([
    [{ pods: -1 }, 'pods'],
    [{ pods: 1.5 }, 'pods'],
    [{ pods: 1000, nodes: 3 }, 'nodes'],
    [{ namespaces: 0 }, 'namespaces'],
  ])('refuses %j, naming %s', (options, option) => {
    expect(() => population(options)).toThrow(expect.objectContaining({ code: 'POPULATION' }))
    expect(() => population(options)).toThrow(option)
  })

  it('grows to 50,000 pods one object at a time', () => {
    let pods = 0
    let replicaSets = 0
    for (const { object } of population({ pods: 50_000, now: noon })) {
      if (object.kind === 'Pod') pods += 1
      if (object.kind === 'ReplicaSet') replicaSets += 1
    }
    // Held at once, they would be more than a gigabyte.
    expect(process.memoryUsage().heapUsed).toBeLessThan(400e6)
    expect(pods).toBe(50_000)
    expect(replicaSets).toBeGreaterThan(1000)
  })
})
