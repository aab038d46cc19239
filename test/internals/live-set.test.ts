// Imports internals: changes are folded at every step of the store, which no subscriber sees one by one.
import { type StoreView, type Unstructured, objectKey } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import { compileWhere } from '../../src/query/condition/where.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { type LiveChange, type LiveRead, LiveSet } from '../../src/query/live-set.ts'
import { type Scope, unrestricted } from '../../src/query/condition/scope.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { matchesScope, matchesWhere, podIndexes, RandomPods } from '../query/random-pods.ts'
import { byCodeUnits, objectOf, resourceOf, storeOf } from './stores.ts'

/** What a client holds: the text of each object by UID. Applying a change that does not fit what is held throws. */
class Fold {
  readonly held = new Map<string, string>()

  apply(changes: readonly LiveChange[], view: StoreView): void {
    for (const change of changes) {
      if (this.held.has(change.uid) !== (change.type !== 'ADDED')) {
        throw new Error(`${change.type} of ${change.key} does not fit what is held`)
      }
      if (change.type === 'DELETED') this.held.delete(change.uid)
      else this.held.set(change.uid, JSON.stringify(view.object(change.id)))
    }
  }
}

const readOf = (view: StoreView, scope: Scope = unrestricted): LiveRead => ({
  view,
  scope,
  budget: new WorkBudget(),
})

/** What is sent for keys; after that the subscriber holds it. */
function sentOf(live: LiveSet, read: LiveRead, keys: Iterable<string>): readonly LiveChange[] {
  const changes = live.due(read, keys)
  live.sent(changes)
  return changes
}

const pod = (phase: string, uid = 'u-1', namespace = 'a') =>
  objectOf('Pod', { name: 'p', namespace, uid }, { spec: { phase } })
const running = compileWhere({ phase: { eq: 'Running' } }, podIndexes)

describe(`what a subscriber is told, seed ${runSeed}`, () => {
  it('folds to what a fresh list would give, whatever happens and however late', () => {
    const random = new RandomPods(seededRandom(runSeed))
    for (let round = 0; round < 20; round += 1) {
      const where = random.where()
      const pods = new Map<string, Unstructured>()
      const store = storeOf(resourceOf('Pod'), [], indexersOf(podIndexes))
      const put = (one: Unstructured) => {
        pods.set(objectKey(one.metadata), one)
        store.put(one)
      }
      for (let made = 0; made < 100; made += 1) put(random.pod())
      const scope: Scope = random.scope([...pods.keys()])
      const live = new LiveSet(compileWhere(where as never, podIndexes))
      const fold = new Fold()
      const read = readOf(store.view, scope)
      fold.apply(sentOf(live, read, live.matching(read)), store.view)
      const dirty = new Set<string>()
      for (let step = 0; step < 150; step += 1) {
        const one = random.pod(`pod-${random.below(60)}`)
        const key = objectKey(one.metadata)
        const before = pods.get(key)
        if (before !== undefined && random.chance(0.3)) {
          pods.delete(key)
          store.remove(key)
        } else if (before !== undefined && random.chance(0.6)) {
          const { uid = '' } = before.metadata
          put({ ...one, metadata: { ...one.metadata, uid } })
        } else put(one)
        dirty.add(key)
        if (random.chance(0.5)) continue
        fold.apply(sentOf(live, readOf(store.view, scope), dirty), store.view)
        dirty.clear()
        const expected = [...pods.values()].filter(
          (each) => matchesScope(scope, each) && matchesWhere(where, each),
        )
        expect([...fold.held.keys()].toSorted(byCodeUnits)).toEqual(
          expected.map((each) => each.metadata.uid ?? '').toSorted(byCodeUnits),
        )
        for (const each of expected) {
          expect(JSON.parse(fold.held.get(each.metadata.uid ?? '') ?? '')).toEqual(each)
        }
        expect(live.size).toBe(expected.length)
      }
    }
  })
})

function begin() {
  const store = storeOf(resourceOf('Pod'), [pod('Running')], indexersOf(podIndexes))
  const live = new LiveSet(running)
  const told = (scope: Scope = unrestricted) => sentOf(live, readOf(store.view, scope), ['a/p'])
  told()
  return { store, live, told }
}

describe('one object', () => {
  it('that changes is MODIFIED', () => {
    const { store, told } = begin()
    store.put(pod('Running'))
    expect(told()).toMatchObject([{ type: 'MODIFIED', uid: 'u-1' }])
  })

  it('that leaves the filter is DELETED, and ADDED when it comes back', () => {
    const { store, told } = begin()
    store.put(pod('Failed'))
    expect(told()).toEqual([{ type: 'DELETED', key: 'a/p', uid: 'u-1', cause: 'unmatched' }])
    expect(told()).toEqual([])
    store.put(pod('Running'))
    expect(told()).toMatchObject([{ type: 'ADDED', uid: 'u-1' }])
  })

  it('that is no more is DELETED once', () => {
    const { store, told } = begin()
    store.remove('a/p')
    expect(told()).toEqual([{ type: 'DELETED', key: 'a/p', uid: 'u-1', cause: 'gone' }])
    expect(told()).toEqual([])
  })

  it('that was created anew is DELETED and ADDED', () => {
    const { store, told } = begin()
    store.put(pod('Running', 'u-2'))
    expect(told()).toMatchObject([
      { type: 'DELETED', uid: 'u-1', cause: 'gone' },
      { type: 'ADDED', uid: 'u-2' },
    ])
  })

  it('that was created anew outside the filter is DELETED under its former UID', () => {
    const { store, told } = begin()
    store.put(pod('Pending', 'u-2'))
    expect(told()).toEqual([{ type: 'DELETED', key: 'a/p', uid: 'u-1', cause: 'gone' }])
  })

  it('that may no longer be seen is DELETED as hidden, and is not spoken of again', () => {
    const { store, told } = begin()
    const other: Scope = { form: 'namespaces', namespaces: new Set(['b']) }
    expect(told(other)).toEqual([{ type: 'DELETED', key: 'a/p', uid: 'u-1', cause: 'hidden' }])
    store.put(pod('Failed'))
    expect(told(other)).toEqual([])
    store.put(pod('Running'))
    expect(told(other)).toEqual([])
  })

  it('that is unknown, or never matched, is not spoken of', () => {
    const { store, live } = begin()
    store.put(pod('Failed', 'u-9', 'z'))
    expect(sentOf(live, readOf(store.view), ['z/p', 'no/such'])).toEqual([])
  })
})
