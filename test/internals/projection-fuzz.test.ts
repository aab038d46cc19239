// Imports internals: the projection gets bytes that no server sends, thousands a second.
import { createObjectCodec, type ObjectCodec } from '../../src/informer/codec/object-codec.ts'
import assert from 'node:assert/strict'
import { type HeldObject, CodedError } from 'informerql/informer'
import type { Unstructured, ApiResource } from 'informerql/kubernetes'
import { population } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { pods as podResource } from '../../bench/support/pod-resource.ts'
import { podTexts } from '../../bench/support/pods.ts'
import { pick, type Random, randomFrom } from '../../bench/support/random.ts'
import { fuzzedText } from './fuzzed-text.ts'
import { randomSelection } from './random-selection.ts'
import { referenceProjection } from './reference-projection.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31)
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2)

/** How many texts were compared, and how many of them are left to the slow way. */
interface Tally {
  texts: number
  left: number
}

/** Compares the projections of all objects with the reference's, for selections made after random ones of them. */
function compare(
  codec: ObjectCodec,
  held: readonly HeldObject[],
  options: { readonly selections: number; readonly random: Random; readonly tally: Tally },
): void {
  const { selections, random, tally } = options
  const objects = held.map((one) => codec.decode(one))
  for (let count = 0; count < selections; count++) {
    const selection = randomSelection(pick(objects, random), random)
    const project = codec.projection(selection)
    for (const [index, one] of held.entries()) {
      const expected = referenceProjection(objects[index], selection)
      assert.equal(project(one), expected, JSON.stringify([selection, objects[index]]))
      tally.texts++
      if (expected === undefined) tally.left++
    }
  }
}

function report(what: string, { texts, left }: Tally): void {
  console.log(
    `${what}: ${texts} texts, ${((left / texts) * 100).toFixed(1)} % left to the slow way`,
  )
}

describe(`a projection is JSON.stringify of what is picked (FUZZ_SEED=${seed})`, () => {
  it('of every kind of a simulated cluster', { timeout: 60_000 }, () => {
    const random = randomFrom(seed)
    const kinds = new Map<string, { codec: ObjectCodec; held: HeldObject[] }>()
    for (const { resource, object } of population({ pods: 120, seed: String(seed) })) {
      let kind = kinds.get(resource.kind)
      if (kind === undefined) {
        const described: ApiResource = { ...podResource, ...resource }
        kind = { codec: createObjectCodec({ resource: described }), held: [] }
        kinds.set(resource.kind, kind)
      }
      kind.held.push(kind.codec.encode(Buffer.from(JSON.stringify(object))).held)
    }
    const tally = { texts: 0, left: 0 }
    for (const { codec, held } of kinds.values()) {
      compare(codec, held, { selections: 30, random, tally })
    }
    report(`${kinds.size} kinds`, tally)
    expect(tally.left).toBeLessThan(tally.texts)
  })

  it.each([false, true])(
    'of mutated pods, metadataOnly: %s',
    { timeout: 60_000 },
    (metadataOnly) => {
      const random = randomFrom(seed)
      const until = performance.now() + (seconds * 1000) / 2
      const tally = { texts: 0, left: 0 }
      while (performance.now() < until) {
        const codec = createObjectCodec({ resource: podResource, metadataOnly })
        const pods = [...podTexts({ count: 6, siblings: 3, seed: Math.floor(random() * 2 ** 31) })]
        const bases = pods.map((pod) => JSON.parse(pod.toString()) as object)
        const held: HeldObject[] = []
        for (let count = 0; count < 80; count++) {
          const one = heldOf(codec, fuzzedText(pick(bases, random), random), random)
          if (one !== undefined) held.push(one)
        }
        compare(codec, held, { selections: 20, random, tally })
      }
      report('mutated pods', tally)
      expect(tally.left).toBeLessThan(tally.texts)
    },
  )
})

/** The text as it is held, at times after a transform; `undefined` where it is refused. */
function heldOf(codec: ObjectCodec, text: string, random: Random): HeldObject | undefined {
  try {
    const { held, object } = codec.encode(Buffer.from(text))
    return random() < 0.2 ? codec.hold({ ...object, transformed: random() } as Unstructured) : held
  } catch (error) {
    assert.ok(error instanceof CodedError, error as Error)
    return undefined
  }
}
