// Imports internals: a store that has lived is compared with a new one, in all its indexes and orders.
import {
  type IndexView,
  type StoreView,
  type KubernetesObject,
  objectKey,
} from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { podIndexes, RandomPods } from '../query/random-pods.ts'
import { byCodeUnits, keysOf, resourceOf, storeOf } from './stores.ts'

const pods = resourceOf('Pod')
const labelKeys = ['app', 'tier', 'weight']
const bounds = [undefined, '', '0', 'a', 'default', 'pod-2', 'team', 'team-a', 'web:1', '\uffff']

/** Everything that an index says, with keys in the place of ids; in its own order only where it has one. */
function shown(view: StoreView, index: IndexView | undefined): unknown {
  if (index === undefined) return undefined
  const values = [...index.values()].toSorted(byCodeUnits)
  return {
    objectCount: index.objectCount,
    postings: values.map((value) => [
      value,
      index.posting(value)?.size,
      keysOf(view, index.posting(value) ?? []).toSorted(byCodeUnits),
    ]),
    ofObjects: Array.from(view.ids(), (id) => index.valuesOf(id).toSorted(byCodeUnits)),
    ordered: bounds.map((from) => [
      [...index.orderedValues(from, false)],
      [...index.orderedValues(from, true)],
    ]),
  }
}

function shownStore(view: StoreView): unknown {
  return {
    keys: keysOf(view, view.ids()),
    backwards: keysOf(view, view.idsBefore(undefined)),
    uids: Array.from(view.ids(), (id) => [view.uidOf(id), view.idOfUid(view.uidOf(id)) === id]),
    indexes: view.indexNames().map((name) => [name, shown(view, view.index(name))]),
    labels: labelKeys.map((key) => shown(view, view.label(key))),
  }
}

describe(`A store that has lived, seed ${runSeed}`, () => {
  it('is in all its indexes and orders what a store made of the same objects is', () => {
    const random = new RandomPods(seededRandom(runSeed))
    const truth = new Map<string, KubernetesObject>()
    const indexers = indexersOf(podIndexes)
    const { late, ...early } = { ...indexers, late: indexers['image'] ?? (() => []) }
    const lived = storeOf(pods, [], early)
    for (let step = 0; step < 2000; step++) {
      const pod = random.pod(`pod-${random.below(60)}`)
      const key = objectKey(pod.metadata)
      if (random.chance(0.3)) {
        lived.remove(key)
        truth.delete(key)
      } else {
        // The same object, modified, or another one under its key.
        const uid = random.chance(0.5) ? truth.get(key)?.metadata.uid : undefined
        const kept = uid === undefined ? pod : { ...pod, metadata: { ...pod.metadata, uid } }
        lived.put(kept)
        truth.set(key, kept)
      }
      if (step === 500) lived.addIndexers({ late })
      if (step < 500 || step % 100 !== 0) continue
      const fresh = storeOf(pods, [...truth.values()], { ...early, late })
      expect(shownStore(lived.view)).toEqual(shownStore(fresh.view))
    }
  })

  it('has its values in order from a bound on, in both directions, the bound included', () => {
    const random = new RandomPods(seededRandom(runSeed + 1))
    const store = storeOf(pods, [])
    for (let made = 0; made < 3000; made++) store.put(random.pod(`pod-${made}`))
    const index = store.view.index('name')
    const all = [...index.values()].toSorted(byCodeUnits)
    expect(all).toHaveLength(3000)
    for (const bound of ['pod-0', 'pod-1500', 'pod-15005', 'a', 'z', 'pod-999', 'pod-9990']) {
      const upwards = all.filter((value) => value >= bound)
      expect([...index.orderedValues(bound, false)]).toEqual(upwards)
      const downwards = all.filter((value) => value <= bound).toReversed()
      expect([...index.orderedValues(bound, true)]).toEqual(downwards)
    }
  })
})
