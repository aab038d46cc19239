// Imports internals: the order of terms while they change, for every way in which they fall into groups.
import { describe, expect, it } from 'vitest'
import { folded, TermList } from '../../src/informer/store/term-list.ts'
import { runSeed, seededRandom } from '../support/random.ts'

const compare = (a: string, b: string): number => (folded(a) < folded(b) ? -1 : 1)

describe(`terms that come and go, SEED=${runSeed}`, () => {
  it.each([
    ['of a common beginning', 'production-eu-', 3],
    ['each the beginning of others', '', 1],
    ['in capitals, too', 'aB', 40],
  ])('are in order behind each beginning: %s', (_, head, letters) => {
    const random = seededRandom(runSeed)
    const below = (limit: number): number => Math.floor(random() * limit)
    const term = (): string => {
      const text = Array.from({ length: below(40) }, () =>
        String.fromCharCode(97 - (random() < 0.1 ? 32 : 0) + (below(letters) % 26)),
      ).join('')
      return random() < 0.95 ? head + text : text
    }
    const present = new Set(Array.from({ length: 5_000 }, term))
    const list = new TermList(present)
    for (let round = 0; round < 12; round += 1) {
      const start = round === 0 ? `${head}b` : term().slice(0, below(head.length + 4))
      const expected = [...present]
        .filter((one) => one.toLowerCase().startsWith(start.toLowerCase()))
        .toSorted(compare)
      expect([...list.startingWith(start)], start).toEqual(expected)
      for (const one of [...present].slice(0, 20)) {
        present.delete(one)
        list.remove(one)
      }
      for (let at = 0; at < 20; at += 1) {
        const one = term()
        if (present.has(one)) continue
        present.add(one)
        list.add(one)
      }
    }
  })
})
