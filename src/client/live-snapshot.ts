/**
 * - `loading`: the first snapshot is not complete.
 * - `live`: what is shown is complete, and followed.
 * - `reconnecting`: the connection is lost, or a new snapshot is on its way; what is shown is of before.
 * - `failed`: the gateway refuses the subscription, and asking again would not help.
 * - `closed`: the collection was closed.
 */
export type LiveStatus = 'loading' | 'live' | 'reconnecting' | 'failed' | 'closed'

/** What is shown at one moment. Never changed: the next moment has another. */
export interface LiveSnapshot<Row> {
  readonly rows: readonly Row[]
  readonly status: LiveStatus
  /** Why it is `failed`, or the last that went wrong while it is `reconnecting`. */
  readonly error: Error | undefined
}
