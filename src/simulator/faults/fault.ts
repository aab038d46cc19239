/** The requests that a fault strikes. An absent field matches anything. */
export interface FaultMatch {
  /** The plural of the path, `pods`. */
  readonly resource?: string
  /** `''` for the core group. */
  readonly group?: string
  readonly namespace?: string
  readonly verb?:
    | 'list'
    | 'watch'
    | 'get'
    | 'create'
    | 'update'
    | 'patch'
    | 'delete'
    | 'deletecollection'
  /** For LIST: `first` without a continue token, `later` with one. */
  readonly page?: 'first' | 'later'
  /** A prefix of the path, such as `/openapi`, for requests outside of resources. */
  readonly path?: string
}

/** The three forms in which servers report a resource version that is too large. */
export type TooLargeEncoding = 'cause-reason' | 'cause-message' | 'message'

/** A fault in the answer to a request. It strikes the next matching requests. */
export type RequestFault =
  /** No fault: a place in a sequence. */
  | { readonly type: 'none' }
  /** Refuses the request with this status (429, 500, 503, …) and, if given, `Retry-After`. */
  | {
      readonly type: 'status'
      readonly code: number
      readonly reason?: string
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  /** 410: at a LIST, at a page (`match.page`) or at the opening of a WATCH. */
  | { readonly type: 'expired' }
  /** 504, "Too large resource version". */
  | { readonly type: 'too-large-resource-version'; readonly encoding: TooLargeEncoding }
  /** Closes the connection without an answer. */
  | { readonly type: 'disconnect' }
  /** Stops the answer after `afterBytes` bytes of its body. The connection stays open. */
  | { readonly type: 'half-open'; readonly afterBytes: number }
  /** Closes the connection after `afterBytes` bytes of the body. */
  | { readonly type: 'truncate'; readonly afterBytes: number }
  /** Sends the body at this rate. */
  | { readonly type: 'slow'; readonly bytesPerSecond: number }
  /** Sends the body in pieces of `everyBytes` bytes. */
  | { readonly type: 'split'; readonly everyBytes: number }
  /** Sends the frame of this number of a WATCH (the first is 0) twice. */
  | { readonly type: 'duplicate-event'; readonly frame: number }
  /** Sends an object of a foreign kind before the frame of this number of a WATCH. */
  | { readonly type: 'wrong-kind-event'; readonly frame: number }
  /** Sends a line that is not JSON before the frame of this number of a WATCH. */
  | { readonly type: 'malformed-event'; readonly frame: number }
  /** Ends a WATCH with an ERROR event (default code 410) in place of the frame of this number. */
  | { readonly type: 'error-event'; readonly frame: number; readonly code?: number }
  /** Drops the bookmark that ends the initial events. */
  | { readonly type: 'no-initial-events-end' }

/** A fault of the whole server. It strikes at once. */
export type ServerFault =
  /** Breaks every connection. */
  | { readonly type: 'drop-connections' }
  /** Breaks every connection and refuses new connections for `forMs` milliseconds. */
  | { readonly type: 'refuse-connections'; readonly forMs: number }
  /** Breaks every connection, and every new one at its first request, until `mend`. Orders of faults still arrive. */
  | { readonly type: 'cut' }
  /** Sends nothing on any connection until `mend`. They stay open, and new ones are accepted. Orders of faults still arrive. */
  | { readonly type: 'hang' }
  /** Ends `cut`, `hang`, `refuse-connections` and `freeze-connections`. What waited is answered. */
  | { readonly type: 'mend' }
  /** Sends nothing more on the connections that are open now. They stay open. */
  | { readonly type: 'freeze-connections' }
  /** Ends every open watch of the resource with an ERROR event; default code 410. */
  | { readonly type: 'end-watches'; readonly code?: number; readonly resource?: string }
  /**
   * Makes a node silent: NotReady and tainted. Its pods are not ready, and are evicted after the time for which they
   * tolerate the taint, or after `evictAfterMs`.
   */
  | { readonly type: 'fail-node'; readonly node: string; readonly evictAfterMs?: number }
  /** Brings a silent node back. */
  | { readonly type: 'recover-node'; readonly node: string }
  /** Forgets the history. Older resource versions and continue tokens are answered with 410. */
  | { readonly type: 'compact-history' }

/** Whether a server answers: `cut` breaks its connections, `hanging` keeps them open and silent. */
export type Connections = 'served' | 'cut' | 'hanging'

/** An order for faults. */
export interface FaultOrder {
  /** One fault, or a sequence that strikes one request after the other: a 409, then a 429. */
  readonly fault: RequestFault | ServerFault | readonly RequestFault[]
  /** For request faults. */
  readonly match?: FaultMatch
  /** For request faults: the number of requests to strike, or of runs through a sequence. Default 1. */
  readonly times?: number
}

/** A request fault that waits for matching requests; for a sequence, its next fault. */
export interface PendingFault {
  readonly fault: RequestFault
  readonly match: FaultMatch
  /** The number of requests still to strike, including the later faults of a sequence. */
  readonly remaining: number
}
