// Imports internals: keys of indexes are told to nobody outside; their order is an invariant.
import { describe, expect, it } from 'vitest'
import { rawJson } from '../../src/lib/json.ts'
import {
  builtInDefinitions,
  IndexDefinitionError,
  indexersOf,
  indexFunctionOf,
} from '../../src/query/index/index-definition.ts'
import { indexKeyOf, type IndexType, valueOfIndexKey } from '../../src/query/index/index-key.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { byCodeUnits, objectOf } from './stores.ts'

/** Each row in ascending order; values within brackets are equal. */
const ascending: Record<Exclude<IndexType, 'string'>, readonly (readonly unknown[])[]> = {
  int: [
    [rawJson('-9223372036854775808'), '-9223372036854775808'],
    [-12],
    [-10, '-10'],
    [-9],
    [-1],
    [0, -0, '0', '-0', 0n],
    [1, '1', '+1', '001'],
    [9],
    [10],
    [11],
    [100],
    [9_007_199_254_740_992],
    [rawJson('9007199254740993'), 9_007_199_254_740_993n],
    [rawJson('9223372036854775807')],
  ],
  quantity: [
    ['-1Gi'],
    ['-1.25'],
    ['-1.2', '-1200m'],
    ['-1'],
    [0, '0', '0Ki', '-0'],
    ['1n'],
    ['1u'],
    ['1m', '0.001', '.001'],
    ['0.5', '500m', '5e-1', 0.5],
    ['1', 1, '1.', '1000m', '1.0'],
    ['1k', '1000', '1e3', '1E3', 1000],
    ['1Ki', '1024'],
    ['1.5Ki', '1536'],
    ['1M'],
    ['1Mi', '1024Ki', '1048576'],
    ['1Gi'],
    ['2Gi', '2048Mi'],
    ['1T'],
    ['1Ti'],
    ['1P'],
    ['1Pi'],
    ['1E', '1e18'],
    ['1Ei'],
    ['1E19'],
  ],
  boolean: [[false], [true]],
  healthStatus: [
    ['DEGRADED'],
    ['UNKNOWN'],
    ['PROGRESSING'],
    ['TERMINATING'],
    ['SUSPENDED'],
    ['HEALTHY'],
  ],
  dateTime: [
    ['0000-01-01T00:00:00Z'],
    ['2026-01-31T23:59:59Z'],
    ['2026-01-31T23:59:59.000001Z', '2026-01-31T23:59:59.000001000Z'],
    ['2026-01-31T23:59:59.5Z', '2026-01-31T23:59:59.500000Z', '2026-02-01T00:59:59.5+01:00'],
    ['2026-02-01T00:00:00Z', '2026-01-31T19:00:00-05:00', new Date(Date.UTC(2026, 1, 1))],
    ['2028-02-29T00:00:00Z'],
    ['9999-12-31T23:59:59.999999999Z'],
  ],
}

describe('index keys', () => {
  it.each(Object.entries(ascending) as [IndexType, unknown[][]][])(
    'order and equate as the values of type %s do',
    (type, rows) => {
      const keys = rows.map((row, at) => {
        const [first = `no key in row ${at}`, ...others] = row.map((value) =>
          indexKeyOf(type, value),
        )
        expect(first).not.toContain('no key')
        for (const other of others) expect(other).toBe(first)
        return first
      })
      expect(new Set(keys).size).toBe(keys.length)
      expect(keys.toSorted(byCodeUnits)).toEqual(keys)
    },
  )

  it(`order as random numbers do, seed ${runSeed}`, () => {
    const random = seededRandom(runSeed)
    const numbers = Array.from({ length: 2000 }, () => {
      const scale = 10 ** Math.floor(random() * 12)
      return Math.round((random() - 0.5) * scale)
    })
    const sorted = numbers.toSorted((a, b) => a - b)
    const byKey = numbers.map((number) => indexKeyOf('int', number) ?? '').toSorted()
    expect(byKey.map((key) => valueOfIndexKey('int', key))).toEqual(sorted.map((one) => one + 0))
    const milli = numbers.map((number) => indexKeyOf('quantity', `${number}m`) ?? '').toSorted()
    expect(milli.map((key) => Number(valueOfIndexKey('quantity', key)))).toEqual(
      sorted.map((one) => one / 1000 + 0),
    )
  })

  it.each([
    ['int', 1.5],
    ['int', '1.5'],
    ['int', 'many'],
    ['int', true],
    ['quantity', '1.5.5'],
    ['quantity', '1 Gi'],
    ['quantity', '1ki'],
    ['quantity', '1K'],
    ['quantity', ''],
    ['quantity', '.'],
    ['quantity', '9'.repeat(65)],
    ['quantity', '1e9999'],
    ['boolean', 'true'],
    ['boolean', 1],
    ['dateTime', '2026-02-29T00:00:00Z'],
    ['dateTime', '2026-13-01T00:00:00Z'],
    ['dateTime', '2026-01-01T24:00:00Z'],
    ['dateTime', '2026-01-01'],
    ['dateTime', '2026-01-01T00:00:00'],
    ['dateTime', '0000-01-01T00:00:00+01:00'],
    ['dateTime', new Date(Number.NaN)],
    ['dateTime', 0],
    ['string', { a: 1 }],
  ] as [IndexType, unknown][])('type %s has no key for %j', (type, value) => {
    expect(indexKeyOf(type, value)).toBeUndefined()
  })

  it.each([
    ['int', 42, 42],
    ['int', rawJson('9223372036854775807'), '9223372036854775807'],
    ['int', -7, -7],
    ['quantity', '1.5Gi', '1610612736'],
    ['quantity', '-250m', '-0.25'],
    ['quantity', '10u', '0.00001'],
    ['boolean', true, true],
    ['dateTime', '2026-02-01T01:00:00.50+01:00', '2026-02-01T00:00:00.5Z'],
    ['string', 8080, '8080'],
  ] as [IndexType, unknown, unknown][])(
    'type %s: %j is read back as %j',
    (type, value, expected) => {
      expect(valueOfIndexKey(type, indexKeyOf(type, value) ?? '')).toBe(expected)
    },
  )
})

describe('index definitions', () => {
  it('leave out values of another type', () => {
    const valuesIn = indexFunctionOf({ name: 'x', paths: ['a[*]'], type: 'int' })
    expect(valuesIn(objectOf('Pod', { name: 'p' }, { a: [1, 'two', null, 3] }))).toHaveLength(2)
    expect(valuesIn(objectOf('Pod', { name: 'p' }))).toEqual([])
  })

  it('take the values of several paths together', () => {
    const valuesIn = indexFunctionOf({ name: 'x', paths: ['a[*]', 'b'], type: 'string' })
    expect(valuesIn(objectOf('Pod', { name: 'p' }, { a: ['one', 'two'], b: 'three' }))).toEqual([
      'one',
      'two',
      'three',
    ])
  })

  it.each<[IndexType, readonly unknown[], string | number]>([
    ['int', [], 0],
    ['int', [5], 5],
    ['int', [1, 2, 0, 3, 'x'], 6],
    ['int', [1, -3], -2],
    ['int', [7, -7], 0],
    ['int', ['9007199254740993', 1], '9007199254740994'],
    ['quantity', ['500m', '1.5', '1Ki'], '1026'],
    ['quantity', ['100n', '1'], '1.0000001'],
  ])('of %s with a sum: %j is %s', (type, values, sum) => {
    const valuesIn = indexFunctionOf({ name: 'x', paths: ['a[*]', 'b[*]'], type, reduce: 'sum' })
    const [first, ...rest] = values
    const object = objectOf(
      'Pod',
      { name: 'p' },
      { a: rest, b: values.length === 0 ? [] : [first] },
    )
    expect(valuesIn(object).map((key) => valueOfIndexKey(type, key))).toEqual([sum])
  })

  it('ask nothing of a store for the indexes that it has anyway', () => {
    expect(Object.keys(indexersOf(builtInDefinitions))).toEqual(['creationTimestamp'])
  })

  it.each(['and', 'uid', 'ownerUid', 'name', 'a-b', '1a'])('refuse the name %s', (name) => {
    const definition = { name, paths: ['x'], type: 'string' } as const
    expect(() => indexersOf([definition])).toThrow(IndexDefinitionError)
  })

  it('refuse one name twice', () => {
    const definition = { name: 'x', paths: ['x'], type: 'string' } as const
    expect(() => indexersOf([definition, definition])).toThrow('declared twice')
  })
})
