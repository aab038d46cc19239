import { Backoff, sleep } from '../lib/backoff.ts'
import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { type Delta, DeltaQueue } from './reflector/delta-queue.ts'
import type { InformerFailure, InformerObserver } from './informer-observer.ts'
import {
  type ListerWatcher,
  type TweakListOptions,
  tweakedSource,
} from './reflector/lister-watcher.ts'
import type { ObjectCodec } from './codec/object-codec.ts'
import { ObjectIntake, type Transform } from './object-intake.ts'
import { Reflector } from './reflector/reflector.ts'
import { reflectorDefaults, type ReflectorOptions } from './reflector/reflector-options.ts'
import type { ReflectorState } from './reflector/reflector-status.ts'
import type { StoreContents } from './store/store-contents.ts'

/** What a controller is made from, besides what it does with the deltas. */
export interface ControllerOptions extends ReflectorOptions {
  readonly resource: ApiResource
  readonly source: ListerWatcher
  readonly tweakListOptions?: TweakListOptions
  readonly observer?: InformerObserver
  /** How many deltas may wait between the reflector and their processing; the reflector pauses when it is full. */
  readonly queueLimit?: number
}

export const defaultQueueLimit = 10_000

export interface ControllerParts {
  readonly codec: ObjectCodec
  readonly transform: Transform | undefined
  /** An empty generation of whatever the deltas are applied to. */
  readonly stage: () => StoreContents
  /** Applies deltas, in order. What it returns is awaited before the next ones. */
  readonly process: (deltas: readonly Delta[]) => void | Promise<void>
  readonly failed: (failure: InformerFailure, error: Error) => void
}

/**
 * A reflector, a delta queue, and the loop that takes the one from the other (client-go's `Controller`). What becomes
 * of the deltas is its owner's business.
 *
 * No object, whatever is in it, should make this loop fail. Should it do so all the same, by a fault of this library or
 * by an observer that throws, then a cache that stands still unseen would be the worst end. So the failure is reported
 * as `loop`, stays in `lastError`, and after a back-off everything begins again with a list.
 */
export class Controller {
  #queue: DeltaQueue
  readonly #queueLimit: number
  readonly #reflector: Reflector
  readonly #failed: ControllerParts['failed']
  readonly #backoff: Backoff
  #isPausing = false
  /** Why the loop failed; `undefined` once a list has been processed since. */
  #loopError: Error | undefined
  readonly #process: ControllerParts['process']
  readonly #observer: InformerObserver
  readonly #slowListMs: number

  constructor(options: ControllerOptions, parts: ControllerParts) {
    const { resource, source, tweakListOptions, observer = {} } = options
    const { codec, transform, failed } = parts
    const intake = new ObjectIntake({ resource, codec, transform, failed })
    this.#process = parts.process
    this.#observer = observer
    this.#slowListMs = options.slowListMs ?? reflectorDefaults.slowListMs
    this.#failed = failed
    this.#backoff = new Backoff(options.backoff ?? reflectorDefaults.backoff)
    this.#queueLimit = options.queueLimit ?? defaultQueueLimit
    this.#queue = new DeltaQueue({ limit: this.#queueLimit })
    this.#reflector = new Reflector(
      {
        resourceName: groupResourceOf(resource),
        source: tweakListOptions === undefined ? source : tweakedSource(source, tweakListOptions),
        target: {
          take: (text) => intake.take(text),
          takeBookmark: (text) => intake.takeBookmark(text),
          stage: parts.stage,
          push: (delta) => this.#queue.push(delta),
          isFull: () => this.#queue.isFull,
          room: (signal) => this.#queue.room(signal),
        },
        observer: {
          // Not copied: an observer may be an instance of a class.
          listing: () => observer.listing?.(),
          listed: (list) => observer.listed?.(list),
          watching: (resourceVersion) => observer.watching?.(resourceVersion),
          watched: (watch) => observer.watched?.(watch),
          failed,
        },
      },
      options,
    )
  }

  get state(): ReflectorState {
    if (this.#isPausing) return 'waiting'
    const { state } = this.#reflector.status
    return state === 'watching' && this.#loopError !== undefined ? 'reconnecting' : state
  }

  /** The last failure of a list or watch, or of the loop itself; `undefined` since the last success. */
  get lastError(): Error | undefined {
    return this.#loopError ?? this.#reflector.status.lastError
  }

  /** `performance.now()` at the last list, event or bookmark; `undefined` before the first. */
  get lastContactMs(): number | undefined {
    return this.#reflector.status.lastContactMs
  }

  /** How many deltas wait. */
  get queueLength(): number {
    return this.#queue.length
  }

  /** Lists anew what may look otherwise than it did. */
  reread(): void {
    this.#reflector.reread()
  }

  /** Runs until the signal is aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.runOnce(signal)
      } catch (error) {
        await this.#recover(error, signal)
      }
    }
  }

  /** The same, but rejects with what `process` or an observer throws; everything has ended then, too. */
  async runOnce(signal: AbortSignal): Promise<void> {
    this.#queue = new DeltaQueue({ limit: this.#queueLimit })
    const ending = new AbortController()
    const ends = AbortSignal.any([signal, ending.signal])
    const reflecting = this.#reflector.run(ends)
    // Where the reflector itself fails, nothing would ever come from the queue again.
    reflecting.catch(() => ending.abort())
    try {
      for await (const deltas of this.#queue.batches(ends)) {
        const processed = this.#process(deltas)
        if (processed !== undefined) await processed
        this.#reportSlowList(deltas)
        if (deltas[0]?.type === 'REPLACED') this.#loopError = undefined
      }
    } finally {
      ending.abort()
      await reflecting
    }
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.#loopError = error instanceof Error ? error : new Error(String(error))
    try {
      this.#failed('loop', this.#loopError)
    } catch (thrown) {
      // An observer that throws at everything must not end what it observes.
      process.emitWarning(`an informer's observer threw: ${String(thrown)}`)
    }
    this.#isPausing = true
    await sleep(this.#backoff.nextMs(), signal)
    this.#isPausing = false
  }

  #reportSlowList([delta]: readonly Delta[]): void {
    if (delta?.type !== 'REPLACED' || delta.clock.ageMs <= this.#slowListMs) return
    const stages = delta.clock.stages()
    const durationMs = stages.firstByteMs + stages.receivingMs + stages.applyingMs
    this.#observer.slowList?.({ items: delta.contents.size, durationMs, stages })
  }
}
