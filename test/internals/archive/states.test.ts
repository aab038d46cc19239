// Imports internals: what is kept of an object is written by a worker that no request reaches.
import { expect, it } from 'vitest'
import type { ArchivedKind } from '../../../src/archive/archive-calls.ts'
import { parsed, undone, undoOf } from '../../../src/archive/store/differences.ts'
import {
  fieldsIn,
  keptChange,
  keptState,
  readableText,
  stateBefore,
} from '../../../src/archive/store/kept-state.ts'
import { isJsonObject } from '../../../src/lib/json.ts'
import { columnOf, isWithin, marksOf, pathsIn, stepsOf } from '../../../src/archive/store/paths.ts'

const kindOf = (over: Partial<ArchivedKind> = {}): ArchivedKind => ({
  cluster: 'c',
  group: '',
  resource: 'configmaps',
  version: 'v1',
  kind: 'ConfigMap',
  namespaced: true,
  form: '',
  keysOnly: false,
  masked: [],
  ...over,
})

const text = (object: object, metadata: object = {}): string =>
  JSON.stringify({
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', ...metadata },
    ...object,
  })

function changeBetween(kind: ArchivedKind, before: string, after: string) {
  const [from, to] = [keptState(kind, before), keptState(kind, after)]
  const change = keptChange(kind, from.text, to)
  const back = change === undefined ? from.text : stateBefore(to.text, change.detail)
  expect(JSON.parse(back?.split('\n')[0] ?? '')).toEqual(JSON.parse(from.text.split('\n')[0] ?? ''))
  return change && { ...change, fields: fieldsIn(kind, change.detail) }
}

function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return (state >>> 8) % below
  }
}

function valueOf(random: (below: number) => number, depth: number): unknown {
  const form = random(depth > 3 ? 6 : 9)
  if (form < 2) return random(4)
  if (form === 2) return null
  if (form === 3) return `t${random(4)}`
  if (form === 4) return random(2) === 0
  if (form === 5) return parsed('12345678901234567890')
  if (form === 6) return Array.from({ length: random(5) }, () => valueOf(random, depth + 1))
  if (form === 7) {
    const names = ['a', 'b', 'c', 'd'].slice(0, random(5)).toSorted(() => random(3) - 1)
    return names.map((name) => ({ name, of: valueOf(random, depth + 1) }))
  }
  const names = ['a', 'b/c', '~', '__proto__', 'toString', '', '%_'].filter(() => random(2) === 0)
  return Object.fromEntries(names.map((name) => [name, valueOf(random, depth + 1)]))
}

it('the undo of a change makes the state before from the state after, whatever they hold', () => {
  for (let seed = 0; seed < 3_000; seed += 1) {
    const random = randomOf(seed)
    const [before, after] = [valueOf(random, 0), valueOf(random, 0)]
    const undo = JSON.stringify(undoOf(after, before) ?? null)
    const back = undo === 'null' ? after : undone(after, parsed(undo) as never)
    const sorted = (value: unknown): string =>
      JSON.stringify(value, (_, one: unknown) =>
        isJsonObject(one)
          ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
          : one,
      )
    expect(sorted(back)).toBe(sorted(before))
  }
})

it('moving an item of a list costs its place, not its text', () => {
  const items = Array.from({ length: 100 }, (_, at) => ({
    name: `item-${at}`,
    text: 'x'.repeat(100),
  }))
  const moved = [...items.slice(50), ...items.slice(0, 50)]
  expect(undoOf(moved, items)).toEqual({
    items: [
      [50, 50],
      [0, 50],
    ],
  })
})

it('a list in another order is a change of the list', () => {
  const [one, other] = [{ name: 'a' }, { name: 'b' }]
  const change = changeBetween(
    kindOf(),
    text({ items: [one, other] }),
    text({ items: [other, one] }),
  )
  expect(change?.fields.map(({ path }) => path)).toEqual(['/items'])
})

it('long integers keep their digits', () => {
  const kind = kindOf()
  const [before, after] = ['9007199254740993', '9007199254740995'].map((digits) =>
    text({ big: 0 }).replace('"big":0', `"big":${digits}`),
  ) as [string, string]
  const [from, to] = [keptState(kind, before), keptState(kind, after)]
  const change = keptChange(kind, from.text, to)
  expect(stateBefore(to.text, change?.detail ?? '')).toContain('"big":9007199254740993')
  expect(JSON.stringify(fieldsIn(kind, change?.detail ?? ''))).toContain('9007199254740995')
})

it('what only ticks is no change, and is not shown beside one', () => {
  const kind = kindOf({ resource: 'nodes', kind: 'Node' })
  const node = (beat: number, status: string): string =>
    text(
      { status: { conditions: [{ type: 'Ready', status, lastHeartbeatTime: `${beat}` }] } },
      { resourceVersion: `${beat}` },
    )
  expect(changeBetween(kind, node(1, 'True'), node(2, 'True'))).toBeUndefined()
  expect(changeBetween(kind, node(1, 'True'), node(2, 'False'))?.fields).toEqual([
    { path: '/status/conditions/0/status', before: 'True', after: 'False', masked: false },
  ])
})

it('of a Secret the changed keys are told, and never a value', () => {
  const kind = kindOf({ resource: 'secrets', kind: 'Secret', keysOnly: true })
  const coded = (value: string): string => Buffer.from(value).toString('base64')
  const secret = (data: Record<string, string>, version: string): string =>
    text(
      { data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, coded(value)])) },
      {
        resourceVersion: version,
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(data),
          copy: `it is ${data['password']}`,
          plain: 'kept',
        },
      },
    )
  const before = secret({ password: 'hunter2-hunter2', user: 'root' }, '1')
  const after = secret({ password: 'correct-horse', user: 'root', added: 'more-secret' }, '2')
  const change = changeBetween(kind, before, after)
  const hidden = { before: null, after: null, masked: true }
  expect(change?.fields).toEqual([
    { path: '/data/added', ...hidden },
    { path: '/data/password', ...hidden },
    { path: '/metadata/annotations/copy', ...hidden },
  ])
  const [from, to] = [keptState(kind, before), keptState(kind, after)]
  const kept = [from.text, to.text, from.labels, change?.detail].join('')
  for (const value of ['hunter2-hunter2', 'root', 'correct-horse', 'more-secret']) {
    expect(kept).not.toContain(value)
    expect(kept).not.toContain(coded(value))
  }
  expect(JSON.parse(readableText(to.text))).toMatchObject({
    data: { password: null, user: null, added: null },
    metadata: { annotations: { copy: null, plain: 'kept' } },
  })
  expect(
    changeBetween(kind, before, secret({ password: 'hunter2-hunter2', user: 'root' }, '3')),
  ).toBeUndefined()
})

it('a Secret of which only the metadata came has the keys that its managers own', () => {
  const kind = kindOf({ resource: 'secrets', kind: 'Secret', keysOnly: true })
  const secret = (version: string, labels: object = {}): string =>
    text(
      {},
      {
        resourceVersion: version,
        labels,
        managedFields: [{ manager: 'm', fieldsV1: { 'f:data': { '.': {}, 'f:password': {} } } }],
      },
    )
  expect(JSON.parse(readableText(keptState(kind, secret('1')).text))).toMatchObject({
    data: { password: null },
  })
  const change = changeBetween(kind, secret('1'), secret('2'))
  expect(change?.fields).toEqual([{ path: '/data', before: null, after: null, masked: true }])
  expect(changeBetween(kind, secret('2'), secret('2'))).toBeUndefined()
  const labelled = changeBetween(kind, secret('2'), secret('3', { a: 'b' }))
  expect(labelled?.fields.map(({ path }) => path)).toEqual(['/metadata/labels/a'])
})

it('a state that comes without managers keeps what is known of them, and of the keys of a Secret', () => {
  const kind = kindOf({ resource: 'secrets', kind: 'Secret', keysOnly: true })
  const managedFields = [entry('m', 1, { 'f:data': { 'f:password': {} } })]
  const [bare, told] = [text({}), text({}, { managedFields })]
  const known = keptState(kind, told)
  expect(keptState(kind, bare, known.text).text).toBe(known.text)
  const other = keptState(kind, text({}, { resourceVersion: '2' }), known.text)
  expect(JSON.parse(readableText(other.text))).toMatchObject({ data: { password: null } })
  const hidden = { before: null, after: null, masked: true }
  const fieldsOf = (before: string, after: string) => changeBetween(kind, before, after)?.fields
  expect(fieldsOf(bare, told)).toBeUndefined()
  const later = text({}, { managedFields, resourceVersion: '2' })
  expect(fieldsOf(bare, later)).toEqual([{ path: '/data', ...hidden }])
  expect(fieldsOf(bare, text({}, { resourceVersion: '2' }))).toEqual([{ path: '/data', ...hidden }])
})

it('what looks like a mark within a text stays a text', () => {
  const hostile = ',"\u0000m0.a",'
  const kept = keptState(kindOf(), text({ data: { [hostile]: hostile } }))
  expect(JSON.parse(readableText(kept.text))).toMatchObject({ data: { [hostile]: hostile } })
})

it('values that the operator masks are not kept, and neither are copies of the object', () => {
  const kind = kindOf({ masked: ['/spec/containers/*/env'] })
  const pod = (value: string): string =>
    text(
      { spec: { containers: [{ name: 'main', env: [{ name: 'A', value }] }] } },
      { annotations: { 'kapp.k14s.io/original': value } },
    )
  const change = changeBetween(kind, pod('one-value'), pod('other-value'))
  expect(change?.fields.map(({ path, masked }) => [path, masked])).toEqual([
    ['/metadata/annotations/kapp.k14s.io~1original', true],
    ['/spec/containers/0/env', true],
  ])
  expect(`${keptState(kind, pod('one-value')).text}${change?.detail}`).not.toContain('-value')
})

const entry = (manager: string, seconds: number, fields: object): object => ({
  manager,
  operation: 'Update',
  time: `2026-01-01T00:00:0${seconds}Z`,
  fieldsV1: fields,
})

it('the manager of a change is the one who owns the changed fields, not the one who wrote last', () => {
  const of = (replicas: number, phase: string, managedFields: readonly object[]): string =>
    text({ spec: { replicas }, status: { phase } }, { managedFields })
  const spec = { 'f:spec': { 'f:replicas': {} } }
  const status = { 'f:status': { 'f:phase': {} } }
  const before = of(1, 'a', [entry('kubectl', 1, spec), entry('controller', 2, status)])
  const scaled = of(2, 'a', [entry('kubectl', 3, spec), entry('controller', 2, status)])
  expect(changeBetween(kindOf(), before, scaled)?.manager).toBe('kubectl')
  const told = of(1, 'b', [entry('kubectl', 1, spec), entry('controller', 4, status)])
  expect(changeBetween(kindOf(), before, told)?.manager).toBe('controller')
})

it('a removal is by the manager whose entry changed, or went', () => {
  const of = (labels: object, managedFields: readonly object[]): string =>
    text({}, { labels, managedFields })
  const label = { 'f:metadata': { 'f:labels': { 'f:a': {} } } }
  const other = entry('other', 5, { 'f:spec': {} })
  const before = of({ a: '1' }, [other, entry('kubectl-label', 1, label)])
  expect(changeBetween(kindOf(), before, of({}, [other]))?.manager).toBe('kubectl-label')
  const shrunk = { 'f:metadata': { 'f:labels': {} } }
  const after = of({}, [other, entry('kubectl-label', 1, shrunk)])
  expect(changeBetween(kindOf(), before, after)?.manager).toBe('kubectl-label')
})

it('an object of 10,000 changed fields counts them all and shows the first 200', () => {
  const data = (value: string): object => ({
    data: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, value])),
  })
  const change = changeBetween(kindOf(), text(data('one')), text(data('two')))
  expect(change).toMatchObject({ fieldCount: 10_000, paths: '*' })
  expect(change?.fields).toHaveLength(200)
})

it('a value too deep to be written is cut, and the rest of the object is kept', () => {
  const deep = (levels: number): string =>
    text({ spec: 0, kept: 1 }).replace(
      '"spec":0',
      `"spec":${'['.repeat(levels)}${']'.repeat(levels)}`,
    )
  for (const levels of [400, 2_000, 9_000]) {
    const kept = keptState(kindOf(), deep(levels))
    expect(JSON.parse(readableText(kept.text))).toMatchObject({ kept: 1 })
    expect(
      keptChange(
        kindOf(),
        kept.text,
        keptState(kindOf(), deep(levels).replace('"kept":1', '"kept":2')),
      )?.fieldCount,
    ).toBe(1)
  }
})

it('paths are found in their column, whatever they are made of', () => {
  const paths = ['/data/a\nb', '/data/100%_\u0000', '/spec/a~1b', '/spec/containers/3/image', '']
  const column = columnOf(paths)
  expect(column).not.toContain('\u0000')
  expect(pathsIn(column)).toEqual(paths)
  for (const path of [...paths, '/data', '/spec/containers/*/image', '/spec/*']) {
    expect(marksOf(path).some((mark) => column.includes(mark))).toBe(true)
    expect(paths.some((one) => isWithin(one, [stepsOf(path)]))).toBe(true)
  }
  expect(marksOf('/spec/a').some((mark) => column.includes(mark))).toBe(false)
})
