import { beforeAll, describe, expect, it } from 'vitest'
import { ask, type ContractAnswer, describeContract, type Fields } from './contract-server.ts'
import { defineGears, version } from './custom-definition.ts'

const group = 'schema.example.com'

const properties = {
  color: { type: 'string', enum: ['red', 'blue'] },
  size: { type: 'integer', minimum: 1, maximum: 10 },
  name: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 4 },
  port: { 'x-kubernetes-int-or-string': true },
  ratio: { type: 'number', multipleOf: 0.5 },
  on: { type: 'boolean', default: true },
  tags: { type: 'array', items: { type: 'string' }, maxItems: 2, minItems: 1 },
  unique: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
  keyed: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: {
      type: 'object',
      required: ['k'],
      properties: { k: { type: 'string' }, v: { type: 'integer', default: 7 } },
    },
  },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  template: {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  },
  labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 2 },
  at: { type: 'string', format: 'date-time' },
  every: { type: 'string', format: 'duration' },
  maybe: { type: 'string', nullable: true },
  either: { type: 'string', anyOf: [{ enum: ['a'] }, { pattern: '^b' }] },
  one: {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  never: { type: 'string', not: { enum: ['x'] } },
  small: { type: 'integer', format: 'int32' },
  big: { type: 'integer', format: 'int64' },
}

describeContract('A custom schema', (server) => {
  let path = ''
  beforeAll(async () => {
    const gear = version('v1', properties, { subresources: { status: {} } })
    gear.schema.openAPIV3Schema.properties.spec.required = ['color']
    gear.schema.openAPIV3Schema.properties.status = {
      type: 'object',
      properties: { ready: { type: 'boolean' } },
    }
    path = await defineGears(server(), group, [gear])
  })

  let made = 0
  const post = async (spec: unknown, query = ''): Promise<ContractAnswer> => {
    const body = { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: `g${++made}` }, spec }
    return ask(server(), `${path}${query}`, { method: 'POST', body })
  }
  const put = async (object: Fields): Promise<ContractAnswer> =>
    ask(server(), `${path}/${object.metadata.name}`, { method: 'PUT', body: object })

  const invalid = 'FieldValueInvalid'
  const type = 'FieldValueTypeInvalid'

  it.each<[object, string, string, string]>([
    [{}, 'FieldValueRequired', 'spec.color', 'Required value'],
    [
      { color: 'green' },
      'FieldValueNotSupported',
      'spec.color',
      'Unsupported value: "green": supported values: "red", "blue"',
    ],
    [
      { color: 'red', size: 0 },
      invalid,
      'spec.size',
      'Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ],
    [
      { color: 'red', size: '3' },
      type,
      'spec.size',
      'Invalid value: "string": spec.size in body must be of type integer: "string"',
    ],
    [
      { color: 'red', name: 'ABC' },
      invalid,
      'spec.name',
      `Invalid value: "ABC": spec.name in body should match '^[a-z]+$'`,
    ],
    [
      { color: 'red', name: 'a' },
      invalid,
      'spec.name',
      'Invalid value: "a": spec.name in body should be at least 2 chars long',
    ],
    [
      { color: 'red', name: 'abcde' },
      'FieldValueTooLong',
      'spec.name',
      'Too long: may not be more than 4 bytes',
    ],
    [
      { color: 'red', port: true },
      type,
      'spec.port',
      'Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    ],
    [
      { color: 'red', ratio: 0.3 },
      invalid,
      'spec.ratio',
      'Invalid value: 0.3: spec.ratio in body should be a multiple of 0.5',
    ],
    [
      { color: 'red', tags: [] },
      invalid,
      'spec.tags',
      'Invalid value: 0: spec.tags in body should have at least 1 items',
    ],
    [
      { color: 'red', tags: ['a', 'b', 'c'] },
      'FieldValueTooMany',
      'spec.tags',
      'Too many: 3: must have at most 2 items',
    ],
    [
      { color: 'red', tags: [1] },
      type,
      'spec.tags[0]',
      'Invalid value: "integer": spec.tags[0] in body must be of type string: "integer"',
    ],
    [
      { color: 'red', labels: { a: 1 } },
      type,
      'spec.labels.a',
      'Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
    ],
    [
      { color: 'red', unique: ['a', 'a'] },
      'FieldValueDuplicate',
      'spec.unique[1]',
      'Duplicate value: "a"',
    ],
    [
      { color: 'red', keyed: [{ k: 'a' }, { k: 'a' }] },
      'FieldValueDuplicate',
      'spec.keyed[1]',
      'Duplicate value: {"k":"a"}',
    ],
    [
      { color: 'red', keyed: [{ v: 1 }] },
      'FieldValueRequired',
      'spec.keyed[0].k',
      'Required value',
    ],
    [
      { color: 'red', at: 'yesterday' },
      type,
      'spec.at',
      'Invalid value: "yesterday": spec.at in body must be of type date-time: "yesterday"',
    ],
    [
      { color: 'red', every: 'x' },
      type,
      'spec.every',
      'Invalid value: "x": spec.every in body must be of type duration: "x"',
    ],
    [
      { color: 'red', never: 'x' },
      invalid,
      '<nil>',
      'Invalid value: "": "spec.never" must not validate the schema (not)',
    ],
    [
      { color: 'red', one: { a: '', b: '' } },
      invalid,
      '<nil>',
      'Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    [
      { color: 'red', small: 4_294_967_296 },
      invalid,
      '<nil>',
      'Invalid value: "": Checked value must be of type integer with format int32 in spec.small',
    ],
  ])('refuses %j', async (spec, reason, field, message) => {
    const { status, json } = await post(spec)
    expect(status).toBe(422)
    expect(json.details).toMatchObject({
      group,
      kind: 'Gear',
      causes: [{ reason, field, message }],
    })
    expect(json.message).toBe(
      `Gear.${group} "${json.details.name}" is invalid: ${field}: ${message}`,
    )
  })

  it('names everything that is wrong', async () => {
    const { json } = await post({ color: 'green', size: 99, template: {}, either: 'c' })
    const fields = json.details.causes.map(({ field }: Fields) => field)
    expect(fields.toSorted()).toEqual([
      '<nil>',
      'spec.color',
      'spec.either',
      'spec.size',
      'spec.template.apiVersion',
      'spec.template.kind',
    ])
  })

  it('fills in defaults, also in items, and for a null that may not be', async () => {
    const { status, json } = await post({ color: 'red', on: null, keyed: [{ k: 'a' }] })
    expect(status).toBe(201)
    expect(json.spec).toEqual({ color: 'red', on: true, keyed: [{ k: 'a', v: 7 }] })
  })

  it('drops a null that may not be and has no default, and keeps one that may', async () => {
    const { json } = await post({ color: 'red', name: null, maybe: null })
    expect(json.spec).toEqual({ color: 'red', on: true, maybe: null })
  })

  it('drops what it does not know, and says so', async () => {
    const template = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x', unheard: 1 },
      anything: 1,
    }
    const free = { anything: { goes: 1 } }
    const { json, headers } = await post({ color: 'red', extra: 1, free, template })
    expect(json.spec).toEqual({
      color: 'red',
      on: true,
      free,
      template: { ...template, metadata: { name: 'x' } },
    })
    expect(headers.warning).toContain('299 - "unknown field \\"spec.extra\\""')
    expect(headers.warning).toContain('299 - "unknown field \\"spec.template.metadata.unheard\\""')
    const silent = await post({ color: 'red', extra: 1 }, '?fieldValidation=Ignore')
    expect([silent.status, silent.headers.warning]).toEqual([201, undefined])
  })

  it('refuses what it does not know where the client wants that', async () => {
    const { status, json } = await post({ color: 'red', extra: 1 }, '?fieldValidation=Strict')
    expect(status).toBe(400)
    expect(json).toMatchObject({
      reason: 'BadRequest',
      message:
        'Gear in version "v1" cannot be handled as a Gear: strict decoding error: unknown field "spec.extra"',
    })
  })

  it('keeps the digits of integers beyond 2^53', async () => {
    const numbers = '"big":9007199254740993,"free":{"a":-9007199254740995,"b":1.0,"c":1e3}'
    const body = `{"apiVersion":"${group}/v1","kind":"Gear","metadata":{"name":"big"},"spec":{"color":"red",${numbers}}}`
    const created = await ask(server(), path, { method: 'POST', body })
    expect(created.status).toBe(201)
    const patch = '{"spec":{"free":{"d":9223372036854775807}}}'
    const contentType = 'application/merge-patch+json'
    await ask(server(), `${path}/big`, { method: 'PATCH', body: patch, contentType })
    const { text } = await ask(server(), `${path}/big`)
    for (const [name, digits] of Object.entries({
      big: '9007199254740993',
      a: '-9007199254740995',
      b: '1',
      c: '1000',
      d: '9223372036854775807',
    })) {
      expect(text).toMatch(new RegExp(`"${name}":${digits}[,}]`))
    }
    const { status, json } = await ask(server(), path, {
      method: 'POST',
      body: body.replace('9007199254740993', '12345678901234567890').replace('"big"}', '"bigger"}'),
    })
    expect([status, json.details.causes[0].reason]).toEqual([422, type])
  })

  describe('in an update', () => {
    it('is checked as in a create', async () => {
      const { json } = await post({ color: 'red' })
      expect((await put({ ...json, spec: { color: 'green' } })).status).toBe(422)
      const contentType = 'application/merge-patch+json'
      const at = `${path}/${json.metadata.name}`
      const body = { spec: { size: 11 } }
      expect((await ask(server(), at, { method: 'PATCH', body, contentType })).status).toBe(422)
    })

    it('is checked for the status alone where that is written', async () => {
      const { json } = await post({ color: 'red' })
      const at = `${path}/${json.metadata.name}/status`
      const contentType = 'application/merge-patch+json'
      const wrong = await ask(server(), at, {
        method: 'PATCH',
        body: { status: { ready: 'x' } },
        contentType,
      })
      expect(wrong.status).toBe(422)
      expect(wrong.json.details.causes).toEqual([
        {
          reason: type,
          field: 'status.ready',
          message: 'Invalid value: "string": ready in body must be of type boolean: "string"',
        },
      ])
      const right = { status: { ready: true, unheard: 1 } }
      const answer = await ask(server(), at, { method: 'PATCH', body: right, contentType })
      expect(answer.json.status).toEqual({ ready: true })
      expect(answer.headers.warning).toBe('299 - "unknown field \\"status.unheard\\""')
    })
  })
})
