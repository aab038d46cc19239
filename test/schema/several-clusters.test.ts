import { type GraphQLSchema, isObjectType, validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { resourceOf, type OpenApiDocuments, type OpenApiSchema } from './captured-cluster.ts'
import { type ServedApis, schemaOf } from './served-schema.ts'

const group = 'stable.example.com'
const text: OpenApiSchema = { type: 'string' }

const documents = (versions: readonly string[], spec: OpenApiSchema): OpenApiDocuments =>
  Object.fromEntries(
    versions.map((version) => [
      `apis/${group}/${version}`,
      {
        components: {
          schemas: {
            'com.example.stable.Widget': {
              type: 'object',
              'x-kubernetes-group-version-kind': [{ group, version, kind: 'Widget' }],
              properties: { spec },
            },
          },
        },
      },
    ]),
  )

const cluster = (versions: readonly string[], spec: OpenApiSchema): ServedApis => ({
  resources: versions.map((version) => resourceOf(group, 'Widget', { version })),
  openapi: documents(versions, spec),
})

const object = (
  properties: Readonly<Record<string, OpenApiSchema>>,
  required: readonly string[] = [],
): OpenApiSchema => ({ type: 'object', properties, required })

/** The version that a list is of. */
const versionOf = (schema: GraphQLSchema, list: string): string | undefined =>
  /of (\S+)\.$/.exec(schema.getQueryType()?.getFields()[list]?.description ?? '')?.[1]

describe('the schema of several clusters', async () => {
  const { schema } = await schemaOf([
    cluster(
      ['v2', 'v1'],
      object(
        {
          same: text,
          mine: text,
          number: { type: 'integer', format: 'int32' },
          clash: text,
          shape: object({ a: text }),
          list: { type: 'array', items: object({ a: text }) },
          lists: { type: 'array', items: text },
          map: { type: 'object', additionalProperties: object({ a: text }) },
          moment: text,
          open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
        ['same', 'mine'],
      ),
    ),
    cluster(
      ['v1'],
      object(
        {
          same: { ...text, description: 'Described elsewhere.' },
          yours: text,
          number: { type: 'integer', format: 'int64' },
          clash: { type: 'boolean' },
          shape: { type: 'array', items: text },
          list: { type: 'array', items: object({ b: { type: 'boolean' } }) },
          lists: { type: 'array', items: { type: 'boolean' } },
          map: { type: 'object', additionalProperties: object({ a: { type: 'boolean' } }) },
          moment: { type: 'string', format: 'date-time' },
          open: object({ a: text }),
        },
        ['same', 'yours'],
      ),
    ),
    { resources: [resourceOf('other.example.com', 'Thing')], openapi: {} },
  ])
  const spec = schema.getType('StableExampleComWidgetSpec')
  const fields = isObjectType(spec) ? spec.getFields() : {}

  it('has one version of a kind: the first that all have which have the kind', () => {
    expect(validateSchema(schema)).toEqual([])
    expect(versionOf(schema, 'stableExampleComWidgets')).toBe(`${group}/v1`)
    expect(schema.getType('OtherExampleComThing')).toBeDefined()
  })

  it('has the fields of all of them, and JSON where their types differ', () => {
    const types = Object.fromEntries(
      Object.entries(fields).map(([name, { type }]) => [name, String(type)]),
    )
    expect(types).toEqual({
      same: 'String',
      mine: 'String',
      number: 'Int64',
      clash: 'JSON',
      shape: 'JSON',
      list: '[StableExampleComWidgetSpecList]',
      lists: '[JSON]',
      map: '[StableExampleComWidgetSpecMapEntry!]',
      moment: 'JSON',
      open: 'JSON',
      yours: 'String',
    })
    const item = schema.getType('StableExampleComWidgetSpecList')
    expect(isObjectType(item) && Object.keys(item.getFields())).toEqual(['a', 'b'])
  })

  it('promises only what all of them promise', () => {
    const promised = Object.values(fields).filter(
      ({ extensions }) =>
        (extensions['semanticNonNull'] as readonly number[] | undefined)?.includes(0) === true,
    )
    expect(promised.map(({ name }) => name)).toEqual(['same'])
  })

  it('of one cluster is that of the cluster', async () => {
    const one = await schemaOf(cluster(['v2', 'v1'], text))
    expect(versionOf(one.schema, 'stableExampleComWidgets')).toBe(`${group}/v2`)
  })

  it('takes the preferred version of the first cluster where none is common', async () => {
    const apart = await schemaOf([cluster(['v2'], text), cluster(['v1'], text)])
    expect(versionOf(apart.schema, 'stableExampleComWidgets')).toBe(`${group}/v2`)
  })
})
