/** The request that an operation came with, as logs and the audit log name it. */
export interface OperationTrace {
  /** The `x-request-id` of the request; of a WebSocket, with the number of the operation: `ID.3`. */
  readonly requestId: string
}
