import { isObjectType, validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { capturedResources, resourceOf, type OpenApiSchema } from './captured-cluster.ts'
import { builtIns, schemaOf } from './served-schema.ts'

const group = 'stable.example.com'
const pods = capturedResources.filter(({ kind }) => kind === 'Pod')
const kindOf = (kind: string): object => ({
  'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }],
})
const ref = (name: string): OpenApiSchema => ({ $ref: `#/components/schemas/${name}` })

const deep = (levels: number): OpenApiSchema => {
  let schema: OpenApiSchema = { type: 'string' }
  for (let level = 0; level < levels; level += 1) schema = { properties: { a: schema } }
  return schema
}
const wide = Object.fromEntries(
  Array.from({ length: 20_001 }, (_, at) => [`p${at}`, { type: 'string' }]),
)

const unfit: readonly (readonly [what: string, spec: unknown, message: RegExp])[] = [
  ['a part that is null', null, /spec of its schema is no schema/],
  ['a part that is text', 'string', /spec of its schema is no schema/],
  ['a list of types', { type: ['string', 'null'] }, /malformed `type`/],
  ['properties that are a list', { properties: [] }, /malformed `properties`/],
  ['items that are a list', { type: 'array', items: [{}] }, /malformed `items`/],
  ['a required that is true', { type: 'string', required: true }, /malformed `required`/],
  ['an allOf of nothing', { allOf: [null] }, /malformed `allOf`/],
  ['values that are text', { additionalProperties: 'x' }, /malformed `additionalProperties`/],
  ['a description that is a number', { description: 5 }, /malformed `description`/],
  ['a reference that is a number', { $ref: 5 }, /malformed `\$ref`/],
  [
    'what is wrong behind a reference',
    ref('com.example.Bad'),
    /com\.example\.Bad\.x of its schema/,
  ],
  ['depth without end', deep(1_000), /more than 100 deep/],
  ['more than anybody reads', { properties: wide }, /more than 20000 parts/],
]

describe('a schema that cannot be used', () => {
  it.each(unfit)('costs its own kind alone: %s', async (_, spec, message) => {
    const { schema, problems } = await schemaOf({
      resources: [...pods, resourceOf(group, 'Widget'), resourceOf(group, 'Gadget')],
      openapi: {
        ...builtIns.openapi,
        'apis/stable.example.com/v1': {
          components: {
            schemas: {
              'com.example.Widget': {
                ...kindOf('Widget'),
                properties: { spec },
              },
              'com.example.Gadget': {
                ...kindOf('Gadget'),
                properties: { spec: { type: 'string' } },
              },
              'com.example.Bad': { properties: { x: 5 } },
              'com.example.Null': null,
            },
          },
        },
      },
    })
    expect(problems).toMatchObject([{ message: expect.stringMatching(message) }])
    expect(problems[0]?.message).toContain('Widget of stable.example.com/v1')
    expect(validateSchema(schema)).toEqual([])
    const fieldsOf = (name: string): readonly string[] => {
      const type = schema.getType(name)
      return isObjectType(type) ? Object.keys(type.getFields()) : []
    }
    expect(fieldsOf('StableExampleComWidget')).toContain('json')
    expect(fieldsOf('StableExampleComWidget')).not.toContain('spec')
    expect(fieldsOf('StableExampleComGadget')).toContain('spec')
    expect(fieldsOf('Pod')).toContain('spec')
  })
})
