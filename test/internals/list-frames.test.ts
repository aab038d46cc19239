// Imports internals: the splitter of lists gets its bytes split at every pair of positions.
import { describe, expect, it } from 'vitest'
import {
  MalformedListError,
  OversizedFrameError,
  TruncatedFrameError,
} from '../../src/api-server/frames/watch-frames.ts'
import { ListFrames, type ListEnvelope } from '../../src/api-server/frames/list-frames.ts'
import { runSeed, seededRandom } from '../support/random.ts'

interface SplitList {
  readonly items: readonly string[]
  readonly envelope: ListEnvelope
}

const split = (chunks: readonly Uint8Array[], maxFrameBytes?: number): SplitList => {
  const frames = new ListFrames(maxFrameBytes === undefined ? {} : { maxFrameBytes })
  const items: string[] = []
  for (const chunk of chunks) {
    for (const item of frames.push(chunk)) items.push(Buffer.from(item).toString('utf8'))
  }
  frames.end()
  return { items, envelope: frames.envelope }
}

const splitText = (text: string): SplitList => split([Buffer.from(text)])

/** The text cut after each of the given lengths. */
const cut = (text: Buffer, ...positions: readonly number[]): Buffer[] =>
  [0, ...positions].map((from, index) => text.subarray(from, positions[index] ?? text.length))

const wholeList =
  String.raw`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"42","continue":"a\"b\\","remainingItemCount":7},` +
  String.raw`"items":[{"a":"\\"},{"b":"\"}]{[\\\""},{},{"c":{"d":[[{"e":"–\u2028 🎉"}],[],1,-2.5e3,true,null]}}]}` +
  '\n'
const wholeItems = (JSON.parse(wholeList) as { items: unknown[] }).items

describe('the splitter of lists', () => {
  it('gives items in order as they stand in the text, and the members beside them', () => {
    const { items, envelope } = splitText(wholeList)
    expect(items.map((item) => JSON.parse(item) as unknown)).toEqual(wholeItems)
    expect(envelope).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '42', continue: 'a"b\\', remainingItemCount: 7 },
    })
  })

  it('gives the same at every pair of split positions', () => {
    const text = Buffer.from(wholeList)
    const { items } = splitText(wholeList)
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second += 3) {
        expect(split(cut(text, first, second)).items).toEqual(items)
      }
    }
  })

  it('gives the same byte by byte, and with one buffer used for all chunks but the last two', () => {
    const text = Buffer.from(wholeList)
    const { items } = splitText(wholeList)
    expect(split([...text].map((byte) => Buffer.of(byte))).items).toEqual(items)
    const buffers = [Buffer.alloc(5), Buffer.alloc(5)]
    const frames = new ListFrames()
    const found: string[] = []
    for (let at = 0, turn = 0; at < text.length; at += 5, turn ^= 1) {
      const length = text.copy(buffers[turn] as Buffer, 0, at, at + 5)
      for (const item of frames.push((buffers[turn] as Buffer).subarray(0, length))) {
        found.push(Buffer.from(item).toString('utf8'))
      }
      buffers[turn ^ 1]?.fill(0x21)
    }
    frames.end()
    expect(found).toEqual(items)
  })

  it('takes ranges of the chunk where an item lies within it', () => {
    const chunk = Buffer.from(wholeList)
    const items = new ListFrames().push(chunk)
    expect(items.every(({ buffer }) => buffer === chunk.buffer)).toBe(true)
  })

  it('refuses a text that ends at any byte before its end', () => {
    const text = Buffer.from(wholeList.trimEnd())
    for (let length = 0; length < text.length; length++) {
      expect(() => split([text.subarray(0, length)])).toThrow(TruncatedFrameError)
    }
  })

  it('does not care for the order of members, nor for white space', () => {
    const list = JSON.parse(wholeList) as Record<string, unknown>
    const { kind, apiVersion, metadata, items } = list
    const orders = [
      { items, kind, apiVersion, metadata },
      { metadata, items, kind, apiVersion },
      { extra: [{ items: [] }], 'a"key': null, items, flag: true, number: -1, kind, metadata },
    ]
    for (const order of orders) {
      for (const indent of [0, 2, '\t', '\r\n ']) {
        const found = splitText(JSON.stringify(order, undefined, indent))
        expect(found.items.map((item) => JSON.parse(item) as unknown)).toEqual(items)
        expect(found.envelope).toMatchObject({ kind, metadata })
      }
    }
  })

  it('takes no items for an empty list and for null', () => {
    expect(splitText('{"items":[]}').items).toEqual([])
    expect(splitText('{"items":null,"kind":"PodList"}').items).toEqual([])
    expect(splitText(' { "items" : [ ] } \n').items).toEqual([])
  })

  it.each([
    ['no object', '[]'],
    ['text', 'upstream connect error'],
    ['no items', '{"kind":"Status","metadata":{}}'],
    ['items that are no list', '{"items":{}}'],
    ['items twice', '{"items":[],"items":[{}]}'],
    ['an item that is null', '{"items":[{},null]}'],
    ['an item that is a number', '{"items":[1]}'],
    ['a comma too many in the items', '{"items":[{},]}'],
    ['a comma too few in the items', '{"items":[{}{}]}'],
    ['a comma too many', '{"items":[],}'],
    ['a key that is none', '{items:[]}'],
    ['no colon', '{"items"[]}'],
    ['something after the end', '{"items":[]}{}'],
    ['a member that is no JSON', '{"metadata":{"a":},"items":[]}'],
  ])('refuses %s', (_, text) => {
    expect(() => splitText(text)).toThrow(MalformedListError)
  })

  it('refuses an item that is larger than allowed, whole or in parts', () => {
    const text = Buffer.from(`{"items":[{"a":1},{"a":"${'x'.repeat(100)}"}]}`)
    expect(split([text], 108).items).toHaveLength(2)
    expect(() => split([text], 107)).toThrow(OversizedFrameError)
    const bytes = [...text].map((byte) => Buffer.of(byte))
    expect(split(bytes, 108).items).toHaveLength(2)
    expect(() => split(bytes, 107)).toThrow(OversizedFrameError)
  })

  it(`agrees with JSON.parse on random lists (SEED=${runSeed})`, () => {
    const random = seededRandom(runSeed)
    const below = (limit: number) => Math.floor(random() * limit)
    const characters = [
      '"',
      '\\',
      '\\"',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '\n',
      '\u2028',
      'é',
      '🎉',
      'a',
    ]
    const text = () => Array.from({ length: below(12) }, () => characters[below(14)]).join('')
    const value = (depth: number): unknown => {
      const choice = below(depth > 3 ? 5 : 7)
      if (choice === 5) return Array.from({ length: below(4) }, () => value(depth + 1))
      if (choice === 6) return object(depth + 1)
      return [text(), random() * 1e6, true, null, text()][choice]
    }
    const object = (depth: number): object =>
      Object.fromEntries(Array.from({ length: below(5) }, () => [text(), value(depth)]))
    for (let round = 0; round < 3_000; round++) {
      const members: [string, unknown][] = [
        ['kind', 'XList'],
        ['metadata', object(1)],
        ['items', Array.from({ length: below(6) }, () => object(0))],
      ]
      const order = members.toSorted(() => random() - 0.5)
      const list = Object.fromEntries(order)
      const bytes = Buffer.from(JSON.stringify(list, undefined, [0, 1, '\t'][below(3)]))
      const positions = Array.from({ length: below(6) }, () => below(bytes.length + 1)).toSorted(
        (a, b) => a - b,
      )
      const found = split(cut(bytes, ...positions))
      expect({ ...found.envelope, items: found.items.map((item) => JSON.parse(item) as unknown) })
        // JSON.parse(JSON.stringify()) as the reference: -0 and the like.
        .toEqual(JSON.parse(bytes.toString('utf8')))
      expect(() => split([bytes.subarray(0, below(bytes.length))])).toThrow(TruncatedFrameError)
    }
  })
})
