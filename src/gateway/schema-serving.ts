/**
 * Remakes the schema after changes, one after the other, and joins changes that come meanwhile. An edit of the user's
 * SDL is tried first, and refused if it has errors: then the previous SDL stays, and the edit is tried again when the
 * clusters change, since it may wait for a kind.
 */
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { inSlices } from '../lib/event-loop.ts'
import { codeOf, type GatewayLog } from './observers.ts'

export interface SchemaServingOptions {
  /** Makes and serves a schema with the user's SDL. Throws if an edit is invalid. */
  readonly serve: (sdl: readonly SdlSource[], isEdit: boolean) => Generator<void, void>
  readonly current: () => readonly SdlSource[]
  /** Whether all clusters are connected, so that an edit can be checked. */
  readonly areAllConnected: () => boolean
  readonly log: GatewayLog
  readonly signal: AbortSignal
}

/** Remakes the schema when clusters or the user's SDL change, one change after the other. */
export class SchemaServing {
  readonly #options: SchemaServingOptions
  #edit: readonly SdlSource[] | undefined
  /** The last refused edit. It is tried again when the clusters change. */
  #refused: readonly SdlSource[] | undefined
  #refusal: readonly string[] = []
  /** The running remake of the schema. */
  #serving: Promise<void> | undefined
  #isDue = false
  /** Whether the clusters or their API have changed since the served schema was made. */
  #areClustersOther = false

  constructor(options: SchemaServingOptions) {
    this.#options = options
  }

  /** The reasons why the user's current SDL is not served. */
  get refusal(): readonly string[] {
    return this.#refusal
  }

  /**
   * Remakes the schema after the clusters or their API have changed. Keeps the previous schema if the new one conflicts
   * with the configuration. Resolves when the served schema reflects the change.
   */
  clustersChanged(): Promise<void> {
    this.#areClustersOther = true
    return this.#serveSoon()
  }

  /** Serves an edit of the user's SDL. Keeps the previous schema if the edit has errors. */
  edited(sdl: readonly SdlSource[]): void {
    this.#edit = sdl
    void this.#serveSoon()
  }

  /** Refuses the user's current SDL. Does not log the messages in `told` again. */
  refuse(errors: readonly unknown[], told: readonly string[] = []): void {
    this.#refused = undefined
    this.#refusal = errors.map((error) => `${(error as Error).message}; the edit is not served`)
    for (const [at, message] of this.#refusal.entries()) {
      if (told.includes(message)) continue
      const error = errors[at]
      this.#options.log.error(message, codeOf(error))
    }
  }

  #serveSoon(): Promise<void> {
    this.#isDue = true
    return (this.#serving ??= this.#serveWhileDue())
  }

  async #serveWhileDue(): Promise<void> {
    const { current, log, signal } = this.#options
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false
      const [edit, areOthers] = [this.#edit, this.#areClustersOther]
      this.#edit = undefined
      this.#areClustersOther = false
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        if ((await this.#servesEdit(edit)) || !areOthers) continue
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await this.#serve(current(), false)
      } catch (error) {
        log.error('the schema could not be rebuilt', { error })
      }
    }
    this.#serving = undefined
  }

  /** Tries to serve an edit: a new one, or the refused one, which may be valid now. Returns whether it is served. */
  async #servesEdit(edit: readonly SdlSource[] | undefined): Promise<boolean> {
    const { areAllConnected, log } = this.#options
    const sdl = edit ?? (areAllConnected() ? this.#refused : undefined)
    if (sdl === undefined) return false
    try {
      await this.#serve(sdl, true)
      this.#refused = undefined
      this.#refusal = []
      log.info('the edited schema is served')
      return true
    } catch (error) {
      const errors = error instanceof AggregateError ? error.errors : [error]
      this.refuse(errors, edit === undefined ? this.#refusal : [])
      this.#refused = sdl
      return false
    }
  }

  async #serve(sdl: readonly SdlSource[], isEdit: boolean): Promise<void> {
    await inSlices(this.#options.serve(sdl, isEdit), () => this.#options.signal.aborted)
  }
}
