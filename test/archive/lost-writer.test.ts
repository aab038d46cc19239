import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSimulator, type Simulator, type Storage } from 'informerql/simulator'
import { describe, expect, it, vi } from 'vitest'
import { created } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { podOf, podsPath } from './restarted-gateway.ts'

const patience = { timeout: 60_000, interval: 100 }
/** What a gateway has seen is written within this time, or counts as unknown. */
const unknownMs = 2_500

/** Two gateways with one Postgres, each of which holds the cluster. The first one writes it. */
class Replicas implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack
  readonly postgres: PostgresServer
  readonly database: string
  readonly cluster: Simulator
  readonly writer: ExampleProcess
  readonly reader: ServedGateway

  private constructor(
    own: Pick<Replicas, 'postgres' | 'database' | 'cluster' | 'writer' | 'reader'>,
    stack: AsyncDisposableStack,
  ) {
    this.#stack = stack
    this.postgres = own.postgres
    this.database = own.database
    this.cluster = own.cluster
    this.writer = own.writer
    this.reader = own.reader
  }

  static async start(): Promise<Replicas> {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'informerql-lost-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const postgres = stack.use(await startPostgres())
    const database = await postgres.database()
    const populate = (storage: Storage): void => {
      const metadata = { name: 'kube-system', uid: randomUUID() }
      const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
      storage.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
    }
    const cluster = stack.use(await startSimulator({ populate }))
    await created(cluster, podsPath, podOf('first'))
    const options = {
      clusters: [{ name: 'one', server: cluster.url }],
      archive: { url: database, kinds: ['pods'] },
      preload: ['pods'],
    }
    const config = join(folder, 'config.json')
    await writeFile(config, JSON.stringify(options))
    const args = ['src/main.ts', 'serve', '--port', '0', '--config', config]
    const writer = stack.use(startProgram(process.execPath, args, { timeout: 170_000 }))
    await writer.printed('informerql answers at')
    const written = () => postgres.sql('SELECT position IS NOT NULL FROM kinds', database).trim()
    await vi.waitUntil(() => written() === 't', patience)
    const reader = stack.use(await serveGateway(options))
    const own = { postgres, database, cluster, writer, reader }
    const replicas = new Replicas(own, stack.move())
    await replicas.writes('written')
    await replicas.marked()
    return replicas
  }

  /** Makes a pod, and waits until both the cache and the archive of the reader have it. */
  async writes(name: string): Promise<void> {
    await this.makes(name)
    await vi.waitUntil(async () => (await this.asked()).names.includes(name), patience)
  }

  /** Makes a pod, and waits until the reader's cache has it. */
  async makes(name: string): Promise<void> {
    await created(this.cluster, podsPath, podOf(name))
    const names = async (): Promise<readonly string[]> => {
      const { pods } = await this.reader.data('{ pods { nodes { name } } }')
      return pods.nodes.map((pod: Fields) => pod.name)
    }
    await vi.waitUntil(async () => (await names()).includes(name), patience)
  }

  /** Waits until the writer has said that all until now is written. */
  async marked(): Promise<void> {
    const nowMs = Date.now()
    const marked = (): number => {
      const mark = this.postgres.sql('SELECT mark FROM holders', this.database).trim()
      return mark === '' ? 0 : JSON.parse(mark).atMs
    }
    await vi.waitUntil(() => marked() > nowMs, patience)
  }

  /** The changes that the reader finds, and the gaps that it names. `until`: of the question. */
  async asked(until = new Date(Date.now() + 1_000)): Promise<{
    readonly names: readonly string[]
    readonly gaps: readonly Fields[]
  }> {
    const at = until.toISOString()
    const from = new Date(until.getTime() - 30_000).toISOString()
    const { data, errors } = await this.reader.query(`{
      changes(types: ["Pod"], until: "${at}", first: 500) { nodes { object { name } } incomplete { code from to } }
      differences(types: ["Pod"], from: "${from}", to: "${at}", first: 500) { incomplete { code from to } }
      object: objectByRef(cluster: "one", apiVersion: "v1", kind: "Pod", namespace: "default", name: "first", at: "${at}") { id }
    }`)
    const { changes, differences, object } = data
    const gapsOf = ({ incomplete }: Fields): readonly Fields[] =>
      incomplete.filter(({ code }: Fields) => code === 'ARCHIVE_GAP')
    const gaps = gapsOf(changes)
    const known = gaps.length === 0
    const areKnown = gapsOf(differences).every(({ to }) => to !== null)
    const truths = [known, areKnown, object !== null, errors === undefined]
    if (new Set(truths).size > 1) throw new Error(`not one truth: ${JSON.stringify(truths)}`)
    return { names: changes.nodes.map((node: Fields) => node.object.name), gaps }
  }

  /** Holds rows of Postgres for a time, so that nothing that changes them ends before. */
  async held(sql: string, seconds: number, meanwhile: () => Promise<void>): Promise<void> {
    const commands = ['BEGIN', sql, `SELECT pg_sleep(${seconds})`, 'COMMIT']
    const holding = spawn('psql', [this.database, '-qc', commands.join('; ')], { stdio: 'ignore' })
    const ended = once(holding, 'exit')
    await meanwhile()
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

describe('a gateway that reads what another one writes', needsPostgres, () => {
  it('names a gap for what it has seen, once the other one is killed, until it has written that itself', async () => {
    await using replicas = await Replicas.start()
    replicas.writer.signal('SIGKILL')
    await replicas.writer.ended
    await replicas.makes('late')
    await sleep(unknownMs)
    const answers: Awaited<ReturnType<Replicas['asked']>>[] = []
    const isWritten = async (): Promise<boolean> => {
      const answer = await replicas.asked()
      answers.push(answer)
      return answer.names.includes('late') && answer.gaps.length === 0
    }
    await expect.poll(isWritten, patience).toBe(true)
    const silent = answers.filter(({ names, gaps }) => !names.includes('late') && gaps.length === 0)
    expect(silent).toEqual([])
    for (const { to } of answers.flatMap(({ gaps }) => gaps)) expect(to).toBeNull()
  }, 180_000)

  it('knows the time before the last word of a gateway that is killed, also where nothing has changed for long', async () => {
    await using replicas = await Replicas.start()
    // As if all of it had been an hour ago.
    replicas.postgres.sql(
      `UPDATE kinds SET written = written - 3600000, begins = begins - 3600000;
       UPDATE changes SET time = time - 3600000`,
      replicas.database,
    )
    const spoken = Date.now()
    await replicas.marked()
    replicas.writer.signal('SIGKILL')
    await replicas.writer.ended
    await replicas.makes('late')
    await sleep(unknownMs)
    const { gaps } = await replicas.asked()
    for (const { from } of gaps) expect(Date.parse(from)).toBeGreaterThan(spoken)
    expect((await replicas.asked(new Date(spoken))).gaps).toEqual([])
  }, 180_000)

  it('names no gap while the other one is slow, and nothing is missing', async () => {
    await using replicas = await Replicas.start()
    // It can neither write nor say that it lives.
    await replicas.held('SELECT * FROM holders FOR UPDATE', 8, async () => {
      for (let looks = 0; looks < 12; looks++) {
        await sleep(500)
        expect((await replicas.asked()).gaps).toEqual([])
      }
    })
    await replicas.writes('afterwards')
    expect((await replicas.asked()).gaps).toEqual([])
  }, 180_000)

  it('names a gap while the other one is slow to write what it has seen, and none once that is written', async () => {
    await using replicas = await Replicas.start()
    await replicas.held('LOCK TABLE changes IN SHARE MODE', 6, async () => {
      await replicas.makes('waiting')
      await sleep(unknownMs)
      const { names, gaps } = await replicas.asked()
      expect([names.includes('waiting'), gaps.length]).not.toEqual([false, 0])
    })
    await expect.poll(async () => (await replicas.asked()).names, patience).toContain('waiting')
    expect((await replicas.asked()).gaps).toEqual([])
    expect(replicas.postgres.sql('SELECT * FROM gaps', replicas.database).trim()).toBe('')
  }, 180_000)

  it('leaves no gap if the other one stood still with something to write, and takes the cluster back', async () => {
    await using replicas = await Replicas.start()
    const { writer, reader, postgres, database } = replicas
    await replicas.held('LOCK TABLE changes IN SHARE MODE', 4, async () => {
      await replicas.makes('in-hand')
      // The writer has sent it by now.
      await sleep(1_000)
      writer.suspend()
    })
    const told = (): readonly string[] =>
      postgres.sql('SELECT name FROM changes ORDER BY id', database).trim().split('\n')
    const writes = async (name: string): Promise<void> => {
      await created(replicas.cluster, podsPath, podOf(name))
      await expect.poll(told, patience).toContain(name)
    }
    // By this process, once the time of the other one is over.
    await expect.poll(told, patience).toContain('in-hand')
    await writes('of-the-second')
    writer.resume()
    await writes('seen-by-both')
    await sleep(1_000)
    await reader[Symbol.asyncDispose]()
    await writes('of-the-first')
    expect(told()).toEqual(['written', 'in-hand', 'of-the-second', 'seen-by-both', 'of-the-first'])
    expect(postgres.sql('SELECT * FROM gaps', database).trim()).toBe('')
  }, 180_000)

  it('knows since when the other one stood still, of what that one saw afterwards', async () => {
    await using replicas = await Replicas.start()
    const { writer, reader } = replicas
    writer.suspend()
    const stoodMs = Date.now()
    await created(replicas.cluster, podsPath, podOf('meanwhile'))
    const madeMs = Date.now()
    await sleep(unknownMs)
    writer.resume()
    const row = async (): Promise<Fields> => {
      const { changes } = await reader.data(
        '{ changes(types: ["Pod"]) { nodes { time after object { name } } } }',
      )
      return changes.nodes.find(({ object }: Fields) => object.name === 'meanwhile')
    }
    await vi.waitUntil(row, patience)
    const { after, time } = await row()
    // It looks at the time now and then.
    expect(Date.parse(after)).toBeGreaterThan(stoodMs - 1_500)
    expect(Date.parse(after)).toBeLessThan(madeMs)
    expect(Date.parse(time)).toBeGreaterThanOrEqual(stoodMs + unknownMs)
  }, 180_000)
})
