import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { created, sent } from '../gateway/created.ts'
import { needsPostgres } from '../support/postgres.ts'
import { agreedHolders, heldAt, type Holders } from './settled-holders.ts'
import { SharedGateways, type SharingGateway, type SharingProgram } from './shared-gateways.ts'

const patience = { timeout: 120_000, interval: 200 }
const count = 12
/** A question waits for its holder as long as an operation may take: what is never answered fails. */
const limits = { operationDeadlineMs: 600_000 }
/** A gateway that has handed a cluster over goes on having it for a moment. */
const handOverMs = 6_000

describe('a holder whose process hangs, and refuses no connection', needsPostgres, () => {
  let shared: SharedGateways
  let here: SharingGateway
  let there: SharingProgram
  let before: Holders
  let far: readonly string[]

  const settled = async (): Promise<SharingProgram> => {
    const program = await shared.program()
    const held = await agreedHolders([here, program])
    if (heldAt(program, held).length > 0) return program
    await program[Symbol.asyncDispose]()
    return await settled()
  }

  beforeAll(async () => {
    shared = await SharedGateways.start(count)
    here = await shared.serve({ limits })
    there = await settled()
    await sleep(handOverMs)
    before = await agreedHolders([here])
    far = heldAt(there, before)
  }, 240_000)

  afterAll(() => shared[Symbol.asyncDispose]())

  const sql = (text: string): string => shared.postgres.sql(text, shared.archive)
  const made: string[] = []
  /** Creates a pod in each cluster. */
  const make = async (): Promise<void> => {
    const name = `moving-${made.length}`
    for (const [at, simulator] of shared.simulators.entries()) {
      await created(simulator, podsPath, podOf(name))
      made.push(`${shared.names[at]} ${name}`)
    }
  }
  const written = (): readonly string[] =>
    sql(`SELECT cluster || ' ' || name FROM changes JOIN kinds ON kinds.id = kind_id
         WHERE name LIKE 'moving-%' AND type = 0 ORDER BY changes.id`)
      .split('\n')
      .filter((line) => line !== '')
      .toSorted()
  const untilWritten = async (): Promise<void> => {
    await expect.poll(written, patience).toEqual(made.toSorted())
  }
  /** By cluster, how often it has gone from one writer to another. */
  const epochs = (): Readonly<Record<string, number>> =>
    Object.fromEntries(
      sql("SELECT cluster || ' ' || epoch FROM holders")
        .split('\n')
        .map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]),
    )

  /** Changes `moving-0` in the clusters that it held. */
  const label = async (step: string): Promise<void> => {
    for (const name of far) {
      const simulator = shared.simulators[shared.names.indexOf(name)]!
      await sent(simulator, 'PATCH', `${podsPath}/moving-0`, { metadata: { labels: { step } } })
    }
  }
  const labelled = (): readonly string[] =>
    sql(`SELECT cluster || ' ' || COUNT(*) FROM changes JOIN kinds ON kinds.id = kind_id
         WHERE name = 'moving-0' AND type = 1 GROUP BY cluster ORDER BY cluster`).split('\n')
  const eachOf = (times: number): readonly string[] =>
    far.map((name) => `${name} ${times}`).toSorted()

  it('loses its clusters when its row ends: what was asked of it begins anew, what it has in hand it writes no more, and it takes back what it had', async () => {
    const all = '{ pods(clusters: ["*"]) { totalCount incomplete { code } } }'
    const one = `{ pods(cluster: "${far[0]}") { totalCount } }`
    await make()
    await untilWritten()
    const [gaps, epochsBefore] = [sql('SELECT COUNT(*) FROM gaps'), epochs()]
    const lock = new Client({ connectionString: shared.archive })
    await lock.connect()
    try {
      await lock.query('BEGIN; LOCK TABLE changes IN SHARE MODE')
      await label('in-hand')
      // It has begun to write them.
      const waits = `SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'changes'::regclass`
      await expect.poll(() => sql(waits), { ...patience, interval: 20 }).toBe('1')
      there.program.suspend()
    } finally {
      await lock.end()
    }
    try {
      const answers = await Promise.all([all, one, one, all].map((query) => here.query(query)))
      // That it answers nothing would be found out later than that its row is over.
      expect(here.log.filter((line) => line.includes('stands still'))).toEqual([])
      for (const { data, errors } of answers) {
        expect(errors).toBeUndefined()
        expect(data.pods.incomplete ?? []).toEqual([])
      }
      expect(heldAt(there, await agreedHolders([here]))).toEqual([])
      await label('later')
      await make()
      await untilWritten()
      await expect.poll(labelled, patience).toEqual(eachOf(2))
      expect(sql('SELECT COUNT(*) FROM gaps')).toBe(gaps)
    } finally {
      there.program.resume()
    }
    const taken = epochs()
    for (const name of far) expect(taken[name]).toBeGreaterThan(epochsBefore[name] ?? 0)
    const isBefore = (held: Holders): boolean => heldAt(there, held).join() === far.join()
    await agreedHolders([here, there], isBefore)
    // It writes its clusters again, each by a new epoch.
    const mine = (): readonly boolean[] =>
      far.map((name) => (epochs()[name] ?? 0) > (taken[name] ?? 0))
    await expect.poll(mine, patience).toEqual(far.map(() => true))
    await label('last')
    await make()
    await untilWritten()
    await expect.poll(labelled, patience).toEqual(eachOf(3))
    expect(sql('SELECT COUNT(*) FROM gaps')).toBe(gaps)
    const whole = { totalCount: count + made.length, incomplete: [] }
    await expect.poll(async () => (await here.query(all)).data.pods, patience).toEqual(whole)
  }, 240_000)
})
