import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import type { StoreContents, StoreEntry } from '../store/store-contents.ts'

/** One step of a resource's history, from the reflector to the store. */
export type Delta = ReflectedDelta | NamespacesDelta

/** What a reflector has read. `namespace`: the namespace of a reflector that is one of several. */
export type ReflectedDelta = { readonly namespace?: string } & (
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
      readonly entry: StoreEntry
      readonly resourceVersion: ResourceVersion
    }
  /** The user's transform refused a new state. The store must not keep the state before it. */
  | {
      readonly type: 'REFUSED'
      readonly key: string
      readonly resourceVersion: ResourceVersion
    }
  /** A whole list, applied in one step. */
  | {
      readonly type: 'REPLACED'
      readonly contents: StoreContents
      readonly resourceVersion: ResourceVersion
      readonly clock: ListClock
      /** Whether objects may look different with the same resource version. */
      readonly isReread: boolean
      /** The objects of an archive: the changes since then follow, and a bookmark with `endsBase`. */
      readonly isBase?: boolean
      /** With `isBase`: the namespaces that follow from these versions, each by itself, with such a bookmark each. */
      readonly namespaces?: ReadonlyMap<string, ResourceVersion> | undefined
    }
  | {
      readonly type: 'BOOKMARK'
      readonly resourceVersion: ResourceVersion
      /** The changes since the archive was written are there. */
      readonly endsBase?: boolean
    }
)

/** From here on, the store covers these namespaces only. Their lists and events follow. */
export interface NamespacesDelta {
  readonly type: 'NAMESPACES'
  readonly namespaces: ReadonlySet<string>
}

export type ListDelta = Extract<ReflectedDelta, { readonly type: 'REPLACED' }>

/** A delta that is applied in one step. */
export type StepDelta = Exclude<ReflectedDelta, ListDelta>

/** Where a reflector puts its deltas. */
export interface DeltaSink {
  readonly isFull: boolean
  push(delta: ReflectedDelta): void
  /** See {@link DeltaQueue.room}. */
  room(signal: AbortSignal): Promise<void>
}

/** The key of the delta's object; `undefined` for lists and bookmarks. */
export function keyOfDelta(delta: StepDelta): string | undefined {
  if (delta.type === 'BOOKMARK') return undefined
  return delta.type === 'REFUSED' ? delta.key : delta.entry.key
}

const maxBatch = 1000

/**
 * The deltas between a reflector and its store, in order of arrival across keys (client-go's `RealFIFO`). Bounded: a
 * producer that has filled it waits for {@link room}.
 */
export class DeltaQueue implements DeltaSink {
  readonly #limit: number
  #deltas: Delta[] = []
  #start = 0
  #arrival: PromiseWithResolvers<void> | undefined
  #room: PromiseWithResolvers<void> | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  get length(): number {
    return this.#deltas.length - this.#start
  }

  get isFull(): boolean {
    return this.length >= this.#limit
  }

  push(delta: Delta): void {
    this.#deltas.push(delta)
    this.#arrival?.resolve()
    this.#arrival = undefined
  }

  /**
   * Resolves when the queue is below its limit: at once, unless the consumer has fallen behind. Ends with the signal,
   * also if the consumer has gone.
   */
  async room(signal: AbortSignal): Promise<void> {
    if (!this.isFull) return
    const stop = () => this.#room?.resolve()
    signal.addEventListener('abort', stop)
    while (this.isFull && !signal.aborted) {
      this.#room ??= Promise.withResolvers()
      await this.#room.promise
    }
    signal.removeEventListener('abort', stop)
  }

  /**
   * The deltas in batches of at most 1,000. A batch has each key at most once; a list and a change of the namespaces are
   * always alone. Ends when the signal aborts; queued deltas are then dropped.
   */
  async *batches(signal: AbortSignal): AsyncGenerator<readonly Delta[], void, void> {
    const stop = () => this.#arrival?.resolve()
    signal.addEventListener('abort', stop, { once: true })
    try {
      while (!signal.aborted) {
        if (this.length === 0) {
          this.#arrival ??= Promise.withResolvers()
          await this.#arrival.promise
          continue
        }
        yield this.#take()
      }
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #take(): readonly Delta[] {
    const keys = new Set<string>()
    let end = this.#start
    while (end < this.#deltas.length && end - this.#start < maxBatch) {
      const delta = this.#deltas[end]
      if (delta === undefined) break
      if (delta.type === 'REPLACED' || delta.type === 'NAMESPACES') {
        if (end === this.#start) end += 1
        break
      }
      const key = keyOfDelta(delta)
      if (key !== undefined) {
        if (keys.has(key)) break
        keys.add(key)
      }
      end += 1
    }
    const batch = this.#deltas.slice(this.#start, end)
    this.#start = end
    if (this.#start === this.#deltas.length) {
      this.#deltas = []
      this.#start = 0
    } else if (this.#start > 4 * maxBatch) {
      this.#deltas = this.#deltas.slice(this.#start)
      this.#start = 0
    }
    if (this.length < this.#limit) {
      this.#room?.resolve()
      this.#room = undefined
    }
    return batch
  }
}

/** The time of one list by stage, in milliseconds. */
export interface ListStages {
  /** Until the responses began, for all pages together, including pauses that the server asked for. */
  readonly firstByteMs: number
  /** Until the last item was received and decoded. */
  readonly receivingMs: number
  /** Until the store and its indexes, or another consumer, had applied the list. */
  readonly applyingMs: number
}

/** Measures one list, from its creation on. */
export class ListClock {
  readonly #startedMs = performance.now()
  #firstByteMs = 0
  #receivedMs = this.#startedMs
  /** Called for each part of the list that arrives. */
  readonly heard: () => void

  constructor(heard: () => void) {
    this.heard = heard
  }

  get ageMs(): number {
    return performance.now() - this.#startedMs
  }

  /** Waits for a response to begin. Failed attempts count too. */
  async untilFirstByte<T>(answer: Promise<T>): Promise<T> {
    const sinceMs = performance.now()
    try {
      return await answer
    } finally {
      this.#firstByteMs += performance.now() - sinceMs
    }
  }

  received(): void {
    this.#receivedMs = performance.now()
  }

  stages(): ListStages {
    return {
      firstByteMs: this.#firstByteMs,
      receivingMs: this.#receivedMs - this.#startedMs - this.#firstByteMs,
      applyingMs: performance.now() - this.#receivedMs,
    }
  }
}
