// Imports internals: counts what is read, which no answer shows.
import { afterEach, expect, it, vi } from 'vitest'
import { atOnce } from '../../src/lib/event-loop.ts'
import { fieldChanges } from '../../src/kubernetes/field-changes.ts'

afterEach(() => void vi.restoreAllMocks())

const count = 2_000
const ports = Array.from({ length: count }, (_, at) => ({ containerPort: at + 1, protocol: 'TCP' }))
const object = (spec: object): object => ({ apiVersion: 'v1', kind: 'Pod', spec })
const before = (spec: object, fields: object): object => ({
  ...object(spec),
  metadata: { managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:spec': fields } }] },
})

it('the managers of the items of a list are found by one look at each', () => {
  const fields = Object.fromEntries(
    ports.map((port) => [`k:${JSON.stringify(port)}`, { 'f:containerPort': {}, 'f:protocol': {} }]),
  )
  // An older object lacks the default of a key.
  const [{ containerPort }, ...others] = ports as [(typeof ports)[0], ...typeof ports]
  const then = before({ ports: [{ containerPort }, ...others] }, { 'f:ports': fields })
  const now = object({ ports: ports.map((port) => ({ ...port, protocol: 'UDP' })) })
  const parse = vi.spyOn(JSON, 'parse')
  const changes = atOnce(fieldChanges(then, now, { masked: false }))
  expect(parse.mock.calls.length).toBeLessThanOrEqual(count)
  const managed = changes.filter(
    ({ path, manager }) => path.startsWith('/spec') && manager !== null,
  )
  expect(managed.map(({ manager }) => manager)).toEqual(managed.map(() => 'kubectl'))
  expect(managed).toHaveLength(1_000)
})

it('those of plain values, too', () => {
  const values = Array.from({ length: count }, (_, at) => `f${at}`)
  const fields = Object.fromEntries(values.map((value) => [`v:${JSON.stringify(value)}`, {}]))
  const then = before({ finalizers: values }, { 'f:finalizers': fields })
  const parse = vi.spyOn(JSON, 'parse')
  const now = object({ finalizers: values.map((value) => `${value}-new`) })
  const changes = atOnce(fieldChanges(then, now, { masked: false }))
  expect(parse.mock.calls.length).toBeLessThanOrEqual(count)
  expect(changes).toContainEqual({
    path: '/spec/finalizers/0',
    before: 'f0',
    after: 'f0-new',
    manager: 'kubectl',
    masked: false,
  })
})

it('those of the fields of an object are found by one look at each manager, however many fields there are', () => {
  const [fields, managers] = [3_000, 1_000]
  let reads = 0
  const counted = <T>(value: T): T => {
    reads += 1
    return value
  }
  const seen = (target: object): object =>
    new Proxy(target, {
      get: (of, name) => counted(Reflect.get(of, name)),
      ownKeys: (of) => counted(Reflect.ownKeys(of)),
    })
  const managedFields = Array.from({ length: managers }, (_, at) => ({
    manager: `m${at}`,
    fieldsV1: { 'f:data': seen({ [`f:k${at}`]: {}, 'f:shared': {} }) },
  }))
  const data = (value: string): object => ({
    ...Object.fromEntries(Array.from({ length: fields }, (_, at) => [`k${at}`, 'same'])),
    k7: value,
    shared: value,
  })
  const then = { metadata: { managedFields }, data: data('old') }
  const changes = atOnce(fieldChanges(then, { data: data('new') }, { masked: false }))
  expect(changes.filter(({ path }) => path.startsWith('/data'))).toMatchObject([
    { path: '/data/k7', before: 'old', after: 'new', manager: 'm7' },
    { path: '/data/shared', before: 'old', after: 'new', manager: `m${managers - 1}` },
  ])
  expect(reads).toBeLessThan(10 * managers)
})

it('objects that are nested without an end are compared, and parts that are too deep as a whole', () => {
  const deep = (value: string): object => {
    let inner: object = { value }
    for (let depth = 0; depth < 3_000; depth += 1) inner = { inner, other: 'same' }
    return { spec: inner }
  }
  const [change, ...others] = atOnce(fieldChanges(deep('old'), deep('new'), { masked: false }))
  expect(others).toEqual([])
  expect(change?.path).toMatch(/^(?:\/spec)(?:\/inner){63}$/)
})
