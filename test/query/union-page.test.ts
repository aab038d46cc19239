import { describe, expect, it } from 'vitest'
import { everything } from '../../src/query/condition/condition.ts'
import { CursorError } from '../../src/query/page/cursor.ts'
import { ownedBy, ownersOf } from '../../src/query/relation/ownership-relation.ts'
import { PageSizeError } from '../../src/query/page/page.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import {
  listUnionPage,
  type UnionPage,
  type UnionPageOptions,
} from '../../src/query/page/union-page.ts'
import { keysOf, objectOf, resourceOf, storeOf } from './stores.ts'

const owner = { ownerReferences: [{ apiVersion: 'v1', kind: 'Job', name: 'x', uid: 'job-a-j' }] }
const objects = (kind: string, count: number) =>
  Array.from({ length: count }, (_, at) =>
    objectOf(kind, { name: `${kind.toLowerCase()}-${at}`, namespace: 'a', ...owner }),
  )
const job = storeOf(resourceOf('Job'), [objectOf('Job', { name: 'j', namespace: 'a' })])
const stores = {
  Pod: storeOf(resourceOf('Pod'), [
    ...objects('Pod', 5),
    objectOf('Pod', { name: 'z', namespace: 'a' }),
  ]),
  ConfigMap: storeOf(resourceOf('ConfigMap'), objects('ConfigMap', 3)),
  Empty: storeOf(resourceOf('Empty'), []),
}
const jobId = job.view.idOf('a/j') ?? -1
const partOf = (type: keyof typeof stores) => ({
  type,
  view: stores[type].view,
  condition: ownedBy(job.view, jobId),
  scope: unrestricted,
})
const parts = [partOf('Pod'), partOf('Empty'), partOf('ConfigMap')]

function pageOf(options: Partial<UnionPageOptions> = {}): UnionPage {
  return listUnionPage({
    parts,
    budget: new WorkBudget(),
    identity: { list: 'j.owned' },
    ...options,
  })
}

const keysIn = (page: UnionPage) => page.rows.map(({ part, id }) => part.view.keyOf(id))
const all = [0, 1, 2]
  .map((at) => `a/configmap-${at}`)
  .concat([0, 1, 2, 3, 4].map((at) => `a/pod-${at}`))

describe('a list of several kinds', () => {
  it.each([1, 2, 3, 4, 7, 8, 9])('has every object once and in order in pages of %d', (first) => {
    const seen: string[] = []
    let after: string | undefined
    let page: UnionPage
    do {
      page = pageOf({ first, after })
      seen.push(...keysIn(page))
      const last = page.rows.at(-1)
      after = last === undefined ? undefined : page.cursorOf(last)
      expect(page.totalCount()).toBe(8)
    } while (page.hasNextPage)
    expect(seen).toEqual(all)
  })

  it('shows of each kind what the viewer may see of it', () => {
    const hidden = {
      ...partOf('ConfigMap'),
      scope: { form: 'names', keys: new Set<string>() },
    } as const
    const page = pageOf({ parts: [hidden, partOf('Pod')] })
    expect(page.totalCount()).toBe(5)
    expect(keysIn(page)).toEqual(all.slice(3))
  })

  it('goes on where a kind is no longer there', () => {
    const page = pageOf({ first: 2 })
    const last = page.rows.at(-1)
    const after = last === undefined ? undefined : page.cursorOf(last)
    expect(keysIn(pageOf({ parts: [partOf('Pod')], after }))).toEqual(all.slice(3))
  })

  it('refuses page sizes and cursors as a list of one kind does', () => {
    expect(() => pageOf({ first: -1 })).toThrow(PageSizeError)
    expect(() => pageOf({ after: 'x' })).toThrow(CursorError)
  })
})

describe('the owners of an object', () => {
  it('are found in the store of each kind by UID', () => {
    const pods = stores.Pod.view
    const condition = ownersOf(pods, pods.idOf('a/pod-0') ?? -1)
    const page = pageOf({
      parts: [{ type: 'Job', view: job.view, condition, scope: unrestricted }],
    })
    expect(keysIn(page)).toEqual(['a/j'])
    expect(keysOf(pods, pods.ids())).toHaveLength(6)
    expect(pageOf({ parts: [{ ...partOf('Pod'), condition: everything }] }).totalCount()).toBe(6)
  })
})
