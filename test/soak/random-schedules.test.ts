import { describe, expect, it } from 'vitest'
import type { Unstructured } from 'informerql/informer'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { held, shown, until } from '../support/informer.ts'
import { runSeed } from '../support/random.ts'
import { RandomSchedule } from './random-schedule.ts'
import { realServer } from './real-scheduled-server.ts'
import { recomputedIndices } from './recomputed-indices.ts'
import { type ScheduledServer, simulatedServer } from './scheduled-server.ts'

const seconds = (otherwise: number): number => Number(process.env['SCHEDULE_SECONDS'] ?? otherwise)

const promise =
  '[8] [15] [16] [20] [25] [28] [29] in the end all stores, indices and handlers are what the server lists, and no event was lost or invented'

const setsEqual = (one: Iterable<string>, other: Iterable<string>): boolean =>
  [...one].toSorted().join() === [...other].toSorted().join()

/** Waits until nothing moves any more, then holds the schedule to everything that was promised. */
async function settle(schedule: RandomSchedule, server: ScheduledServer): Promise<void> {
  for (const one of schedule.informers) {
    const { name, setting, informer } = one
    const listed = (await server.list(setting.selection)).map(shown)
    await until(
      () => setsEqual(held(informer), listed),
      () =>
        `${name}: ${JSON.stringify({ listed, held: held(informer) })}, ${informer.state}, ${one.troubles.join('\n')}`,
    )
  }
  for (const [handler, { informer }] of schedule.handlers) {
    await until(
      () => setsEqual(handler.view(), held(informer)) && handler.registration.hasSynced(),
      () => `${handler.name}: ${JSON.stringify({ view: handler.view(), held: held(informer) })}`,
    )
  }
}

function check(schedule: RandomSchedule): void {
  expect(schedule.wrong).toEqual([])
  for (const one of schedule.informers) {
    const { informer, setting, witness } = one
    const { found, expected } = recomputedIndices(informer, schedule.indexers)
    expect(found, one.name).toEqual(expected)
    for (const id of informer.store.ids()) {
      const object = informer.store.object(id) as Unstructured
      const written = schedule.ledger.get(informer.store.keyOf(id))
      expect(object.metadata, one.name).toEqual(written?.metadata)
      if (setting.metadataOnly !== true) expect(object['data']).toEqual(written?.['data'])
    }
    expect(witness.invented(schedule.ledger)).toEqual([])
    expect(witness.repeated()).toEqual([])
    expect(informer.failures.get('handler'), one.name).toBeUndefined()
    expect(informer.failures.get('index'), one.name).toBeUndefined()
    if (one.sawEverything) {
      expect(witness.told, one.name).toEqual(schedule.ledger.eventsOf(setting.matches))
    }
  }
}

/** How much was run. */
interface Ran {
  readonly schedules: number
  readonly events: number
  /** Informers that never listed again, so that every single event of theirs was compared. */
  readonly completeHistories: number
}

/** Runs schedules for as long as there is time, at least one. */
async function runSchedules(
  forSeconds: number,
  start: (number: number) => Promise<ScheduledServer & AsyncDisposable>,
): Promise<Ran> {
  const end = performance.now() + forSeconds * 1000
  const ran = { schedules: 0, events: 0, completeHistories: 0 }
  do {
    const seed = runSeed + ran.schedules
    try {
      await using server = await start(ran.schedules)
      await using schedule = new RandomSchedule(seed, server)
      await schedule.run()
      await settle(schedule, server)
      check(schedule)
      for (const { sawEverything, witness } of schedule.informers) {
        ran.events += witness.count
        ran.completeHistories += Number(sawEverything)
      }
    } catch (cause) {
      throw new Error(`schedule ${ran.schedules}; SEED=${seed} begins with it`, { cause })
    }
    ran.schedules += 1
  } while (performance.now() < end)
  console.log(JSON.stringify(ran))
  return ran
}

const testDeadlineMs = (forSeconds: number): number => forSeconds * 1000 + 120_000

describe(`Whatever goes wrong on the simulator, seed ${runSeed} (SEED=${runSeed} repeats it)`, () => {
  const forSeconds = seconds(5)
  it(promise, { timeout: testDeadlineMs(forSeconds) }, async () => {
    const ran = await runSchedules(forSeconds, simulatedServer)
    expect(ran.events).toBeGreaterThan(0)
  })
})

describeWithControlPlane(
  `Whatever goes wrong, seed ${runSeed} (SEED=${runSeed} repeats it)`,
  (plane) => {
    const forSeconds = seconds(8)
    it(promise, { timeout: testDeadlineMs(forSeconds) }, async () => {
      const ran = await runSchedules(forSeconds, async (number) =>
        realServer(plane(), [`s${number}-one`, `s${number}-two`]),
      )
      expect(ran.events).toBeGreaterThan(0)
    })
  },
)
