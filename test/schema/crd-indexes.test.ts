import { isInputObjectType, isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { capturedResources, resourceOf, type OpenApiSchema } from './captured-cluster.ts'
import { builtIns, schemaOf, type ServedSchema } from './served-schema.ts'

const text: OpenApiSchema = { type: 'string' }
const group = 'stable.example.com'
const definitions = capturedResources.filter(({ kind }) => kind === 'CustomResourceDefinition')

const widget: OpenApiSchema = {
  type: 'object',
  'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind: 'Widget' }],
  properties: {
    spec: {
      type: 'object',
      properties: {
        colour: text,
        size: { type: 'integer' },
        weight: { type: 'number' },
        memory: { 'x-kubernetes-int-or-string': true, pattern: '^(\\+|-)?(([0-9]+' },
        parts: { type: 'array', items: { type: 'object', properties: { name: text } } },
        since: { type: 'string', format: 'date-time' },
        old: { type: 'string', description: 'Old was used once.\n\nDeprecated: use colour.' },
        older: { type: 'string', deprecated: true },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: {
      type: 'object',
      properties: {
        conditions: {
          type: 'array',
          items: { type: 'object', properties: { type: text, status: text } },
        },
      },
    },
  },
}

interface Version {
  readonly additionalPrinterColumns?: unknown
  readonly selectableFields?: unknown
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
}

const build = async (version: Version, sdl?: string): Promise<ServedSchema> =>
  schemaOf(
    {
      resources: [...definitions, resourceOf(group, 'Widget')],
      openapi: {
        ...builtIns.openapi,
        'apis/stable.example.com/v1': {
          components: { schemas: { 'com.example.stable.v1.Widget': widget } },
        },
      },
      crds: [
        { spec: { group, names: { kind: 'Widget' }, versions: [{ name: 'v1', ...version }] } },
      ],
    },
    sdl === undefined ? {} : { sdl },
  )

/** The fields of `where` that not every kind has, with the types of their filters. */
const indexes = ({ schema }: ServedSchema): readonly (readonly string[])[] => {
  const [where, order] = ['Where', 'Order'].map((name) => {
    const type = schema.getType(`StableExampleComWidget${name}`)
    return isInputObjectType(type) ? Object.values(type.getFields()) : []
  })
  const ordered = new Set(order?.map(({ name }) => name))
  return (where ?? [])
    .filter(({ name }) => ordered.has(name))
    .slice(5)
    .map(({ name, type }) => [name, String(type)])
}

const column = (name: string, type: string, jsonPath: string): object => ({ name, type, jsonPath })

describe('the indexes that a CRD asks for by itself', () => {
  it('are its printer columns, by their titles', async () => {
    const model = await build({
      additionalPrinterColumns: [
        column('READY', 'string', '.status.conditions[?(@.type=="Ready")].status'),
        column('Last Sync', 'date', ".spec['since']"),
        column('Size', 'string', '.spec.size'),
        column('Weight', 'number', '$.spec.weight'),
        column('Memory', 'string', '{.spec.memory}'),
        column('part-names', 'string', '.spec.parts[*].name'),
        column('Team', 'string', '.metadata.labels.example\\.com/team'),
        column('Replicas', 'integer', '.spec.free.replicas'),
        column('Age', 'date', '.metadata.creationTimestamp'),
        column('Parts', 'string', '.spec.parts'),
      ],
    })
    expect(model.problems).toEqual([])
    expect(indexes(model)).toEqual([
      ['ready', 'StringFilter'],
      ['lastSync', 'DateTimeFilter'],
      ['size', 'IntFilter'],
      ['weight', 'QuantityFilter'],
      ['memory', 'QuantityFilter'],
      ['partNames', 'StringFilter'],
      ['team', 'StringFilter'],
      ['replicas', 'IntFilter'],
    ])
  })

  it('are its selectable fields, by their paths', async () => {
    const model = await build({
      selectableFields: [{ jsonPath: '.spec.colour' }, { jsonPath: '.spec.size' }],
    })
    expect(indexes(model)).toEqual([
      ['specColour', 'StringFilter'],
      ['specSize', 'IntFilter'],
    ])
  })

  it('give way to declared ones, and to the fields of where', async () => {
    const model = await build(
      {
        additionalPrinterColumns: [
          column('Colour', 'string', '.spec.old'),
          column('Namespace', 'string', '.spec.old'),
          column('Labels', 'string', '.spec.old'),
          column('Not', 'string', '.spec.old'),
        ],
      },
      'extend type StableExampleComWidget @index(name: "colour", path: "spec.colour")',
    )
    expect(model.problems).toEqual([])
    expect(indexes(model)).toEqual([['colour', 'StringFilter']])
  })

  it('say why, where there are none', async () => {
    const model = await build({
      additionalPrinterColumns: [
        column('First', 'string', '.spec.parts[0].name'),
        column('Gone', 'string', '.spec.gone'),
        column('Deep', 'string', '..name'),
        null,
        'nonsense',
      ],
      selectableFields: 'nonsense',
    })
    expect(indexes(model)).toEqual([])
    expect(model.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('.spec.parts[0].name'),
      expect.stringContaining('.spec.gone'),
      expect.stringContaining('..name'),
    ])
  })
})

describe('what is deprecated', () => {
  const deprecationOf = ({ schema }: ServedSchema, type: string, field: string): unknown => {
    const found = schema.getType(type)
    return isObjectType(found) ? found.getFields()[field]?.deprecationReason : undefined
  }

  it('is a version of a kind, by its CRD', async () => {
    const model = await build({ deprecated: true, deprecationWarning: 'use v2' })
    for (const root of ['Query', 'Subscription']) {
      expect(deprecationOf(model, root, 'stableExampleComWidgets')).toBe('use v2')
      expect(deprecationOf(model, root, 'stableExampleComWidget')).toBe('use v2')
    }
    expect(
      deprecationOf(await build({ deprecated: true }), 'Query', 'stableExampleComWidgets'),
    ).toBe('stable.example.com/v1 Widget is deprecated')
    expect(deprecationOf(await build({}), 'Query', 'stableExampleComWidgets')).toBeUndefined()
  })

  it('is a field, by its description or the keyword', async () => {
    const model = await build({})
    expect(deprecationOf(model, 'StableExampleComWidgetSpec', 'old')).toBe('use colour.')
    expect(deprecationOf(model, 'StableExampleComWidgetSpec', 'older')).toBe('Deprecated.')
    expect(deprecationOf(model, 'StableExampleComWidgetSpec', 'colour')).toBeUndefined()
  })
})
