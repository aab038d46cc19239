import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { bindingRows } from './binding-rows.ts'
import { clusterRows } from './cluster-rows.ts'
import { customRows } from './custom-rows.ts'
import { networkRows } from './network-rows.ts'
import { operatorRows } from './operator-rows.ts'
import type { RelationRow } from './relation-row.ts'
import { workloadRows } from './workload-rows.ts'

const shown = [
  ...workloadRows,
  ...networkRows,
  ...clusterRows,
  ...bindingRows,
  ...customRows,
  ...operatorRows,
]

/** Rows that need more than names: the tests that show them, in this folder. */
const elsewhere: Readonly<Record<number, string>> = {
  52: 'custom-rows.test.ts',
  53: 'metrics.test.ts',
  55: 'built-in-rows.test.ts',
  63: 'inferred-references.test.ts',
}

/** `34 to 36, 38, 39: …` is of all of these. */
function numbersOf({ row }: RelationRow): readonly number[] {
  const [numbers = ''] = row.split(':')
  if (!/^\d/.test(numbers)) return []
  return numbers.split(', ').flatMap((part) => {
    const [from = 0, to = from] = part.split(' to ').map(Number)
    return Array.from({ length: to - from + 1 }, (_, at) => from + at)
  })
}

const numbers = Array.from({ length: 63 }, (_, at) => at + 1)

describe('every row of relations', () => {
  it.each(numbers.filter((number) => elsewhere[number] === undefined))(
    '%i is shown by what it leads to and by what it does not',
    (number) => {
      const found = shown
        .filter((row) => numbersOf(row).includes(number))
        .flatMap(({ expected }) => Object.values(expected))
      const isNothing = (one: (typeof found)[number]): boolean => one === null || one.length === 0
      expect(found.some((one) => !isNothing(one))).toBe(true)
      expect(found.some(isNothing)).toBe(true)
    },
  )

  it.each(Object.entries(elsewhere))('%s has a test of its own in %s', async (number, file) => {
    const text = await readFile(new URL(file, import.meta.url), 'utf8')
    expect(text).toMatch(new RegExp(`'row ${number}: `))
  })
})
