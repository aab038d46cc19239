/** What the process of the fleet can be asked. */
export type FleetQuestion = 'stores' | 'memory' | 'user'

/** One informer, as it is now. */
export interface MemberState {
  readonly name: string
  readonly state: string
  readonly lastError: string | undefined
  /** `default/a@5`, in no particular order. */
  readonly store: readonly string[]
  /** The same, as all events of a handler add up to. */
  readonly view: readonly string[]
}

export interface FleetMemory {
  /** Live after full collections, with what is held outside of the heap. */
  readonly liveBytes: number
  readonly rssBytes: number
  readonly objects: number
  /** Told to handlers so far. */
  readonly events: number
  readonly sockets: number
  readonly timers: number
  /** Of lists and watches, so far. */
  readonly failures: number
}

/** The answers, by question. */
export interface FleetAnswers {
  readonly stores: readonly MemberState[]
  readonly memory: FleetMemory
  /** Who the connection is for the server now. */
  readonly user: string
}
