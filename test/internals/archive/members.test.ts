// Imports internals: what a gateway's thread does not say for a while cannot be had from outside.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Archive, openArchive } from '../../../src/archive/archive.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../../support/postgres.ts'

describe('A gateway among those that share clusters', needsPostgres, () => {
  let postgres: PostgresServer | undefined
  beforeAll(async () => {
    if (needsPostgres.skip) return
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())

  const one = { address: 'http://one', instance: '1', isLeaving: false }
  const two = { address: 'http://two', instance: '2', isLeaving: false }
  /** For how many milliseconds `one` still counts as living, as another one reads. */
  const remainingMs = async (archive: Archive): Promise<number | undefined> =>
    (await archive.prolongMember(two)).members.find(({ address }) => address === one.address)
      ?.remainingMs

  it('lives on while its own thread stands still for some seconds, and no longer', async () => {
    const url = (await postgres?.database()) ?? ''
    await using archive = await openArchive({ url })
    await using other = await openArchive({ url })
    await archive.prolongMember(one)
    // Its row was for 6 s.
    await sleep(7_500)
    expect(await remainingMs(other)).toBeGreaterThan(0)
    await expect.poll(() => remainingMs(other), { timeout: 30_000 }).toBeLessThan(0)
    await archive.prolongMember(one)
    expect(await remainingMs(other)).toBeGreaterThan(0)
  })

  it('lives no more once it has said so, or another one has removed it', async () => {
    const url = (await postgres?.database()) ?? ''
    await using archive = await openArchive({ url })
    await using other = await openArchive({ url })
    await archive.prolongMember(one)
    await archive.removeMember(one)
    expect(await remainingMs(other)).toBeUndefined()
    await archive.prolongMember(one)
    // It may have prolonged its row meanwhile.
    const remove = async () => {
      const { members } = await other.prolongMember(two)
      const [seen] = members.filter(({ address }) => address === one.address)
      return seen === undefined || (await other.removeGone(seen))
    }
    await expect.poll(remove).toBe(true)
    await sleep(3_000)
    expect(await remainingMs(other)).toBeUndefined()
  })
})
