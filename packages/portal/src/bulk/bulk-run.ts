import { type AnswerError, type Gateway } from '../gateway/gateway.ts'
import { refusalOf, write, type WriteDocument, type Written } from '../actions/write.ts'
import { WriteRun } from '../actions/write-run.ts'

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

/**
 * One write, or its dry run, to each of many objects. Without an answer of the gateway it stops by itself: each further
 * write would be lost in the same way.
 */
export class BulkRun extends WriteRun<Outcome, BulkProgress> {
  protected readonly waiting = { state: 'waiting' } as const
  readonly #gateway: Gateway
  readonly #options: BulkOptions
  #isOver = false
  #loss: 'unreachable' | 'signedOut' | undefined

  constructor(gateway: Gateway, options: BulkOptions) {
    super()
    this.#gateway = gateway
    this.#options = options
    void this.#write(options.ids)
  }

  /** Writes again to those that failed, and to those that still wait. */
  readonly again = (): void => {
    if (!this.#isOver) return
    const rest = [...this.outcomes].filter(([, { state }]) => state !== 'done')
    void this.#write(rest.map(([id]) => id))
  }

  async #write(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.outcomes.set(id, this.waiting)
    this.#isOver = false
    this.#loss = undefined
    const queue = ids.values()
    await this.run(
      Array.from({ length: parallel }, () => queue),
      (id) => this.#writeTo(id),
    )
    this.#isOver = true
    this.tell()
  }

  async #writeTo(id: string): Promise<void> {
    const { document, variables, dryRun } = this.#options
    try {
      const written = await this.send(id, { state: 'writing' }, () =>
        write(this.#gateway, document, { ...variables, id, dryRun }),
      )
      if (written !== undefined) this.set(id, { state: 'done', written })
    } catch (error) {
      const errors = refusalOf(error as Error)
      this.set(id, { state: 'failed', errors })
      const code = errors[0]?.extensions?.code
      if (code !== undefined && code !== 'UNAUTHENTICATED') return
      this.#loss ??= code === undefined ? 'unreachable' : 'signedOut'
      this.stop()
    }
  }

  protected now(): BulkProgress {
    const { outcomes, perMinute } = this
    const counts = { waiting: 0, writing: 0, done: 0, failed: 0 }
    for (const { state } of outcomes.values()) counts[state]++
    const isCut = this.isStopped && counts.waiting > 0
    const cut = isCut ? (this.#loss ?? 'stopped') : undefined
    return { outcomes, counts, isOver: this.#isOver, cut, perMinute }
  }
}
