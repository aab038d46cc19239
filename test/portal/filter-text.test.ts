import { describe, expect, test } from 'vitest'
import {
  type FilterIndex,
  quoted,
  readFilter,
  textOf,
  tokensOf,
} from '../../packages/portal/src/kinds/filter-text.ts'

const indexes: readonly FilterIndex[] = [
  { name: 'name', form: 'STRING' },
  { name: 'namespace', form: 'STRING' },
  { name: 'creationTimestamp', form: 'DATE_TIME' },
  {
    name: 'health',
    form: 'HEALTH_STATUS',
    values: ['DEGRADED', 'UNKNOWN', 'PROGRESSING', 'TERMINATING', 'SUSPENDED', 'HEALTHY'],
  },
  { name: 'phase', form: 'STRING', values: ['Failed', 'Pending', 'Running'] },
  { name: 'nodeName', form: 'STRING' },
  { name: 'image', form: 'STRING' },
  { name: 'restarts', form: 'INT' },
  { name: 'suspend', form: 'BOOLEAN' },
  { name: 'capacity', form: 'QUANTITY' },
]
const now = Date.parse('2026-05-01T12:00:00Z')

function reading(text: string) {
  return readFilter(tokensOf(text), indexes, now)
}

describe('a filter text becomes a where', () => {
  test.each([
    ['phase:Running', { phase: { eq: 'Running' } }],
    ['phase:running', { phase: { eq: 'Running' } }],
    ['PHASE:Running', { phase: { eq: 'Running' } }],
    ['phase:Running,pending', { phase: { in: ['Running', 'Pending'] } }],
    ['-phase:Running', { phase: { not: { eq: 'Running' } } }],
    ['health:degraded', { health: { eq: 'DEGRADED' } }],
    ['nodeName:node-1', { nodeName: { eq: 'node-1' } }],
    ['nodeName:node-*', { nodeName: { startsWith: 'node-' } }],
    ['nodeName:*-1', { nodeName: { endsWith: '-1' } }],
    ['nodeName:*de-*', { nodeName: { contains: 'de-' } }],
    ['nodeName:*', { nodeName: { exists: true } }],
    ['-nodeName:*', { nodeName: { exists: false } }],
    ['nodeName:a*,b', { or: [{ nodeName: { startsWith: 'a' } }, { nodeName: { eq: 'b' } }] }],
    [
      '-nodeName:a*,b',
      { not: { or: [{ nodeName: { startsWith: 'a' } }, { nodeName: { eq: 'b' } }] } },
    ],
    ['image:shop/web:1.2', { image: { eq: 'shop/web:1.2' } }],
    ['image:"a, b*"', { image: { eq: 'a, b*' } }],
    ['web', { name: { contains: 'web' } }],
    ['web*', { name: { startsWith: 'web' } }],
    ['"web"', { name: { eq: 'web' } }],
    ['-web', { name: { not: { contains: 'web' } } }],
    ['restarts:3', { restarts: { eq: 3 } }],
    ['restarts:>3', { restarts: { gt: 3 } }],
    ['restarts:<=3', { restarts: { lte: 3 } }],
    ['suspend:True', { suspend: { eq: true } }],
    ['capacity:>=10Gi', { capacity: { gte: '10Gi' } }],
    ['age:<1h', { creationTimestamp: { gt: '2026-05-01T11:00:00.000Z' } }],
    ['age:>1d12h', { creationTimestamp: { lt: '2026-04-30T00:00:00.000Z' } }],
    ['creationTimestamp:>2026-04-30', { creationTimestamp: { gt: '2026-04-30T00:00:00.000Z' } }],
    ['label:app=web', { labels: [{ key: 'app', eq: 'web' }] }],
    ['label:app!=web', { labels: [{ key: 'app', not: { eq: 'web' } }] }],
    ['-label:app!=web', { labels: [{ key: 'app', eq: 'web' }] }],
    ['label:app=web,api', { labels: [{ key: 'app', in: ['web', 'api'] }] }],
    ['label:app', { labels: [{ key: 'app', exists: true }] }],
    ['-label:app', { labels: [{ key: 'app', exists: false }] }],
    [
      'label:app.kubernetes.io/name=web*',
      { labels: [{ key: 'app.kubernetes.io/name', startsWith: 'web' }] },
    ],
    ['phase:Running web', { and: [{ phase: { eq: 'Running' } }, { name: { contains: 'web' } }] }],
    ['', undefined],
    ['phase:', undefined],
  ])('%s', (text, where) => {
    const read = reading(text)
    expect(read.where).toEqual(where)
    expect(read.problems.filter((problem) => problem !== undefined)).toEqual([])
  })
})

describe('what a token cannot mean is said, and the others still hold', () => {
  test.each([
    ['phse:Running', 'This kind has no index "phse". Did you mean phase?'],
    ['color:red', 'This kind has no index "color".'],
    ['phase:Done', '"Done" is no value of phase: it is one of Failed, Pending, Running.'],
    ['restarts:many', '"many": restarts is a whole number, such as 3 or >3.'],
    ['suspend:yes', '"yes": suspend is true or false.'],
    ['nodeName:a*b', 'In "a*b", * may stand at the beginning and at the end only.'],
    ['capacity:big', '"big": capacity is a quantity, such as 500m or >2Gi.'],
    ['label:=web', '"=web" names no label: write label:app=web.'],
  ])('%s', (text, problem) => {
    const read = reading(`${text} phase:Pending`)
    expect(read.problems).toEqual([problem, undefined])
    expect(read.where).toEqual({ phase: { eq: 'Pending' } })
  })
})

test('the text of tokens reads as the same tokens', () => {
  const text = '-phase:Running,Pending image:"a b" label:app=web web* "x y"'
  expect(textOf(tokensOf(text))).toBe(text)
  expect(textOf(tokensOf('  a   b:c '))).toBe('a b:c')
})

test('a quoted value means only itself', () => {
  for (const value of ['a b', 'a,b', 'a*', '-a', '>5', 'say "so"', String.raw`back\slash`, '']) {
    expect(reading(`image:${quoted(value)}`).where).toEqual({ image: { eq: value } })
  }
  expect(quoted('node-1')).toBe('node-1')
  expect(quoted('shop/web:1.2')).toBe('shop/web:1.2')
})
