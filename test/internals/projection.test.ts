// Imports internals: what is written of held bytes is compared with a second reading of them.
import type { HeldObject } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { pods as podResource } from '../../bench/support/pod-resource.ts'
import {
  AnswerTooLongError,
  type LeafWriter,
  type SelectedEntryField,
  type SelectedField,
  type SelectedValue,
  writeBoolean,
  writeFloat,
  writeInt,
  writeInt64,
  writeJson,
  writeString,
} from '../../src/informer/codec/projection.ts'
import {
  createObjectCodec,
  freezingCodec,
  type ObjectCodec,
} from '../../src/informer/codec/object-codec.ts'

const leaf = (write: LeafWriter): SelectedValue => ({ form: 'leaf', write })
const json = leaf(writeJson)
const string = leaf(writeString)
const list = (of: SelectedValue, required = false): SelectedValue => ({
  form: 'list',
  of,
  required,
})
const entries = (...fields: readonly SelectedEntryField[]): SelectedValue => ({
  form: 'entries',
  fields,
  required: false,
})
/** Members by their response keys; each is read at the path given, or at the key. */
const object = (
  members: Readonly<Record<string, SelectedValue | readonly [path: string, value: SelectedValue]>>,
  required = false,
): SelectedValue => ({ form: 'object', selection: { fields: fieldsOf(members) }, required })

function fieldsOf(
  members: Readonly<Record<string, SelectedValue | readonly [path: string, value: SelectedValue]>>,
): readonly SelectedField[] {
  return Object.entries(members).map(([key, member]) => {
    if ('form' in member) return { key, path: [key], value: member }
    const [path, value] = member
    return { key, path: path === '' ? [] : path.split('.'), value }
  })
}

const podText = (name: string, spec: string): string =>
  `{"metadata":{"name":${JSON.stringify(name)},"annotations":{"note":"${'padding '.repeat(40)}"}},"spec":${spec}}`

const held = (codec: ObjectCodec, name: string, spec: string): HeldObject =>
  codec.encode(Buffer.from(podText(name, spec))).held

/** The projections of the specs, each held as a whole and as a row against a template with another spec. */
function projections(specs: readonly string[], spec: SelectedValue, other: string): unknown[] {
  const selection = { fields: [{ key: 'spec', path: ['spec'], value: spec }] }
  return specs.map((text) => {
    const whole = createObjectCodec({ resource: podResource })
    const ofWhole = whole.projection(selection)(held(whole, 'whole', text))
    const codec = createObjectCodec({ resource: podResource })
    for (let index = 0; index < 6; index++) held(codec, `sibling-${index}`, other)
    const ofRow = codec.projection(selection)(held(codec, 'row', text))
    expect(ofRow).toBe(ofWhole)
    return ofRow === undefined ? undefined : ofRow.slice('{"spec":'.length, -1)
  })
}

describe('a projection writes', () => {
  const stringified = (text: string): string => JSON.stringify(JSON.parse(text))

  it.each([
    ['escapes that servers write', '"a \\u003c b \\u0026 c"'],
    ['escapes that must be', '"\\"\\\\\\n\\u0007"'],
    ['lone surrogates', '"\\ud800x"'],
    ['characters beyond ASCII', '"ü 漢字 😀 \u2028"'],
    ['brackets in strings', '"]},{\\""'],
    ['numbers', '[1.0,1e3,-0,0.10,1E400,12,-7,1234567890123456.5]'],
    ['keys that are integers', '{"b":1,"10":2,"2":3}'],
    ['a key that comes twice', '{"a":1,"b":2,"a":3}'],
    ['a member named __proto__', '{"__proto__":{"a":1},"constructor":2}'],
    ['white space', '{ "a" : [ 1 , { } ] }'],
    ['empty containers', '{"a":{},"b":[]}'],
    ['literals', '[true,false,null]'],
  ])('JSON as JSON.stringify would: %s', (_, text) => {
    expect(projections([text], json, '"other"')).toEqual([stringified(text)])
    expect(projections([`{"in":${text}}`], object({ in: json }), '{"in":0}')).toEqual([
      `{"in":${stringified(text)}}`,
    ])
  })

  it('integers beyond 2^53 with the digits of the server', () => {
    const text = '{"a":9007199254740993,"b":[123456789012345678901234567890]}'
    expect(projections([text], json, '{"a":1,"b":[2]}')).toEqual([text])
    const values = object({ a: leaf(writeInt64), b: list(leaf(writeFloat)) })
    expect(projections([text], values, '{"a":1,"b":[2]}')).toEqual([text])
  })

  it('the elements of lists whatever their number', () => {
    const items = list(object({ n: leaf(writeInt) }))
    const specs = ['[]', '[{"n":1}]', '[{"m":"]","n":1},{"n":2},null,{}]', '[{"n":5},{"n":6}]']
    expect(projections(specs, items, '[{"n":8,"m":"x"},{"n":9,"m":"y"}]')).toEqual([
      '[]',
      '[{"n":1}]',
      '[{"n":1},{"n":2},null,{"n":null}]',
      '[{"n":5},{"n":6}]',
    ])
  })

  it('a property by its last occurrence, however its key is written', () => {
    const a = object({ a: leaf(writeInt) })
    const specs = ['{"a":1,"a":2}', '{"a":1,"\\u0061":3}', '{"b":"\\"a\\":7","a":4}']
    expect(projections(specs, a, '{"a":0}')).toEqual(['{"a":2}', '{"a":3}', '{"a":4}'])
  })

  it('only what objects have themselves', () => {
    const inherited = object({ constructor: json, __typename: { form: 'text', text: '"Spec"' } })
    expect(projections(['{"a":1}', '{}'], inherited, '{"b":1}')).toEqual([
      '{"constructor":null,"__typename":"Spec"}',
      '{"constructor":null,"__typename":"Spec"}',
    ])
  })

  it('what several properties lead to, and null where one of them is missing', () => {
    const deep = object({ x: ['a.b', string], y: ['a.c.d', string], whole: ['', json] })
    const specs = ['{"a":{"b":"1","c":{"d":"2"}}}', '{"a":{"b":"1"}}', '{"a":null}', '{}']
    expect(projections(specs, deep, '{"a":{"b":"0","c":{"d":"0"}}}')).toEqual([
      '{"x":"1","y":"2","whole":{"a":{"b":"1","c":{"d":"2"}}}}',
      '{"x":"1","y":null,"whole":{"a":{"b":"1"}}}',
      '{"x":null,"y":null,"whole":{"a":null}}',
      '{"x":null,"y":null,"whole":{}}',
    ])
  })

  it('in the order of the selection, a value as often as it is selected', () => {
    const twice = object({ b: ['y', string], a: ['x', string], c: ['y', string] })
    expect(projections(['{"x":"1","y":"2"}'], twice, '{"x":"0","y":"0"}')).toEqual([
      '{"b":"2","a":"1","c":"2"}',
    ])
  })

  it('maps as their entries, in the order of JavaScript', () => {
    const map = entries({ key: 'k', value: 'key' }, { key: 'v', value: list(string) })
    expect(projections(['{"b":["x"],"1":null}', '{}', 'null'], map, '{"a":["y"]}')).toEqual([
      '[{"k":"1","v":null},{"k":"b","v":["x"]}]',
      '[]',
      'null',
    ])
  })

  it('what a writer makes of a container with a difference deep in it', () => {
    const length: LeafWriter = (text) => String(writeJson(text)?.length)
    const specs = ['{"a":[1,{"b":"longer"}]}', '{"a":"x"}', '{"a":[1,{"b":"\\u0041"}]}']
    expect(projections(specs, object({ a: leaf(length) }), '{"a":[1,{"b":"c"}]}')).toEqual([
      '{"a":18}',
      '{"a":3}',
      '{"a":13}',
    ])
  })
})

describe('a projection leaves to the slow way', () => {
  it.each<[string, SelectedValue, string, readonly string[]]>([
    ['what is no string', string, '"a"', ['1', 'true', '{}', '[]']],
    ['what is no boolean', leaf(writeBoolean), 'true', ['1', '"true"', '{}']],
    ['what is no Int', leaf(writeInt), '1', ['2147483648', '-2147483649', '1.5', '"1"', 'true']],
    ['what is no integer', leaf(writeInt64), '1', ['1.5', '"1"', 'false', '1e400']],
    ['what is no number', leaf(writeFloat), '1', ['"1"', '1e400', '[1]']],
    ['what is no object', object({ a: json }), '{"a":1}', ['[]', '"a"', '1', '9007199254740993']],
    ['what is no list', list(json), '[1]', ['{}', '"a"', '1']],
    ['what is no map', entries(), '{"a":1}', ['[]', '"a"']],
    ['null where an object is required', object({}, true), '{"a":1}', ['null']],
    ['null where a list is required', list(json, true), '[1]', ['null']],
    ['an element that is required', list(object({}, true)), '[{"a":1}]', ['[null]', '[{},null]']],
    ['a way through a list', object({ x: ['a.b', json] }), '{"a":{"b":1}}', ['{"a":[]}']],
  ])('%s', (_, value, good, bad) => {
    expect(projections(bad, value, good)).toEqual(bad.map(() => undefined))
    expect(projections([good], value, bad[0] ?? '')).not.toContain(undefined)
  })

  it('nothing that GraphQL takes', () => {
    const numbers = ['1.0', '1e3', '-0', '2147483647', '-2147483648']
    expect(projections(numbers, leaf(writeInt), '5')).toEqual([
      '1',
      '1000',
      '0',
      '2147483647',
      '-2147483648',
    ])
  })
})

describe('a projection reads', () => {
  const selection = { fields: fieldsOf({ name: ['metadata.name', string], spec: json }) }

  it('objects of which only the metadata is held', () => {
    const codec = createObjectCodec({ resource: podResource, metadataOnly: true })
    const project = codec.projection(selection)
    for (let index = 0; index < 8; index++) {
      const text = project(held(codec, `pod-${index}`, '{"a":1}'))
      expect(text).toBe(`{"name":"pod-${index}","spec":null}`)
    }
  })

  it('objects that were transformed, or are frozen when decoded', () => {
    const codec = freezingCodec(createObjectCodec({ resource: podResource }))
    const project = codec.projection(selection)
    for (let index = 0; index < 8; index++) {
      const { object: came } = codec.encode(Buffer.from(podText(`pod-${index}`, '{"a":1}')))
      const text = project(
        codec.hold(Object.assign({ ...came }, { spec: { a: index, b: undefined } })),
      )
      expect(text).toBe(`{"name":"pod-${index}","spec":{"a":${index}}}`)
    }
  })

  it('whatever was asked for before, and however much of it', () => {
    const codec = createObjectCodec({ resource: podResource })
    const spec = `{"list":[${Array.from({ length: 2000 }, (_, index) => `{"n":${index}}`).join()}],"last":`
    const rows = Array.from({ length: 8 }, (_, index) =>
      held(codec, `pod-${index}`, `${spec}${index}}`),
    )
    // More than is kept of prepared answers.
    for (let round = 0; round < 30; round++) {
      const many = { fields: fieldsOf({ spec: json, last: ['spec.last', leaf(writeInt)] }) }
      const project = codec.projection(many)
      for (const index of [round % 8, 7]) {
        expect(project(rows[index] as HeldObject)).toBe(`{"spec":${spec}${index}},"last":${index}}`)
      }
    }
    // More of it than is prepared at all.
    const keys = Array.from({ length: 6 }, (_, index) => `copy${index}`)
    const copies = {
      fields: fieldsOf(Object.fromEntries(keys.map((key) => [key, ['spec', json]]))),
    }
    const text = codec.projection(copies)(rows[5] as HeldObject)
    expect(text).toBe(`{${keys.map((key) => `"${key}":${spec}5}`).join()}}`)
  })
})

describe('a projection', () => {
  // Of a part of the object that is 10,000 characters long, a thousand times.
  const fields = Array.from({ length: 1_000 }, (_, at) => ({
    key: `a${at}`,
    path: ['spec', 'data'],
    value: json,
  }))
  const large = JSON.stringify({ data: { text: 'x'.repeat(10_000) } })
  const maxUnits = 50_000

  it.each([
    ['of a whole text', '{"data":1}', 0],
    ['of a row', large.replace('x', 'y'), 6],
  ])('ends as soon as it is longer than can be used: %s', (_, other, siblings) => {
    const codec = createObjectCodec({ resource: podResource })
    for (let index = 0; index < siblings; index++) held(codec, `sibling-${index}`, other)
    const project = codec.projection({ fields })
    const heldLarge = held(codec, 'large', large)
    let error: unknown
    try {
      project(heldLarge, maxUnits)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(AnswerTooLongError)
    // Not much more was written than could be.
    expect((error as AnswerTooLongError).length).toBeLessThan(maxUnits + 2 * large.length)
    expect(project(heldLarge)?.length).toBeGreaterThan(1_000 * 10_000)
  })
})
