// Imports internals: what the archive is told and answers is of the gateway's own parts.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs'
import { chmod, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { openArchive } from '../../../src/archive/archive.ts'
import { holdMs } from '../../../src/archive/store/holders.ts'
import { startCutProxy } from '../../support/cut-proxy.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { runSeed, seededRandom } from '../../support/random.ts'
import { batchOf, configMaps, listOf, objectsOf } from './batches.ts'
import { stateAt } from './process/written-states.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'informerql-archive-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

interface Says {
  readonly written: number
  readonly sent: number
  readonly dropped: number
  readonly rss: number
  readonly isBehind: boolean
  readonly problem?: string
}

/** The program in `process/writer.ts`, and the last line that it printed. */
function startWriter(url: string, pauseMs: number, bytes: number, before: readonly string[] = []) {
  const program = join(import.meta.dirname, 'process', 'writer.ts')
  const command = [...before, process.execPath, program, url, String(pauseMs), String(bytes)]
  const child: ChildProcess = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const writer = {
    child,
    says: undefined as Says | undefined,
    maxRss: 0,
    async kill() {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
    [Symbol.asyncDispose]: () =>
      child.exitCode === null && child.signalCode === null ? writer.kill() : Promise.resolve(),
  }
  if (child.stdout !== null) {
    createInterface(child.stdout).on('line', (line) => {
      const says = JSON.parse(line) as Says
      writer.says = says
      writer.maxRss = Math.max(writer.maxRss, says.rss)
    })
  }
  return writer
}

/** That the rows are those of the position, of what `process/writer.ts` writes. Resolves with the position. */
async function expectWhole(url: string, bytes: number): Promise<number> {
  await using archive = await openArchive({ url })
  const { id, position, namespaces, objects } = await archive.kind(configMaps)
  expect(namespaces).toEqual({ default: position })
  const rows = await objectsOf(archive, id)
  expect(objects).toBe(rows.length)
  const version = Number(position)
  const found = rows.map(({ metadata, data }) => `${metadata.name} ${data?.['n'] ?? ''}`)
  const expected = stateAt(version, bytes).map((one) => `${one.name} ${one.version}`)
  expect(found.toSorted()).toEqual(expected.toSorted())
  return version
}

describe.each(['file', 'postgres'] as const)('A writer that is killed (%s)', (form) => {
  const needs = form === 'postgres' ? needsPostgres : {}
  it(
    'leaves rows that are those of the position, and loses nothing that was written',
    needs,
    async () => {
      await using postgres = form === 'postgres' ? await startPostgres() : undefined
      const url = postgres === undefined ? `file:${dir}/a.db` : await postgres.database()
      const random = seededRandom(runSeed)
      let last = 0
      // A process that takes over a Postgres waits until the hold of the one before has ended.
      for (let round = 0; round < (form === 'file' ? 8 : 2); round += 1) {
        await using writer = startWriter(url, 0, 200)
        await expect.poll(() => writer.says?.written ?? 0).toBeGreaterThan(last + 20)
        await sleep(random() * 300)
        await writer.kill()
        const position = await expectWhole(url, 200)
        expect(position).toBeGreaterThanOrEqual(writer.says?.written ?? Infinity)
        last = position
      }
    },
  )
})

/** A disk of its own in memory, of some megabytes at first. */
function smallDisk(path: string, megabytes: number) {
  mkdirSync(path)
  // Of `nobody`, as whom Postgres runs.
  const options = `size=${megabytes}m,mode=700,uid=65534,gid=65534`
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'pipe' })
  return {
    makeRoom: () => execFileSync('mount', ['-o', 'remount,size=1g', path]),
    [Symbol.dispose]: () => execFileSync('umount', ['--lazy', path]),
  }
}

const mayMount = (() => {
  try {
    const path = join(tmpdir(), `informerql-mount-${process.pid}`)
    smallDisk(path, 1)[Symbol.dispose]()
    rmdirSync(path)
    return true
  } catch {
    console.warn('no right to mount: tests of a full disk have a limit of file sizes instead')
    return false
  }
})()

describe('A disk that is full', () => {
  // Megabytes have to be written until it is, on machines that are busy with other things.
  const patience = { timeout: 100_000 }
  const isFull = async (
    url: string,
    before: readonly string[],
    makeRoom: (pid: number) => void,
  ) => {
    const bytes = 50_000
    await using writer = startWriter(url, 1, bytes, before)
    await expect.poll(() => writer.says?.problem, patience).toMatch(/cannot be used/)
    const { rss = 0, problem } = writer.says ?? {}
    // It goes on seeing changes. When there is no room for more, they are dropped.
    await expect.poll(() => writer.says?.dropped, patience).toBeGreaterThan(0)
    const { sent: droppedAt = 0 } = writer.says ?? {}
    await expect.poll(() => writer.says?.sent, patience).toBeGreaterThan(droppedAt + 500)
    expect(writer.maxRss - rss).toBeLessThan(100e6)
    makeRoom(writer.child.pid ?? 0)
    await expect.poll(() => writer.says?.problem, patience).toBeUndefined()
    const { sent = 0 } = writer.says ?? {}
    await expect.poll(() => writer.says?.written ?? 0, patience).toBeGreaterThan(sent)
    await writer.kill()
    await expectWhole(url, bytes)
    await using archive = await openArchive({ url })
    expect((await archive.state()).gaps).toBeGreaterThan(0)
    return problem
  }

  it(
    'holds nothing up and costs bounded memory, and the archive catches up when there is room',
    { timeout: 300_000 },
    async () => {
      using disk = mayMount ? smallDisk(join(dir, 'disk'), 4) : undefined
      const url = `file:${disk === undefined ? dir : join(dir, 'disk')}/a.db`
      const before = disk === undefined ? ['prlimit', '--fsize=4000000:unlimited', '--'] : []
      const growFiles = (pid: number) =>
        execFileSync('prlimit', ['--pid', String(pid), '--fsize=unlimited'])
      expect(await isFull(url, before, disk?.makeRoom ?? growFiles)).toMatch(/cannot be used/)
    },
  )

  const needs = { skip: needsPostgres.skip || !mayMount, timeout: 300_000 }
  it('does the same under a Postgres', needs, async () => {
    await chmod(dir, 0o755)
    using disk = smallDisk(join(dir, 'disk'), 12)
    await using postgres = await startPostgres()
    postgres.sql(`CREATE TABLESPACE small LOCATION '${dir}/disk'`)
    postgres.sql('CREATE DATABASE small TABLESPACE small')
    const url = postgres.url.replace(/postgres$/, 'small')
    expect(await isFull(url, [], disk.makeRoom)).toMatch(/No space left/)
  })

  it('is what an archive of too many objects in memory is like, too', async () => {
    await using archive = await openArchive({ url: 'memory:', maxBytes: 2 ** 20 })
    const { id } = await archive.kind(configMaps)
    const text = () => Buffer.from(crypto.getRandomValues(new Uint8Array(5_000))).toString('hex')
    const many = Array.from({ length: 400 }, (_, at) => ({
      name: `a${at}`,
      version: at + 1,
      rest: { data: { text: text() } },
    }))
    archive.write(listOf(id, many)).catch(() => undefined)
    await expect.poll(() => archive.counts().problem?.message).toMatch(/full/)
    expect(await archive.state()).toMatchObject({ objects: 0 })
  })
})

describe('A damaged file', () => {
  const damages: readonly (readonly [string, (path: string) => Promise<void> | void])[] = [
    [
      'that is no database',
      (path) => writeFileSync(path, 'not a database, but long enough for one'),
    ],
    ['that was cut off', (path) => truncateSync(path, 5 * 4_096)],
    [
      'with other bytes in its middle',
      async (path) => {
        await using file = await open(path, 'r+')
        const { size } = await file.stat()
        const noise = crypto.getRandomValues(new Uint8Array(4_096))
        for (let at = 4_096; at < size; at += 4_096) await file.write(noise, 0, 4_096, at)
      },
    ],
  ]
  it.each(damages)('%s is put aside, and a new one begins', async (_, damage) => {
    const path = join(dir, 'a.db')
    const url = `file:${path}`
    const records = stateAt(400, 3_000)
    {
      await using archive = await openArchive({ url })
      const { id } = await archive.kind(configMaps)
      await archive.write(listOf(id, records))
    }
    await damage(path)
    const warnings: string[] = []
    await using archive = await openArchive({ url }, (warning) => warnings.push(warning))
    // It may be noticed by any of them, which is then told so; as the gateway does, it is tried again.
    const write = async () => {
      const kind = await archive.kind(configMaps)
      if (kind.position !== undefined) {
        await objectsOf(archive, kind.id)
        await archive.write(batchOf(kind.id, [{ name: 'new', version: 1_000 }]))
      }
      await archive.write(listOf(kind.id, records))
      return objectsOf(archive, kind.id)
    }
    await expect.poll(() => write().catch(() => [])).toHaveLength(records.length)
    expect(warnings.join('\n')).toMatch(/damaged; it is kept as .*a\.db\.damaged-/)
    expect(readdirSync(dir).filter((file) => file.includes('.damaged-'))).not.toEqual([])
    expect(existsSync(path)).toBe(true)
  })
})

describe('A worker of the archive that dies in the middle of its work', () => {
  it('is begun anew: what was on its way is refused, and a list makes the rows whole', async () => {
    const url = `file:${dir}/a.db`
    const posted = vi.spyOn(Worker.prototype, 'postMessage')
    const workers = () => [...new Set(posted.mock.contexts as Worker[])]
    try {
      await using archive = await openArchive({ url })
      const { id } = await archive.kind(configMaps)
      const records = stateAt(2_000, 2_000)
      await archive.write(listOf(id, records))
      const next = { name: 'new', version: 3_000 }
      const many = Array.from({ length: 200 }, (_, at) =>
        archive.write(batchOf(id, [{ ...next, version: 3_000 + at }])),
      )
      const told = Promise.allSettled(many)
      await workers().at(-1)?.terminate()
      const refused = (await told).filter(({ status }) => status === 'rejected')
      expect(refused.length).toBeGreaterThan(0)
      await expect
        .poll(() =>
          archive.kind(configMaps).then(
            (kind) => kind.id,
            () => 0,
          ),
        )
        .toBe(id)
      await expect(archive.write(batchOf(id, [{ ...next, version: 4_000 }]))).rejects.toMatchObject(
        { code: 'ARCHIVE_BEHIND' },
      )
      await archive.write(listOf(id, [...records, { ...next, version: 4_000 }]))
      expect(await objectsOf(archive, id)).toHaveLength(records.length + 1)
      expect(workers()).toHaveLength(2)
    } finally {
      posted.mockRestore()
    }
  })
})

describe('Postgres', needsPostgres, () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres[Symbol.asyncDispose]())

  /** The address of a new database, through a proxy that can be cut. */
  const cutDatabase = async () => {
    const proxy = await startCutProxy(postgres.port)
    const url = (await postgres.database()).replace(`:${postgres.port}/`, `:${proxy.port}/`)
    return { proxy, url }
  }
  const rowsOf = async (...of: Parameters<typeof objectsOf>) =>
    (await objectsOf(...of)).map(({ metadata }) => metadata.resourceVersion)

  it('that is away when the gateway starts is used when it is there', async () => {
    const { proxy, url } = await cutDatabase()
    await using _ = proxy
    await proxy.refuse()
    await using archive = await openArchive({ url })
    await expect(archive.kind(configMaps)).rejects.toMatchObject({ code: 'ARCHIVE_UNREACHABLE' })
    await proxy.listen()
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 1 }]))
    expect(await rowsOf(archive, id)).toEqual(['1'])
  })

  it('whose connections break loses nothing: batches wait, and are written once', async () => {
    const { proxy, url } = await cutDatabase()
    await using _ = proxy
    await using archive = await openArchive({ url })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 1 }]))
    const writing: Promise<void>[] = []
    const write = async (from: number, to: number) => {
      for (let version = from; version <= to; version += 1) {
        const rest = { data: { n: `${version}` } }
        writing.push(archive.write(batchOf(id, [{ name: 'a', version, rest }])))
        if (version % 30 === 0) proxy.cut()
        await sleep(1)
      }
    }
    await write(2, 150)
    await proxy.refuse()
    await write(151, 160)
    await expect.poll(() => archive.counts().problem).toBeDefined()
    await proxy.listen()
    await write(161, 300)
    await Promise.all(writing)
    expect(archive.counts().problem).toBeUndefined()
    expect(await archive.state()).toMatchObject({ objects: 1, changes: 299, gaps: 0 })
    expect(await archive.changesSince(id, '1', 1_000)).toHaveLength(299)
  })

  it('whose answer to a commit is lost is not told the same changes twice', async () => {
    const { proxy, url } = await cutDatabase()
    await using _ = proxy
    await using archive = await openArchive({ url })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 1 }]))
    // A writer that waits keeps a transaction open, so that the next batches go together.
    const direct = url.replace(`:${proxy.port}/`, `:${postgres.port}/`)
    const written = () => postgres.sql('SELECT position FROM kinds', direct)
    for (let round = 0; round < 4; round += 1) {
      const versions = [2, 3, 4].map((step) => round * 10 + step)
      const last = String(versions.at(-1))
      const writing = versions.map((version) =>
        archive.write(batchOf(id, [{ name: 'a', version, rest: { data: { n: `${version}` } } }])),
      )
      // Every answer is lost from some moment on: that to the commit in one of the rounds at least.
      await sleep(round * 4)
      proxy.mute()
      await sleep(100)
      proxy.cut()
      await Promise.all(writing)
      expect(written()).toBe(last)
    }
    expect(await archive.state()).toMatchObject({ objects: 1, changes: 12, gaps: 0 })
  })

  it('whose commit was done but not heard of goes on behind it', async () => {
    const { proxy, url } = await cutDatabase()
    await using _ = proxy
    await using archive = await openArchive({ url })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 1 }]))
    const direct = url.replace(`:${proxy.port}/`, `:${postgres.port}/`)
    // The commit waits until the answers are lost.
    postgres.sql(
      `CREATE TABLE muted (); CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         WHILE NOT EXISTS (SELECT FROM muted) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON changes DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW WHEN (NEW.version = '4') EXECUTE FUNCTION slow()`,
      direct,
    )
    const writing = [2, 3, 4].map((version) =>
      archive.write(batchOf(id, [{ name: 'a', version, rest: { data: { n: `${version}` } } }])),
    )
    await expect
      .poll(() =>
        postgres.sql(
          `SELECT COUNT(*) FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'`,
        ),
      )
      .toBe('1')
    proxy.mute()
    postgres.sql('INSERT INTO muted DEFAULT VALUES', direct)
    await expect.poll(() => postgres.sql('SELECT position FROM kinds', direct)).toBe('4')
    proxy.cut()
    await Promise.all(writing)
    expect(await archive.state()).toMatchObject({ objects: 1, changes: 3, gaps: 0 })
  })

  it('that hangs holds no question up for ever, and what waits is written when it answers again', async () => {
    const { proxy, url } = await cutDatabase()
    await using _ = proxy
    await using archive = await openArchive({ url })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 1 }]))
    proxy.hang()
    const writing = archive.write(batchOf(id, [{ name: 'a', version: 2 }]))
    await expect(archive.kinds()).rejects.toMatchObject({ code: 'ARCHIVE_UNREACHABLE' })
    proxy.flow()
    await writing
    expect(await rowsOf(archive, id)).toEqual(['2'])
  })

  it('with a damaged row writes the object anew, and tells of its past what is not known', async () => {
    const url = await postgres.database()
    await using archive = await openArchive({ url })
    const { id } = await archive.kind(configMaps)
    const data = (n: number) => ({ data: { n: `${n}` } })
    await archive.write(
      listOf(
        id,
        ['a', 'b'].map((name, at) => ({ name, version: at + 1, rest: data(1) })),
      ),
    )
    await archive.write(batchOf(id, [{ name: 'a', version: 3, rest: data(2) }]))
    const before = Date.now()
    await sleep(5)
    await archive[Symbol.asyncDispose]()
    postgres.sql(`UPDATE objects SET body = 'nonsense' WHERE name = 'a'`, url)
    await using again = await openArchive({ url })
    expect((await again.kind(configMaps)).id).toBe(id)
    await again.write(
      batchOf(id, [
        { name: 'a', version: 4, rest: data(3) },
        { name: 'b', version: 5, rest: data(3) },
      ]),
    )
    await again.write(batchOf(id, [{ name: 'a', version: 6, rest: data(4) }]))
    expect(
      (await objectsOf(again, id)).map(({ data: one }) => one?.['n'] ?? '').toSorted(),
    ).toEqual(['3', '4'])
    const part = { cluster: 'a', group: '', resource: 'configmaps' }
    const { changes } = await again.changes({
      parts: [{ ...part, keys: ['default/a'] }],
      limit: 10,
    })
    expect(changes.map(({ type, fieldCount }) => [type, fieldCount])).toEqual([
      ['MODIFIED', 1],
      ['MODIFIED', 0],
      ['MODIFIED', 1],
    ])
    const at = (key: string, timeMs: number) => again.objectAt({ ...part, key, at: { timeMs } })
    expect(await at('default/a', before)).toMatchObject({
      state: 'unknown',
      gap: { code: 'ARCHIVE_GAP' },
    })
    expect(await at('default/a', Date.now())).toMatchObject({ state: 'found' })
    expect(await at('default/b', before)).toMatchObject({ state: 'found' })
    const net = await again.differences({ parts: [part], fromMs: before, limit: 10 })
    expect(net.changes.map(({ name }) => name)).toEqual(['b'])
    expect(net.gaps).toMatchObject([{ code: 'ARCHIVE_GAP' }])
    expect(await again.changesSince(id, '3', 10)).toBeUndefined()
  })

  it('that is read-only for a while, as after a failover, is written again when it may be', async () => {
    const url = await postgres.database()
    await using archive = await openArchive({ url })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 1 }]))
    const name = url.split('/').at(-1) ?? ''
    const readOnly = (value: string) => {
      postgres.sql(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)
      postgres.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      )
    }
    readOnly('on')
    const writing = archive.write(batchOf(id, [{ name: 'a', version: 2 }]))
    await expect.poll(() => archive.counts().problem?.message).toMatch(/read-only/)
    expect(await rowsOf(archive, id)).toEqual(['1'])
    readOnly('off')
    await writing
    expect(await rowsOf(archive, id)).toEqual(['2'])
  })

  it('that stops and starts again has what was written', async () => {
    const url = await postgres.database()
    await using archive = await openArchive({ url })
    const { id } = await archive.kind(configMaps)
    await archive.write(listOf(id, [{ name: 'a', version: 1 }]))
    await postgres.stop()
    const writing = archive.write(batchOf(id, [{ name: 'a', version: 2 }]))
    await expect.poll(() => archive.counts().problem).toBeDefined()
    await postgres.start()
    await writing
    expect(await rowsOf(archive, id)).toEqual(['2'])
  })

  it('that two processes share has one writer of each cluster, and the other one takes over', async () => {
    const url = await postgres.database()
    await using second = await openArchive({ url })
    const first = startWriter(url, 5, 20)
    await using _ = first
    await expect.poll(() => first.says?.written ?? 0).toBeGreaterThan(20)
    const { id, isHeld } = await second.kind(configMaps)
    expect(isHeld).toBe(false)
    // Another cluster of the same archive is its own.
    const other = await second.kind({ ...configMaps, cluster: 'b' })
    expect(other.isHeld).toBe(true)
    await second.write(listOf(other.id, [{ name: 'x', version: 1 }]))
    // It reads what the first one writes, and is woken.
    expect(await objectsOf(second, id)).not.toEqual([])
    await new Promise<void>((resolve) => second.onWritten(resolve))

    first.child.kill('SIGSTOP')
    const patience = { timeout: 60_000 }
    await expect.poll(async () => (await second.kind(configMaps)).isHeld, patience).toBe(true)
    await second.write(listOf(id, [{ name: 'taken', version: 5_000 }]))
    first.child.kill('SIGCONT')
    await expect.poll(() => first.says?.isBehind, patience).toBe(true)
    expect(await rowsOf(second, id)).toEqual(['5000'])
  })

  it('that two processes share lets one take what the other has released, however late it comes', async () => {
    const url = await postgres.database()
    await using first = await openArchive({ url })
    await using second = await openArchive({ url })
    await first.kind(configMaps)
    await first.kind({ ...configMaps, cluster: 'b' })
    await first.releaseCluster(configMaps.cluster)
    // Meanwhile the first one says that it goes on holding the other cluster.
    await sleep(holdMs / 2)
    expect((await second.kind(configMaps)).isHeld).toBe(true)
    expect((await second.kind({ ...configMaps, cluster: 'b' })).isHeld).toBe(false)
  })
})
