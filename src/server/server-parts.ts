import type { Authenticator } from '../access/authentication/authenticator.ts'
import type { DocumentSource } from './document-source.ts'
import type { OriginCheck } from './guard/origin-check.ts'
import type { UserQuotas } from './guard/user-quotas.ts'
import type { PlannedQueries } from './http/query-fast-path.ts'
import type { MakeContext, ServerLog, ServerObserver } from './operation-options.ts'
import type { OperationPipeline } from './operation-pipeline.ts'
import type { ServerOptions } from './server-options.ts'
import type { UnsentBytes } from './unsent-bytes.ts'

/** What the transports of one server share. */
export interface ServerParts {
  readonly limits: ServerOptions
  readonly pipeline: OperationPipeline
  readonly documents: DocumentSource
  readonly origins: OriginCheck
  /** Authenticates callers; `undefined` for no authentication. */
  readonly authenticator: Authenticator | undefined
  readonly quotas: UserQuotas
  readonly unsent: UnsentBytes
  /** Makes the context of an operation, with its viewer. */
  readonly contextOf: MakeContext
  /** Answers operations that have a plan. The pipeline answers the others. */
  readonly planned: PlannedQueries | undefined
  readonly observer: ServerObserver | undefined
  readonly log: ServerLog
}
