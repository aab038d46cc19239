import { describe, expect, it } from 'vitest'
import { runSeed, seededRandom } from '../support/random.ts'
import { compareWithModel, disturbWorkers } from './random-schedule.ts'

const seeds = Array.from({ length: 30 }, (_, index) => runSeed + index)

describe(`[32] any schedule, SEED=${runSeed}`, () => {
  it.each(seeds)('[32] the queue does what the model does, seed %i', async (seed) => {
    await expect(compareWithModel(seededRandom(seed))).resolves.toBeUndefined()
  })

  // Turns of the event loop and timers take part, so a seed repeats the schedule nearly, not exactly.
  it.each(seeds)(
    '[32] no key is lost or with two workers, every add leads to a later reconcile, seed %i',
    async (seed) => {
      await expect(disturbWorkers(seededRandom(seed))).resolves.toBeUndefined()
    },
  )
})
