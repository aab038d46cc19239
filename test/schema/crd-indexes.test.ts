import { isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { buildSchemaModel, type SchemaModel } from '../../src/graphql/model/schema-model.ts'
import {
  capturedOpenApi,
  capturedResources,
  resourceOf,
  type OpenApiSchema,
} from './captured-cluster.ts'

const text: OpenApiSchema = { type: 'string' }
const group = 'stable.example.com'

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

const build = (version: Version, sdl = ''): SchemaModel =>
  buildSchemaModel({
    resources: [...capturedResources, resourceOf(group, 'Widget')],
    openapi: {
      ...capturedOpenApi,
      'apis/stable.example.com/v1': {
        components: { schemas: { 'com.example.stable.v1.Widget': widget } },
      },
    },
    crds: [
      { spec: { group, names: { kind: 'Widget' }, versions: [{ name: 'v1', ...version }] } },
      ...malformed,
    ],
    sdl: sdl === '' ? [] : [{ file: 'mine.graphql', text: sdl }],
  })

/** What no API server lists; it costs nothing but itself. */
const malformed: readonly unknown[] = [
  null,
  {},
  { spec: null },
  { spec: { group, names: [], versions: 'v1' } },
  { spec: { group, names: { kind: 'X' }, versions: [null, 'v1', { name: 5 }] } },
]

const indexes = (model: SchemaModel): readonly (readonly unknown[])[] =>
  (model.kindOfType('StableExampleComWidget')?.indexes ?? [])
    .slice(4)
    .map(({ name, paths, type }) => [name, ...paths, type])

const column = (name: string, type: string, jsonPath: string): object => ({ name, type, jsonPath })

describe('the indexes that a CRD asks for by itself', () => {
  it('are its printer columns, by their titles', () => {
    const model = build({
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
      ['ready', 'status.conditions[type="Ready"].status', 'string'],
      ['lastSync', 'spec.since', 'dateTime'],
      ['size', 'spec.size', 'int'],
      ['weight', 'spec.weight', 'quantity'],
      ['memory', 'spec.memory', 'quantity'],
      ['partNames', 'spec.parts[*].name', 'string'],
      ['team', 'metadata.labels["example.com/team"]', 'string'],
      ['replicas', 'spec.free.replicas', 'int'],
    ])
  })

  it('are its selectable fields, by their paths', () => {
    const model = build({
      selectableFields: [{ jsonPath: '.spec.colour' }, { jsonPath: '.spec.size' }],
    })
    expect(indexes(model)).toEqual([
      ['specColour', 'spec.colour', 'string'],
      ['specSize', 'spec.size', 'int'],
    ])
  })

  it('give way to declared ones, and to the fields of where', () => {
    const model = build(
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
    expect(indexes(model)).toEqual([['colour', 'spec.colour', 'string']])
  })

  it('say why, where there are none', () => {
    const model = build({
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
    expect(model.problems.map(({ code, value }) => [code, value])).toEqual([
      ['CRD_INDEX', '.spec.parts[0].name'],
      ['CRD_INDEX', '.spec.gone'],
      ['CRD_INDEX', '..name'],
    ])
  })
})

describe('what is deprecated', () => {
  const deprecationOf = (model: SchemaModel, type: string, field: string): unknown => {
    const found = createSchema(model).getType(type)
    return isObjectType(found) ? found.getFields()[field]?.deprecationReason : undefined
  }

  it('is a version of a kind, by its CRD', () => {
    const model = build({ deprecated: true, deprecationWarning: 'use v2' })
    for (const root of ['Query', 'Subscription']) {
      expect(deprecationOf(model, root, 'stableExampleComWidgets')).toBe('use v2')
      expect(deprecationOf(model, root, 'stableExampleComWidget')).toBe('use v2')
    }
    expect(deprecationOf(build({ deprecated: true }), 'Query', 'stableExampleComWidgets')).toBe(
      'stable.example.com/v1 Widget is deprecated',
    )
    expect(deprecationOf(build({}), 'Query', 'stableExampleComWidgets')).toBeUndefined()
  })

  it('is a field, by its description or the keyword', () => {
    const model = build({})
    expect(deprecationOf(model, 'StableExampleComWidgetSpec', 'old')).toBe('use colour.')
    expect(deprecationOf(model, 'StableExampleComWidgetSpec', 'older')).toBe('Deprecated.')
    expect(deprecationOf(model, 'StableExampleComWidgetSpec', 'colour')).toBeUndefined()
  })
})
