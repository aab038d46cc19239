// Imports internals: the codec gets bytes that no server sends, thousands a second.
import assert from 'node:assert/strict'
import { type HeldObject, CodedError } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { pods as podResource } from '../../bench/support/pod-resource.ts'
import { podTexts } from '../../bench/support/pods.ts'
import { type Random, randomFrom } from '../../bench/support/random.ts'
import { createObjectCodec, type ObjectCodec } from '../../src/informer/codec/object-codec.ts'
import { parseExact } from '../../src/lib/json.ts'
import { fuzzedText } from './fuzzed-text.ts'
import { referenceDecode } from './reference-codec.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31)
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2)

function corrupted(text: string, random: Random): string {
  const at = Math.floor(random() * text.length)
  const choice = random()
  if (choice < 0.3) return text.slice(0, at)
  if (choice < 0.6) return text.slice(0, at) + text.slice(at + 1)
  const extra = ['"', '{', '}', '[', ']', ',', ':', '\\', '1', ' ', 'x', '\u0000'][
    Math.floor(random() * 12)
  ]
  return text.slice(0, at) + extra + text.slice(choice < 0.8 ? at : at + 1)
}

function check(codec: ObjectCodec, text: string, metadataOnly: boolean): HeldObject | undefined {
  const expected = referenceDecode(text, podResource, metadataOnly)
  const bytes = Buffer.from(text)
  let encoded: ReturnType<ObjectCodec['encode']>
  try {
    encoded = codec.encode(bytes)
  } catch (error) {
    assert.ok(error instanceof CodedError, error as Error)
    assert.equal(error.code, 'refusal' in expected ? expected.refusal : `none: ${error.message}`)
    return undefined
  }
  bytes.fill(0x78)
  assert.ok('object' in expected, `should have been refused: ${JSON.stringify(expected)}`)
  same(encoded.object, expected.object)
  same(codec.decode(encoded.held), expected.object)
  same(parseExact(codec.textOf(encoded.held)) as object, expected.object)
  return encoded.held
}

function same(actual: object, expected: object): void {
  assert.equal(JSON.stringify(actual), JSON.stringify(expected))
  assert.deepStrictEqual(actual, expected)
}

describe(`the codec agrees with JSON.parse (FUZZ_SEED=${seed})`, () => {
  it.each([false, true])(
    'on mutated pods, metadataOnly: %s',
    { timeout: 60_000 },
    (metadataOnly) => {
      const random = randomFrom(seed)
      const until = performance.now() + (seconds * 1000) / 2
      let texts = 0
      while (performance.now() < until) {
        const codec = createObjectCodec({ resource: podResource, metadataOnly })
        const pods = [...podTexts({ count: 6, siblings: 3, seed: Math.floor(random() * 2 ** 31) })]
        const bases = pods.map(
          (pod) => JSON.parse(pod.toString()) as { metadata: { managedFields?: unknown } },
        )
        const kept: [HeldObject, string][] = []
        for (let round = 0; round < 120; round++, texts++) {
          const base = bases[Math.floor(random() * bases.length)]
          let text = fuzzedText(base, random)
          if (!metadataOnly && random() < 0.05) {
            // Without what is cut unseen, since a fault within that is not noticed.
            const { managedFields: _, ...metadata } = base?.metadata ?? {}
            text = corrupted(JSON.stringify({ ...base, metadata }), random)
          }
          try {
            const held = check(codec, text, metadataOnly)
            if (held !== undefined) kept.push([held, text])
          } catch (error) {
            throw new Error(`FUZZ_SEED=${seed}, text ${texts}: ${text}`, { cause: error })
          }
        }
        for (const [held, text] of kept) {
          const expected = referenceDecode(text, podResource, metadataOnly)
          assert.ok('object' in expected)
          same(codec.decode(held), expected.object)
        }
      }
      expect(texts).toBeGreaterThan(0)
    },
  )
})
