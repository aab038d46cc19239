// Imports internals: what the archive is told and answers is of the gateway's own parts.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needsPostgres, type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { runSeed } from '../../support/random.ts'
import { Schedule } from './schedule.ts'

/** All seeds from `FIRST` to `LAST`, of each engine: `ARCHIVE_SEEDS=0-200`. Absent: those after another one in each run, for as long as there is time. */
const seeds = process.env['ARCHIVE_SEEDS']
const [firstSeed = 0, lastSeed = 200] = (seeds ?? `${runSeed % 150}-200`).split('-').map(Number)
const isBounded = seeds === undefined
const secondsEach = 5

let dir = ''
let postgres: PostgresServer | undefined
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'informerql-schedules-'))
  if (!needsPostgres.skip) postgres = await startPostgres()
}, 60_000)
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

describe.each(['memory', 'file', 'postgres'])('an archive in %s', (form) => {
  const options = form === 'postgres' ? needsPostgres : {}
  it(
    'tells of every random schedule what a model tells',
    { ...options, timeout: 3_600_000 },
    async () => {
      const deadline = performance.now() + secondsEach * 1_000
      const url =
        form === 'memory'
          ? 'memory:'
          : form === 'file'
            ? `file:${dir}/a.db`
            : ((await postgres?.database()) ?? '')
      for (let seed = firstSeed; seed < lastSeed; seed += 1) {
        if (isBounded && performance.now() > deadline) break
        const told = new Schedule(seed, url, form !== 'memory').run()
        await expect(told, `seed ${seed}`).resolves.toBe(seed)
      }
    },
  )
})
