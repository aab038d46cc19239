// Imports internals: numbers of any size and length, which no API server accepts.
import { describe, expect, it } from 'vitest'
import { everything, hasValue } from '../../src/query/condition/condition.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { WorkBudget } from '../../src/query/condition/work-budget.ts'
import { type Decimal, parseQuantity, quantityText } from '../../src/kubernetes/decimal.ts'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import { listPage, type Page } from '../../src/query/page/page.ts'
import { addedSums, type ExactSum } from '../../src/query/page/sums.ts'
import type { IndexView, KubernetesObject, StoreView } from 'informerql/informer'
import { runSeed, seededRandom } from '../support/random.ts'
import { objectOf, resourceOf, storeOf, type WrittenStore } from './stores.ts'

const indexers = indexersOf([
  { name: 'team', paths: ['spec.teams[*]'], type: 'string' },
  { name: 'size', paths: ['spec.size'], type: 'quantity' },
  { name: 'count', paths: ['spec.count'], type: 'int' },
])

type IndexOf = (of: { readonly view: StoreView }) => IndexView

const random = seededRandom(runSeed)
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
const sizes =
  '0 1m 250m -1500m 1 3 64Mi 1Gi 7Ti 1Pi 5Ei 12345678901234567 1n -3u 1e-13 1e-300 99e300 4E'.split(
    ' ',
  )

function randomObject(at: number): KubernetesObject {
  const teams = ['red', 'green', 'blue', 'gold'].filter(() => random() < 0.4)
  const spec = {
    teams,
    ...(random() < 0.8 ? { size: pick(sizes) } : {}),
    ...(random() < 0.8 ? { count: Math.floor(random() * 100) - 10 } : {}),
  }
  return objectOf('Box', { name: `box-${at}`, namespace: pick(['a', 'b', 'c']) }, { spec })
}

function pageOf({ view }: WrittenStore, condition = everything): Page {
  return listPage({
    parts: [{ name: 'boxes', view, condition, scope: unrestricted }],
    budget: new WorkBudget({ examined: 1e9, tests: 1e9 }),
    identity: { list: 'boxes' },
    maxPageSize: 100,
  })
}

/** A number in units of 10^-330. */
function unitsOf({ sign, digits, exponent }: Decimal): bigint {
  if (sign === 0) return 0n
  return BigInt(sign) * BigInt(digits) * 10n ** BigInt(330 + exponent - digits.length)
}

function parsed(text: string): Decimal {
  const number = parseQuantity(text)
  if (number === undefined) throw new Error(`${text} is not a quantity`)
  return number
}

const written = ({ total, count }: ExactSum) => ({ units: unitsOf(total), count })

function expectedOf(objects: readonly KubernetesObject[], field: 'size' | 'count') {
  let units = 0n
  let count = 0
  for (const { spec } of objects as readonly { spec?: Record<string, string | number> }[]) {
    const value = spec?.[field]
    if (value === undefined) continue
    units += unitsOf(parsed(String(value)))
    count += 1
  }
  return { units, count }
}

describe(`sums of numbers, seed ${runSeed}`, () => {
  const objects = Array.from({ length: 3_000 }, (_, at) => randomObject(at))
  const store = storeOf(resourceOf('Box'), objects, indexers)

  it.each([
    ['all objects', everything, () => true],
    ['most objects', hasValue('namespace', ['a', 'b']), (of: string) => of !== 'c'],
    ['one object', hasValue('name', ['box-17']), (_: string, name: string) => name === 'box-17'],
  ] as const)('are exact over %s, in all and for each value', (_, condition, isMeant) => {
    const meant = objects.filter(({ metadata: { namespace = '', name } }) =>
      isMeant(namespace, name),
    )
    const page = pageOf(store, condition)
    expect(page.sums(({ view }) => view.index('size')).map(written)).toEqual([
      expectedOf(meant, 'size'),
    ])
    const team = ({ view }: Pick<WrittenStore, 'view'>) => {
      return { index: view.index('team'), sums: [view.index('size'), view.index('count')] }
    }
    for (const top of [1, 100]) {
      for (const { value, count, sums } of page.spread(team, top).values) {
        const ofTeam = meant.filter((one) =>
          (one as unknown as { spec: { teams: string[] } }).spec.teams.includes(value),
        )
        expect(count).toBe(ofTeam.length)
        expect(sums.map(written)).toEqual([expectedOf(ofTeam, 'size'), expectedOf(ofTeam, 'count')])
      }
    }
  })

  it('of several lists add up to those of one list with all objects', () => {
    const parts = [0, 1, 2].map((part) =>
      storeOf(
        resourceOf('Box'),
        objects.filter((_, at) => (at % 7) % 3 === part),
        indexers,
      ),
    )
    for (const by of ['team', 'namespace', 'name']) {
      for (const condition of [everything, hasValue('namespace', ['a'])]) {
        const merged = listPage({
          parts: parts.map(({ view }, at) => {
            return { name: `part-${at}`, view, condition, scope: unrestricted }
          }),
          budget: new WorkBudget({ examined: 1e9, tests: 1e9 }),
          identity: { list: 'boxes' },
          maxPageSize: 100,
        })
        const size: IndexOf = ({ view }) => view.index('size')
        const count: IndexOf = ({ view }) => view.index('count')
        const whole = pageOf(store, condition)
        const counted = ({ view }: Parameters<IndexOf>[0]) => {
          return { index: view.index(by), sums: [size({ view }), count({ view })] }
        }
        expect(merged.spread(counted, 5)).toEqual(whole.spread(counted, 5))
        expect(addedSums(merged.sums(size))).toEqual(addedSums(whole.sums(size)))
        const absent = ({ view }: Parameters<IndexOf>[0]) => {
          return { index: view.label('absent'), sums: [size({ view })] }
        }
        expect(merged.spread(absent, 5)).toEqual(whole.spread(absent, 5))
      }
    }
  })
})

it('quantities are written as the API server writes them', () => {
  const text = (of: string, isBinary: boolean): string => {
    const quantity = quantityText(parsed(of), isBinary)
    expect(unitsOf(parsed(quantity))).toBe(unitsOf(parsed(of)))
    return quantity
  }
  // By `resource.MustParse(…).String()` of apimachinery 0.36.
  expect(
    ['0', '1', '1.5', '100m', '0.1', '1000', '12e3', '1500000', '1n', '-0.25'].map((of) =>
      text(of, false),
    ),
  ).toEqual(['0', '1', '1500m', '100m', '100m', '1k', '12k', '1500k', '1n', '-250m'])
  expect(
    ['0', '512', '1000', '1024', '1Mi', '1536', '1500', '850Mi', '-3Gi', '1.5Ki', '100m'].map(
      (of) => text(of, true),
    ),
  ).toEqual(['0', '512', '1k', '1Ki', '1Mi', '1536', '1500', '850Mi', '-3Gi', '1536', '100m'])
  // What no 64 bits hold has the largest suffix.
  expect([text('2e21', false), text('2048Ei', true), text('5e-12', false)]).toEqual([
    '2000E',
    '2048Ei',
    '5e-12',
  ])
})
