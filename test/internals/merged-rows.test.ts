// Imports internals: a part that goes between two pages, with values too long for a cursor; many ties in random stores.
import { expect, it } from 'vitest'
import { everything } from '../../src/query/condition/condition.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import { listPage, type Page } from '../../src/query/page/page.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { objectOf, resourceOf, storeOf } from './stores.ts'

const indexers = indexersOf([{ name: 'note', paths: ['spec.note'], type: 'string' }])
const start = 'x'.repeat(2_000)

const partOf = (name: string, notes: readonly string[]) => {
  const objects = notes.map((note) =>
    objectOf('Box', { name: `box-${note}`, namespace: 'a' }, { spec: { note: start + note } }),
  )
  const { view } = storeOf(resourceOf('Box'), objects, indexers)
  return { name, view, condition: everything, scope: unrestricted }
}

it.each([
  { descending: false, notes: ['1', '4'] },
  { descending: true, notes: ['4', '1'] },
])(
  'a page goes on where a cursor into a cluster leads that is gone, descending: $descending',
  ({ descending, notes }) => {
    const [stays, goes] = [partOf('eu', ['1', '4']), partOf('us', ['2', '3'])]
    const page = (parts: readonly ReturnType<typeof partOf>[], more: object): Page =>
      listPage({
        parts,
        terms: [{ index: 'note', descending }],
        budget: new WorkBudget({ examined: 1e9, tests: 1e9 }),
        identity: { list: 'boxes' },
        maxPageSize: 100,
        ...more,
      })
    const names = (of: Page): readonly string[] =>
      of.rows.map((id, at) => of.partAt(at).view.keyOf(id))
    const before = page([stays, goes], { first: 2 })
    expect(before.partAt(1).name).toBe('us')
    const after = page([stays], { first: 10, after: before.cursorAt(1) })
    // Some may come again; none is left out.
    expect(names(after)).toEqual(notes.map((note) => `a/box-${note}`))
    const back = page([stays], { last: 10, before: before.cursorAt(1) })
    expect(names(back)).toEqual(notes.map((note) => `a/box-${note}`))
  },
)

/** A value that many share, or none. */
type Value = string | undefined

interface Box {
  readonly part: string
  readonly name: string
  readonly values: Readonly<Record<'one' | 'two', Value>>
}

it(`pages of random stores are those of all their objects sorted, SEED=${runSeed}`, () => {
  const random = seededRandom(runSeed)
  const below = (bound: number): number => Math.floor(random() * bound)
  const tied = indexersOf([
    { name: 'one', paths: ['spec.one'], type: 'string' },
    { name: 'two', paths: ['spec.two'], type: 'string' },
  ])
  for (let world = 0; world < 60; world++) {
    const boxes: Box[] = []
    const parts = ['eu', 'eu-2', 'us'].map((part, at) => {
      // The last may have few of the values, or none; the first is larger than what is sorted as a whole.
      const size = at === 0 ? 900 : below(40)
      const value = (): Value => (random() < 0.2 ? undefined : String(below(at === 2 ? 2 : 4)))
      const own = Array.from({ length: size }, (_, number): Box => {
        const name = `box-${String(number).padStart(4, '0')}`
        return { part, name, values: { one: value(), two: value() } }
      })
      boxes.push(...own)
      const objects = own.map(({ name, values }) =>
        objectOf('Box', { name, namespace: 'a' }, { spec: values }),
      )
      const { view } = storeOf(resourceOf('Box'), objects, tied)
      return { name: part, view, condition: everything, scope: unrestricted }
    })
    const names = (['one', 'two'] as const).slice(0, 1 + below(2))
    const terms = names.map((index) => ({ index, descending: random() < 0.5 }))
    const expected = boxes.toSorted((a, b) => {
      for (const { index, descending } of terms) {
        const [left, right] = [a.values[index as 'one'], b.values[index as 'one']]
        if (left === right) continue
        if (left === undefined) return 1
        if (right === undefined) return -1
        return left < right === descending ? 1 : -1
      }
      if (a.part !== b.part) return a.part < b.part ? -1 : 1
      return a.name < b.name ? -1 : 1
    })
    const size = 1 + below(300)
    const isBackwards = random() < 0.5
    const listed: string[] = []
    for (let cursor: string | undefined; ;) {
      const from = isBackwards ? { last: size, before: cursor } : { first: size, after: cursor }
      const page = listPage({
        parts,
        terms,
        budget: new WorkBudget({ examined: 1e9, tests: 1e9 }),
        identity: { list: 'boxes' },
        maxPageSize: 1_000,
        ...from,
      })
      const rows = page.rows.map((id, at) => {
        const { name, view } = page.partAt(at)
        return `${name}/${view.keyOf(id)}`
      })
      if (isBackwards) listed.unshift(...rows)
      else listed.push(...rows)
      const end = isBackwards ? 0 : rows.length - 1
      const isMore = isBackwards ? page.hasPreviousPage : page.hasNextPage
      if (rows.length === 0 || !isMore) break
      cursor = page.cursorAt(end)
    }
    expect(listed).toEqual(expected.map(({ part, name }) => `${part}/a/${name}`))
  }
})
