// Imports internals: what the archive is told and answers is of the gateway's own parts.
import { statSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../../../src/archive/archive.ts'
import { examineArchive } from '../../../src/archive/examine-archive.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { batchOf, configMaps, listOf, objectsOf, pods } from './batches.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'informerql-archive-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const namesOf = async (...of: Parameters<typeof objectsOf>) =>
  (await objectsOf(...of))
    .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
    .toSorted()

describe.each(['file', 'memory', 'postgres'] as const)('The archive (%s)', (form) => {
  const needs = form === 'postgres' ? needsPostgres : {}
  let postgres: PostgresServer | undefined
  beforeAll(async () => {
    if (form === 'postgres' && !needsPostgres.skip) postgres = await startPostgres()
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())

  const newUrl = async (): Promise<string> => {
    if (form === 'memory') return 'memory:'
    return form === 'file' ? `file:${dir}/a.db` : ((await postgres?.database()) ?? '')
  }

  it('has the rows and the position of what was written', needs, async () => {
    await using archive = await openArchive({ url: await newUrl() })
    const kind = await archive.kind(configMaps)
    expect(kind).toMatchObject({ position: undefined, objects: 0, isHeld: true })
    await archive.write(
      listOf(kind.id, [
        { name: 'one', version: 1 },
        { name: 'two', version: 2 },
      ]),
    )
    await archive.write(
      batchOf(kind.id, [
        { name: 'two', version: 3, rest: { data: { a: '1' } } },
        { type: 'ADDED', name: 'three', version: 4 },
        { type: 'REMOVED', name: 'one', version: 5 },
      ]),
    )
    expect(await namesOf(archive, kind.id)).toEqual(['three@4', 'two@3'])
    expect(await archive.kind(configMaps)).toMatchObject({ position: '5', objects: 2 })
    expect(await archive.state()).toMatchObject({ objects: 2, changes: 3 })
    expect(archive.counts()).toMatchObject({ dropped: 0, gaps: 0, lagMs: 0, problem: undefined })
  })

  it(
    'takes a list in parts, removes what no part names, and has no position between',
    needs,
    async () => {
      await using archive = await openArchive({ url: await newUrl() })
      const { id } = await archive.kind(pods)
      const timeMs = Date.now() - 10_000
      const whole = ['one', 'two', 'three'].map((name, at) => ({ name, version: at + 1 }))
      await archive.write(listOf(id, whole, { timeMs }))
      const { position: _, ...first } = listOf(id, [{ name: 'one', version: 1 }], {
        list: { number: 99, isLast: false },
      })
      await archive.write(first)
      expect((await archive.kind(pods)).position).toBeUndefined()
      await archive.write(
        listOf(id, [{ name: 'four', version: 9 }], { list: { number: 99, isLast: true } }),
      )
      expect(await namesOf(archive, id)).toEqual(['four@9', 'one@1'])
      expect(await archive.state()).toMatchObject({ objects: 2, changes: 3, gaps: 1 })
    },
  )

  it('refuses changes of a kind of which it has no whole list', needs, async () => {
    await using archive = await openArchive({ url: await newUrl() })
    const { id } = await archive.kind(pods)
    const change = () => batchOf(id, [{ name: 'one', version: 1 }])
    await expect(archive.write(change())).rejects.toMatchObject({ code: 'ARCHIVE_BEHIND' })
    await archive.write(listOf(id, []))
    await archive.write(batchOf(id, [{ name: 'one', version: 2 }]))
    expect(await namesOf(archive, id)).toEqual(['one@2'])
  })

  it('lists a kind anew whose rows have another form', needs, async () => {
    await using archive = await openArchive({ url: await newUrl() })
    const { id } = await archive.kind(pods)
    await archive.write(listOf(id, [{ name: 'one', version: 1 }]))
    expect(await archive.kind({ ...pods, form: '2' })).toMatchObject({ id, position: undefined })
  })

  it(
    'gives no value of a field that is masked since, also of rows from before',
    needs,
    async () => {
      const url = await newUrl()
      const masked = ['ConfigMap:/data']
      const secret = (n: number) => ({ data: { password: `secret-${n}` }, other: n })
      const records = (n: number) => [{ name: 'a', version: n, rest: secret(n) }]
      const first = await openArchive(form === 'memory' ? { url, masked } : { url })
      const { id } = await first.kind(configMaps)
      await first.write(listOf(id, records(1)))
      await first.write(batchOf(id, records(2)))
      await first.write(
        batchOf(id, [...records(3), { name: 'b', version: 4, type: 'ADDED', rest: secret(4) }]),
      )
      const beforeMs = Date.now()
      if (form !== 'memory') await first[Symbol.asyncDispose]()
      const archive = form === 'memory' ? first : await openArchive({ url, masked })
      await using _ = archive
      if (form !== 'memory') await first[Symbol.asyncDispose]()
      const part = { cluster: 'a', group: '', resource: 'configmaps' }
      const all = async () => [
        await archive.changes({ parts: [part], limit: 10 }),
        await archive.differences({ parts: [part], fromMs: beforeMs - 60_000, limit: 10 }),
        await archive.objectAt({ ...part, key: 'default/a', at: { timeMs: beforeMs } }),
        await archive.objectAt({ ...part, key: 'default/a', at: { resourceVersion: '2' } }),
      ]
      const told = JSON.stringify(await all())
      expect(told).toContain('/other')
      expect(told).not.toContain('secret-')
      // The list that follows under the new form tells of no change.
      const { changes } = await archive.state()
      const anew = { ...configMaps, form: '2', masked: ['/data'] }
      expect((await archive.kind(anew)).position).toBeUndefined()
      await archive.write(
        listOf(id, [...records(3), { name: 'b', version: 4, rest: secret(4) }], { position: '4' }),
      )
      expect((await archive.state()).changes).toBe(changes)
      expect(JSON.stringify(await all())).not.toContain('secret-')
    },
  )

  it('knows what changed after a position, with the states before', needs, async () => {
    await using archive = await openArchive({ url: await newUrl() })
    const { id } = await archive.kind(configMaps)
    await archive.write(
      listOf(id, [
        { name: 'a', version: 1, rest: { data: { n: '1' } } },
        { name: 'b', version: 2 },
      ]),
    )
    await archive.write(batchOf(id, [{ name: 'a', version: 3, rest: { data: { n: '2' } } }]))
    await archive.write(
      batchOf(id, [
        { name: 'a', version: 4, rest: { data: { n: '3' } } },
        { type: 'REMOVED', name: 'b', version: 5 },
        { type: 'ADDED', name: 'c', version: 6 },
      ]),
    )
    const told = async (since: string, limit = 10) =>
      (await archive.changesSince(id, since, limit))?.map(({ type, key, before, after }) => [
        type,
        key,
        before === undefined ? undefined : (JSON.parse(before) as Told).data?.n,
        (JSON.parse(after) as Told).data?.n,
      ])
    const last = [
      ['MODIFIED', 'default/a', '2', '3'],
      ['REMOVED', 'default/b', undefined, undefined],
      ['ADDED', 'default/c', undefined, undefined],
    ]
    expect(await told('2')).toEqual([['MODIFIED', 'default/a', '1', '2'], ...last])
    expect(await told('3')).toEqual(last)
    // In the middle of a batch.
    expect(await told('5')).toEqual(last.slice(2))
    expect(await told('6')).toEqual([])
    expect(await told('7')).toBeUndefined()
    expect(await told('1')).toBeUndefined()
    expect(await told('2', 3)).toBeUndefined()
  })

  it('compares no resource versions of another incarnation of the cluster', needs, async () => {
    await using archive = await openArchive({ url: await newUrl() })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 90 }]))
    await archive.write(batchOf(id, [{ name: 'a', version: 95, rest: { data: { n: '1' } } }]))
    const restored = { incarnation: 'two' }
    await archive.write(listOf(id, [{ name: 'a', version: 20 }], restored))
    await archive.write(
      batchOf(id, [{ name: 'a', version: 30, rest: { data: { n: '2' } } }], restored),
    )
    expect(await archive.changesSince(id, '20', 10)).toMatchObject([{ resourceVersion: '30' }])
    expect(await archive.changesSince(id, '93', 10)).toBeUndefined()
  })

  it('knows nothing of before a list: what came and went then is in no row', needs, async () => {
    await using archive = await openArchive({ url: await newUrl() })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 2 }]))
    await archive.write(batchOf(id, [{ type: 'ADDED', name: 'b', version: 3 }]))
    expect(await archive.changesSince(id, '2', 10)).toHaveLength(1)
    // Somebody saw another one come with the version 5, which was gone before the list.
    await archive.write(listOf(id, [{ name: 'a', version: 2 }], { position: '9' }))
    expect(await archive.changesSince(id, '2', 10)).toBeUndefined()
    expect(await archive.changesSince(id, '5', 10)).toBeUndefined()
    expect(await archive.changesSince(id, '9', 10)).toEqual([])
  })

  it(
    'keeps a position of each namespace, and what changed in a store until the next one began',
    needs,
    async () => {
      await using archive = await openArchive({ url: await newUrl() })
      const { id } = await archive.kind(configMaps)
      const named = (name: string, namespace: string, version: number, n = '') =>
        ({ name, namespace, version, rest: { data: { n } } }) as const
      const begun = async () => {
        for await (const { position, namespaces, mark } of archive.objects(id)) {
          return { position, namespaces, mark }
        }
        throw new Error('no chunk')
      }
      const list = { number: 900, isLast: false }
      const { position: _, ...part } = listOf(id, [named('x', 'a', 9)], { list })
      await archive.write(part)
      expect(await begun()).toMatchObject({ position: undefined, namespaces: undefined })
      const namespaces = { a: '10', b: '12' }
      await archive.write(
        listOf(id, [named('y', 'b', 11)], {
          list: { number: 900, isLast: true },
          position: '10.e.A.1',
          namespaces,
        }),
      )
      expect(await begun()).toMatchObject({ position: '10.e.A.1', namespaces })
      await archive.write(
        batchOf(
          id,
          [named('x', 'a', 13, '1'), named('x', 'a', 14, '2'), named('y', 'b', 13, '3')],
          {
            position: '13.e.A.4',
            positions: ['12.e.A.2', '12.e.A.3', '13.e.A.4'],
            namespaces: { a: '14', b: '13' },
          },
        ),
      )
      await archive.write(batchOf(id, [], { position: '14.e.A.5', namespaces: { b: null } }))
      const { position, namespaces: kept, mark } = await begun()
      expect([position, kept]).toEqual(['14.e.A.5', { a: '14' }])
      expect((await archive.kind(configMaps)).namespaces).toEqual({ a: '14' })
      const told = async (since: string) =>
        (await archive.changesSince(id, since, 10, mark))?.map((one) => [
          one.position,
          one.before && (JSON.parse(one.before) as Told).data?.n,
          (JSON.parse(one.after) as Told).data?.n,
        ])
      const last = [
        ['12.e.A.3', '1', '2'],
        ['13.e.A.4', '', '3'],
      ]
      for (const isLater of [false, true]) {
        if (isLater) {
          await archive.write(
            batchOf(id, [named('x', 'a', 20, '9')], {
              position: '20.e.B.1',
              positions: ['20.e.B.1'],
              namespaces: { a: '20' },
            }),
          )
        }
        expect(await told('10.e.A.1')).toEqual([['12.e.A.2', '', '1'], ...last])
        expect(await told('12.e.A.2')).toEqual(last)
        expect(await told('13.e.A.4')).toEqual([])
        expect(await told('9.e.A.0')).toBeUndefined()
      }
      await archive.write(listOf(id, [], { position: '21.e.B.2', namespaces: { a: '21' } }))
      expect(await told('12.e.A.2')).toBeUndefined()
      expect((await begun()).namespaces).toEqual({ a: '21' })
    },
  )

  it('forgets the oldest changes by bytes, and says since when it knows all', needs, async () => {
    const maxBytes = 2 * 2 ** 20
    await using archive = await openArchive({ url: await newUrl(), maxBytes })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 1 }]))
    const text = () => Buffer.from(crypto.getRandomValues(new Uint8Array(6_000))).toString('hex')
    for (let version = 2; version < 800; version += 14) {
      const records = Array.from({ length: 14 }, (_, at) => ({
        name: 'a',
        version: version + at,
        rest: { data: { text: text() } },
      }))
      await archive.write(batchOf(id, records))
    }
    await expect.poll(async () => (await archive.state()).changes).toBeLessThan(400)
    const fileBytes = () => (form === 'file' ? statSync(join(dir, 'a.db')).size : 0)
    await expect.poll(fileBytes).toBeLessThan(maxBytes * 1.05)
    const { changes } = await archive.state()
    expect(changes).toBeGreaterThan(50)
    expect(await archive.changesSince(id, '1', 10_000)).toBeUndefined()
    expect(await archive.changesSince(id, '790', 100)).toHaveLength(9)
  })

  it('makes room for batches that are large beside what it may hold', needs, async () => {
    await using archive = await openArchive({ url: await newUrl(), maxBytes: 2 ** 20 })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, []))
    const text = () => Buffer.from(crypto.getRandomValues(new Uint8Array(500))).toString('hex')
    for (let version = 1; version < 3_000; version += 150) {
      const records = Array.from({ length: 150 }, (_, at) => ({
        name: `a${at % 100}`,
        version: version + at,
        rest: { data: { text: text() } },
      }))
      await archive.write(batchOf(id, records))
    }
    expect(await archive.state()).toMatchObject({ objects: 100 })
  })

  it('forgets what is older than it keeps', needs, async () => {
    const url = await newUrl()
    await using archive = await openArchive({ url, keepMs: 60_000 })
    const { id } = await archive.kind(configMaps)
    const timeMs = Date.now() - 200_000
    await archive.write(listOf(id, [{ name: 'a', version: 1 }], { timeMs }))
    await archive.write(
      batchOf(id, [{ name: 'a', version: 2, rest: { data: { n: '1' } } }], { timeMs: timeMs + 1 }),
    )
    await archive.write(batchOf(id, [{ name: 'a', version: 3 }]))
    if (form === 'memory') return
    await archive.close()
    await using again = await openArchive({ url, keepMs: 60_000 })
    await expect.poll(async () => (await again.state()).changes).toBe(1)
    expect(await again.changesSince(id, '2', 10)).toHaveLength(1)
    expect(await again.changesSince(id, '1', 10)).toBeUndefined()
  })

  it('is examined without being changed', needs, async () => {
    const url = await newUrl()
    expect(await examineArchive({ url })).toMatch(/^SQLite|^postgres/)
    await using archive = await openArchive({ url })
    expect(await archive.state()).toMatchObject({ objects: 0 })
  })

  it('refuses tables that a newer program made', needs, async () => {
    const url = await newUrl()
    if (form === 'memory') return
    const { id } = await (async () => {
      await using archive = await openArchive({ url })
      return await archive.kind(configMaps)
    })()
    expect(id).toBe(1)
    if (form === 'file') {
      const { DatabaseSync } = await import('node:sqlite')
      const database = new DatabaseSync(join(dir, 'a.db'))
      database.exec('INSERT INTO archive_version (version) VALUES (1000)')
      database.close()
    } else postgres?.sql('INSERT INTO archive_version (version) VALUES (1000)', url)
    await expect(openArchive({ url })).rejects.toMatchObject({ code: 'ARCHIVE_TOO_NEW' })
    await expect(examineArchive({ url })).rejects.toMatchObject({ code: 'ARCHIVE_TOO_NEW' })
  })
})

interface Told {
  readonly data?: { readonly n: string }
}

describe('An archive in a file', () => {
  it('is for its owner only, and is there after it was closed', async () => {
    const url = `file:${dir}/folder/a.db`
    {
      await using archive = await openArchive({ url })
      const { id } = await archive.kind(configMaps)
      await archive.write(listOf(id, [{ name: 'one', version: 7 }]))
    }
    expect((await stat(join(dir, 'folder', 'a.db'))).mode & 0o777).toBe(0o600)
    await using archive = await openArchive({ url })
    const { id, position } = await archive.kind(configMaps)
    expect(position).toBe('7')
    expect(await namesOf(archive, id)).toEqual(['one@7'])
  })

  it('is of one process', async () => {
    const url = `file:${dir}/a.db`
    await using archive = await openArchive({ url })
    await expect(openArchive({ url })).rejects.toMatchObject({ code: 'ARCHIVE_IN_USE' })
    expect(await archive.state()).toMatchObject({ objects: 0 })
  })
})
