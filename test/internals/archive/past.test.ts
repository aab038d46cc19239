// Imports internals: what the archive is told and answers is of the gateway's own parts.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  ArchiveCalls,
  ArchivedKind,
  ChangesQuestion,
} from '../../../src/archive/archive-calls.ts'
import { openStore } from '../../../src/archive/store/archive-store.ts'
import { unpackedText } from '../../../src/archive/store/bodies.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { silent } from './schedule.ts'
import { batchOf, configMaps, listOf, pods, type TestRecord } from './batches.ts'

let dir = ''
let postgres: PostgresServer | undefined
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'informerql-past-'))
  if (!needsPostgres.skip) postgres = await startPostgres()
})
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

const secrets: ArchivedKind = { ...configMaps, resource: 'secrets', kind: 'Secret', keysOnly: true }
const place = { cluster: 'a', group: '' }
const all = { parts: [{ ...place, resource: 'configmaps' }], limit: 100 }

describe.each(['memory', 'postgres'])('the past in %s', (form) => {
  const needs = form === 'postgres' ? needsPostgres : {}
  const opened = async () => {
    const url = form === 'memory' ? 'memory:' : ((await postgres?.database()) ?? '')
    const archive = await openStore({ url }, silent)
    const { id } = await archive.kind(configMaps)
    let timeMs = Date.now() - 3_600_000
    let version = 1
    await archive.write(listOf(id, [{ name: 'first', version }], { timeMs }))
    const write = async (rest: TestRecord['rest'], name = 'a'): Promise<number> => {
      timeMs += 1_000
      version += 1
      await archive.write(batchOf(id, [{ name, version, rest: rest ?? {} }], { timeMs }))
      return timeMs
    }
    return { archive, write, id }
  }
  const at = async (archive: ArchiveCalls, timeMs: number, key = 'default/a'): Promise<unknown> => {
    const found = await archive.objectAt({ ...place, resource: 'configmaps', key, at: { timeMs } })
    return found.state === 'found' ? (JSON.parse(found.text) as unknown) : found.state
  }

  it('who follows several kinds hears of each change while others are written', needs, async () => {
    const { archive } = await opened()
    const clusters = Array.from({ length: 8 }, (_, number) => `follow-${number}`)
    const ids: number[] = []
    for (const cluster of clusters) {
      const { id } = await archive.kind({ ...configMaps, cluster })
      await archive.write(listOf(id, [{ name: 'first', version: 1 }]))
      ids.push(id)
    }
    const rounds = 40
    const written = (async () => {
      for (let version = 2; version < rounds + 2; version++) {
        const rest = { data: { version: String(version) } }
        await Promise.all(
          ids.map(async (id, number) => {
            // One after the other, so that some are written while others are read.
            await new Promise((resolve) => setTimeout(resolve, number))
            await archive.write(batchOf(id, [{ name: 'first', version, rest }]))
          }),
        )
      }
    })()
    const parts = clusters.map((cluster) => ({ ...place, cluster, resource: 'configmaps' }))
    const told: string[] = []
    let isWritten = false
    void written.finally(() => (isWritten = true))
    for (let following = '0', isLast = false; !isLast;) {
      isLast = isWritten
      // SQLite answers at once: the writer needs its turn.
      await nextTurn()
      const { changes, end = following } = await archive.changes({ parts, following, limit: 500 })
      told.push(...changes.map(({ cluster, resourceVersion }) => `${cluster} ${resourceVersion}`))
      following = end
    }
    await written
    expect(new Set(told).size).toBe(told.length)
    expect(told).toHaveLength(rounds * clusters.length)
    await archive.close()
  })

  it(
    'an object with 10,000 changed fields is one change that counts them, found by each of its paths',
    needs,
    async () => {
      const { archive, write } = await opened()
      const data = (value: string) => ({
        data: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`key-${n}`, value])),
      })
      const first = await write(data('one'))
      await write(data('two'))
      const { changes } = await archive.changes({
        ...all,
        paths: ['/data/key-9999'],
        types: ['MODIFIED'],
      })
      expect(changes).toMatchObject([{ fieldCount: 10_000 }])
      expect(changes[0]?.fields).toHaveLength(200)
      expect((await archive.changes({ ...all, paths: ['/data/none'] })).changes).toEqual([])
      expect(await at(archive, first)).toMatchObject(data('one'))
      await archive.close()
    },
  )

  it('an object of a megabyte is as it was', needs, async () => {
    const { archive, write } = await opened()
    const text = (end: string) =>
      Array.from({ length: 30_000 }, (_, n) => `${n} line ${end}`).join('\n')
    const before = await write({ data: { text: text('one'), big: 'x'.repeat(500_000) } })
    await write({ data: { text: text('two'), big: 'y'.repeat(500_000) } })
    expect(await at(archive, before)).toMatchObject({ data: { text: text('one') } })
    await archive.close()
  })

  it('an object of 1,500 levels keeps the rest of it', needs, async () => {
    const { archive, write } = await opened()
    let deep: unknown = 'end'
    for (let level = 0; level < 5_000; level += 1) deep = [deep]
    const json = { toJSON: undefined }
    expect(json).toBeDefined()
    const before = await write({ data: { n: '1' }, deep: levels(1_500) })
    await write({ data: { n: '2' }, deep: levels(1_500) })
    expect(await at(archive, before)).toMatchObject({ data: { n: '1' } })
    await archive.close()
  })

  const hostile = [
    '100%',
    'a_b',
    'line\nend',
    'nul\u0000',
    `'; DROP TABLE changes; --`,
    '\\',
    '"',
    '~/',
    '*x',
    '__proto__',
    '\u001b0a',
    '$1',
  ]

  it('paths of hostile characters are found, each by itself', needs, async () => {
    const { archive, write } = await opened()
    for (const [n, key] of hostile.entries()) {
      await write({ data: Object.fromEntries([[key, 'one']]) }, `o${n}`)
      await write({ data: Object.fromEntries([[key, 'two']]) }, `o${n}`)
    }
    for (const [n, key] of hostile.entries()) {
      const path = `/data/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const { changes } = await archive.changes({ ...all, paths: [path], types: ['MODIFIED'] })
      expect(changes.map(({ name }) => name)).toEqual([`o${n}`])
      expect(changes[0]?.fields).toMatchObject([{ path, before: 'one', after: 'two' }])
    }
    const { changes } = await archive.changes({ ...all, paths: ['/data/*'], types: ['MODIFIED'] })
    expect(changes).toHaveLength(hostile.length)
    await archive.close()
  })

  it('a question that names 10,000 keys, managers and paths is answered', needs, async () => {
    const { archive, write } = await opened()
    await write({ data: { a: '1' } })
    await write({ data: { a: '2' } })
    const many = Array.from({ length: 10_000 }, (_, n) => `default/k${n}`)
    const keys = [...many, 'default/a']
    const question: ChangesQuestion = {
      parts: [{ ...place, resource: 'configmaps', keys }],
      names: keys.map((key) => key.slice(8)),
      paths: [...many, '/data/a'],
      limit: 10,
    }
    expect((await archive.changes(question)).changes).toHaveLength(2)
    const { changes } = await archive.differences({ ...question, fromMs: 0 })
    expect(changes).toMatchObject([{ type: 'ADDED', name: 'a' }])
    await archive.close()
  })

  it('an object that changed 3,000 times is as it was at each time', needs, async () => {
    const { archive, id } = await opened()
    const begin = Date.now() - 3_000_000
    for (let from = 0; from < 3_000; from += 500) {
      await archive.write(
        batchOf(
          id,
          Array.from({ length: 500 }, (_, n) => ({
            name: 'a',
            version: 10 + from + n,
            rest: { data: { n: `${from + n}` } },
          })),
          { timeMs: begin + from },
        ),
      )
    }
    for (const from of [0, 500, 2_000]) {
      expect(await at(archive, begin + from)).toMatchObject({ data: { n: `${from + 499}` } })
    }
    const folded = await archive.changes({ ...all, limit: 2 })
    expect(folded.changes).toMatchObject([
      { repeats: 2_999, fields: [{ before: '0', after: '2999' }] },
      { type: 'ADDED' },
    ])
    await archive.close()
  })

  it(
    'a time before the archive, in a gap, or of a kind that is not kept is never "nothing changed"',
    needs,
    async () => {
      const { archive, write, id } = await opened()
      const known = await write({ data: { a: '1' } })
      await archive.gap(id, known, known + 500)
      await write({ data: { a: '2' } })
      expect(await at(archive, known - 10_000_000)).toBe('unknown')
      expect(await at(archive, known + 100)).toBe('unknown')
      const codesOf = async (more: Partial<ChangesQuestion>) =>
        (await archive.changes({ ...all, ...more })).gaps.map(({ code }) => code)
      expect(await codesOf({ sinceMs: 0 })).toEqual(['BEFORE_ARCHIVE', 'ARCHIVE_GAP'])
      expect(await codesOf({ sinceMs: known + 600 })).toEqual([])
      expect(await codesOf({ parts: [{ ...place, resource: 'pods' }] })).toEqual(['NOT_ARCHIVED'])
      const { gaps } = await archive.differences({ ...all, fromMs: known + 100 })
      expect(gaps).toMatchObject([{ code: 'ARCHIVE_GAP', fromMs: known, toMs: known + 500 }])
      await archive.close()
    },
  )
})

it(
  'no cursor of differences names an object that was not asked about, however many of them changed',
  needsPostgres,
  async () => {
    const url = (await postgres?.database()) ?? ''
    // Its changes are of 1970: retention keeps them all.
    const archive = await openStore({ url, keepMs: Date.now() }, silent)
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'first', version: 1 }], { timeMs: 1_000 }))
    await archive.write(batchOf(id, [{ name: 'z', version: 2 }], { timeMs: 2_000 }))
    postgres?.sql(
      `INSERT INTO changes (kind_id, namespace, name, uid, time, type, version, position, paths, field_count, whole, detail)
       SELECT ${id}, 'default', 'unseen-' || n, 'u', 1500, 0, '1', '1', '', 0, 0, '' FROM generate_series(1, 100100) AS n`,
      url,
    )
    const keys = Array.from({ length: 250 }, (_, n) => `default/k${n}`)
    const parts = [{ ...place, resource: 'configmaps', keys: [...keys, 'default/z'] }]
    const answer = await archive.differences({ parts, fromMs: 1_000, limit: 10 })
    expect(JSON.stringify(answer)).not.toContain('unseen')
    expect(answer).toMatchObject({ changes: [{ type: 'ADDED', name: 'z' }], hasMore: false })
    await archive.close()
  },
)

it(
  'what a process has seen behind the position of the one that writes is a gap, though it follows the kind for a moment only',
  needsPostgres,
  async () => {
    const url = (await postgres?.database()) ?? ''
    const [writer, reader] = [await openStore({ url }, silent), await openStore({ url }, silent)]
    const { id } = await writer.kind(configMaps)
    await writer.write(listOf(id, [{ name: 'first', version: 10 }]))
    const codesFor = async (seen: string): Promise<readonly string[]> => {
      const followed = { sinceMs: Date.now(), incarnation: 'one', reached: { '': seen } }
      const parts = [{ ...place, resource: 'configmaps', followed }]
      return (await reader.changes({ parts, limit: 1 })).gaps.map(({ code }) => code)
    }
    expect(await codesFor('10')).toEqual([])
    expect(await codesFor('11')).toEqual(['ARCHIVE_GAP'])
    await reader.close()
    await writer.close()
  },
)

function levels(count: number): unknown {
  return JSON.parse('['.repeat(count) + ']'.repeat(count))
}

describe('privacy', () => {
  const values = ['tell-nobody-1', 'tell-nobody-2', 'tell-nobody-3'] as const
  const coded = values.map((value) => Buffer.from(value).toString('base64'))
  const never = [...values, ...coded, ...coded.map((text) => text.replaceAll('=', ''))]

  const writeSecrets = async (url: string): Promise<ArchiveCalls> => {
    const archive = await openStore({ url }, silent)
    const secretOf = (version: number, at: number): TestRecord => ({
      name: 's',
      version,
      rest: {
        metadata: {
          name: 's',
          namespace: 'default',
          uid: 'uid-s',
          resourceVersion: `${version}`,
          labels: { owner: 'helm' },
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
              stringData: { password: values[at] },
            }),
            note: `the password is ${values[at]}`,
            coded: coded[at],
          },
        },
        data: { password: coded[at], release: coded[0] },
        stringData: { password: values[at] },
      },
    })
    const podOf = (version: number, at: number): TestRecord => ({
      name: 'p',
      version,
      rest: {
        spec: { containers: [{ name: 'main', env: [{ name: 'PASSWORD', value: values[at] }] }] },
      },
    })
    const masked = { ...pods, masked: ['/spec/containers/*/env'] }
    for (const [kind, of] of [
      [secrets, secretOf],
      [masked, podOf],
    ] as const) {
      const { id } = await archive.kind(kind)
      await archive.write(listOf(id, [of(1, 0)]))
      for (let version = 2; version < 80; version += 1) {
        await archive.write(batchOf(id, [of(version, version % 3)]))
      }
      await archive.write(
        batchOf(id, [
          { ...of(90, 1), type: 'REMOVED' },
          { ...of(91, 2), type: 'ADDED' },
        ]),
      )
      await archive.write(listOf(id, [of(99, 1)]))
    }
    return archive
  }

  /** What packed columns hold. */
  const unpackedOf = (
    rows: readonly { dictionary: number | null; body: Uint8Array }[],
    dictionaries: ReadonlyMap<number, Uint8Array>,
  ) =>
    rows.map(({ dictionary, body }) =>
      unpackedText(body, dictionary === null ? undefined : dictionaries.get(dictionary)),
    )

  /** What may not be there, if the texts are more than `most`. */
  const foundIn = (texts: readonly string[], most: number): readonly string[] =>
    texts.length > most
      ? never.filter((value) => texts.some((text) => text.includes(value)))
      : never

  it('no value of a Secret and no masked value is anywhere in the file, its log, or what it unpacks to', async () => {
    const archive = await writeSecrets(`file:${dir}/private.db`)
    const question = { parts: [{ ...place, resource: 'secrets' }], limit: 10 }
    const { changes } = await archive.changes(question)
    expect(changes[1]?.fields.find(({ path }) => path === '/data/password')).toEqual({
      path: '/data/password',
      before: null,
      after: null,
      masked: true,
    })
    const filesNow = async () => {
      const names = (await readdir(dir)).filter((name) => name.startsWith('private'))
      return Promise.all(names.map((name) => readFile(join(dir, name), 'latin1')))
    }
    expect(foundIn(await filesNow(), 1)).toEqual([])
    await archive.close()
    expect(foundIn(await filesNow(), 0)).toEqual([])
    const database = new DatabaseSync(join(dir, 'private.db'))
    const rowsOf = (sql: string) => database.prepare(sql).all() as never
    const dictionaries = new Map(
      (rowsOf('SELECT id, body FROM dictionaries') as { id: number; body: Uint8Array }[]).map(
        ({ id, body }) => [id, body],
      ),
    )
    expect(
      foundIn(
        [...dictionaries.values()].map((body) => Buffer.from(body).toString()),
        1,
      ),
    ).toEqual([])
    expect(
      foundIn(unpackedOf(rowsOf('SELECT dictionary, body FROM objects'), dictionaries), 1),
    ).toEqual([])
    expect(
      foundIn(
        unpackedOf(rowsOf('SELECT dictionary, detail AS body FROM changes'), dictionaries),
        100,
      ),
    ).toEqual([])
    expect(
      foundIn(
        (rowsOf('SELECT * FROM changes') as object[]).map((row) => JSON.stringify(row)),
        100,
      ),
    ).toEqual([])
    expect(
      foundIn(
        (rowsOf('SELECT * FROM objects') as object[]).map((row) => JSON.stringify(row)),
        1,
      ),
    ).toEqual([])
    database.close()
  })

  it('nor in the tables of Postgres', needsPostgres, async () => {
    const url = (await postgres?.database()) ?? ''
    const archive = await writeSecrets(url)
    await archive.close()
    const linesOf = (sql: string) => (postgres?.sql(sql, url) ?? '').split('\n')
    const packed = (sql: string) =>
      linesOf(sql).map((line) => {
        const [id, hex = ''] = line.split('|')
        return { dictionary: Number(id), body: new Uint8Array(Buffer.from(hex, 'hex')) }
      })
    const dictionaries = new Map(
      packed(`SELECT id, encode(body, 'hex') FROM dictionaries`).map(({ dictionary, body }) => [
        dictionary,
        body,
      ]),
    )
    expect(
      foundIn(
        unpackedOf(packed(`SELECT dictionary, encode(body, 'hex') FROM objects`), dictionaries),
        1,
      ),
    ).toEqual([])
    expect(
      foundIn(
        unpackedOf(packed(`SELECT dictionary, encode(detail, 'hex') FROM changes`), dictionaries),
        100,
      ),
    ).toEqual([])
    expect(foundIn(linesOf('SELECT objects FROM objects'), 1)).toEqual([])
    expect(foundIn(linesOf('SELECT changes FROM changes'), 100)).toEqual([])
  })
})
