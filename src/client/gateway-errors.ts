/**
 * The errors of a gateway, typed: what `extensions` has by its code. `gatewayErrors` finds them in what each client
 * reports, without importing any: an array of errors, a result with `errors`, an error of Apollo Client (`errors`), of
 * urql (`graphQLErrors`), of Relay (`source`) or of a live collection (`cause`).
 */

/** The codes of errors, as `ErrorCode` of the schema describes them. Further ones may come with a newer gateway. */
export type GatewayErrorCode =
  | 'UNAUTHENTICATED'
  | 'IDENTITY_UNAVAILABLE'
  | 'AUDIT_UNAVAILABLE'
  | 'TOKEN_NEEDED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'CONFLICT'
  | 'INVALID'
  | 'PRECONDITION_FAILED'
  | 'ADMISSION_DENIED'
  | 'DISRUPTION_BUDGET'
  | 'TOO_MANY_WRITES'
  | 'OUTCOME_UNKNOWN'
  | 'BAD_USER_INPUT'
  | 'NOT_SYNCED'
  | 'CLUSTER_UNREACHABLE'
  | 'CLUSTER_UNAUTHORIZED'
  | 'NODE_UNREACHABLE'
  | 'CACHE_FULL'
  | 'NAMESPACE_NOT_CACHED'
  | 'NO_ARCHIVE'
  | 'BEFORE_ARCHIVE'
  | 'ARCHIVE_GAP'
  | 'NOT_ARCHIVED'
  | 'ARCHIVE_UNREACHABLE'
  | 'METRICS_UNREACHABLE'
  | 'QUERY_TOO_COSTLY'
  | 'TOO_MANY_OPERATIONS'
  | 'DEADLINE_EXCEEDED'
  | 'UNTRUSTED_DOCUMENT'
  | 'SCHEMA_CHANGED'
  | 'RBAC_BUDGET_EXCEEDED'
  | 'UNSUPPORTED'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'INTERNAL'

/** A field that makes an object invalid, or why an eviction is not allowed. */
export interface ErrorCause {
  /** As the API server writes it: `spec.containers[0].image`; `''` if it names none. */
  readonly field: string
  /** In one word: `FieldValueInvalid`. */
  readonly reason: string
  /** `''` if it is withheld, as for Secrets. */
  readonly message: string
}

/** A field that an apply sets and another manager owns. */
export interface FieldConflict {
  readonly manager: string
  /** As the API server writes it: `.spec.replicas`. */
  readonly field: string
  /** The subresource that the manager wrote, or null. */
  readonly subresource: string | null
}

/** What denied a write at admission. */
export interface AdmissionDenial {
  readonly by: 'WEBHOOK' | 'POLICY' | 'PLUGIN'
  /** The name of the webhook or policy; null for a plugin of the API server. */
  readonly name: string | null
  /** The binding of the policy. */
  readonly binding: string | null
  readonly message: string
  /** Whether it could not decide, as a webhook that does not answer. */
  readonly failed: boolean
}

/** Which part of what the caller looked at is not so any more: the object itself, or its version. */
export type WritePrecondition = 'uid' | 'resourceVersion'

/** What any error may have beside its code. */
export interface ErrorDetails {
  /** The argument that the error is about: `where.phase.eq`. */
  readonly argument?: string
  /** The value of the argument, shortened. */
  readonly value?: unknown
  /** What to do about it, as a sentence. */
  readonly hint?: string
  readonly cluster?: string
  /** The name of the GraphQL type: `Pod`. */
  readonly type?: string
  /** After how many milliseconds the same operation may succeed. */
  readonly retryAfterMs?: number
  /** Of a subscription to several kinds that is refused as a whole: each of them. */
  readonly incomplete?: readonly RefusedKind[]
}

/** A kind that a subscription cannot follow, with the code and message of its own. */
export interface RefusedKind {
  readonly cluster: string
  /** The name of the GraphQL type: `Pod`. */
  readonly type: string
  readonly code: string
  readonly message: string
}

/** What errors of some codes have besides. An entry that stands for many errors like it has only its code. */
interface Facts {
  readonly CONFLICT: {
    /** At most 50. */
    readonly conflicts?: readonly FieldConflict[]
    /** How many conflicts there are. */
    readonly conflictCount?: number
  }
  readonly INVALID: { readonly causes?: readonly ErrorCause[] }
  readonly DISRUPTION_BUDGET: { readonly causes?: readonly ErrorCause[] }
  readonly PRECONDITION_FAILED: { readonly precondition?: WritePrecondition }
  readonly ADMISSION_DENIED: { readonly admission?: AdmissionDenial }
  /** Of an `id`: that of the object that was made anew under the same name. */
  readonly NOT_FOUND: { readonly successor?: string }
  /** Of a write: the right that is missing. */
  readonly FORBIDDEN: {
    readonly verb?: string
    /** `deployments.apps`. */
    readonly resource?: string
    /** `''` if the right is on the resource itself. */
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
  /** The path where a browser signs in. */
  readonly UNAUTHENTICATED: { readonly login?: string }
  /** The id by which the log of the gateway has the fault. */
  readonly INTERNAL: { readonly requestId?: string }
}

/** The `extensions` of an error: compare `code`, and TypeScript knows the rest. */
export type GatewayErrorExtensions = {
  readonly [Code in GatewayErrorCode]: ErrorDetails & {
    readonly code: Code
  } & (Code extends keyof Facts ? Facts[Code] : unknown)
}[GatewayErrorCode]

/** An error of a gateway, as GraphQL answers have it. */
export interface GatewayError {
  readonly message: string
  /** The place in the answer; absent if the operation was refused as a whole. */
  readonly path?: readonly (string | number)[]
  readonly extensions: GatewayErrorExtensions
}

/** Clients wrap errors at most so deep. */
const maxDepth = 8

/**
 * The errors of the gateway in what a client reports: an error of Apollo Client, urql, Relay or a live collection, an
 * answer, or its `errors`. Empty for any other failure, such as a lost connection.
 */
export function gatewayErrors(reported: unknown): readonly GatewayError[] {
  let from = reported
  for (let depth = 0; depth < maxDepth; depth += 1) {
    if (Array.isArray(from)) return from.filter(isGatewayError)
    if (typeof from !== 'object' || from === null) return []
    if (isGatewayError(from)) return [from]
    const { errors, graphQLErrors, source, cause } = from as Readonly<Record<string, unknown>>
    from = errors ?? graphQLErrors ?? source ?? cause
  }
  return []
}

function isGatewayError(error: unknown): error is GatewayError {
  if (typeof error !== 'object' || error === null || !('extensions' in error)) return false
  const { extensions } = error as { readonly extensions: { readonly code?: unknown } | undefined }
  return typeof extensions?.code === 'string'
}
