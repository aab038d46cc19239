/*
 * The archive, as the gateway's thread has it: each call is a message to a worker thread (`store/archive-worker.ts`), and
 * each answer one from it. Batches are handed over without a copy. The bytes that wait to be written are bounded: what comes
 * beyond the bound is dropped, the kind is behind from then on, and its next batch is a whole list. A worker that dies is
 * begun anew; kinds whose batches died with it are behind, too.
 */

import { Worker } from 'node:worker_threads'
import { withDeadline } from '../lib/deadline.ts'
import { parseExact } from '../lib/json.ts'
import type {
  ArchiveBatch,
  ArchiveCalls,
  ArchiveCounts,
  ArchivedKind,
  ArchiveReads,
  ChangesPage,
  ChangesQuestion,
  DifferencesQuestion,
  KindState,
  ObjectChunk,
  Topic,
} from './archive-calls.ts'
import { ArchiveError, type ArchiveErrorCode, type ArchiveOptions } from './archive-options.ts'
import type { WorkerCall, WorkerMessage } from './store/archive-worker.ts'

export interface Archive extends ArchiveCalls, ArchiveReads, AsyncDisposable {
  /** How writing goes, without asking the database. */
  counts(): ArchiveCounts
  /** Calls `listener` after other processes have published, and when that may have been missed (`isSure` is false). */
  onPublished(listener: (isSure: boolean) => void): () => void
  /** Calls `listener` after gateways have come or gone, or have taken clusters, and when that may have been missed. */
  onMembers(listener: () => void): () => void
}

/** The most bytes of batches that wait, here and in the worker. */
const maxWaitingBytes = 24 * 2 ** 20
/** What a record takes besides its text. */
const recordBytes = 300
const questionDeadlineMs = 30_000
const closeDeadlineMs = 5_000
const sharingDeadlineMs = 5_000
/** A start waits for them before it uses anything of the archive; otherwise it lists everything. */
const positionsDeadlineMs = 15_000
const startAgainMs = 1_000

/**
 * Opens the archive. Rejects with `ArchiveError` if another process has the file (ARCHIVE_IN_USE), a newer program made it
 * (ARCHIVE_TOO_NEW), or it cannot be made; a Postgres that is away is waited for in the background. `warn` is told what the
 * operator should know.
 */
export async function openArchive(
  options: ArchiveOptions,
  warn: (message: string) => void = () => undefined,
): Promise<Archive> {
  const archive = new WorkerArchive(options, warn)
  try {
    await archive.open()
  } catch (error) {
    await archive.close()
    throw error
  }
  return archive
}

interface Pending {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  /** Since when a batch waits (`performance.now()`). */
  readonly sinceMs: number | undefined
}

class WorkerArchive implements Archive {
  readonly #options: ArchiveOptions
  readonly #warn: (message: string) => void
  #worker: Worker
  #calls = 0
  readonly #pending = new Map<number, Pending>()
  /** The ids of kinds whose next batch has to be a list. */
  readonly #behind = new Set<number>()
  readonly #kinds = new Map<number, ArchivedKind>()
  readonly #listeners = new Set<() => void>()
  readonly #publishedListeners = new Set<(isSure: boolean) => void>()
  readonly #memberListeners = new Set<() => void>()
  #waitingBytes = 0
  readonly #counts = { rows: 0, dropped: 0, gaps: 0, bytes: 0 }
  #problem: ArchiveError | undefined
  /** Between the end of a worker and the start of the next one. */
  #isDown = false
  #isClosed = false

  readonly positions = this.#passed('positions', positionsDeadlineMs)
  readonly mark = this.#passed('mark')
  readonly gap = this.#passed('gap')
  readonly changesSince = this.#passed('changesSince')
  readonly kinds = this.#passed('kinds')
  readonly objectAt = this.#passed('objectAt')
  readonly state = this.#passed('state')
  readonly publish = this.#passed('publish')
  readonly publishedAfter = this.#passed('publishedAfter')
  readonly lackedDocuments = this.#passed('lackedDocuments')
  readonly keepDocument = this.#passed('keepDocument')
  readonly documentsOf = this.#passed('documentsOf')
  readonly prolongMember = this.#passed('prolongMember', sharingDeadlineMs)
  readonly takeClusters = this.#passed('takeClusters', sharingDeadlineMs)
  readonly removeMember = this.#passed('removeMember', sharingDeadlineMs)
  readonly removeGone = this.#passed('removeGone', sharingDeadlineMs)
  readonly releaseCluster = this.#passed('releaseCluster')

  constructor(options: ArchiveOptions, warn: (message: string) => void) {
    this.#options = options
    this.#warn = warn
    this.#worker = this.#start()
  }

  counts(): ArchiveCounts {
    let oldestMs = Infinity
    for (const { sinceMs } of this.#pending.values())
      oldestMs = Math.min(oldestMs, sinceMs ?? Infinity)
    const lagMs = oldestMs === Infinity ? 0 : performance.now() - oldestMs
    return { ...this.#counts, lagMs, problem: this.#problem }
  }

  open(): Promise<void> {
    return this.#ask<void>('open', [], questionDeadlineMs)
  }

  async kind(kind: ArchivedKind): Promise<KindState> {
    const state = await this.#ask<KindState>('kind', [kind])
    this.#kinds.set(state.id, kind)
    return state
  }

  async write(batch: ArchiveBatch): Promise<void> {
    const bytes = batch.bytes.length + batch.keys.length * recordBytes
    if (batch.list === undefined && this.#behind.has(batch.kind)) throw behind()
    if (this.#waitingBytes + bytes > maxWaitingBytes) {
      this.#drop(batch)
      throw behind()
    }
    this.#behind.delete(batch.kind)
    this.#waitingBytes += bytes
    try {
      await this.#call<void>('write', [ofItsOwn(batch)])
      this.#tellListeners()
    } catch (error) {
      // Whatever comes after a batch that was not written has no base, but where another process has written.
      if (!(error instanceof ArchiveError) || error.code !== 'ARCHIVE_HELD') this.#drop(batch)
      throw error
    } finally {
      this.#waitingBytes -= bytes
    }
  }

  async *objects(kind: number): AsyncIterable<ObjectChunk> {
    const call = this.#calls
    const next = () => this.#ask<ObjectChunk | undefined>('next', [call])
    let hasEnded = false
    try {
      let coming = this.#ask<ObjectChunk | undefined>('objects', [kind])
      for (;;) {
        const chunk = await coming
        hasEnded = chunk?.isLast ?? true
        // The worker reads the next chunk while this one is used.
        if (!hasEnded) coming = next()
        coming.catch(() => undefined)
        if (chunk !== undefined) yield chunk
        if (hasEnded) return
      }
    } finally {
      if (!hasEnded) this.#ask('return', [call]).catch(() => undefined)
    }
  }

  onWritten(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async changes(question: ChangesQuestion): Promise<ChangesPage> {
    return parseExact(await this.#ask<string>('changes', [question])) as ChangesPage
  }

  async differences(question: DifferencesQuestion): Promise<ChangesPage> {
    return parseExact(await this.#ask<string>('differences', [question])) as ChangesPage
  }

  onPublished(listener: (isSure: boolean) => void): () => void {
    this.#publishedListeners.add(listener)
    return () => void this.#publishedListeners.delete(listener)
  }

  onMembers(listener: () => void): () => void {
    this.#memberListeners.add(listener)
    return () => void this.#memberListeners.delete(listener)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    const closing = this.#ask('close', [], closeDeadlineMs)
    this.#isClosed = true
    // What cannot be written within the deadline is seen again after the restart.
    await closing.catch(() => undefined)
    await this.#worker.terminate()
    this.#end('the archive was closed', 'ARCHIVE_CLOSED')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #start(): Worker {
    // The built package has the same files with another ending.
    const file = `./store/archive-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: this.#options,
      name: 'archive',
    })
    worker.on('message', (message: WorkerMessage) => this.#receive(message))
    // Its exit follows.
    worker.on('error', ({ message }) => this.#warn(`the archive's worker failed: ${message}`))
    worker.on('exit', () => {
      if (this.#isClosed) return
      this.#isDown = true
      this.#end(`the archive's worker ended`, 'ARCHIVE_UNREACHABLE')
      setTimeout(() => this.#startAgain(), startAgainMs).unref()
    })
    worker.unref()
    return worker
  }

  #startAgain(): void {
    if (this.#isClosed) return
    this.#isDown = false
    this.#worker = this.#start()
    // In the order of their ids, so that an empty database numbers them in the same way.
    for (const [, kind] of [...this.#kinds].toSorted(([a], [b]) => a - b)) {
      this.kind(kind).catch(() => undefined)
    }
  }

  #receive(message: WorkerMessage): void {
    if ('warning' in message) return this.#warn(message.warning)
    if ('othersWrote' in message) this.#othersWrote(message.othersWrote)
    if ('bytes' in message) this.#counts.bytes = message.bytes
    if ('wrote' in message) {
      this.#counts.rows += message.wrote.rows
      this.#counts.gaps += message.wrote.gaps
    }
    if ('failing' in message) {
      const { failing } = message
      this.#problem =
        failing === undefined ? undefined : archiveError('ARCHIVE_UNREACHABLE', failing, undefined)
    }
    if (!('call' in message)) return
    const pending = this.#pending.get(message.call)
    this.#pending.delete(message.call)
    if (this.#pending.size === 0) this.#worker.unref()
    if ('result' in message) pending?.resolve(message.result)
    else pending?.reject(archiveError(message.code, message.message, message.hint))
  }

  #othersWrote(topic: Topic | undefined): void {
    const isAbout = (one: Topic): boolean => topic === undefined || topic === one
    if (isAbout('changes')) this.#tellListeners()
    if (isAbout('apis')) {
      for (const listener of this.#publishedListeners) listener(topic !== undefined)
    }
    if (isAbout('members')) for (const listener of this.#memberListeners) listener()
  }

  #tellListeners(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Ends all calls with an error. */
  #end(message: string, code: ArchiveErrorCode): void {
    for (const { reject } of this.#pending.values()) reject(archiveError(code, message, undefined))
    this.#pending.clear()
  }

  #drop(batch: ArchiveBatch): void {
    this.#behind.add(batch.kind)
    this.#counts.dropped += batch.keys.length
  }

  /** A call that the worker answers as it is. */
  #passed<M extends PassedMethod>(method: M, deadlineMs?: number): ArchiveCalls[M] {
    const ask = (...parameters: readonly unknown[]) => this.#ask(method, parameters, deadlineMs)
    return ask as ArchiveCalls[M]
  }

  /** Asks, and waits no longer than the deadline. */
  async #ask<T>(
    method: WorkerCall['method'],
    parameters: readonly unknown[],
    deadlineMs: number = questionDeadlineMs,
  ): Promise<T> {
    const late = (): Error =>
      archiveError(
        'ARCHIVE_UNREACHABLE',
        `the archive did not answer within ${deadlineMs / 1_000} s`,
        undefined,
      )
    const answer = this.#call<T>(method, parameters)
    return await withDeadline('the archive', answer, deadlineMs, undefined, late)
  }

  #call<T>(method: WorkerCall['method'], parameters: readonly unknown[]): Promise<T> {
    if (this.#isClosed) throw archiveError('ARCHIVE_CLOSED', 'the archive is closed', undefined)
    if (this.#isDown) {
      throw archiveError('ARCHIVE_UNREACHABLE', 'the archive starts again', 'try it in a moment')
    }
    const call = this.#calls++
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const isWrite = method === 'write'
    this.#pending.set(call, { resolve, reject, sinceMs: isWrite ? performance.now() : undefined })
    this.#worker.ref()
    this.#worker.postMessage(
      { call, method, parameters } satisfies WorkerCall,
      isWrite ? [(parameters[0] as ArchiveBatch).bytes.buffer as ArrayBuffer] : [],
    )
    return promise as Promise<T>
  }
}

type PassedMethod = Exclude<
  keyof ArchiveCalls,
  'kind' | 'write' | 'objects' | 'changes' | 'differences' | 'close'
>

/** The batch with bytes that are no part of something else, so that they can be handed over. */
function ofItsOwn(batch: ArchiveBatch): ArchiveBatch {
  const { bytes } = batch
  return bytes.length === bytes.buffer.byteLength ? batch : { ...batch, bytes: bytes.slice() }
}

function behind(): ArchiveError {
  return archiveError(
    'ARCHIVE_BEHIND',
    'changes of the kind were dropped, since too many wait to be written',
    'write a whole list next',
  )
}

function archiveError(code: string, message: string, hint: string | undefined): ArchiveError {
  return new ArchiveError(
    code as ArchiveErrorCode,
    message,
    hint ?? 'the log says why the archive cannot be used',
  )
}
