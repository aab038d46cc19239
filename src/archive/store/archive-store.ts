/*
 * The archive over a database, in the worker: the calls of `ArchiveCalls`.
 *
 * Batches wait in one queue. Those that wait together are written in one transaction (`batch-writer.ts`), so that a database
 * that is far away costs round trips per moment, not per batch. While the database cannot be written (its disk is full, it
 * is away, it fails over), the queue stands, and the first batches are tried again until it can; who sends bounds the queue.
 * A damaged file is put aside, and all kinds begin anew in an empty one.
 *
 * Where processes share a database (`holders.ts`), batches of a cluster that another one held until now wait for its time to
 * end, while those of other clusters are written. If it goes on holding the cluster, they are refused.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ArchiveBatch,
  type ArchiveCalls,
  type ArchivedKind,
  type ArchiveState,
  type BaseMark,
  type ChangesPage,
  type ChangesQuestion,
  type ClusterMark,
  type DifferencesQuestion,
  type KeptKind,
  type KindPosition,
  type KindState,
  type ObjectChunk,
  type PastObject,
  type PastQuestion,
  type PublishedCluster,
  type ResumedChange,
  type Topic,
} from '../archive-calls.ts'
import {
  archiveDefaults,
  ArchiveError,
  archivePlace,
  type ArchiveOptions,
  type ArchivePlace,
  maxMemoryArchiveBytes,
} from '../archive-options.ts'
import { behind, BatchWriter } from './batch-writer.ts'
import { lost, unlessLost } from './bodies.ts'
import { migrate, places, type Engine } from './engine.ts'
import { forgetClusters, Holders, holdMs, ofAnother, prolongMs } from './holders.ts'
import { KindReads } from './kind-reads.ts'
import {
  adopt,
  type BatchOfKind,
  isRowOf,
  namespacesOf,
  registered,
  remember,
  textOf,
  unwritten,
  writtenIn,
  type WrittenKind,
} from './kind-rows.ts'
import { past } from './past.ts'
import type { PastOptions } from './past-reader.ts'
import { openPostgres } from './postgres-engine.ts'
import {
  documentsOf,
  forgetDocuments,
  keepDocument,
  lackedDocuments,
  publish,
  publishedAfter,
} from './published.ts'
import { changesSince } from './resumed-changes.ts'
import { forgetOld } from './retention.ts'
import {
  beatMs,
  MemberBeats,
  prolongMember,
  removeGone,
  removeMember,
  takeClusters,
} from './sharing-rows.ts'
import { openSqliteFile, openSqliteMemory, putAside } from './sqlite-engine.ts'

/** What the store tells while it works. */
export interface StoreEvents {
  readonly warn: (message: string) => void
  /** Why nothing can be written; `undefined`: it can again. */
  readonly failing: (message: string | undefined) => void
  readonly wrote: (written: { readonly rows: number; readonly gaps: number }) => void
  readonly bytes: (bytes: number) => void
  /** Other processes have written, or may have, without a topic. */
  readonly othersWrote: (topic: Topic | undefined) => void
}

/** Rejects with `ArchiveError`. A Postgres that is away is no reason: it is asked again with each call. */
export async function openStore(
  options: ArchiveOptions,
  events: StoreEvents,
): Promise<ArchiveStore> {
  const place = archivePlace(options.url)
  const given = { ...archiveDefaults, ...options }
  const { maxBytes } = given
  const kept = {
    ...given,
    maxBytes: place.form === 'memory' ? Math.min(maxBytes, maxMemoryArchiveBytes) : maxBytes,
  }
  const engine = await engineAt(place, kept.maxBytes, events)
  const store = new ArchiveStore(place, engine, kept, events)
  try {
    await store.prepare()
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code === 'ARCHIVE_TOO_NEW') {
      await engine.close()
      throw error
    }
    events.warn(error.message)
  }
  store.run()
  return store
}

async function engineAt(
  place: ArchivePlace,
  maxBytes: number,
  { warn }: Pick<StoreEvents, 'warn'>,
): Promise<Engine> {
  if (place.form === 'postgres') return openPostgres(place.url)
  if (place.form === 'memory') return openSqliteMemory(maxBytes)
  return openSqliteFile(place.path, maxBytes, warn)
}

type StoreOptions = Required<Pick<ArchiveOptions, 'keepMs' | 'maxBytes'>> &
  Pick<ArchiveOptions, 'masked'>

class ArchiveStore implements ArchiveCalls {
  readonly #place: ArchivePlace
  readonly #options: StoreOptions & PastOptions
  readonly #events: StoreEvents
  readonly #writer = new BatchWriter(16 * 2 ** 20)
  readonly #reads = new KindReads(() => this.prepare(), this.#writer.texts)
  readonly #kinds = new Map<number, WrittenKind>()
  /** Only where processes share a database. */
  readonly #holders: Holders | undefined
  readonly #queue: Waiting[] = []
  readonly #closing = new AbortController()
  #engine: Engine
  #prepared: Promise<void> | undefined
  #writing: Promise<void> | undefined
  #claiming: Promise<void> = Promise.resolve()
  #forgetting: Promise<void> | undefined
  #isFailing = false
  /** Whether the last transaction failed. Its commit may have been done all the same, and its answer lost. */
  #isDoubtful = false
  /** Clusters that another process holds, and until when they are not asked for again (`performance.now()`). */
  readonly #parkedUntilMs = new Map<string, number>()
  #bytesSinceForgetting = 0
  readonly #timers: NodeJS.Timeout[] = []
  readonly #beats = new MemberBeats()

  readonly publishedAfter: ArchiveCalls['publishedAfter'] = this.#asked(publishedAfter)
  readonly lackedDocuments: ArchiveCalls['lackedDocuments'] = this.#asked(lackedDocuments)
  readonly keepDocument: ArchiveCalls['keepDocument'] = this.#asked(keepDocument)
  readonly documentsOf: ArchiveCalls['documentsOf'] = this.#asked(documentsOf)
  readonly prolongMember: ArchiveCalls['prolongMember'] = this.#asked((engine, member) => {
    this.#beats.said(member)
    return prolongMember(engine, member)
  })
  readonly takeClusters: ArchiveCalls['takeClusters'] = this.#asked(takeClusters)
  readonly removeMember: ArchiveCalls['removeMember'] = this.#asked((engine, member) => {
    this.#beats.said(undefined)
    return removeMember(engine, member)
  })
  readonly removeGone: ArchiveCalls['removeGone'] = this.#asked(removeGone)

  constructor(place: ArchivePlace, engine: Engine, options: StoreOptions, events: StoreEvents) {
    this.#place = place
    this.#engine = engine
    this.#holders = place.form === 'postgres' ? new Holders() : undefined
    this.#options = { ...options, holds: (cluster) => this.#holders?.holds(cluster) }
    this.#events = events
  }

  /** Begins what is done at times. */
  run(): void {
    this.#timers.push(setInterval(() => this.#forget(), forgetEachMs))
    if (this.#holders !== undefined) {
      this.#timers.push(setInterval(() => void this.#prolong(), prolongMs))
      this.#timers.push(setInterval(() => void this.#beats.beat(this.#engine), beatMs))
      this.#engine.listen(this.#events.othersWrote)
    }
    this.#forget()
  }

  /** Makes the tables, once. Rejects with `ArchiveError`. */
  async prepare(): Promise<Engine> {
    const engine = this.#engine
    this.#prepared ??= migrate(engine)
    try {
      await this.#prepared
      return this.#engine
    } catch (error) {
      this.#prepared = undefined
      throw await this.#failed(engine, error)
    }
  }

  positions(cluster: string, incarnation: string): Promise<readonly KindPosition[]> {
    return this.#ask(async (engine) => {
      const rows = await engine.rows(
        `SELECT api_group, resource, position, namespaces FROM kinds
         WHERE cluster = $1 AND incarnation = $2 AND position IS NOT NULL`,
        [cluster, incarnation],
      )
      return rows.map((row) => ({
        group: String(row['api_group']),
        resource: String(row['resource']),
        versions: Object.values(namespacesOf(row) ?? { all: String(row['position']) }),
      }))
    })
  }

  async kind(archived: ArchivedKind): Promise<KindState> {
    return this.#ask(async (engine) => {
      await this.#claim(engine, [archived.cluster])
      const isHeld = this.#holds(archived.cluster)
      const known = await this.#reads.row(archived)
      const isKnown = known !== undefined && (!isHeld || isRowOf(archived, known))
      const row = isKnown
        ? known
        : await engine.transaction((statements) => registered(statements, archived, isHeld))
      const id = Number(row['id'])
      const written: WrittenKind = this.#kinds.get(id) ?? { id, archived, ...unwritten }
      written.archived = archived
      adopt(written, row)
      this.#kinds.set(id, written)
      const { position, namespaces, incarnation, objects } = written
      return { id, position, namespaces, incarnation, writtenMs: writtenIn(row), objects, isHeld }
    })
  }

  write(batch: ArchiveBatch): Promise<void> {
    const kind = this.#kind(batch.kind)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.push({ kind, batch, resolve, reject, sinceMs: performance.now() })
    this.#writing ??= this.#drain()
    return promise
  }

  #kind(id: number): WrittenKind {
    const kind = this.#kinds.get(id)
    if (kind !== undefined) return kind
    throw new RangeError(`no kind ${id} was registered`)
  }

  async mark(marks: readonly ClusterMark[]): Promise<void> {
    await this.prepare()
    this.#holders?.mark(marks)
  }

  gap(kind: number, fromMs: number, toMs: number): Promise<void> {
    return this.#ask(async (engine) => {
      await engine.upsert('gaps', ['kind_id', 'begins', 'ends'], [[kind, fromMs, toMs]])
      this.#events.wrote({ rows: 0, gaps: 1 })
    })
  }

  async *objects(id: number): AsyncIterable<ObjectChunk> {
    const engine = await this.prepare()
    try {
      yield* this.#reads.objects(this.#kind(id))
    } catch (error) {
      throw await this.#failed(engine, error)
    }
  }

  changesSince(
    kind: number,
    resourceVersion: string,
    limit: number,
    base?: BaseMark,
  ): Promise<readonly ResumedChange[] | undefined> {
    return this.#ask(async (engine) => {
      const since = changesSince(engine, this.#writer.texts, kind, resourceVersion, limit, base)
      const found = await unlessLost(since)
      return found === lost ? undefined : found
    })
  }

  kinds(): Promise<readonly KeptKind[]> {
    return this.#ask(async (engine) => {
      const rows = await engine.rows('SELECT * FROM kinds ORDER BY cluster, api_group, resource')
      return rows.map((row) => ({
        cluster: String(row['cluster']),
        group: String(row['api_group']),
        resource: String(row['resource']),
        version: String(row['version']),
        kind: String(row['kind']),
        namespaced: Number(row['namespaced']) === 1,
      }))
    })
  }

  changes(question: ChangesQuestion): Promise<ChangesPage> {
    return this.#ask((engine) => past(engine, this.#options).changes(question))
  }

  objectAt(question: PastQuestion): Promise<PastObject> {
    return this.#ask((engine) => past(engine, this.#options).objectAt(question))
  }

  differences(question: DifferencesQuestion): Promise<ChangesPage> {
    return this.#ask((engine) => past(engine, this.#options).differences(question))
  }

  state(): Promise<ArchiveState> {
    return this.#ask(async (engine) => {
      const [counts] = await engine.rows(
        'SELECT SUM(objects) AS objects, SUM(changes) AS changes FROM kinds',
      )
      const [gaps] = await engine.rows('SELECT COUNT(*) AS count FROM gaps')
      const [oldest] = await engine.rows('SELECT time FROM changes ORDER BY id LIMIT 1')
      return {
        objects: Number(counts?.['objects'] ?? 0),
        changes: Number(counts?.['changes'] ?? 0),
        bytes: await engine.bytes(),
        gaps: Number(gaps?.['count'] ?? 0),
        beginsMs: oldest === undefined ? undefined : Number(oldest['time']),
      }
    })
  }

  publish(clusters: readonly PublishedCluster[]): Promise<readonly string[]> {
    return this.#ask(async (engine) => {
      const names = clusters.map(({ cluster }) => cluster)
      await this.#claim(engine, names)
      const others = names.filter((one) => !this.#holds(one))
      const held = clusters.filter(({ cluster }) => this.#holds(cluster))
      if (held.length > 0) {
        await engine.transaction(async (statements) => {
          await this.#holders?.check(statements, new Set(held.map(({ cluster }) => cluster)))
          await publish(statements, held)
        })
      }
      return others
    })
  }

  releaseCluster(cluster: string): Promise<void> {
    return this.#ask(async (engine) => {
      await this.#holding((holders) =>
        engine.transaction((statements) => holders.release(statements, cluster)),
      )
      await engine.notify('members')
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const timer of this.#timers) clearInterval(timer)
    await this.#writing
    await this.#forgetting
    await this.#holding((holders) =>
      this.#engine.transaction((statements) => holders.release(statements)),
    ).catch(() => undefined)
    await this.#engine.close()
  }

  /** A call that is a question to the database. */
  #asked<Given extends readonly unknown[], T>(
    question: (engine: Engine, ...given: Given) => Promise<T>,
  ): (...given: Given) => Promise<T> {
    return (...given) => this.#ask((engine) => question(engine, ...given))
  }

  /** Answers a question. Rejects with `ArchiveError`. */
  async #ask<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
    const engine = await this.prepare()
    try {
      return await work(engine)
    } catch (error) {
      throw await this.#failed(engine, error)
    }
  }

  /** Writes until nothing waits, or until the archive is closed and cannot be written. */
  async #drain(): Promise<void> {
    let retryMs = firstRetryMs
    // How many of the first batches go alone, since one of them cannot be written.
    let alone = 0
    while (this.#queue.length > 0) {
      const ready = this.#ready()
      const works = alone > 0 ? ready.slice(0, 1) : nextTogether(ready)
      alone = Math.max(0, alone - 1)
      if (works.length === 0) {
        if (this.#closing.signal.aborted) this.#end([...this.#queue], closed())
        await this.#pause(holdMs / 24)
        continue
      }
      const engine = this.#engine
      try {
        const prepared = await this.prepare()
        if (this.#isDoubtful) {
          await this.#acknowledge(prepared)
          this.#isDoubtful = false
          continue
        }
        await this.#write(prepared, works)
        retryMs = firstRetryMs
      } catch (error) {
        this.#isDoubtful = true
        this.#writer.forget()
        const failure = error instanceof ArchiveError ? error : await this.#failed(engine, error)
        if (failure.code !== 'ARCHIVE_UNREACHABLE') {
          if (works.length > 1) alone = works.length
          else this.#end(works, failure)
          continue
        }
        this.#fails(failure.message)
        if (this.#closing.signal.aborted) this.#end([...this.#queue], failure)
        this.#forget(true)
        await this.#pause(retryMs)
        retryMs = Math.min(2 * retryMs, maxRetryMs)
      }
    }
    // In the same turn in which nothing waited: a batch that comes later begins anew.
    this.#writing = undefined
  }

  /** Ends the batches that a transaction has written, though it seemed to fail: written once more, they would be told twice. */
  async #acknowledge(engine: Engine): Promise<void> {
    for (const kind of new Set(this.#queue.map((work) => work.kind))) {
      const [row] = await engine.rows('SELECT position, written FROM kinds WHERE id = $1', [
        kind.id,
      ])
      const [position, writtenMs] = [textOf(row?.['position']), Number(row?.['written'])]
      if (position === kind.position && writtenMs === kind.writtenMs) continue
      const own = this.#queue.filter((work) => work.kind === kind)
      const isLast = ({ batch }: Waiting) =>
        batch.position === position && batch.timeMs === writtenMs
      const done = own.slice(0, own.findIndex(isLast) + 1)
      for (const { batch } of done) remember(kind, batch)
      this.#end(done, undefined)
    }
  }

  async #prolong(): Promise<void> {
    const prolonged = this.#holding((holders) => holders.prolong(this.#engine))
    // What writes next notices what is lost.
    await prolonged.catch(() => undefined)
  }

  /** Ends at once when the archive is closed. */
  async #pause(forMs: number): Promise<void> {
    await sleep(forMs, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }

  async #write(engine: Engine, works: readonly Waiting[]): Promise<void> {
    const held = await this.#held(engine, works)
    const based = held.filter(
      ({ kind, batch }) => batch.list !== undefined || kind.position !== undefined,
    )
    for (const work of held) {
      const { archived, beginsMs } = work.kind
      // Another process has written since its position, or there was no list yet.
      const isOfAnother = this.#holders !== undefined && beginsMs !== undefined
      const failure = isOfAnother ? ofAnother(archived.cluster) : behind(archived)
      if (!based.includes(work)) this.#end([work], failure)
    }
    if (based.length === 0) return
    const clusters = new Set(based.map(({ kind }) => kind.archived.cluster))
    const written = await engine.transaction(async (statements) => {
      await this.#holders?.check(statements, clusters)
      return this.#writer.write(statements, based)
    })
    written.commit()
    this.#fails(undefined)
    this.#end(based, undefined)
    this.#events.wrote(written)
    this.#bytesSinceForgetting += written.bytes
    if (this.#bytesSinceForgetting > this.#options.maxBytes / 64) this.#forget()
  }

  /** Those of the batches whose clusters this process holds. */
  async #held(engine: Engine, works: readonly Waiting[]): Promise<readonly Waiting[]> {
    const clusters = [...new Set(works.map(({ kind }) => kind.archived.cluster))]
    await this.#claim(engine, clusters)
    for (const cluster of clusters) if (!this.#holds(cluster)) this.#refuseLate(cluster)
    return works.filter(({ kind }) => this.#holds(kind.archived.cluster))
  }

  /** Refuses the batches of a cluster that another process holds, and that have waited for too long. */
  #refuseLate(cluster: string): void {
    const isLate = ({ kind, sinceMs }: Waiting) =>
      kind.archived.cluster === cluster && performance.now() - sinceMs > holdMs * 1.5
    this.#end(this.#queue.filter(isLate), ofAnother(cluster))
  }

  /** What waits for nothing but its turn. */
  #ready(): readonly Waiting[] {
    if (this.#parkedUntilMs.size === 0) return this.#queue
    return this.#queue.filter(({ kind }) => !this.#isParked(kind.archived.cluster))
  }

  /** Whether another process held a cluster a moment ago. */
  #isParked(cluster: string): boolean {
    if (performance.now() < (this.#parkedUntilMs.get(cluster) ?? -Infinity)) return true
    this.#parkedUntilMs.delete(cluster)
    return false
  }

  /** Whether this process may write a cluster. */
  #holds(cluster: string): boolean {
    return this.#holders?.holds(cluster) ?? true
  }

  /** Takes those of the clusters that no process holds. What another one holds is asked for again after a moment. */
  #claim(engine: Engine, clusters: readonly string[]): Promise<void> {
    return this.#holding(async (holders) => {
      const asked = clusters.filter((one) => !this.#holds(one) && !this.#isParked(one))
      if (asked.length === 0) return
      const taken = await engine.transaction((statements) => holders.claim(statements, asked))
      const untilMs = performance.now() + holdMs / 12
      for (const one of asked) if (!this.#holds(one)) this.#parkedUntilMs.set(one, untilMs)
      if (taken.length > 0) await this.#takeOver(engine, taken)
    })
  }

  /**
   * One after the other: many kinds ask for the same clusters at once. And in the order of the calls: a cluster that is
   * released must not be claimed by a call from before.
   */
  #holding(work: (holders: Holders) => Promise<void>): Promise<void> {
    const holders = this.#holders
    if (holders === undefined) return Promise.resolve()
    const done = this.#claiming.then(() => work(holders))
    this.#claiming = done.catch(() => undefined)
    return done
  }

  /** What another process wrote last is the base of what follows, if it is what was known here. */
  async #takeOver(engine: Engine, clusters: readonly string[]): Promise<void> {
    this.#writer.forget()
    const rows = await engine.rows(
      `SELECT * FROM kinds WHERE cluster IN (${places(clusters, 1)})`,
      clusters,
    )
    for (const row of rows) {
      const kind = this.#kinds.get(Number(row['id']))
      if (kind === undefined) continue
      const isSame = kind.position === textOf(row['position'])
      adopt(kind, row)
      if (!isSame) kind.position = undefined
    }
  }

  #end(works: readonly Waiting[], failure: ArchiveError | undefined): void {
    remove(this.#queue, works)
    for (const { resolve, reject } of works) {
      if (failure === undefined) resolve()
      else reject(failure)
    }
  }

  #fails(message: string | undefined): void {
    const isFailing = message !== undefined
    if (isFailing || this.#isFailing) this.#events.failing(message)
    if (isFailing && !this.#isFailing) this.#events.warn(message)
    this.#isFailing = isFailing
  }

  /** Makes an `ArchiveError` of what a database says. A damaged file is put aside first. */
  async #failed(engine: Engine, error: unknown): Promise<ArchiveError> {
    if (error instanceof ArchiveError) return error
    const message = error instanceof Error ? error.message : String(error)
    const failure = engine.failure(error)
    if (failure === 'damaged') await this.#beginAnew(engine)
    if (failure === 'other') this.#events.warn(`the archive cannot do what it was told: ${message}`)
    return new ArchiveError(
      failure === 'other' ? 'ARCHIVE_BEHIND' : 'ARCHIVE_UNREACHABLE',
      `the archive cannot be used: ${message}`,
      'it is tried again; look whether the database runs, and whether its disk has room',
      error,
    )
  }

  async #beginAnew(engine: Engine): Promise<void> {
    if (this.#engine !== engine) return
    await engine.close()
    if (this.#place.form === 'file') putAside(this.#place.path, this.#events.warn)
    const anew = await engineAt(this.#place, this.#options.maxBytes, this.#events)
    this.#engine = anew
    this.#writer.forget()
    this.#prepared = migrate(anew).then(() =>
      anew.transaction(async (statements) => {
        for (const kind of this.#kinds.values()) {
          adopt(kind, await registered(statements, kind.archived, true, kind.id))
          kind.list = undefined
        }
      }),
    )
  }

  /** Forgets what is old, in the background, one pass at a time. */
  #forget(isFull = false): void {
    if (this.#forgetting !== undefined || this.#closing.signal.aborted) return
    this.#bytesSinceForgetting = 0
    const isInUse = ({ id, cluster }: { id: number; cluster: string }) =>
      this.#kinds.has(id) || !this.#holds(cluster)
    const { signal } = this.#closing
    this.#forgetting = this.#ask(async (engine) => {
      const bytes = await forgetOld(engine, { ...this.#options, isFull }, isInUse, signal)
      if (this.#holders !== undefined)
        await engine.transaction(async (statements) => {
          await forgetClusters(statements, this.#options.keepMs)
          await forgetDocuments(statements)
        })
      return bytes
    })
      .then(this.#events.bytes, () => undefined)
      .finally(() => (this.#forgetting = undefined))
  }
}

interface Waiting extends BatchOfKind {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  /** `performance.now()`. */
  readonly sinceMs: number
}

const recordsAtOnce = 2_000
const bytesAtOnce = 2 * 2 ** 20
const [firstRetryMs, maxRetryMs] = [100, 2_000]
const forgetEachMs = 30_000

function closed(): ArchiveError {
  return new ArchiveError('ARCHIVE_CLOSED', 'the archive is closed', 'open it again')
}

/** The first batches of the queue that go into one transaction. A part of a list goes alone. */
function nextTogether(queue: readonly Waiting[]): readonly Waiting[] {
  let records = 0
  let bytes = 0
  let count = 0
  for (const { batch } of queue) {
    records += batch.keys.length
    bytes += batch.bytes.length
    const isTooMuch = records > recordsAtOnce || bytes > bytesAtOnce
    if (count > 0 && (batch.list !== undefined || isTooMuch)) break
    count += 1
    if (batch.list !== undefined) break
  }
  return queue.slice(0, count)
}

function remove(queue: Waiting[], works: readonly Waiting[]): void {
  const gone = new Set(works)
  const left = queue.filter((work) => !gone.has(work))
  queue.splice(0, queue.length, ...left)
}
