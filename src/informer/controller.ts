import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import { type Delta, DeltaQueue } from './reflector/delta-queue.ts'
import type { InformerFailure, InformerObserver } from './informer-observer.ts'
import type { ListerWatcher } from './reflector/lister-watcher.ts'
import type { ObjectCodec } from './codec/object-codec.ts'
import { ObjectIntake, type Transform } from './object-intake.ts'
import { Reflector, type ReflectorState } from './reflector/reflector.ts'
import { reflectorDefaults, type ReflectorOptions } from './reflector/reflector-options.ts'
import type { StoreContents } from './store/store-contents.ts'
import { type TweakListOptions, tweakedSource } from './reflector/tweaked-source.ts'

/** What a controller is made from, besides what it does with the deltas. */
export interface ControllerOptions extends ReflectorOptions {
  readonly resource: ApiResource
  readonly source: ListerWatcher
  readonly tweakListOptions?: TweakListOptions
  readonly observer?: InformerObserver
  /** How many deltas may wait between the reflector and their processing; the reflector pauses when it is full. */
  readonly queueLimit?: number
  /** Shared by the informers of one cluster: whether its server has refused a streaming list. */
  readonly watchListSupport?: { refused: boolean }
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
 */
export class Controller {
  readonly #queue: DeltaQueue
  readonly #reflector: Reflector
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
    this.#queue = new DeltaQueue({ limit: options.queueLimit ?? defaultQueueLimit })
    this.#reflector = new Reflector(
      {
        resourceName: groupResourceOf(resource),
        source: tweakListOptions === undefined ? source : tweakedSource(source, tweakListOptions),
        target: {
          take: (text) => intake.take(text),
          stage: parts.stage,
          push: (delta) => this.#queue.push(delta),
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
        watchListSupport: options.watchListSupport ?? { refused: false },
      },
      options,
    )
  }

  get state(): ReflectorState {
    return this.#reflector.state
  }

  /** The last failure of a list or watch; `undefined` since the last success. */
  get lastError(): Error | undefined {
    return this.#reflector.lastError
  }

  /** `performance.now()` at the last list, event or bookmark; `undefined` before the first. */
  get lastContactMs(): number | undefined {
    return this.#reflector.lastContactMs
  }

  /** How many deltas wait. */
  get queueLength(): number {
    return this.#queue.length
  }

  /** Runs until the signal is aborted. Rejects with what `process` throws; everything has ended then, too. */
  async run(signal: AbortSignal): Promise<void> {
    const ending = new AbortController()
    const reflecting = this.#reflector.run(AbortSignal.any([signal, ending.signal]))
    try {
      for await (const deltas of this.#queue.batches(signal)) {
        const processed = this.#process(deltas)
        if (processed !== undefined) await processed
        this.#reportSlowList(deltas)
      }
    } finally {
      ending.abort()
      await reflecting
    }
  }

  #reportSlowList([delta]: readonly Delta[]): void {
    if (delta?.type !== 'REPLACED' || delta.clock.ageMs <= this.#slowListMs) return
    const stages = delta.clock.stages()
    const durationMs = stages.firstByteMs + stages.receivingMs + stages.applyingMs
    this.#observer.slowList?.({ items: delta.contents.size, durationMs, stages })
  }
}
