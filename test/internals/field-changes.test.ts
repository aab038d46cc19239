// Imports internals: counts what is read, which no answer shows.
import { afterEach, expect, it, vi } from 'vitest'
import { fieldChanges } from '../../src/graphql/writes/field-changes.ts'

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
  const changes = fieldChanges(then, now, { masked: false })
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
  const changes = fieldChanges(then, now, { masked: false })
  expect(parse.mock.calls.length).toBeLessThanOrEqual(count)
  expect(changes).toContainEqual({
    path: '/spec/finalizers/0',
    before: 'f0',
    after: 'f0-new',
    manager: 'kubectl',
    masked: false,
  })
})
