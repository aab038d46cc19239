import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { GatewayLog } from '../gateway/observers.ts'
import { sleep } from '../lib/backoff.ts'
import { withDeadline } from '../lib/deadline.ts'

const open = promisify(fs.open)
const write = promisify(fs.write)
const close = promisify(fs.close)
const mkdir = promisify(fs.mkdir)

/** Stands for the standard output in place of a file. */
const standardOutput = { name: '-', descriptor: 1 }
/** The maximum size of waiting lines. Further lines are lost. */
const maxWaitingBytes = 16_777_216
/** To append. A pipe that nobody reads is an error at once: waiting for its reader would occupy a thread and keep the process alive. */
const openFlags =
  fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_NONBLOCK
const retryMs = 1_000
/** How long a full pipe takes to have room. */
const pipeMs = 100
const stopDeadlineMs = 2_000

export interface AuditFileOptions {
  /** A file to append to, made with its folders if it does not exist, or `-`. */
  readonly file: string
  readonly log: GatewayLog
  /** Called for each attempt to write that fails, and for each lost line. */
  readonly failed: () => void
}

/**
 * The lines of the audit log on their way to its file: written in order, one write at a time. While the file takes none, they wait, and
 * each second the file is opened anew and the write tried again: room on the disk, or another file under its name, is all it needs to go on.
 * Nothing here blocks the process, so a full disk cannot hold up its end.
 */
export class AuditFile implements AsyncDisposable {
  readonly #options: AuditFileOptions
  readonly #stop = new AbortController()
  /** Until when the reader of a full pipe may make room. */
  #endsAtMs = Infinity
  #descriptor: number | undefined
  /** Whether to open the file before the next write. */
  #isStale = true
  #waiting: string[] = []
  #lines = 0
  #bytes = 0
  #failure: Error | undefined
  #writing: Promise<void> | undefined

  constructor(options: AuditFileOptions) {
    this.#options = options
  }

  /** Why lines are not written at present, if so. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Opens the file; rejects if it cannot be opened. */
  async open(): Promise<void> {
    const before = this.#descriptor
    const { file } = this.#options
    if (file === standardOutput.name) this.#descriptor = standardOutput.descriptor
    else {
      await mkdir(dirname(file), { recursive: true })
      this.#descriptor = await open(file, openFlags, 0o666)
      if (before !== undefined) await close(before)
    }
    this.#isStale = false
  }

  /** Opens the file again, for log rotation. */
  reopen(): void {
    this.#isStale = true
    this.#run()
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (this.#bytes + bytes > maxWaitingBytes) {
      this.#fail(new Error('a line is lost: too many wait to be written'))
      return
    }
    this.#waiting.push(line)
    this.#lines += 1
    this.#bytes += bytes
    if (this.#isSlow && this.#failure === undefined) {
      this.#fail(new Error('the file takes lines too slowly'))
    }
    this.#run()
  }

  /** Writes the waiting lines if that is possible within two seconds, and logs how many are lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#endsAtMs = performance.now() + stopDeadlineMs
    this.#stop.abort()
    const writing = this.#writing ?? Promise.resolve()
    await withDeadline('writing the audit log', writing, stopDeadlineMs).catch(() => {})
    const { log, file } = this.#options
    if (this.#lines > 0) {
      log.error('lines of the audit log are lost', { lines: this.#lines, error: this.#failure })
    } else if (this.#descriptor !== undefined && file !== standardOutput.name) {
      await close(this.#descriptor)
    }
  }

  #run(): void {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined))
  }

  async #writeAll(): Promise<void> {
    let chunk: Buffer = Buffer.alloc(0)
    let lines = 0
    while (this.#isStale || this.#lines > 0) {
      if (chunk.length === 0) {
        lines = this.#waiting.length
        chunk = Buffer.from(this.#waiting.join(''))
        this.#waiting = []
      }
      try {
        if (this.#isStale) await this.open()
        const { bytesWritten } = await write(this.#descriptor ?? -1, chunk)
        chunk = chunk.subarray(bytesWritten)
        this.#bytes -= bytesWritten
        if (chunk.length === 0) this.#lines -= lines
        this.#recover()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
          if (performance.now() > this.#endsAtMs) return
          await pause(pipeMs)
          continue
        }
        this.#fail(error as Error)
        this.#isStale = true
        if (this.#stop.signal.aborted) return
        await sleep(retryMs, this.#stop.signal)
      }
    }
  }

  /** Logs the first of the failures in a row. */
  #fail(error: Error): void {
    this.#options.failed()
    if (this.#failure === undefined) {
      this.#options.log.error('the audit log cannot be written', { error })
    }
    this.#failure = error
  }

  get #isSlow(): boolean {
    return this.#bytes > maxWaitingBytes / 2
  }

  #recover(): void {
    if (this.#failure === undefined || this.#isSlow) return
    this.#failure = undefined
    this.#options.log.info('the audit log is written again')
  }
}
