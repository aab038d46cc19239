/*
 * The audit log: a line of JSON for each answered operation, ended subscription, refused document and refused caller. A
 * line names the user, the types and the amounts; never tokens, values of variables, or objects.
 */

import { pino } from 'pino'
import type { SignInReport } from '../access/authentication/authenticator.ts'
import { ConfigError } from '../config/config.ts'
import {
  documentHash,
  type OperationObserver,
  type OperationReport,
  type RefusedDocument,
  type WriteReport,
} from '../graphql/answer/operation-observer.ts'
import { ClientError } from '../graphql/errors/client-error.ts'
import type { ExecEndReport, ExecReport } from '../server/exec/exec-options.ts'
import type { ServerObserver, ServerRefusal } from '../server/operation-options.ts'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { GatewayLog } from '../gateway/observers.ts'
import { sleep } from '../lib/backoff.ts'
import { withDeadline } from '../lib/deadline.ts'

interface AuditLogOptions extends AuditFileOptions {
  /** Whether operations are refused while lines cannot be written. */
  readonly required: boolean
}

const unavailable = 'AUDIT_UNAVAILABLE'
const retryAfterMs = 1_000

export class AuditLog implements OperationObserver, ServerObserver, AsyncDisposable {
  readonly #file: AuditFile
  readonly #isRequired: boolean
  readonly #logger: pino.Logger
  readonly #reopen = (): void => this.#file.reopen()

  private constructor({ required, ...options }: AuditLogOptions) {
    this.#isRequired = required
    this.#file = new AuditFile(options)
    const timestamp = pino.stdTimeFunctions.isoTime
    // Audit lines have no levels.
    const formatters = { level: () => ({ log: 'audit' }) }
    this.#logger = pino({ base: null, timestamp, formatters }, this.#file)
  }

  /**
   * Appends to a file, and opens it again on SIGHUP for log rotation. Rejects with `ConfigError` if the log is required and
   * the file cannot be opened.
   */
  static async open(options: AuditLogOptions): Promise<AuditLog> {
    const audit = new AuditLog(options)
    if (options.required) {
      await audit.#file.open().catch(({ message }: Error) => {
        const problem = `audit.file = ${JSON.stringify(options.file)}: ${message}`
        const hint = 'name a writable file, or set audit.required: false'
        throw new ConfigError([problem], hint)
      })
    } else audit.#file.reopen()
    if (options.file !== standardOutput) process.on('SIGHUP', audit.#reopen)
    return audit
  }

  /** Why nothing may be answered now: what happens could not be recorded. */
  readonly refusal = (): ClientError | undefined => {
    if (!this.#isRequired || this.#file.failure === undefined) return undefined
    const message = 'the audit log cannot be written, and nothing is answered without it'
    const hint = "try again in a moment; the gateway's log says why"
    return new ClientError(unavailable, message, { hint, retryAfterMs })
  }

  answered(report: OperationReport): void {
    this.#logger.info({ event: report.operation, ...entryOf(report) })
  }

  wrote(report: WriteReport): void {
    const { operationName, mutation, cluster, type, namespace, name, dryRun } = report
    const { code, durationMs } = report
    this.#logger.info({
      event: 'write',
      ...whoOf(report),
      operation: operationName,
      mutation,
      cluster,
      type,
      namespace,
      name,
      dryRun,
      decision: decisionOf(code === '' ? [] : [code]),
      outcome: code === '' ? 'done' : code,
      durationMs: Math.round(durationMs * 1_000) / 1_000,
    })
  }

  ended(report: OperationReport): void {
    this.#logger.info({ event: 'subscription-ended', ...entryOf(report) })
  }

  rejected(refused: RefusedDocument): void {
    const { hash, length, codes } = refused
    const what = { ...(hash === undefined ? {} : { hash }), length, decision: 'refused', codes }
    this.#logger.info({ event: 'refused-document', ...whoOf(refused), ...what })
  }

  execBegan(report: ExecReport): void {
    this.#logger.info({ event: 'exec', ...shellOf(report), decision: 'allowed' })
  }

  execEnded(report: ExecEndReport): void {
    this.#logger.info({ event: 'exec-ended', ...shellOf(report), ...endOf(report) })
  }

  execRefused(report: ExecEndReport): void {
    const decision = decisionOf([report.outcome])
    this.#logger.info({ event: 'exec', ...shellOf(report), decision, ...endOf(report) })
  }

  signedIn(report: SignInReport): void {
    const { event, code, address, subject: sub, providerSession: sid } = report
    const decision = code === '' ? 'allowed' : 'refused'
    const codes = code === '' ? {} : { codes: [code] }
    this.#logger.info({ event, ...whoOf(report), sub, sid, decision, ...codes, address })
  }

  refused(refusal: ServerRefusal): void {
    const { transport, code, address } = refusal
    // These lines would fill the memory in which others wait.
    if (code === unavailable) return
    this.#logger.info({ event: 'refused', ...whoOf(refusal), transport, code, address })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('SIGHUP', this.#reopen)
    await this.#file[Symbol.asyncDispose]()
  }
}

function entryOf(report: OperationReport): object {
  const { document, operationName, by, kinds, codes, failed, rows, durationMs } = report
  const { secrets = [], logs = [] } = report
  const types = [
    ...kinds().map(({ cluster, kind }) => `${cluster}/${kind.typeName}`),
    ...logs.map(({ cluster, type }) => `${cluster}/${type}`),
  ]
  return {
    ...whoOf(report),
    operation: operationName,
    hash: documentHash(document),
    types: [...new Set(types)],
    decision: decisionOf(codes, failed),
    ...(codes.length === 0 ? {} : { codes }),
    ...(secrets.length === 0 ? {} : { secrets }),
    ...(logs.length === 0 ? {} : { logs }),
    by,
    rows,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
  }
}

/** The target of a shell. Of its command only the program: arguments may be secrets. */
function shellOf(report: ExecReport): object {
  const { target, cluster = target.cluster, container = target.container, address } = report
  const { namespace, pod, command, tty, debug } = target
  const [program] = command
  const image = debug === undefined ? {} : { debugImage: debug.image }
  return { ...whoOf(report), cluster, namespace, pod, container, program, tty, ...image, address }
}

function endOf({ outcome, exitCode, durationMs, bytesIn, bytesOut }: ExecEndReport): object {
  return { outcome, exitCode, bytesIn, bytesOut, durationMs: Math.round(durationMs) }
}

/** The caller, and the request that lines of the log name. */
function whoOf({ viewer, requestId }: Pick<ServerRefusal, 'viewer' | 'requestId'>): object {
  const request = requestId === undefined ? {} : { requestId }
  if (viewer === undefined) return request
  const { username, uid, groups } = viewer
  return { user: username, ...(uid === '' ? {} : { uid }), groups, ...request }
}

/** `denied` if access to any part was refused, `failed` if all of it was refused for another reason, or went wrong. */
function decisionOf(
  codes: readonly string[],
  failed: boolean = codes.length > 0,
): 'allowed' | 'denied' | 'failed' {
  if (codes.includes('FORBIDDEN')) return 'denied'
  return failed ? 'failed' : 'allowed'
}

const open = promisify(fs.open)
const write = promisify(fs.write)
const close = promisify(fs.close)
const mkdir = promisify(fs.mkdir)

/** Stands for the standard output in place of a file. */
const standardOutput = '-'
/** The maximum size of waiting lines. Further lines are lost. */
const maxWaitingBytes = 16_777_216
/**
 * Opens the file to append to it. Opening a pipe fails at once if no process reads it. Waiting for a reader would block a thread and
 * keep the process alive.
 */
const openFlags =
  fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_NONBLOCK
const retryMs = 1_000
/** How long a full pipe takes to have room. */
const pipeMs = 100
const stopDeadlineMs = 2_000

interface AuditFileOptions {
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
class AuditFile implements AsyncDisposable {
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
    if (file === standardOutput) this.#descriptor = 1
    else {
      await mkdir(dirname(file), { recursive: true })
      this.#descriptor = await open(file, openFlags, 0o666)
      if (before !== undefined) await close(before)
    }
    this.#isStale = false
  }

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
      this.#fail(new Error('the file is written too slowly'))
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
    } else if (this.#descriptor !== undefined && file !== standardOutput) {
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
        if (this.#failure !== undefined && !this.#isSlow) {
          this.#failure = undefined
          this.#options.log.info('the audit log is written again')
        }
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
}
