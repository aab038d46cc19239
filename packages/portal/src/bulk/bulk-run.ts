import { type AnswerError, type Gateway } from '../gateway/gateway.ts'
import { refusalOf, write, type WriteDocument, type Written } from '../actions/write.ts'

/** What has become of one object of a bulk. */
export type Outcome =
  | { readonly state: 'waiting' | 'writing' }
  | { readonly state: 'done'; readonly written: Written }
  | { readonly state: 'failed'; readonly errors: readonly AnswerError[] }

/** A bulk at one moment. */
export interface BulkProgress {
  /** By the `id`s of the objects, in their order. */
  readonly outcomes: ReadonlyMap<string, Outcome>
  readonly counts: Readonly<Record<Outcome['state'], number>>
  /** Whether nothing more is written: all are through, or it was stopped. */
  readonly isOver: boolean
  /** Why objects wait though it is over. */
  readonly cut: 'stopped' | 'unreachable' | 'signedOut' | undefined
  /** The writes that the gateway takes from the user in a minute, once it has refused more. */
  readonly perMinute: number | undefined
}

export interface BulkOptions {
  readonly document: WriteDocument
  /** Those of the mutation besides `id` and `dryRun`. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly ids: readonly string[]
  readonly dryRun: boolean
}

/** Writes at the same time: a browser has six connections to a host, and the page needs some itself. */
const parallel = 4
/** How often progress is told: a thousand objects would draw the page a thousand times. */
const toldMs = 100
/** The pause after a refusal that does not say how long to wait. */
const pauseMs = 1_000
/** The page leaves the user some writes of each minute for other work. */
const share = 0.9

/**
 * One write, or its dry run, to each of many objects: some at the same time, until all are through or `stop`. When the
 * gateway takes no more writes of the user for now, the others wait, and go on at the gateway's pace. Without an answer
 * of the gateway it stops by itself: each further write would be lost in the same way.
 */
export class BulkRun {
  readonly #gateway: Gateway
  readonly #options: BulkOptions
  readonly #outcomes: Map<string, Outcome>
  readonly #counts = { waiting: 0, writing: 0, done: 0, failed: 0 }
  readonly #listeners = new Set<() => void>()
  #queue: string[] = []
  #workers = 0
  #cut: BulkProgress['cut']
  #perMinute: number | undefined
  /** When the next write may begin, by `performance.now()`. */
  #nextMs = 0
  #stopping = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #progress: BulkProgress

  constructor(gateway: Gateway, options: BulkOptions) {
    this.#gateway = gateway
    this.#options = options
    this.#outcomes = new Map(options.ids.map((id) => [id, { state: 'waiting' }]))
    this.#counts.waiting = this.#outcomes.size
    this.#progress = this.#now()
    this.#begin([...this.#outcomes.keys()])
  }

  /** The same object until something changes. Works without `this`. */
  readonly getSnapshot = (): BulkProgress => this.#progress

  /** Works without `this`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Begins no further write. Those under way end. */
  readonly stop = (): void => {
    this.#end('stopped')
  }

  /** Writes again to those that failed, and to those that still wait. */
  readonly again = (): void => {
    if (this.#workers > 0) return
    const ids = [...this.#outcomes.keys()].filter((id) => {
      const { state } = this.#outcomes.get(id) ?? {}
      return state === 'failed' || state === 'waiting'
    })
    for (const id of ids) this.#set(id, { state: 'waiting' })
    this.#begin(ids)
  }

  #begin(ids: readonly string[]): void {
    this.#queue = [...ids]
    this.#cut = undefined
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    for (let at = 0; at < Math.min(parallel, ids.length); at++) {
      this.#workers++
      void this.#work(signal).finally(() => {
        this.#workers--
        if (this.#workers === 0) this.#tell()
      })
    }
    this.#tell()
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#turn(signal)
      const id = signal.aborted ? undefined : this.#queue.shift()
      if (id === undefined) return
      this.#set(id, { state: 'writing' })
      this.#set(id, await this.#outcome(id))
    }
  }

  async #outcome(id: string): Promise<Outcome> {
    const { document, variables, dryRun } = this.#options
    try {
      const written = await write(this.#gateway, document, { ...variables, id, dryRun })
      return { state: 'done', written }
    } catch (error) {
      const errors = refusalOf(error as Error)
      const { code, value, retryAfterMs } = errors[0]?.extensions ?? {}
      if (code === 'TOO_MANY_WRITES' || code === 'TOO_MANY_OPERATIONS') {
        if (code === 'TOO_MANY_WRITES' && typeof value === 'number') this.#perMinute = value
        const pause = typeof retryAfterMs === 'number' ? retryAfterMs : pauseMs
        this.#nextMs = Math.max(this.#nextMs, performance.now() + pause)
        this.#queue.unshift(id)
        return { state: 'waiting' }
      }
      if (code === undefined) this.#end('unreachable')
      if (code === 'UNAUTHENTICATED') this.#end('signedOut')
      return { state: 'failed', errors }
    }
  }

  /** Waits until the gateway takes another write. */
  async #turn(signal: AbortSignal): Promise<void> {
    const betweenMs = this.#perMinute === undefined ? 0 : 60_000 / (this.#perMinute * share)
    for (;;) {
      const waitMs = this.#nextMs - performance.now()
      if (waitMs <= 0 || signal.aborted) break
      await slept(waitMs, signal)
    }
    if (betweenMs > 0) this.#nextMs = performance.now() + betweenMs
  }

  #end(cut: BulkProgress['cut']): void {
    if (this.#cut !== undefined) return
    if (this.#queue.length > 0) this.#cut = cut
    this.#queue = []
    this.#stopping.abort()
    this.#tell()
  }

  #set(id: string, outcome: Outcome): void {
    const before = this.#outcomes.get(id)
    if (before !== undefined) this.#counts[before.state]--
    this.#counts[outcome.state]++
    this.#outcomes.set(id, outcome)
    this.#timer ??= setTimeout(() => this.#tell(), toldMs)
  }

  #now(): BulkProgress {
    return {
      outcomes: this.#outcomes,
      counts: { ...this.#counts },
      isOver: this.#workers === 0,
      cut: this.#cut,
      perMinute: this.#perMinute,
    }
  }

  #tell(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#progress = this.#now()
    for (const listener of this.#listeners) listener()
  }
}

function slept(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
