import { resources } from 'informerql/kubernetes'
import { createChurn, population, type Simulator, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { inconsistencies, stored } from './cluster-invariants.ts'
import { noon, valueAt, valuesAt } from './collected.ts'

/** The nodes that are not ready. */
function lostNodes({ storage }: Simulator): string[] {
  return Array.from(storage.list(resources.nodes))
    .filter((node) =>
      valuesAt(node, 'status.conditions[*]').some(
        (condition) =>
          valueAt(condition, 'type') === 'Ready' && valueAt(condition, 'status') !== 'True',
      ),
    )
    .map(({ metadata }) => metadata.name)
}

describe('a node outage', () => {
  it('comes to pass now and then, moves pods elsewhere, and passes, in agreement all the while', async () => {
    await using simulator = await startSimulator({
      populate: (storage) => {
        for (const { resource, object } of population({ now: noon, pods: 150, namespaces: 3 }))
          storage.create(resource, object)
      },
    })
    let clockMs = noon.getTime()
    const churn = createChurn({
      writer: simulator.storage,
      // With this seed it comes soon.
      seed: 'd',
      now: () => (clockMs += 50),
    })
    const before = lostNodes(simulator)
    const lost = (): string | undefined =>
      lostNodes(simulator).find((name) => !before.includes(name))
    let name: string | undefined
    for (let turn = 0; turn < 200 && name === undefined; turn++) {
      for (let step = 0; step < 10; step++) churn.step()
      name = lost()
    }
    expect(name).toBeDefined()
    let evicted = 0
    const problems: string[] = []
    for (let turn = 0; turn < 200 && lost() === name; turn++) {
      for (let step = 0; step < 10; step++) churn.step()
      problems.push(...inconsistencies(stored(simulator.storage)))
      evicted += Array.from(simulator.storage.list(resources.pods)).filter(
        (pod) =>
          valueAt(pod, 'spec.nodeName') === name && pod.metadata.deletionTimestamp !== undefined,
      ).length
    }
    expect(problems).toEqual([])
    expect(lost()).toBeUndefined()
    expect(evicted).toBeGreaterThan(0)
    expect(inconsistencies(stored(simulator.storage))).toEqual([])
  })
})
