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
import type { ServerObserver, ServerRefusal } from '../server/operation-options.ts'
import { AuditFile, type AuditFileOptions } from './audit-file.ts'

interface AuditLogOptions extends AuditFileOptions {
  /** Whether operations are refused while lines cannot be written. */
  readonly required: boolean
}

const unavailable = 'AUDIT_UNAVAILABLE'
const retryAfterMs = 1_000

/**
 * The audit log: a line of JSON for each answered operation, ended subscription, refused document and refused caller. A
 * line names the user, the types and the amounts; never tokens, values of variables, or objects.
 */
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
        throw new ConfigError(
          [problem],
          'name a file that can be written, or set audit.required: false',
        )
      })
    } else audit.#file.reopen()
    if (options.file !== '-') process.on('SIGHUP', audit.#reopen)
    return audit
  }

  /** Why nothing may be answered now: what happens could not be recorded. */
  readonly refusal = (): ClientError | undefined => {
    if (!this.#isRequired || this.#file.failure === undefined) return undefined
    const message = 'the audit log cannot be written, and nothing is answered without it'
    const hint = "ask again in a moment; the gateway's log says why"
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
      decision: decisionOf([code]),
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

  /** Writes the remaining lines. */
  async [Symbol.asyncDispose](): Promise<void> {
    process.off('SIGHUP', this.#reopen)
    await this.#file[Symbol.asyncDispose]()
  }
}

function entryOf(report: OperationReport): object {
  const { document, operationName, by, kinds, codes, rows, durationMs } = report
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
    decision: decisionOf(codes),
    ...(codes.length === 0 ? {} : { codes }),
    ...(secrets.length === 0 ? {} : { secrets }),
    ...(logs.length === 0 ? {} : { logs }),
    by,
    rows,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
  }
}

/** The caller, and the request that lines of the log name. */
function whoOf({ viewer, requestId }: Pick<ServerRefusal, 'viewer' | 'requestId'>): object {
  const request = requestId === undefined ? {} : { requestId }
  if (viewer === undefined) return request
  const { username, uid, groups } = viewer
  return { user: username, ...(uid === '' ? {} : { uid }), groups, ...request }
}

/** `denied` if access to any part was refused. */
function decisionOf(codes: readonly string[]): 'allowed' | 'denied' {
  return codes.includes('FORBIDDEN') ? 'denied' : 'allowed'
}
