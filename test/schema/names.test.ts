import { getNamedType, isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { capturedResources } from './captured-cluster.ts'
import { builtIns, schemaOf } from './served-schema.ts'

const { schema } = await schemaOf(builtIns)
const fields = Object.values(schema.getQueryType()?.getFields() ?? {})
const perKind = /(?:Connection|Edge|Where|WhereMany|WhereOne|Order|Frame|Change|Page)$/

// Names are for ever. A line that is gone or has changed breaks clients: only new lines may appear.
describe('all names of Kubernetes 1.36', () => {
  it('of kinds, those that cannot be watched included', async () => {
    const lines = fields.flatMap(({ name, description, type }) => {
      const [, plural, apiVersion] = /^Lists (\S+) of (\S+)\.$/.exec(description ?? '') ?? []
      const kind = getNamedType(type).name.replace(/Connection$/, '')
      const one = fields.find((field) => getNamedType(field.type).name === kind)
      return plural === undefined ? [] : [`${apiVersion} ${plural}: ${kind} ${name} ${one?.name}`]
    })
    await expect(lines.toSorted().join('\n')).toMatchFileSnapshot('__snapshots__/kinds.txt')
  })

  it('of types', async () => {
    const names = Object.keys(schema.getTypeMap()).filter(
      (name) => !name.startsWith('__') && !perKind.test(name),
    )
    await expect(names.toSorted().join('\n')).toMatchFileSnapshot('__snapshots__/types.txt')
  })

  it('of root fields', async () => {
    const names = fields.map(({ name }) => name)
    await expect(names.toSorted().join('\n')).toMatchFileSnapshot('__snapshots__/root-fields.txt')
  })
})

describe('names of types', () => {
  it.each(['EndpointSlice', 'FlowSchema', 'APIService', 'Pod'])(
    'are the same whatever else is served: %s alone',
    async (kind) => {
      const resources = capturedResources.filter((one) => one.kind === kind)
      const alone = (await schemaOf({ ...builtIns, resources })).schema
      const others = Object.keys(alone.getTypeMap()).filter((name) => !schema.getType(name))
      expect(others).toEqual([])
    },
  )

  it('of a version that is not the highest carry it', async () => {
    const resources = capturedResources.filter((one) => one.kind === 'HorizontalPodAutoscaler')
    const preferred = resources.toSorted((a, b) => (a.version < b.version ? -1 : 1))
    const old = (await schemaOf({ ...builtIns, resources: preferred })).schema
    const type = old.getType('HorizontalPodAutoscaler')
    expect(isObjectType(type) && String(type.getFields()['spec']?.type)).toBe(
      'HorizontalPodAutoscalerSpecV1',
    )
  })
})
