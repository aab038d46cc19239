/**
 * A part of an operation. `plan`: the document is parsed, validated and compiled, or found. `access`: the API server is
 * asked what the viewer may see. `wait`: a kind is loaded. `run`: the answer is read and written, within one tick.
 * `write`: a mutation is sent, and waited for.
 */
export type OperationPart = 'plan' | 'access' | 'wait' | 'run' | 'write'

/** The kind that a part waits for or writes. */
export interface PartDetails {
  readonly cluster?: string
  /** The name of the GraphQL type. */
  readonly type?: string
  readonly mutation?: string
}

/** The request of an operation, as logs and the audit log name it, and the follower that traces it. */
export interface OperationTrace {
  /** The `x-request-id` of the request. A WebSocket appends the number of the operation: `ID.3`. */
  readonly requestId: string
  /** Absent: nothing traces the operation. */
  readonly follower?: OperationFollower | undefined
}

export interface AnsweredOperation {
  readonly operation: 'query' | 'mutation' | 'subscription'
  /** The name in the document; absent if it has none. */
  readonly operationName: string | undefined
  /** What answered: `peers` are other gateways, which report what was read. */
  readonly by: 'plan' | 'peers'
  /** The number of objects in the answer, or in all frames that a subscriber has taken. */
  readonly rows: number
  /** The codes of the errors in the answer, each once; empty if there are none. */
  readonly codes: readonly string[]
}

/** Follows one operation. Must not throw. */
export interface OperationFollower {
  /** Does the work of a part, which ends when the result is there. */
  within<T>(part: OperationPart, details: PartDetails, work: () => T): T
  /** The operation has been answered; a subscription has begun. */
  answered(operation: AnsweredOperation): void
}

/** Does a part of an operation, within the follower if there is one. */
export function within<T>(
  trace: OperationTrace | undefined,
  part: OperationPart,
  details: PartDetails,
  work: () => T,
): T {
  const follower = trace?.follower
  return follower === undefined ? work() : follower.within(part, details, work)
}
