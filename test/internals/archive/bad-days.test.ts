// Imports internals: what the archive is told and answers is of the gateway's own parts.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../../../src/archive/archive.ts'
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
  const { id, position, objects } = await archive.kind(configMaps)
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

describe('A disk that is full', () => {
  it('holds nothing up and costs bounded memory, and the archive catches up when there is room', async () => {
    const url = `file:${dir}/a.db`
    const bytes = 50_000
    await using writer = startWriter(url, 1, bytes, ['prlimit', '--fsize=4000000:unlimited', '--'])
    await expect.poll(() => writer.says?.problem).toMatch(/cannot be used/)
    const before = writer.says
    // It goes on seeing changes. When there is no room for more, they are dropped.
    await expect.poll(() => writer.says?.dropped).toBeGreaterThan(0)
    const { sent: droppedAt = 0 } = writer.says ?? {}
    await expect.poll(() => writer.says?.sent).toBeGreaterThan(droppedAt + 500)
    expect(writer.maxRss - (before?.rss ?? 0)).toBeLessThan(100e6)
    execFileSync('prlimit', ['--pid', String(writer.child.pid), '--fsize=unlimited'])
    await expect.poll(() => writer.says?.problem).toBeUndefined()
    const { sent = 0 } = writer.says ?? {}
    await expect.poll(() => writer.says?.written ?? 0).toBeGreaterThan(sent)
    await writer.kill()
    await expectWhole(url, bytes)
    await using archive = await openArchive({ url })
    expect((await archive.state()).gaps).toBeGreaterThan(0)
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
})
