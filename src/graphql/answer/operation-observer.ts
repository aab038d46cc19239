/*
 * The reports that observers (audit log, metrics, traces) get of operations: answered operations, refused documents and
 * single writes. Reports name kinds, codes and times, and never hold values of variables.
 */

import { createHash } from 'node:crypto'
import { type DocumentNode, type GraphQLError, locatedError } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import type { FrameStream } from '../../lib/frame-stream.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { clientResult } from '../errors/client-error.ts'
import type { LoggedObject, LoggedObjects } from '../logs/log-request.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { AnsweredOperation, OperationTrace } from '../prepare/operation-trace.ts'

/** An answered operation, for audit logs and metrics. Never holds values of variables. */
export interface OperationReport extends AnsweredOperation {
  readonly document: DocumentNode
  /** Absent: the server does not authenticate callers. */
  readonly viewer: Viewer | undefined
  /** The id of its request, if it has one: see {@link OperationTrace}. */
  readonly requestId?: string | undefined
  /** The kinds that the document names, found on demand. */
  readonly kinds: () => readonly ClusterKind[]
  /** Whether it was refused or has failed as a whole. Otherwise each error is that of a field. */
  readonly failed: boolean
  /** The Secrets whose data were read, `cluster/namespace/name`; absent or empty: none. */
  readonly secrets?: readonly string[]
  /**
   * The objects whose logs were requested, and the pods whose logs were opened, a thousand at most; absent or empty:
   * none.
   */
  readonly logs?: readonly LoggedObject[]
  /** For a subscription: the time until it began, or until it ended. */
  readonly durationMs: number
}

/** A document that is not executed: not GraphQL, too large, or not valid for the schema. Never holds its text. */
export interface RefusedDocument {
  /** Absent: the server does not authenticate callers. */
  readonly viewer: Viewer | undefined
  readonly requestId?: string | undefined
  /** In UTF-16 units. */
  readonly length: number
  /** SHA-256 of its text, in hexadecimal digits; absent for a long text. */
  readonly hash: string | undefined
  /** The codes of its errors, each once. */
  readonly codes: readonly string[]
}

/** One write of a mutation, for audit logs and metrics. Never holds values. */
export interface WriteReport {
  /** `apply`, `scale`, … */
  readonly mutation: string
  readonly operationName: string | undefined
  readonly viewer: Viewer | undefined
  readonly requestId?: string | undefined
  /** `''` if the arguments name no served object, as for the members below. */
  readonly cluster: string
  /** The name of the GraphQL type. */
  readonly type: string
  /** `''` for cluster-scoped objects. */
  readonly namespace: string
  /** Includes a name that the API server made; `''` if it should have made one and the write failed. */
  readonly name: string
  readonly dryRun: boolean
  /** The code of its error; `''` if it was made. */
  readonly code: string
  readonly durationMs: number
  /** The part of the duration that the write waited for the cache; 0 for a failed write. */
  readonly waitedMs: number
}

/** Receives reports of operations. Must not throw. */
export interface OperationObserver {
  /** A query has been answered; a subscription has begun, or was refused. */
  answered(report: OperationReport): void
  /** A write was made, or failed. */
  wrote?(report: WriteReport): void
  /** A document was refused before execution. */
  rejected?(document: RefusedDocument): void
  /** A subscription that had begun has ended. */
  ended?(report: OperationReport): void
}

/** The parts of an answered query that its report shows. */
interface AnsweredQuery extends Pick<
  OperationReport,
  'document' | 'operationName' | 'viewer' | 'rows'
> {
  readonly trace: OperationTrace | undefined
  readonly kinds: readonly ClusterKind[]
  readonly secrets: Iterable<string>
  readonly logged: LoggedObjects
  /** Default: `query`. */
  readonly operation?: OperationReport['operation']
  readonly startedMs: number
  readonly errors: readonly GraphQLError[] | undefined
  /** Default: `false`. */
  readonly failed?: boolean
}

/** Reports a query that is answered now to the observer and the follower of its trace, if there are any. */
export function reportQuery(
  observer: OperationObserver | undefined,
  { startedMs, kinds, secrets, logged, errors = [], trace, ...query }: AnsweredQuery,
): void {
  const follower = trace?.follower
  if (observer === undefined && follower === undefined) return
  const report = {
    operation: 'query',
    by: 'plan',
    failed: false,
    ...query,
    requestId: trace?.requestId,
    kinds: () => kinds,
    codes: codesOf(errors),
    secrets: [...secrets],
    logs: [...logged.values()],
    durationMs: performance.now() - startedMs,
  } as const
  observer?.answered(report)
  follower?.answered(report)
}

/** The codes of errors, each once. */
export function codesOf(errors: readonly GraphQLError[]): readonly string[] {
  return [...new Set(errors.map(({ extensions }) => String(extensions['code'])))]
}

/** The codes of the errors with which a stream has ended, as clients see them. */
export function codesAtEnd({ end }: FrameStream): readonly string[] {
  if (end?.form !== 'failed') return []
  const located = end.errors.map((error) => locatedError(error, undefined))
  return codesOf(clientResult({ data: null, errors: located }).errors)
}

const hashes = new WeakMap<DocumentNode, string>()

/** SHA-256 of a document's text, in hexadecimal digits, as in persisted queries. */
export function documentHash(document: DocumentNode): string {
  return getOrInsert(hashes, document, () => textHash(document.loc?.source.body ?? ''))
}

/** Longer texts are not hashed: clients do not send them twice. */
const maxHashedLength = 65_536

/** The report of a refused document. */
export function refusedDocument(
  text: string,
  errors: readonly GraphQLError[],
  { viewer, trace }: { readonly viewer?: Viewer | undefined; trace?: OperationTrace | undefined },
): RefusedDocument {
  const codes = errors.map(({ extensions: { code } }) =>
    typeof code === 'string' ? code : 'BAD_USER_INPUT',
  )
  const hash = text.length > maxHashedLength ? undefined : textHash(text)
  const { length } = text
  return { viewer, requestId: trace?.requestId, length, hash, codes: [...new Set(codes)] }
}

function textHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
