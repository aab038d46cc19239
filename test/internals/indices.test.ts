// Imports internals: postings of the store are compared with a model, step by step.
import { describe, expect, it } from 'vitest'
import { KeyOrder } from '../../src/informer/store/sorted-list.ts'
import { LabelIndex, ObjectIndex } from '../../src/informer/store/object-index.ts'
import { runSeed, seededRandom } from '../support/random.ts'

const steps = 20_000

describe(`indices equal what a scan would compute, seed ${runSeed}`, () => {
  it('finds the objects of every value after any schedule of changes', () => {
    const random = seededRandom(runSeed)
    const index = new ObjectIndex('test')
    const truth = new Map<number, string[]>()
    for (let step = 0; step < steps; step++) {
      const id = Math.floor(random() * 60)
      if (random() < 0.2) {
        index.delete(id)
        truth.delete(id)
      } else {
        const count = Math.floor(random() * 4)
        const values = Array.from({ length: count }, () => `v${Math.floor(random() * 12)}`)
        index.set(id, values)
        if (values.length === 0) truth.delete(id)
        else truth.set(id, [...new Set(values)])
      }
      if (step % 100 !== 0) continue
      const expected = new Map<string, number[]>()
      for (const [object, values] of truth) {
        for (const value of values) expected.set(value, [...(expected.get(value) ?? []), object])
        expect(index.valuesOf(object).toSorted()).toEqual(values.toSorted())
      }
      expect([...index.values()].toSorted()).toEqual([...expected.keys()].toSorted())
      for (const [value, objects] of expected) {
        const posting = index.posting(value)
        expect([...(posting ?? [])].toSorted((a, b) => a - b)).toEqual(
          objects.toSorted((a, b) => a - b),
        )
        expect(posting?.size).toBe(objects.length)
        for (let object = 0; object < 60; object++) {
          expect(index.has(object, value)).toBe(objects.includes(object))
        }
      }
    }
  })

  it('keeps one index per label key, and forgets keys that nobody has', () => {
    const random = seededRandom(runSeed + 1)
    const index = new LabelIndex()
    const truth = new Map<number, Record<string, string>>()
    for (let step = 0; step < steps; step++) {
      const id = Math.floor(random() * 40)
      if (random() < 0.2) {
        index.delete(id)
        truth.delete(id)
      } else {
        const labels: Record<string, string> = {}
        for (const key of ['a', 'b', 'c', '__proto__x']) {
          if (random() < 0.4) labels[key] = `v${Math.floor(random() * 5)}`
        }
        index.set(id, labels)
        truth.set(id, labels)
      }
      if (step % 100 !== 0) continue
      for (const key of ['a', 'b', 'c', '__proto__x']) {
        const found = [...(index.key(key)?.values() ?? [])].flatMap((value) =>
          [...(index.key(key)?.posting(value) ?? [])].map((object) => `${object}=${value}`),
        )
        const expected = [...truth].flatMap(([object, labels]) =>
          labels[key] === undefined ? [] : [`${object}=${labels[key]}`],
        )
        expect(found.toSorted()).toEqual(expected.toSorted())
        expect(index.key(key) === undefined).toBe(expected.length === 0)
        expect([...index.keys()].includes(key)).toBe(expected.length > 0)
      }
      for (let object = 0; object < 40; object++) {
        expect(index.labelsOf(object)).toEqual(truth.get(object) ?? {})
      }
    }
  })

  it('keeps namespace and name in order, from any position', () => {
    const random = seededRandom(runSeed + 2)
    const keys = new Map<number, string>()
    const order = new KeyOrder((id) => keys.get(id) ?? '')
    const present = new Map<string, number>()
    const randomKey = () => {
      const name = `n-${Math.floor(random() * 2000)}`
      return random() < 0.1 ? name : `${['a', 'a-b', 'a.c', 'b'][Math.floor(random() * 4)]}/${name}`
    }
    let next = 0
    for (let step = 0; step < steps; step++) {
      const key = randomKey()
      const id = present.get(key)
      if (id === undefined) {
        keys.set(next, key)
        order.insert(next, key)
        present.set(key, next)
        next += 1
      } else if (random() < 0.5) {
        order.remove(key)
        keys.delete(id)
        present.delete(key)
      }
      if (step % 1000 !== 0) continue
      const split = (one: string) => (one.includes('/') ? one.split('/') : ['', one])
      const expected = [...present.keys()].toSorted((one, other) => {
        const [namespace = '', name = ''] = split(one)
        const [otherNamespace = '', otherName = ''] = split(other)
        if (namespace !== otherNamespace) return namespace < otherNamespace ? -1 : 1
        return name < otherName ? -1 : 1
      })
      expect([...order.ids()].map((one) => keys.get(one))).toEqual(expected)
      const from = randomKey()
      const after = expected.findIndex((one) => {
        const [namespace = '', name = ''] = split(one)
        const [fromNamespace = '', fromName = ''] = split(from)
        return namespace > fromNamespace || (namespace === fromNamespace && name > fromName)
      })
      expect([...order.idsAfter(from)].map((one) => keys.get(one))).toEqual(
        after < 0 ? [] : expected.slice(after),
      )
      const before = expected.slice(0, after < 0 ? expected.length : after).toReversed()
      expect([...order.idsBefore(from)].map((one) => keys.get(one))).toEqual(
        before.filter((one) => one !== from),
      )
      expect([...order.idsBefore(undefined)].map((one) => keys.get(one))).toEqual(
        expected.toReversed(),
      )
    }
  })
})
