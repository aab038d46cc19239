/*
 * The archive over a database, in the worker: the calls of `ArchiveCalls`.
 *
 * Batches wait in one queue. Those that wait together are written in one transaction (`batch-writer.ts`), so that a database
 * that is far away costs round trips per moment, not per batch. While the database cannot be written (its disk is full, it
 * is away, it fails over), the queue stands, and the first batches are tried again until it can; who sends bounds the queue.
 * A database that two processes share has a holder for each cluster: the epoch in its row of `holders` is checked, and its
 * time prolonged, by each transaction that writes, so one that lost the cluster writes nothing more.
 */

import type {
  ArchiveBatch,
  ArchiveCalls,
  ArchivedKind,
  ArchiveState,
  ChangesPage,
  ChangesQuestion,
  DifferencesQuestion,
  KeptKind,
  KindState,
  ObjectChunk,
  PastObject,
  PastQuestion,
  ResumedChange,
} from '../archive-calls.ts'
import type { ArchiveOptions } from '../archive-options.ts'
import { BatchWriter, type BatchOfKind, type WrittenKind } from './batch-writer.ts'
import { migrate, type Engine, type SqlRow } from './engine.ts'
import { past } from './past.ts'
import { openSqlite } from './sqlite-engine.ts'

/** What the store tells while it works. */
export interface StoreEvents {
  readonly warn: (message: string) => void
  /** Since when, and why, nothing can be written; `undefined`: it can again. */
  readonly failing: (failing: { sinceMs: number; message: string } | undefined) => void
}

export async function openStore(
  options: ArchiveOptions,
  _events: StoreEvents,
): Promise<ArchiveStore> {
  const { url } = options
  const engine = await openSqlite(url === 'memory:' ? undefined : url.slice('file:'.length))
  await migrate(engine)
  return new ArchiveStore(engine)
}

class ArchiveStore implements ArchiveCalls {
  readonly #engine: Engine
  readonly #writer = new BatchWriter(32 * 2 ** 20)
  readonly #written = new Map<number, WrittenKind>()
  readonly #queue: Waiting[] = []
  #isWriting = false

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async kind(archived: ArchivedKind): Promise<KindState> {
    const { cluster, group, resource, version, kind, namespaced, form } = archived
    const row = await this.#engine.transaction(async (statements) => {
      await statements.upsert(
        'kinds',
        kindColumns,
        [[cluster, group, resource, version, kind, namespaced ? 1 : 0, form, '', 0, 0, 0, 0, 0]],
        ['cluster', 'api_group', 'resource'],
        ['version', 'kind', 'namespaced'],
      )
      await statements.rows(
        `UPDATE kinds SET position = NULL, form = $4
         WHERE cluster = $1 AND api_group = $2 AND resource = $3 AND form <> $4`,
        [cluster, group, resource, form],
      )
      const [found] = await statements.rows(
        'SELECT * FROM kinds WHERE cluster = $1 AND api_group = $2 AND resource = $3',
        [cluster, group, resource],
      )
      return found ?? {}
    })
    const id = Number(row['id'])
    const written: WrittenKind = this.#written.get(id) ?? { id, archived, ...unwritten }
    Object.assign(written, {
      archived,
      position: textOf(row['position']),
      incarnation: String(row['incarnation']),
      writtenMs: Number(row['written']),
      beginsMs: row['begins'] === null ? undefined : Number(row['begins']),
    } satisfies Partial<WrittenKind>)
    this.#written.set(id, written)
    const { position, incarnation, writtenMs } = written
    return { id, position, incarnation, writtenMs, objects: Number(row['objects']) }
  }

  write(batch: ArchiveBatch): Promise<void> {
    const kind = this.#written.get(batch.kind)
    if (kind === undefined) throw new RangeError(`no kind ${batch.kind} was registered`)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.push({ kind, batch, resolve, reject })
    if (!this.#isWriting) void this.#drain()
    return promise
  }

  async gap(kind: number, fromMs: number, toMs: number): Promise<void> {
    await this.#engine.upsert('gaps', ['kind_id', 'begins', 'ends'], [[kind, fromMs, toMs]])
  }

  async *objects(kind: number): AsyncIterable<ObjectChunk> {
    const chunks = this.#engine.chunks(
      'SELECT dictionary, body FROM objects WHERE kind_id = $1 ORDER BY namespace, name',
      [kind],
      objectsAtOnce,
    )
    for await (const rows of chunks) {
      const texts = await Promise.all(rows.map((row) => this.#writer.text(this.#engine, row)))
      yield chunkOf(texts)
    }
  }

  // oxlint-disable-next-line class-methods-use-this
  changesSince(): Promise<readonly ResumedChange[] | undefined> {
    throw new Error('unwritten')
  }

  changes(question: ChangesQuestion): Promise<ChangesPage> {
    return past(this.#engine).changes(question)
  }

  objectAt(question: PastQuestion): Promise<PastObject> {
    return past(this.#engine).objectAt(question)
  }

  differences(question: DifferencesQuestion): Promise<ChangesPage> {
    return past(this.#engine).differences(question)
  }

  async kinds(): Promise<readonly KeptKind[]> {
    const rows = await this.#engine.rows(
      'SELECT * FROM kinds ORDER BY cluster, api_group, resource',
    )
    return rows.map((row) => ({
      cluster: String(row['cluster']),
      group: String(row['api_group']),
      resource: String(row['resource']),
      version: String(row['version']),
      kind: String(row['kind']),
      namespaced: Number(row['namespaced']) === 1,
    }))
  }

  async state(): Promise<ArchiveState> {
    const [counts] = await this.#engine.rows(
      'SELECT SUM(objects) AS objects, SUM(changes) AS changes FROM kinds',
    )
    const [gaps] = await this.#engine.rows('SELECT COUNT(*) AS count FROM gaps')
    const [oldest] = await this.#engine.rows('SELECT time FROM changes ORDER BY id LIMIT 1')
    return {
      objects: Number(counts?.['objects'] ?? 0),
      changes: Number(counts?.['changes'] ?? 0),
      bytes: await this.#engine.bytes(),
      gaps: Number(gaps?.['count'] ?? 0),
      beginsMs: oldest === undefined ? undefined : Number(oldest['time']),
    }
  }

  async close(): Promise<void> {
    await this.#engine.close()
  }

  async #drain(): Promise<void> {
    this.#isWriting = true
    while (this.#queue.length > 0) {
      const works = nextTogether(this.#queue)
      try {
        const { commit } = await this.#engine.transaction((statements) =>
          this.#writer.write(statements, works),
        )
        commit()
        for (const { resolve } of this.#queue.splice(0, works.length)) resolve()
      } catch (error) {
        this.#writer.forget()
        for (const { reject } of this.#queue.splice(0, works.length)) reject(error)
      }
    }
    this.#isWriting = false
  }
}

const kindColumns =
  'cluster api_group resource version kind namespaced form incarnation written objects object_bytes changes change_bytes'.split(
    ' ',
  )

const unwritten = {
  position: undefined,
  incarnation: '',
  writtenMs: 0,
  beginsMs: undefined,
  list: undefined,
}

interface Waiting extends BatchOfKind {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const objectsAtOnce = 500
const recordsAtOnce = 2_000

/** The first batches of the queue that go into one transaction. A part of a list goes alone. */
function nextTogether(queue: readonly Waiting[]): readonly Waiting[] {
  let records = 0
  let count = 0
  for (const { batch } of queue) {
    records += batch.keys.length
    if (count > 0 && (batch.list !== undefined || records > recordsAtOnce)) break
    count += 1
    if (batch.list !== undefined) break
  }
  return queue.slice(0, count)
}

function chunkOf(texts: readonly string[]): ObjectChunk {
  const encoder = new TextEncoder()
  const parts = texts.map((text) => encoder.encode(text))
  const ends = new Uint32Array(parts.length)
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let end = 0
  for (const [at, part] of parts.entries()) {
    bytes.set(part, end)
    end += part.length
    ends[at] = end
  }
  return { ends, bytes }
}

function textOf(value: SqlRow[string] | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}
