import { readdir, readFile } from 'node:fs/promises'
import { Kind, parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clusterFieldCases } from './fields/cluster-field-cases.ts'
import { deliveryFieldCases } from './fields/delivery-field-cases.ts'
import { FieldAnswers, type Leads } from './fields/field-answers.ts'
import { networkFieldCases } from './fields/network-field-cases.ts'
import { operatorFieldCases } from './fields/operator-field-cases.ts'
import { workloadFieldCases } from './fields/workload-field-cases.ts'

const cases = [
  ...workloadFieldCases,
  ...networkFieldCases,
  ...clusterFieldCases,
  ...operatorFieldCases,
  ...deliveryFieldCases,
]

/** Every field of the SDL, as in `Pod.node`, and whether it leads to one object only. */
const directory = new URL('../../schema/', import.meta.url)
const fields: { readonly field: string; readonly isOne: boolean }[] = []
for (const file of await readdir(directory)) {
  if (!file.endsWith('.graphql') || file === 'directives.graphql') continue
  for (const definition of parse(await readFile(new URL(file, directory), 'utf8')).definitions) {
    if (!('fields' in definition)) continue
    for (const { name, type } of definition.fields ?? []) {
      const isOne = type.kind === Kind.NAMED_TYPE && !type.name.value.endsWith('Connection')
      fields.push({ field: `${definition.name.value}.${name.value}`, isOne })
    }
  }
}

describe('every relation of the SDL leads to whom it should, and to nobody else', () => {
  let answers: FieldAnswers
  let found: Leads
  beforeAll(async () => {
    answers = await FieldAnswers.of(cases)
    found = await answers.ask()
  }, 120_000)
  afterAll(async () => answers?.[Symbol.asyncDispose]())

  it.each(fields)('$field', ({ field, isOne }) => {
    const keys = [...answers.expected.keys()].filter((key) => key.startsWith(`${field} `))
    const expected = keys.flatMap((key) => [...(answers.expected.get(key) ?? [])])
    // The first by namespace and name, of several.
    const meant = expected.map(([uid, to]) => [uid, isOne ? to.slice(0, 1) : to] as const)
    const led = keys.flatMap((key) => [...(found.get(key) ?? [])])
    expect(Object.fromEntries(led)).toMatchObject(Object.fromEntries(meant))
    expect(
      meant.some(([, to]) => to.length > 0),
      'a positive case',
    ).toBe(true)
    expect(
      meant.some(([, to]) => to.length === 0),
      'a negative case',
    ).toBe(true)
  })

  it('no case is about a field that is not there', () => {
    const known = new Set(fields.map(({ field }) => field))
    const asked = [...answers.expected.keys()].map((key) => key.split(' ')[0] ?? '')
    expect(asked.filter((field) => !known.has(field))).toEqual([])
  })
})
