// Imports internals: a part that goes between two pages, with values too long for a cursor.
import { expect, it } from 'vitest'
import { everything } from '../../src/query/condition/condition.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import { listMergedPage, type MergedPage } from '../../src/query/page/merged-page.ts'
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
    const page = (parts: readonly ReturnType<typeof partOf>[], more: object): MergedPage =>
      listMergedPage({
        parts,
        terms: [{ index: 'note', descending }],
        budget: new WorkBudget({ examined: 1e9, tests: 1e9 }),
        identity: { list: 'boxes' },
        maxPageSize: 100,
        ...more,
      })
    const names = ({ rows }: MergedPage): readonly string[] =>
      rows.map(({ part, id }) => part.view.keyOf(id))
    const before = page([stays, goes], { first: 2 })
    const [, last] = before.rows
    if (last === undefined) throw new Error('there is no second row')
    expect(last.part.name).toBe('us')
    const after = page([stays], { first: 10, after: before.cursorOf(last) })
    // Some may come again; none is left out.
    expect(names(after)).toEqual(notes.map((note) => `a/box-${note}`))
    const back = page([stays], { last: 10, before: before.cursorOf(last) })
    expect(names(back)).toEqual(notes.map((note) => `a/box-${note}`))
  },
)
