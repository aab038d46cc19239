/** Which requests a fault is for. An absent field matches anything. */
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
  /** What the path begins with; for requests that are about no resource, `/openapi`. */
  readonly path?: string
}

/** The three ways in which servers say that a resource version is too large. */
export type TooLargeEncoding = 'cause-reason' | 'cause-message' | 'message'

/** A fault in the answer to a request: it strikes the next requests that match. */
export type RequestFault =
  /** None: the request is answered as always. A place in a sequence. */
  | { readonly type: 'none' }
  /** Refused with this status, 429, 500, 503, …, and `Retry-After` where it is given. */
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
  /** The connection is closed before any answer. */
  | { readonly type: 'disconnect' }
  /** The answer stops after so many bytes of its body, and the connection stays open. */
  | { readonly type: 'half-open'; readonly afterBytes: number }
  /** The answer is cut after so many bytes of its body. */
  | { readonly type: 'truncate'; readonly afterBytes: number }
  /** The body comes at this rate. */
  | { readonly type: 'slow'; readonly bytesPerSecond: number }
  /** The body comes in pieces of so many bytes. */
  | { readonly type: 'split'; readonly everyBytes: number }
  /** In a WATCH, the frame of this number (0 is the first) is sent twice. */
  | { readonly type: 'duplicate-event'; readonly frame: number }
  /** In a WATCH, a Widget that is nobody's comes before the frame of this number. */
  | { readonly type: 'wrong-kind-event'; readonly frame: number }
  /** In a WATCH, a line that is no JSON comes before the frame of this number. */
  | { readonly type: 'malformed-event'; readonly frame: number }
  /** A WATCH ends with an ERROR event of this code (410 unless given) instead of the frame of this number. */
  | { readonly type: 'error-event'; readonly frame: number; readonly code?: number }
  /** The bookmark that ends the initial events never comes. */
  | { readonly type: 'no-initial-events-end' }

/** A fault of the server as a whole: it strikes at once. */
export type ServerFault =
  /** Breaks every connection. */
  | { readonly type: 'drop-connections' }
  /** Breaks every connection and refuses new ones for so long. */
  | { readonly type: 'refuse-connections'; readonly forMs: number }
  /** Every connection that is open now stays open, and nothing more is sent on it. */
  | { readonly type: 'freeze-connections' }
  /** Every open watch of the matching resource ends with an ERROR event of this code, 410 unless given. */
  | { readonly type: 'end-watches'; readonly code?: number; readonly resource?: string }
  /**
   * A node falls silent: NotReady, tainted, its pods not ready and evicted after the time for which they tolerate it, or
   * after so many milliseconds.
   */
  | { readonly type: 'fail-node'; readonly node: string; readonly evictAfterMs?: number }
  /** The node is heard of again. */
  | { readonly type: 'recover-node'; readonly node: string }
  /** Everything before now is forgotten: older resource versions and continue tokens are 410. */
  | { readonly type: 'compact-history' }

/** A request to misbehave. */
export interface FaultOrder {
  /** A sequence strikes one request after the other: a 409, then a 429. */
  readonly fault: RequestFault | ServerFault | readonly RequestFault[]
  /** For request faults. */
  readonly match?: FaultMatch
  /** For request faults: how many requests it strikes, or how often a sequence is gone through; 1 unless given. */
  readonly times?: number
}

/** A request fault that is waiting for its requests; of a sequence, the next one. */
export interface PendingFault {
  readonly fault: RequestFault
  readonly match: FaultMatch
  /** How many requests it strikes, the further faults of its sequence included. */
  readonly remaining: number
}
