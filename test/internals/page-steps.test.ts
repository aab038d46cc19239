// Imports internals: steps between two pages are compared with a model, for thousands of pages.
import { describe, expect, it } from 'vitest'
import { type PageEntry, pageSteps } from '../../src/query/page/page-steps.ts'
import { runSeed, seededRandom } from '../support/random.ts'

/** The fold that the documentation gives to clients, with versions in the place of objects. */
const folded = (before: readonly PageEntry[], now: readonly PageEntry[]): readonly PageEntry[] => {
  const rows = [...before]
  for (const step of pageSteps(before, now)) {
    const shown = now.find(({ id }) => id === step.id)
    switch (step.step) {
      case 'REMOVE':
        rows.splice(step.index, 1)
        break
      case 'MOVE':
        rows.splice(step.index, 0, ...rows.splice(step.from, 1))
        break
      case 'INSERT':
        if (shown !== undefined) rows.splice(step.index, 0, shown)
        break
      case 'UPDATE':
        if (shown !== undefined) rows[step.index] = shown
    }
  }
  return rows
}

const page = (ids: string): readonly PageEntry[] =>
  Array.from(ids, (id) => ({ id, version: 'same' }))
const stepsOf = (before: string, now: string): readonly string[] =>
  pageSteps(page(before), page(now)).map(({ step, id }) => `${step} ${id}`)

describe('the steps from one page to another', () => {
  it(`lead there, whatever the pages are (SEED=${runSeed})`, () => {
    const random = seededRandom(runSeed)
    const some = (): readonly PageEntry[] => {
      const size = Math.floor(random() * 12)
      const ids = new Set(Array.from({ length: size }, () => `p${Math.floor(random() * 15)}`))
      return Array.from(ids, (id) => ({ id, version: Math.floor(random() * 2) }))
    }
    let before = some()
    for (let round = 0; round < 3000; round += 1) {
      const now = some()
      expect(folded(before, now)).toEqual(now)
      before = now
    }
  })

  it('are as few as there can be', () => {
    expect(stepsOf('abcde', 'abcde')).toEqual([])
    expect(stepsOf('abcde', 'bcdea')).toEqual(['MOVE a'])
    expect(stepsOf('abcde', 'eabcd')).toEqual(['MOVE e'])
    expect(stepsOf('abcde', 'abxde')).toEqual(['REMOVE c', 'INSERT x'])
    expect(stepsOf('abcdef', 'badcfe')).toHaveLength(3)
  })
})
