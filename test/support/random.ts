/** A small seeded generator (mulberry32): the same seed gives the same numbers, in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A seed for this run: from `SEED`, else from the clock. To be put into the test's title. */
export const runSeed: number = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

/** The seeds of as many schedules as `SCHEDULES` asks for, from {@link runSeed} on. */
export const scheduleSeeds = (otherwise: number): readonly number[] =>
  Array.from({ length: Number(process.env['SCHEDULES'] ?? otherwise) }, (_, at) => runSeed + at)
