import {
  type ApiResource,
  groupResourceOf,
  isSameResource,
  requireResource,
} from '../kubernetes/api-resource.ts'
import { Backoff, sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import {
  aFlag,
  aFunction,
  aLimit,
  anObject,
  checkedOptions,
  InvalidOptionError,
  type OptionChecks,
} from '../lib/options.ts'
import type { ObjectCodec } from './codec/object-codec.ts'
import type { InformerObserver, ReportFailure } from './informer-observer.ts'
import { type Delta, DeltaQueue } from './reflector/delta-queue.ts'
import {
  type ListerWatcher,
  type TweakListOptions,
  tweakedSource,
} from './reflector/lister-watcher.ts'
import { ObjectIntake, type Transform } from './reflector/object-intake.ts'
import { Reflector, type ReflectorState } from './reflector/reflector.ts'
import {
  reflectorChecks,
  reflectorDefaults,
  type ReflectorOptions,
} from './reflector/reflector-options.ts'
import type { StoreContents } from './store/store-contents.ts'

/** A source of the objects of any resource: an `ApiServer`. */
export interface SourceOfResources {
  resource(resource: ApiResource, options: { readonly metadataOnly?: boolean }): ListerWatcher
}

/** The resource of an informer and the source of its objects: give either `apiServer` or `source`. */
export interface SourceOptions {
  readonly resource: ApiResource
  readonly apiServer?: SourceOfResources
  /** A custom source. */
  readonly source?: ListerWatcher
  /** Requests only the metadata of objects: no other field enters the process. */
  readonly metadataOnly?: boolean
}

/** The options of an informer or a controller. */
export interface CacheOptions extends SourceOptions, ReflectorOptions {
  readonly tweakListOptions?: TweakListOptions
  readonly observer?: InformerObserver
  /** How many deltas may wait for processing. The reflector pauses when the queue is full. */
  readonly queueLimit?: number
}

export const defaultQueueLimit = 10_000

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

/** Checked options, with the source that they name. */
export interface ControllerOptions extends CacheOptions {
  readonly source: ListerWatcher
}

export interface ControllerParts {
  readonly codec: ObjectCodec
  readonly transform: Transform | undefined
  readonly stage: () => StoreContents
  /** Applies deltas in order. Its promise is awaited before the next ones. */
  readonly process: (deltas: readonly Delta[]) => void | Promise<void>
  readonly failed: ReportFailure
}

/**
 * A reflector, a delta queue, and the loop between them (client-go's `Controller`). The owner processes the deltas.
 *
 * No object should make this loop fail, whatever it contains. If it fails all the same, by a fault of this library or
 * an observer that throws, a silent stop of the cache would be worst. So the failure is reported as `loop` and stays in
 * `lastError`, and after a back-off everything restarts with a list.
 */
export class Controller {
  readonly #parts: ControllerParts
  readonly #observer: InformerObserver
  readonly #queueLimit: number
  readonly #slowListMs: number
  readonly #reflector: Reflector
  readonly #backoff: Backoff
  #queue: DeltaQueue
  #isPausing = false
  /** Why the loop failed; `undefined` once a list was processed since. */
  #loopError: Error | undefined

  constructor(options: ControllerOptions, parts: ControllerParts) {
    const { resource, source, tweakListOptions: tweak, observer = {} } = options
    const { codec, transform, stage, failed } = parts
    this.#parts = parts
    this.#observer = observer
    this.#queueLimit = options.queueLimit ?? defaultQueueLimit
    this.#slowListMs = options.slowListMs ?? reflectorDefaults.slowListMs
    this.#backoff = new Backoff(options.backoff ?? reflectorDefaults.backoff)
    this.#queue = new DeltaQueue(this.#queueLimit)
    this.#reflector = new Reflector(
      {
        resourceName: groupResourceOf(resource),
        source: tweak === undefined ? source : tweakedSource(source, tweak),
        intake: new ObjectIntake({ resource, codec, transform, failed }),
        stage,
        observer,
        failed,
      },
      options,
    )
  }

  get state(): ReflectorState {
    if (this.#isPausing) return 'waiting'
    const { state } = this.#reflector
    return state === 'watching' && this.#loopError !== undefined ? 'reconnecting' : state
  }

  /** The last failure of a list, a watch or the loop; `undefined` since the last success. */
  get lastError(): Error | undefined {
    return this.#loopError ?? this.#reflector.lastError
  }

  get lastContactMs(): number | undefined {
    return this.#reflector.lastContactMs
  }

  get queueLength(): number {
    return this.#queue.length
  }

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
    this.#queue = new DeltaQueue(this.#queueLimit)
    const ending = new AbortController()
    const ends = AbortSignal.any([signal, ending.signal])
    const reflecting = this.#reflector.run(this.#queue, ends)
    // If the reflector fails, the queue receives nothing more.
    reflecting.catch(() => ending.abort())
    try {
      for await (const deltas of this.#queue.batches(ends)) {
        const processed = this.#parts.process(deltas)
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
      this.#parts.failed('loop', this.#loopError)
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

/** Checks options and finds their source. Throws `InvalidOptionError` and {@link SourceMismatchError}. */
export function controllerOptionsOf<T extends CacheOptions>(
  of: string,
  given: T,
  checks: OptionChecks<T>,
): T & ControllerOptions {
  const options = checkedOptions(of, given, checks)
  requireResource('resource', options.resource)
  return { ...options, source: sourceOf(options) }
}

/** The source is of another resource than the informer, or has only metadata where whole objects are needed. */
export class SourceMismatchError extends CodedError {
  constructor(message: string, source: ListerWatcher) {
    super('SOURCE_MISMATCH', message, {
      value: source,
      hint: 'give the informer apiServer instead of source: then the resource is named once',
    })
  }
}

function sourceOf({
  apiServer,
  metadataOnly = false,
  resource,
  source,
}: SourceOptions): ListerWatcher {
  if (apiServer !== undefined && source === undefined) {
    return apiServer.resource(resource, { metadataOnly })
  }
  if (source === undefined || apiServer !== undefined) throw notOneSource(source)
  if (source.resource !== undefined && !isSameResource(source.resource, resource)) {
    throw new SourceMismatchError(
      `the informer is of ${named(resource)}, its source of ${named(source.resource)}`,
      source,
    )
  }
  if (source.metadataOnly !== undefined && source.metadataOnly !== metadataOnly) {
    throw new SourceMismatchError(
      metadataOnly
        ? `the informer of ${named(resource)} is of metadata only, its source gives whole objects`
        : `the source of ${named(resource)} gives metadata only, the informer wants whole objects`,
      source,
    )
  }
  return source
}

export function notOneSource(source: unknown): InvalidOptionError {
  const given = source === undefined ? 'missing' : 'given beside apiServer'
  return new InvalidOptionError('source', given, 'either apiServer or source')
}

function named(resource: ApiResource): string {
  return `${groupResourceOf(resource)} ${resource.version} (${resource.kind})`
}
