import { everything } from '../../src/query/condition/condition.ts'
import {
  CursorError,
  encodeCursor,
  listHash,
  type ListIdentity,
} from '../../src/query/page/cursor.ts'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import { compareKeys } from '../../src/query/page/list-order.ts'
import {
  compileListCondition,
  type ListArguments,
} from '../../src/query/condition/list-condition.ts'
import {
  findObject,
  listPage,
  type Page,
  type PageOptions,
  PageSizeError,
} from '../../src/query/page/page.ts'
import { QueryTooCostlyError, WorkBudget } from '../../src/query/condition/work-budget.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { objectKey, type StoreView } from 'informerql/informer'
import type { Unstructured } from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'
import { runSeed, seededRandom } from '../support/random.ts'
import {
  matchesScope,
  matchesSelector,
  matchesWhere,
  podIndexes,
  RandomPods,
} from './random-pods.ts'
import { keysOf, objectOf, resourceOf, storeOf } from './stores.ts'

function pageOf(
  view: StoreView,
  options: Partial<PageOptions> & { args?: ListArguments } = {},
): Page {
  const { args = {}, ...rest } = options
  return listPage({
    view,
    condition: compileListCondition(args, podIndexes),
    scope: unrestricted,
    budget: new WorkBudget(),
    identity: { list: 'Pod', ...args },
    ...rest,
  })
}

function endCursor(page: Page): string | undefined {
  const last = page.ids.at(-1)
  return last === undefined ? undefined : page.cursorOf(last)
}

const raw = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

const podStore = (count: number, namespace = 'default') =>
  storeOf(
    resourceOf('Pod'),
    Array.from({ length: count }, (_, at) =>
      objectOf('Pod', { name: `p${String(at).padStart(5, '0')}`, namespace }),
    ),
    indexersOf(podIndexes),
  )

describe(`pages, seed ${runSeed}`, () => {
  it('walked to the end give each object that stays once and in order, while others come and go', () => {
    const random = new RandomPods(seededRandom(runSeed))
    const store = storeOf(resourceOf('Pod'), [], indexersOf(podIndexes))
    for (let made = 0; made < 300; made += 1) store.put(random.pod())
    for (let round = 0; round < 30; round += 1) {
      const args: ListArguments = {
        where: random.chance(0.7) ? random.where() : null,
        labelSelector: random.chance(0.3) ? random.labelSelector() : null,
      }
      const scope = random.scope([...keysOf(store.view, store.view.ids())])
      const isMember = (key: string) => {
        const id = store.view.idOf(key)
        const pod = id === undefined ? undefined : (store.view.object(id) as Unstructured)
        if (pod === undefined || !matchesScope(scope, pod)) return false
        const { labelSelector, where } = args
        if (typeof labelSelector === 'string' && !matchesSelector(labelSelector, pod)) return false
        return matchesWhere(where ?? {}, pod)
      }
      const members = () => keysOf(store.view, store.view.ids()).filter(isMember)
      const stable = new Set(members())
      const first = random.below(40) + 1
      const seen: string[] = []
      let after: string | undefined
      let page: Page
      do {
        page = pageOf(store.view, { args, scope, first, after })
        const keys = keysOf(store.view, page.ids)
        const now = members()
        expect(page.totalCount()).toBe(now.length)
        expect(keys.every(isMember)).toBe(true)
        expect(page.hasPreviousPage).toBe(after !== undefined)
        const lastSeen = seen.at(-1)
        const rest = now.filter((key) => lastSeen === undefined || compareKeys(key, lastSeen) > 0)
        expect(keys).toEqual(rest.slice(0, first))
        expect(page.hasNextPage).toBe(rest.length > first)
        seen.push(...keys)
        after = endCursor(page) ?? after
        for (let changes = random.below(6); changes > 0; changes -= 1) {
          const pod = random.pod()
          const key = objectKey(pod.metadata)
          if (random.chance(0.5)) store.put(pod)
          else if (store.view.idOf(key) !== undefined) store.remove(key)
          stable.delete(key)
        }
      } while (page.hasNextPage)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen).toEqual(seen.toSorted(compareKeys))
      expect([...stable].filter((key) => !seen.includes(key))).toEqual([])
    }
  })

  it('examine about as many rows as they have where everything matches', () => {
    const { view } = podStore(5000)
    const budget = new WorkBudget()
    expect(pageOf(view, { budget, first: 100 }).ids).toHaveLength(100)
    expect(budget.spent('examined')).toBeLessThan(110)
    const named = new WorkBudget()
    pageOf(view, { budget: named, args: { where: { name: { eq: 'p00400' } } } })
    expect(named.spent('examined')).toBe(1)
  })

  it('examine no more than twice the smallest posting where two large ones hardly meet', () => {
    const pods = Array.from({ length: 10_000 }, (_, at) =>
      objectOf(
        'Pod',
        {
          name: `p${String(at).padStart(5, '0')}`,
          namespace: 'x',
          labels: { a: at < 2000 ? '1' : '2' },
        },
        { status: { phase: at < 1990 ? 'Running' : 'Pending' } },
      ),
    )
    const { view } = storeOf(resourceOf('Pod'), pods, indexersOf(podIndexes))
    const budget = new WorkBudget()
    const args = { where: { phase: { eq: 'Pending' } }, labelSelector: 'a=1' }
    expect(pageOf(view, { args, budget, first: 50 }).ids).toHaveLength(10)
    expect(budget.spent('examined')).toBeLessThanOrEqual(4500)
  })

  it('walk only the namespaces that are asked for or may be seen', () => {
    const store = podStore(3000, 'big')
    for (const name of ['a', 'b', 'c']) store.put(objectOf('Pod', { name, namespace: 'small' }))
    const budget = new WorkBudget()
    const scope = { form: 'namespaces', namespaces: new Set(['small', 'none']) } as const
    const page = pageOf(store.view, {
      scope,
      budget,
      args: { where: { not: { name: { eq: 'b' } } } },
    })
    expect(keysOf(store.view, page.ids)).toEqual(['small/a', 'small/c'])
    expect(budget.spent('examined')).toBeLessThanOrEqual(3)
  })

  it('past the budget are an error, not a shorter page', () => {
    const { view } = podStore(1000)
    const options = {
      budget: new WorkBudget({ examined: 500 }),
      args: { where: { not: { name: { gte: 'p' } } } },
    }
    expect(() => pageOf(view, options)).toThrow(QueryTooCostlyError)
    expect(() => pageOf(view, options)).toThrow(
      expect.objectContaining({ code: 'QUERY_TOO_COSTLY' }),
    )
  })

  it('count only when asked', () => {
    const { view } = podStore(1000)
    const budget = new WorkBudget()
    const page = pageOf(view, { budget, first: 10, args: { where: { name: { gte: 'p' } } } })
    expect(budget.spent('examined')).toBeLessThan(50)
    expect(page.totalCount()).toBe(1000)
    expect(budget.spent('examined')).toBeGreaterThanOrEqual(1000)
  })

  it('have 100 objects unless said otherwise, and may have none', () => {
    const { view } = podStore(600)
    expect(pageOf(view).ids).toHaveLength(100)
    expect(pageOf(view, { first: null }).ids).toHaveLength(100)
    expect(pageOf(view, { first: 500 }).ids).toHaveLength(500)
    const none = pageOf(view, { first: 0 })
    expect([none.ids, none.hasNextPage, none.totalCount()]).toEqual([[], true, 600])
  })

  it.each([-1, 501, 1.5, 100_000, Number.NaN])('refuse first: %d, naming it', (first) => {
    const { view } = podStore(1)
    expect(() => pageOf(view, { first })).toThrow(PageSizeError)
    expect(() => pageOf(view, { first })).toThrow(
      expect.objectContaining({ argument: 'first', value: first, code: 'BAD_USER_INPUT' }),
    )
    expect(pageOf(view, { first: 501, maxPageSize: 5000 }).ids).toHaveLength(1)
  })
})

describe('cursors', () => {
  const identity: ListIdentity = {
    list: 'Pod',
    namespaces: ['b', 'a'],
    where: { phase: { eq: 'Running', not: null }, name: { exists: true } },
  }
  const hash = listHash(identity)

  it('are the same whatever the order of fields and namespaces, and however a null is written', () => {
    const same: ListIdentity = {
      where: { name: { exists: true }, phase: { eq: 'Running' } },
      namespaces: ['a', 'b'],
      namespace: null,
      list: 'Pod',
    }
    expect(listHash(same)).toBe(hash)
  })

  it.each<Partial<ListIdentity>>([
    { list: 'Job' },
    { namespaces: ['a'] },
    { namespaces: [] },
    { namespaces: null },
    { labelSelector: 'a=b' },
    { where: { phase: { eq: 'Running' } } },
    { where: { or: [{ phase: { eq: 'Running' } }] } },
    { orderBy: [{ name: 'ASC' }] },
  ])('are bound to their query: %j is another', (change) => {
    expect(listHash({ ...identity, ...change })).not.toBe(hash)
  })

  it('point between objects, whether or not theirs still exists', () => {
    const store = podStore(5)
    const page = pageOf(store.view, { first: 2 })
    const after = endCursor(page)
    store.remove('default/p00001')
    expect(keysOf(store.view, pageOf(store.view, { after }).ids)).toEqual([
      'default/p00002',
      'default/p00003',
      'default/p00004',
    ])
  })

  const own = listHash({ list: 'Pod' })
  it.each([
    ['', 'malformed'],
    ['not a cursor', 'malformed'],
    ['====', 'malformed'],
    [raw({}), 'malformed'],
    [raw('x'), 'malformed'],
    [raw(['2', own, 'a/b']), 'malformed'],
    [raw([2, own]), 'malformed'],
    [raw([2, own, 7]), 'malformed'],
    [raw([2, own, 'a/b', 'c']), 'malformed'],
    [`${raw([2, own, 'a/b'])}\n`, 'malformed'],
    [raw([2, own, 'x'.repeat(20_000)]), 'malformed'],
    [raw([1, own, 'a/b']), 'otherVersion'],
    [raw([0]), 'otherVersion'],
    [
      encodeCursor(listHash({ list: 'Job' }), { key: 'a/b', values: [] }, new WorkBudget()),
      'otherQuery',
    ],
    [encodeCursor('', { key: 'a/b', values: [] }, new WorkBudget()), 'otherQuery'],
  ])('%j is refused as %s', (after, reason) => {
    const { view } = podStore(1)
    const attempt = () => pageOf(view, { after })
    expect(attempt).toThrow(CursorError)
    expect(attempt).toThrow(expect.objectContaining({ reason, argument: 'after', value: after }))
  })

  it('that are forged move only the position, never what may be seen', () => {
    const { view } = podStore(10)
    const scope = { form: 'names', keys: new Set(['default/p00003', 'default/p00007']) } as const
    for (const key of ['', '/', 'default', 'zzz', 'default/p00003', '\u0000', 'a/b/c/d']) {
      const page = pageOf(view, {
        after: encodeCursor(own, { key, values: [] }, new WorkBudget()),
        scope,
      })
      expect(keysOf(view, page.ids).every((found) => scope.keys.has(found))).toBe(true)
    }
  })

  it('walk a kind outside namespaces too', () => {
    const nodes = ['n1', 'n10', 'n2', 'n-1'].map((name) => objectOf('Node', { name }))
    const { view } = storeOf(resourceOf('Node', false), nodes, indexersOf(podIndexes))
    const seen: string[] = []
    let after: string | undefined
    for (let pages = 0; pages < 4; pages += 1) {
      const page = pageOf(view, { first: 1, after })
      seen.push(...keysOf(view, page.ids))
      after = endCursor(page)
    }
    expect(seen).toEqual(['n-1', 'n1', 'n10', 'n2'])
  })
})

describe('one object', () => {
  it('is found only where it may be seen', () => {
    const { view } = podStore(3)
    const condition = compileListCondition({ where: { name: { eq: 'p00001' } } }, podIndexes)
    const options = { view, condition, budget: new WorkBudget() }
    expect(findObject({ ...options, scope: unrestricted })).toBe(view.idOf('default/p00001'))
    const scope = { form: 'namespaces', namespaces: new Set(['other']) } as const
    expect(findObject({ ...options, scope })).toBeUndefined()
    expect(findObject({ ...options, condition: everything, scope })).toBeUndefined()
  })
})
