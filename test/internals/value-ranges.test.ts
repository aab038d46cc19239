// Imports internals: ranges of keys are seen by nobody outside.
import { describe, expect, it } from 'vitest'
import {
  after,
  intersectionOf,
  isWithin,
  unionOf,
  type ValueRange,
  withPrefix,
} from '../../src/query/condition/value-ranges.ts'
import { runSeed, seededRandom } from '../support/random.ts'

const letters = ['a', 'b', '\0', '\uFFFF', '\uD83D', 'z']

describe(`ranges of values, seed ${runSeed}`, () => {
  const random = seededRandom(runSeed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const word = (): string =>
    Array.from({ length: Math.floor(random() * 4) }, () => pick(letters)).join('')
  const randomRange = (): ValueRange => {
    const form = Math.floor(random() * 3)
    if (form === 0) return withPrefix(word())
    return { from: word(), to: form === 1 ? undefined : word() }
  }
  const meets = ({ from, to }: ValueRange, value: string): boolean =>
    value >= from && (to === undefined || value < to)

  it('hold what one of them holds, and together what both hold', () => {
    for (let round = 0; round < 3_000; round += 1) {
      const [some, others] = [1, 2].map(() =>
        Array.from({ length: Math.floor(random() * 6) }, randomRange),
      ) as [ValueRange[], ValueRange[]]
      const [union, other] = [unionOf(some), unionOf(others)]
      const both = intersectionOf(union, other)
      const values = Array.from({ length: 20 }, word)
      const inUnion = values.map((value) => some.some((range) => meets(range, value)))
      const inOther = values.map((value) => others.some((range) => meets(range, value)))
      expect({ some, values, within: values.map((value) => isWithin(union, value)) }).toEqual({
        some,
        values,
        within: inUnion,
      })
      expect(values.map((value) => isWithin(both, value))).toEqual(
        inUnion.map((one, at) => one && inOther[at]),
      )
    }
  })

  it('hold a prefix and nothing beside it, whatever its last character is', () => {
    for (let round = 0; round < 3_000; round += 1) {
      const prefix = word()
      const value = random() < 0.5 ? prefix + word() : word()
      const within = isWithin([withPrefix(prefix)], value)
      expect({ prefix, value, within }).toEqual({
        prefix,
        value,
        within: value.startsWith(prefix),
      })
    }
  })

  it('end right behind a value', () => {
    const upTo = [{ from: '', to: after('b') }]
    expect(['a', 'b', 'b\0', 'ba'].map((value) => isWithin(upTo, value))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})
