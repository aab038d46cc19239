import { afterAll, describe, expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { runSeed, scheduleSeeds } from '../support/random.ts'
import { type ComeBacks, noComeBacks } from './live-client.ts'
import { LiveSchedule } from './live-schedule.ts'
import { realCluster, type ScheduledCluster, simulatedCluster } from './scheduled-cluster.ts'

const standsPerClient = 4

const promise =
  'what clients hold in the end is what the API server lists, and from wherever they stood it is come to'

class Shares {
  #schedules = 0
  readonly #all = noComeBacks()

  async run(cluster: ScheduledCluster, seed: number): Promise<readonly string[]> {
    await using schedule = await LiveSchedule.begin(cluster, seed)
    // Of the first one, wherever its clients stood.
    const problems = await schedule.problems(this.#schedules === 0 ? Infinity : standsPerClient)
    this.#schedules += 1
    for (const { comeBacks } of schedule.clients) {
      for (const key of Object.keys(comeBacks) as (keyof ComeBacks)[]) {
        this.#all[key] += comeBacks[key]
      }
    }
    return problems
  }

  print(where: string): void {
    const { resumed, within, forgotten, unplanned, lost } = this.#all
    const all = resumed + within + forgotten + unplanned + lost
    console.log(
      `${where}: ${this.#schedules} schedules from SEED=${runSeed}; ${resumed} of ${all} subscriptions that came back went on where they stood; ` +
        `begun anew: ${within} from within a snapshot, ${forgotten} as history was forgotten, ${unplanned} without a plan, ${lost} otherwise`,
    )
  }
}

describe('sockets cut, readers held up, gateways restarted, API servers lost, histories forgotten and clocks set, on the simulator', () => {
  const shares = new Shares()
  afterAll(() => shares.print('simulator'))

  it.each(scheduleSeeds(2))(
    `${promise} (SEED=%s)`,
    async (seed) => {
      await using cluster = await simulatedCluster()
      expect(await shares.run(cluster, seed)).toEqual([])
    },
    180_000,
  )
})

describeWithControlPlane(
  'sockets cut, readers held up, gateways restarted, API servers lost, histories forgotten and clocks set',
  (plane) => {
    const shares = new Shares()
    afterAll(() => shares.print('real API server'))

    it.each(scheduleSeeds(1))(
      `${promise} (SEED=%s)`,
      async (seed) => {
        await using cluster = await realCluster(plane())
        expect(await shares.run(cluster, seed)).toEqual([])
      },
      180_000,
    )
  },
)
