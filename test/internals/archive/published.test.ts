// Imports internals: what gateways publish for each other is of their own parts.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Archive, openArchive } from '../../../src/archive/archive.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../../support/postgres.ts'

const stateOf = (state: string) => JSON.stringify({ state })
const rowsOf = async (archive: Archive, after = -1) =>
  (await archive.publishedAfter(after)).map(({ cluster, api, state }) => [cluster, api, state])

describe('What gateways publish in a Postgres', needsPostgres, () => {
  let postgres: PostgresServer | undefined
  let url = ''
  beforeAll(async () => {
    if (needsPostgres.skip) return
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())

  it('reaches the others, who are told of it and read only what is new', async () => {
    url = (await postgres?.database()) ?? ''
    await using holder = await openArchive({ url })
    await using other = await openArchive({ url })
    let told = 0
    other.onPublished(() => (told += 1))
    await holder.publish([
      { cluster: 'a', api: 'first', state: stateOf('CONNECTED') },
      { cluster: 'b', api: 'first', state: stateOf('CONNECTED') },
    ])
    await vi.waitFor(() => expect(told).toBeGreaterThan(0))
    const [, last] = await other.publishedAfter(-1)
    expect(await rowsOf(other)).toEqual([
      ['a', 'first', stateOf('CONNECTED')],
      ['b', 'first', stateOf('CONNECTED')],
    ])
    await holder.publish([{ cluster: 'a', api: undefined, state: stateOf('UNREACHABLE') }])
    // The API that is not known any more is the one from before.
    expect(await rowsOf(other, last?.written)).toEqual([['a', 'first', stateOf('UNREACHABLE')]])
  })

  it('is that of the holder: what another process says of its clusters is left out', async () => {
    url = (await postgres?.database()) ?? ''
    await using holder = await openArchive({ url })
    await using other = await openArchive({ url })
    expect(await holder.publish([{ cluster: 'a', api: 'x', state: '{}' }])).toEqual([])
    const both = ['a', 'b'].map((cluster) => ({ cluster, api: 'y', state: '{}' }))
    expect(await other.publish(both)).toEqual(['a'])
    expect(await rowsOf(holder)).toEqual([
      ['a', 'x', '{}'],
      ['b', 'y', '{}'],
    ])
  })

  it('claims many clusters at once, but none of another process', async () => {
    url = (await postgres?.database()) ?? ''
    await using holder = await openArchive({ url })
    await using other = await openArchive({ url })
    const all = Array.from({ length: 300 }, (_, at) => ({
      cluster: `c${at}`,
      api: 'x',
      state: '{}',
    }))
    expect(await holder.publish(all.slice(0, 100))).toEqual([])
    const refused = await other.publish(all.toReversed())
    expect(new Set(refused)).toEqual(new Set(all.slice(0, 100).map(({ cluster }) => cluster)))
    expect(await holder.publish(all)).toHaveLength(200)
    expect(postgres?.sql('SELECT COUNT(*), COUNT(DISTINCT holder) FROM holders', url)).toBe('300|2')
  })

  it('is forgotten with all that is said of clusters that nobody has held for a while', async () => {
    url = (await postgres?.database()) ?? ''
    await using archive = await openArchive({ url })
    const both = ['gone', 'held'].map((cluster) => ({ cluster, api: 'x', state: '{}' }))
    await archive.publish(both)
    const member = { address: 'http://a', instance: 'one', isLeaving: false }
    await archive.prolongMember(member)
    await archive.takeClusters(
      member,
      ['gone', 'held', 'new'].map((cluster) => ({ cluster, former: undefined })),
    )
    // It is no longer configured.
    await archive.releaseCluster('gone')
    await archive.close()
    postgres?.sql(`UPDATE holders SET until = 0 WHERE cluster = 'gone'`, url)
    await using again = await openArchive({ url })
    const known = async () =>
      (await again.prolongMember(member)).holders.map(([cluster]) => cluster).toSorted()
    await expect.poll(known).toEqual(['held', 'new'])
    expect(await rowsOf(again)).toEqual([['held', 'x', '{}']])
    expect(postgres?.sql('SELECT cluster FROM holders', url)).toBe('held')
  })

  it('has each text once, and forgets those that nothing refers to after a while', async () => {
    url = (await postgres?.database()) ?? ''
    await using archive = await openArchive({ url })
    const texts = ['api', 'used', 'unused'].map((hash) => ({ hash, parts: [], text: `of ${hash}` }))
    for (const one of texts)
      await archive.keepDocument(one.hash === 'api' ? { ...one, parts: ['used'] } : one)
    await archive.keepDocument({ hash: 'used', parts: [], text: 'of used' })
    await archive.publish([{ cluster: 'a', api: 'api', state: '{}' }])
    expect(await archive.lackedDocuments(['api', 'used', 'unused', 'none'])).toEqual(['none'])
    expect(await archive.documentsOf(['api', 'none'])).toEqual([
      { hash: 'api', parts: ['used'], text: 'of api' },
    ])
    await archive.close()
    postgres?.sql('UPDATE api_documents SET written = 0', url)
    // It forgets when it starts.
    await using again = await openArchive({ url })
    await vi.waitFor(() => {
      const hashes = postgres?.sql('SELECT hash FROM api_documents ORDER BY hash', url)
      expect(hashes?.split('\n')).toEqual(['api', 'used'])
    }, 10_000)
    expect(await rowsOf(again)).toEqual([['a', 'api', '{}']])
  })
})
