import { pino } from 'pino'
import type { SignInReport } from '../access/authentication/authenticator.ts'
import { documentHash } from '../graphql/answer/operation-observer.ts'
import type {
  OperationObserver,
  OperationReport,
  RefusedDocument,
  WriteReport,
} from '../graphql/answer/operation-observer.ts'
import type { GatewayLog } from '../gateway/observers.ts'
import type { ServerObserver, ServerRefusal } from '../server/operation-options.ts'

/** The maximum size of waiting lines. Further lines are dropped, and the gateway logs the loss. */
const maxWaitingBytes = 16_777_216

/**
 * The audit log: a line of JSON for each answered operation, ended subscription, refused document and refused caller. A
 * line names the user, the types and the amounts; never tokens, values of variables, or objects.
 */
export class AuditLog implements OperationObserver, ServerObserver, AsyncDisposable {
  readonly #stream: ReturnType<typeof pino.destination>
  readonly #logger: pino.Logger
  readonly #reopen = (): void => this.#stream.reopen()

  /** Appends to a file, and reopens it on SIGHUP for log rotation; `-` is the standard output. */
  constructor(file: string, log: GatewayLog) {
    const isFile = file !== '-'
    const dest = isFile ? { dest: file, mkdir: true } : { dest: 1 }
    this.#stream = pino.destination({ ...dest, sync: false, maxLength: maxWaitingBytes })
    this.#stream.on('error', (error) => log.error('the audit log cannot be written', { error }))
    this.#stream.on('drop', () => log.error('the audit log dropped a line: writing is too slow'))
    const timestamp = pino.stdTimeFunctions.isoTime
    // Audit lines have no levels.
    const formatters = { level: () => ({ log: 'audit' }) }
    this.#logger = pino({ base: null, timestamp, formatters }, this.#stream)
    if (isFile) process.on('SIGHUP', this.#reopen)
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
    const { event, code, address } = report
    const decision = code === '' ? 'allowed' : 'refused'
    const codes = code === '' ? {} : { codes: [code] }
    this.#logger.info({ event, ...whoOf(report), decision, ...codes, address })
  }

  refused(refusal: ServerRefusal): void {
    const { transport, code, address } = refusal
    this.#logger.info({ event: 'refused', ...whoOf(refusal), transport, code, address })
  }

  /** Writes the remaining lines. */
  async [Symbol.asyncDispose](): Promise<void> {
    process.off('SIGHUP', this.#reopen)
    await new Promise<void>((resolve) => {
      this.#stream.flush(() => resolve())
    })
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
