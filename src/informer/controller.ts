import { Backoff, sleep } from '../lib/backoff.ts'
import { type ApiResource, groupResourceOf, requireResource } from '../kubernetes/api-resource.ts'
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
import {
  reflectorChecks,
  reflectorDefaults,
  type ReflectorOptions,
} from './reflector/reflector-options.ts'
import type { ReflectorState } from './reflector/reflector-status.ts'
import type { StoreContents } from './store/store-contents.ts'
import {
  aFlag,
  aFunction,
  aLimit,
  anObject,
  checkedOptions,
  type OptionChecks,
} from '../lib/options.ts'
import { sourceOf, type SourceOptions } from './source.ts'

/** The options of a controller, without the processing of deltas. */
export interface ControllerOptions extends ReflectorOptions {
  readonly resource: ApiResource
  readonly source: ListerWatcher
  readonly tweakListOptions?: TweakListOptions
  readonly observer?: InformerObserver
  /** How many deltas may wait for processing. The reflector pauses when the queue is full. */
  readonly queueLimit?: number
}

export const defaultQueueLimit = 10_000

export interface ControllerParts {
  readonly codec: ObjectCodec
  readonly transform: Transform | undefined
  /** An empty generation for the deltas of a list. */
  readonly stage: () => StoreContents
  /** Applies deltas in order. Its promise is awaited before the next ones. */
  readonly process: (deltas: readonly Delta[]) => void | Promise<void>
  readonly failed: (failure: InformerFailure, error: Error) => void
}

/**
 * A reflector, a delta queue, and the loop between them (client-go's `Controller`). The owner processes the deltas.
 *
 * No object should make this loop fail, whatever it contains. If it fails all the same, by a fault of this library or
 * an observer that throws, a silent stop of the cache would be worst. So the failure is reported as `loop` and stays in
 * `lastError`, and after a back-off everything restarts with a list.
 */
export class Controller {
  #queue: DeltaQueue
  readonly #queueLimit: number
  readonly #reflector: Reflector
  readonly #failed: ControllerParts['failed']
  readonly #backoff: Backoff
  #isPausing = false
  /** Why the loop failed; `undefined` once a list was processed since. */
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
          // Not copied, because an observer may be an instance of a class.
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

  /** The last failure of a list, a watch or the loop; `undefined` since the last success. */
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

  /** Lists again, comparing whole objects. */
  reread(): void {
    this.#reflector.reread()
  }

  /** Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.runOnce(signal)
      } catch (error) {
        await this.#recover(error, signal)
      }
    }
  }

  /** Like {@link run}, but rejects with the error of `process` or an observer, after everything has ended. */
  async runOnce(signal: AbortSignal): Promise<void> {
    this.#queue = new DeltaQueue({ limit: this.#queueLimit })
    const ending = new AbortController()
    const ends = AbortSignal.any([signal, ending.signal])
    const reflecting = this.#reflector.run(ends)
    // If the reflector fails, the queue receives nothing more.
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
      // An observer that always throws must not end the controller.
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

/** The options of an informer or a controller, as callers write them. */
export interface CacheOptions
  extends SourceOptions, Omit<ControllerOptions, 'resource' | 'source'> {}

export const cacheChecks: OptionChecks<CacheOptions> = {
  ...reflectorChecks,
  resource: requireResource,
  apiServer: anObject,
  source: anObject,
  metadataOnly: aFlag,
  tweakListOptions: aFunction,
  observer: anObject,
  queueLimit: aLimit(1),
}

/** The controller's form of the options. Throws `InvalidOptionError` and `SourceMismatchError`. */
export function controllerOptionsOf<T extends CacheOptions>(
  of: string,
  given: T,
  checks: OptionChecks<T>,
): T & ControllerOptions {
  const options = checkedOptions(of, given, checks)
  requireResource('resource', options.resource)
  return { ...options, source: sourceOf(options) }
}
