import { type GraphQLSchema, isObjectType, validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { operatorSchema } from '../support/operator-definitions.ts'
import { type OpenApiSchema, resourceOf } from './captured-cluster.ts'
import { builtIns, type ServedApis, schemaOf, withBuiltIns } from './served-schema.ts'

const group = 'stable.example.com'
const text: OpenApiSchema = { type: 'string' }
const object = (
  properties: Readonly<Record<string, OpenApiSchema>>,
  rest: object = {},
): OpenApiSchema => ({ type: 'object', properties, ...rest })
const list = (items: OpenApiSchema): OpenApiSchema => ({ type: 'array', items })

/** The kinds of these names, of one group, each with its `spec`. */
const served = (specs: Readonly<Record<string, OpenApiSchema>>): ServedApis => ({
  resources: Object.keys(specs).map((kind) => resourceOf(group, kind)),
  openapi: {
    [`apis/${group}/v1`]: {
      components: {
        schemas: Object.fromEntries(
          Object.entries(specs).map(([kind, spec]) => [
            `com.example.stable.v1.${kind}`,
            {
              ...object({ spec }),
              'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }],
            },
          ]),
        ),
      },
    },
  },
})

const typesOf = async (
  ...clusters: Readonly<Record<string, OpenApiSchema>>[]
): Promise<GraphQLSchema> => {
  const { schema, problems } = await schemaOf(clusters.map((specs) => withBuiltIns(served(specs))))
  expect(problems).toEqual([])
  expect(validateSchema(schema)).toEqual([])
  return schema
}

const fieldsOf = (schema: GraphQLSchema, name: string): Record<string, string> => {
  const type = schema.getType(`StableExampleCom${name}`)
  if (!isObjectType(type)) throw new Error(`there is no object type ${name}`)
  return Object.fromEntries(
    Object.entries(type.getFields()).map(([field, of]) => [
      field,
      String(of.type).replace('StableExampleCom', ''),
    ]),
  )
}

const selector = object({ labels: list(text), name: text })
const reordered = object({ name: { ...text, description: 'Its name.' }, labels: list(text) })

describe('equal structures of one definition', () => {
  it('are one type, whatever the order of their properties and their descriptions', async () => {
    const schema = await typesOf({
      Widget: object({
        first: selector,
        second: list(reordered),
        deep: object({ third: selector }),
      }),
    })
    expect(fieldsOf(schema, 'WidgetSpec')).toEqual({
      first: 'WidgetSpecFirst',
      second: '[WidgetSpecFirst]',
      deep: 'WidgetSpecDeep',
    })
    expect(fieldsOf(schema, 'WidgetSpecDeep')).toEqual({ third: 'WidgetSpecFirst' })
    expect(schema.getType('StableExampleComWidgetSpecDeepThird')).toBeUndefined()
  })

  it('are named by the shortest path, and by the alphabet where several are as short', async () => {
    const schema = await typesOf({
      Widget: object({ a: object({ one: selector, other: text }), z: selector, y: selector }),
    })
    expect(fieldsOf(schema, 'WidgetSpec')).toMatchObject({ z: 'WidgetSpecY', y: 'WidgetSpecY' })
    expect(fieldsOf(schema, 'WidgetSpecA')).toMatchObject({ one: 'WidgetSpecY' })
  })

  it('are so at every depth: what is equal within makes equal what is around it', async () => {
    const rule = object({ match: selector })
    const schema = await typesOf({
      Widget: object({ in: list(rule), out: list(object({ match: reordered })) }),
    })
    expect(fieldsOf(schema, 'WidgetSpec')).toEqual({
      in: '[WidgetSpecIn]',
      out: '[WidgetSpecIn]',
    })
  })

  it('have the descriptions of the shortest path, and each field that leads to them has its own', async () => {
    const schema = await typesOf({
      Widget: object({
        deep: object({ place: { ...reordered, description: 'The deep one.' } }),
        near: { ...selector, description: 'The near one.' },
      }),
    })
    const type = schema.getType('StableExampleComWidgetSpecNear')
    const around = schema.getType('StableExampleComWidgetSpecDeep')
    if (!isObjectType(type) || !isObjectType(around)) throw new Error('there is no such type')
    expect(type.description).toBe('The near one.')
    expect(type.getFields()['name']?.description).toBeUndefined()
    expect(around.getFields()['place']?.description).toBe('The deep one.')
    expect(String(around.getFields()['place']?.type)).toBe('StableExampleComWidgetSpecNear')
  })

  it.each<[what: string, other: OpenApiSchema]>([
    ['a name', object({ labels: list(text), title: text })],
    ['a type', object({ labels: list(text), name: { type: 'integer' } })],
    ['a property more', object({ labels: list(text), name: text, more: text })],
    ['what must be there', object({ labels: list(text), name: text }, { required: ['name'] })],
    ['a list of it', object({ labels: list(text), name: list(text) })],
    [
      'a map of it',
      object({ labels: list(text), name: { type: 'object', additionalProperties: text } }),
    ],
  ])('are two types if they differ by %s', async (_, other) => {
    const schema = await typesOf({ Widget: object({ one: selector, two: other }) })
    expect(fieldsOf(schema, 'WidgetSpec')).toEqual({
      one: 'WidgetSpecOne',
      two: 'WidgetSpecTwo',
    })
  })

  it('have names that depend on nothing else, neither other definitions nor the order', async () => {
    const specs = { b: selector, a: object({ inner: selector, text }), c: list(reordered) }
    const backwards = Object.fromEntries(Object.entries(specs).toReversed())
    const alone = await typesOf({ Widget: object(specs) })
    const among = await typesOf({
      Gadget: object({ b: selector }),
      Widget: object(backwards),
      Wid: object({ getSpecB: selector }),
    })
    for (const name of ['WidgetSpec', 'WidgetSpecA', 'WidgetSpecB']) {
      expect(fieldsOf(among, name)).toEqual(fieldsOf(alone, name))
    }
    // Nested types of two kinds are never one.
    expect(fieldsOf(among, 'GadgetSpec')).toEqual({ b: 'GadgetSpecB' })
  })

  it('keep their names apart where that of one kind begins with that of another', async () => {
    const schema = await typesOf({
      Widget: object({ a: object({ b: text }) }),
      WidgetSpec: object({ b: text }),
      Wid: object({ c: text }),
    })
    expect(fieldsOf(schema, 'Widget')).toMatchObject({ spec: 'WidgetSpec_' })
    expect(fieldsOf(schema, 'WidgetSpec')).toMatchObject({ spec: 'WidgetSpecSpec' })
  })
})

describe('a huge definition', () => {
  it('has all its fields if the same structures make it huge', async () => {
    const schema = operatorSchema(1)
    const parts = JSON.stringify(schema).match(/"type"/g)?.length ?? 0
    expect(parts).toBeGreaterThan(20_000)
    const types = await typesOf({ Widget: schema.properties?.['spec'] ?? {} })
    expect(fieldsOf(types, 'WidgetSpec')).toMatchObject({
      step0: '[WidgetSpecStep0]',
      step26: '[WidgetSpecStep0]',
      templateDefaults: 'WidgetSpecStep0',
    })
  })

  it.each<[what: string, spec: () => OpenApiSchema, problem: RegExp]>([
    [
      'more structures than anybody reads',
      () =>
        object(
          Object.fromEntries(
            Array.from({ length: 10_100 }, (_, at) => [`p${at}`, object({ [`q${at}`]: text })]),
          ),
        ),
      /more than 20000 parts/,
    ],
    [
      'more parts than anybody writes, all of them equal',
      () => {
        const part = object(
          Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`p${at}`, text])),
        )
        return object(Object.fromEntries(Array.from({ length: 210 }, (_, at) => [`s${at}`, part])))
      },
      /more than 200000 parts/,
    ],
    [
      'a path that is longer than names can be',
      () => object({ ['p'.repeat(600)]: object({ ['q'.repeat(600)]: object({ a: text }) }) }),
      /path of more than 1000 characters/,
    ],
  ])('costs its own kind alone: %s', async (_, spec, problem) => {
    const { schema, problems } = await schemaOf(
      withBuiltIns(served({ Widget: spec(), Gadget: text })),
    )
    expect(problems).toMatchObject([{ message: expect.stringMatching(problem) }])
    expect(schema.getType('StableExampleComWidget')).toBeDefined()
    expect(schema.getType('StableExampleComWidgetSpec')).toBeUndefined()
    expect(fieldsOf(schema, 'Gadget')).toHaveProperty('spec', 'String')
  })
})

describe('equal structures of several clusters', () => {
  const spec = (other: OpenApiSchema): OpenApiSchema =>
    object({ a: selector, b: selector, deep: object({ c: other }) })

  it('are JSON only at the place where the clusters do not agree', async () => {
    const schema = await typesOf(
      { Widget: spec(selector) },
      { Widget: spec(object({ labels: text, name: text })) },
    )
    expect(fieldsOf(schema, 'WidgetSpec')).toEqual({
      a: 'WidgetSpecA',
      b: 'WidgetSpecA',
      deep: 'WidgetSpecDeep',
    })
    expect(fieldsOf(schema, 'WidgetSpecA')).toEqual({ labels: '[String]', name: 'String' })
    expect(fieldsOf(schema, 'WidgetSpecDeep')).toEqual({ c: 'WidgetSpecDeepC' })
    expect(fieldsOf(schema, 'WidgetSpecDeepC')).toEqual({ labels: 'JSON', name: 'String' })
  })

  it('have the further fields of a place at this place', async () => {
    const more = object({ labels: list(text), name: text, more: text })
    const schema = await typesOf({ Widget: spec(selector) }, { Widget: spec(more) })
    expect(fieldsOf(schema, 'WidgetSpecA')).not.toHaveProperty('more')
    expect(fieldsOf(schema, 'WidgetSpecDeepC')).toHaveProperty('more', 'String')
  })
})

it('built-in kinds keep their names', async () => {
  const { schema } = await schemaOf(builtIns)
  expect(schema.getType('PodSpec')).toBeDefined()
  expect(schema.getType('LabelSelector')).toBeDefined()
})
