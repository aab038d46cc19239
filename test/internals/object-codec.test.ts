// Imports internals: how bytes are held is seen by nobody outside.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { HeldObject, ApiResource, Unstructured } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { pods as podResource } from '../../bench/support/pod-resource.ts'
import { podTexts } from '../../bench/support/pods.ts'
import {
  createObjectCodec,
  MalformedObjectError,
  MissingMetadataError,
  WrongKindError,
} from '../../src/informer/codec/object-codec.ts'
import { referenceDecode } from './reference-codec.ts'

const widgets: ApiResource = {
  ...podResource,
  group: 'stable.example.com',
  resource: 'widgets',
  kind: 'Widget',
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

function roundTrip(text: string, metadataOnly = false): Unstructured {
  const codec = createObjectCodec({ resource: podResource, metadataOnly })
  const { held, object } = codec.encode(Buffer.from(text))
  expect(codec.decode(held)).toEqual(object)
  return object as Unstructured
}

const encode =
  (text: string, metadataOnly = false) =>
  (): unknown =>
    createObjectCodec({ resource: podResource, metadataOnly }).encode(Buffer.from(text))

describe('encode and decode', () => {
  it('put apiVersion and kind first, of list items and of watch events alike', () => {
    const listed = '{"metadata":{"name":"a"},"spec":{}}'
    const watched = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}'
    const late = '{"metadata":{"name":"a"},"spec":{},"kind":"Pod","apiVersion":"v1"}'
    const expected = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{}}'
    for (const text of [listed, watched, late, `${listed}\n`]) {
      expect(JSON.stringify(roundTrip(text))).toBe(expected)
    }
  })

  it('keep the group in apiVersion', () => {
    const codec = createObjectCodec({ resource: widgets })
    const text = '{"apiVersion":"stable.example.com/v1","kind":"Widget","metadata":{"name":"a"}}'
    expect(JSON.stringify(codec.encode(Buffer.from(text)).object)).toBe(text)
  })

  it.each([
    ['first', '{"managedFields":[{"a":[]}],"name":"a"}', '{"name":"a"}'],
    ['last', '{"name":"a","managedFields":[{"a":"]}"}]}', '{"name":"a"}'],
    ['between', '{"name":"a","managedFields":[],"uid":"u"}', '{"name":"a","uid":"u"}'],
    ['twice', '{"managedFields":1,"name":"a","managedFields":[2]}', '{"name":"a"}'],
    ['by an escaped name', '{"name":"a","managed\\u0046ields":[]}', '{"name":"a"}'],
    ['with brackets in strings', '{"managedFields":["]},\\"x\\":["],"name":"a"}', '{"name":"a"}'],
    [
      'as the only annotation',
      `{"name":"a","annotations":{"${lastApplied}":"{\\"a\\":1}\\n"}}`,
      '{"name":"a","annotations":{}}',
    ],
    [
      'among annotations',
      `{"annotations":{"a":"1","${lastApplied}":"{}","b":"2"},"name":"a"}`,
      '{"annotations":{"a":"1","b":"2"},"name":"a"}',
    ],
  ])('cut bookkeeping: %s', (_, metadata, expected) => {
    expect(JSON.stringify(roundTrip(`{"metadata":${metadata},"spec":{}}`).metadata)).toBe(expected)
  })

  it('leave what is called managedFields elsewhere', () => {
    const spec = `{"managedFields":[1],"metadata":{"managedFields":[2]},"${lastApplied}":"x"}`
    const object = roundTrip(
      `{"spec":${spec},"metadata":{"name":"a","labels":{"managedFields":"l"}}}`,
    )
    expect(JSON.stringify(object['spec'])).toBe(spec)
    expect(object.metadata.labels).toEqual({ managedFields: 'l' })
  })

  it('keep the digits of integers that a double cannot hold', () => {
    const spec =
      '{"a":9007199254740993,"b":[-12345678901234567890],"c":9007199254740992,"d":12345678901234567890123,"e":"9007199254740993"}'
    const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(
      (name, index) =>
        `{"metadata":{"name":"${name}"},"spec":${spec.replaceAll('93', `9${index}`)},"x":"${'y'.repeat(99)}"}`,
    )
    const codec = createObjectCodec({ resource: podResource })
    for (const text of texts) {
      const { held, object } = codec.encode(Buffer.from(text))
      const expected = `{"apiVersion":"v1","kind":"Pod",${text.slice(1)}`
      expect(JSON.stringify(object)).toBe(expected)
      expect(JSON.stringify(codec.decode(held))).toBe(expected)
    }
  })

  it('take __proto__ for a key like any other', () => {
    const object = roundTrip('{"metadata":{"name":"a"},"spec":{"__proto__":{"polluted":true}}}')
    const spec = object['spec'] as Record<string, unknown>
    expect(Object.keys(spec)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(spec)).toBe(Object.prototype)
  })

  it('do not depend on the bytes once encode has returned', () => {
    const codec = createObjectCodec({ resource: podResource })
    const encoded = [...podTexts({ count: 100, siblings: 20, seed: 3 })].map((text) => {
      const expected = referenceDecode(text.toString(), podResource)
      const { held, object } = codec.encode(text)
      text.fill(0)
      return { held, object, expected }
    })
    for (const { held, object, expected } of encoded) {
      expect({ object }).toEqual(expected)
      expect({ object: codec.decode(held) }).toEqual(expected)
    }
  })

  it('accept any Uint8Array, and large objects', () => {
    const value = 'ä😀"\\\n'.repeat(400_000)
    const text = JSON.stringify({ metadata: { name: 'a' }, data: { value } })
    const bytes = new Uint8Array(Buffer.from(`  ${text}`)).subarray(2)
    const codec = createObjectCodec({ resource: podResource })
    const decoded = codec.decode(codec.encode(bytes).held) as Unstructured
    expect(decoded['data']).toEqual({ value })
  })
})

describe('encode refuses', () => {
  it('another kind, by name', () => {
    const text =
      '{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"n"}}'
    expect(encode(text)).toThrow(WrongKindError)
    expect(encode(text)).toThrow('pods n/a: expected v1 Pod, found ["meta.k8s.io/v1","Table"]')
    expect(encode('{"kind":"Pod","apiVersion":"v2","metadata":{"name":"a"}}')).toThrow(
      WrongKindError,
    )
    expect(encode('{"kind":5,"metadata":{"name":"a"}}')).toThrow(WrongKindError)
  })

  it('an object without metadata, without a name, or with a namespace that is none', () => {
    for (const text of [
      '{}',
      '{"metadata":null}',
      '{"metadata":{}}',
      '{"metadata":{"name":""}}',
      '{"metadata":{"name":"a","namespace":1}}',
    ]) {
      expect(encode(text)).toThrow(MissingMetadataError)
    }
  })

  it('what is not one JSON object, naming the object as far as it was read', () => {
    for (const text of [
      '',
      'null',
      '[]',
      '{',
      '{"metadata":{"name":"a"}}x',
      '{"metadata":{"name":"a"}',
    ]) {
      expect(encode(text)).toThrow(MalformedObjectError)
    }
    expect(encode('{"metadata":{"name":"a","namespace":"n"},"spec":{"x":}}')).toThrow('pods n/a: ')
    const cutOff =
      '{"metadata":{"managedFields":[{"a":1}],"namespace":"n","name":"a"},"spec":{"x":1'
    expect(encode(cutOff)).toThrow('pods n/a: ')
  })
})

describe('malformed texts among well-formed siblings', () => {
  const pod = (value: string): Buffer => {
    const rest = `"filler":"${'x'.repeat(400)}","last":[{}]`
    return Buffer.from(`{"metadata":{"name":"a"},"spec":{"value":${value},${rest}}}`)
  }

  it.each([
    '"s"d',
    '{}d',
    '[]1',
    '7d',
    '"s" "t"',
    '1 2',
    'tru',
    '',
    '7,8',
    '"s":1',
    '\\u0031',
    '-',
  ])('are refused, not walked over for ever: %s', (value) => {
    for (const usual of ['300', '"s"', '{}', '[]', 'true', '{"a":1}', '[1]']) {
      const codec = createObjectCodec({ resource: podResource })
      for (let count = 0; count < 20; count++) codec.encode(pod(usual))
      expect(() => codec.encode(pod(value))).toThrow(MalformedObjectError)
    }
  })
})

describe('metadataOnly', () => {
  const partial =
    '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}'

  it('takes PartialObjectMetadata for the resource’s own kind', () => {
    const expected = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}'
    expect(JSON.stringify(roundTrip(partial, true))).toBe(expected)
    expect(encode(partial)).toThrow(WrongKindError)
    expect(encode(partial.replace('meta.k8s.io/v1', 'v1'), true)).toThrow(WrongKindError)
  })

  it('keeps nothing but metadata, whatever the server sends', () => {
    for (const text of [
      '{"data":{"password":"x"},"metadata":{"name":"a"},"type":"Opaque"}',
      '{"metadata":{"name":"a"},"data":{"password":"x"}}',
      '{"metadata": {"name":"a"}, "data": {"password":"x"}}',
      '{"metadata":{"n\\u0061me":"a"},"data":{"password":"x"}}',
    ]) {
      expect(Object.keys(roundTrip(text, true))).toEqual(['apiVersion', 'kind', 'metadata'])
    }
  })
})

describe('hold', () => {
  it('holds a transformed object as it is, with the resource’s own type', () => {
    const codec = createObjectCodec({ resource: podResource })
    const texts = [...podTexts({ count: 60, siblings: 30, seed: 4 })]
    for (const text of texts) {
      const { object } = codec.encode(text)
      const { spec: _, kind: __, ...rest } = object as Unstructured
      const changed = { ...rest, extra: { note: 'ü\u2028' }, kind: 'Other' }
      const expected = { ...changed, kind: 'Pod' }
      const decoded = codec.decode(codec.hold(changed))
      expect(decoded).toEqual(expected)
      expect(Object.keys(decoded).slice(0, 2)).toEqual(['apiVersion', 'kind'])
    }
  })

  it('refuses what has no metadata.name or no JSON form', () => {
    const codec = createObjectCodec({ resource: podResource })
    const hold = (object: unknown) => (): HeldObject => codec.hold(object as Unstructured)
    expect(hold({ metadata: {} })).toThrow(MissingMetadataError)
    expect(hold({ metadata: { name: 'a', namespace: 'n' }, size: 1n })).toThrow('pods n/a: ')
  })
})

describe('memory', () => {
  it('is a quarter of the parsed objects’ or less, and keeps no received bytes alive', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = (): number => {
      collect()
      collect()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const count = 2000
    const parsedBytes = 8600
    const before = used()
    const codec = createObjectCodec({ resource: podResource })
    const kept: HeldObject[] = []
    const names: string[] = []
    for (const text of podTexts({ count, siblings: 50, seed: 5 })) {
      const { held, object } = codec.encode(text)
      kept.push(held)
      names.push(object.metadata.name)
    }
    const perObject = (used() - before) / count
    expect(kept).toHaveLength(names.length)
    expect(perObject).toBeLessThan(parsedBytes / 4)
  })
})
