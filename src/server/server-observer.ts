import type { Viewer } from '../access/viewer.ts'

/** Somebody who was refused before the operation was read. */
export interface ServerRefusal {
  readonly transport: 'http' | 'websocket'
  /** UNAUTHENTICATED, IDENTITY_UNAVAILABLE, TOO_MANY_OPERATIONS. */
  readonly code: string
  /** Where that is known. */
  readonly viewer?: Viewer | undefined
  /** The address of the peer, which may be a proxy's. */
  readonly address: string | undefined
}

/** Told of what happens at the door. Must not throw. */
export interface ServerObserver {
  refused(refusal: ServerRefusal): void
  socketOpened?(): void
  socketClosed?(): void
}
