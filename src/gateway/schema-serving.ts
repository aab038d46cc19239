import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { CodedError } from '../lib/coded-error.ts'
import { inSlices } from '../lib/event-loop.ts'
import type { GatewayLog } from './gateway-log.ts'

export interface SchemaServingOptions {
  /** Makes and serves a schema with the user's SDL; throws where an edit of that is wrong. */
  readonly serve: (sdl: readonly SdlSource[], isEdit: boolean) => Generator<void, void>
  /** The user's SDL that is served. */
  readonly current: () => readonly SdlSource[]
  /** Whether all clusters say what they serve, so that an edit can be judged. */
  readonly areAllConnected: () => boolean
  readonly log: GatewayLog
  readonly signal: AbortSignal
}

/** Makes the schema anew when the clusters serve something else or the user's SDL is edited, one after the other. */
export class SchemaServing {
  readonly #options: SchemaServingOptions
  /** The user's SDL as it has been edited, which is to be served. */
  #edit: readonly SdlSource[] | undefined
  /** The edit that was refused last; it is tried again when the clusters serve something else. */
  #refused: readonly SdlSource[] | undefined
  #refusal: readonly string[] = []
  /** The schema is being made anew. */
  #serving: Promise<void> | undefined
  /** Something has changed since that was begun. */
  #isDue = false
  /** The clusters are others, or serve something else, than what is served was made of. */
  #areClustersOther = false

  constructor(options: SchemaServingOptions) {
    this.#options = options
  }

  /** Why the user's SDL, as it is now, is not served. */
  get refusal(): readonly string[] {
    return this.#refusal
  }

  /**
   * Clusters are others, or serve something else. That may be at odds with the configuration: then what is there stays. Resolves
   * when what is served is of now, or later.
   */
  clustersChanged(): Promise<void> {
    this.#areClustersOther = true
    return this.#serveSoon()
  }

  /** The user's SDL is other than it was. With errors in it, what was served before stays. */
  edited(sdl: readonly SdlSource[]): void {
    this.#edit = sdl
    void this.#serveSoon()
  }

  /** The user's SDL, as it is now, cannot be served. What has been told already is not told again. */
  refuse(errors: readonly unknown[], told: readonly string[] = []): void {
    this.#refused = undefined
    this.#refusal = errors.map((error) => `${(error as Error).message}; the edit is not served`)
    for (const [at, message] of this.#refusal.entries()) {
      if (told.includes(message)) continue
      const error = errors[at]
      this.#options.log.error(message, error instanceof CodedError ? { hint: error.hint } : {})
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
        log.error('the schema could not be made anew', { error })
      }
    }
    this.#serving = undefined
  }

  /** Whether an edit is served: a new one, or that which was refused and may be right by what the clusters serve now. */
  async #servesEdit(edit: readonly SdlSource[] | undefined): Promise<boolean> {
    const { areAllConnected, log } = this.#options
    const sdl = edit ?? (areAllConnected() ? this.#refused : undefined)
    if (sdl === undefined) return false
    try {
      await this.#serve(sdl, true)
      this.#refused = undefined
      this.#refusal = []
      log.info('the schema is served as edited')
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
