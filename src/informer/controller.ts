import {
  type ApiResource,
  groupResourceOf,
  isSameResource,
  requireResource,
} from '../kubernetes/api-resource.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { Backoff, sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { LinkedController } from '../lib/linked-controller.ts'
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
import { takeBase } from './reflector/archived-base.ts'
import { type Delta, DeltaQueue, type DeltaSink, ListClock } from './reflector/delta-queue.ts'
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
  type ReflectorParts,
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

/** One namespace of a resource that is listed and watched by namespaces. */
export interface NamespaceState {
  readonly state: ReflectorState
  /** The last failure of its list or watch; `undefined` since the last success. */
  readonly lastError: Error | undefined
  /** `performance.now()` when the server last sent something about it; `undefined` before the first time. */
  readonly lastContactMs: number | undefined
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
  /** Lists and watches these namespaces, each by itself. */
  readonly namespaces?: readonly string[]
}

export interface ControllerParts {
  readonly codec: ObjectCodec
  readonly transform: Transform | undefined
  /** See `ReflectorParts.base`. With it, entries of events have their text. */
  readonly base?: ReflectorParts['base']
  /** An empty generation for a list. `isReread`: see `IndexedStore.stage`. */
  readonly stage: (isReread?: boolean) => StoreContents
  /** An empty generation for the list of one of several namespaces. Default: as `stage`. */
  readonly stageNamespace?: () => StoreContents
  /** The version that lists of further namespaces have to reach. */
  readonly notBefore?: () => ResourceVersion | undefined
  /** Applies deltas in order. The next deltas wait for its promise. */
  readonly process: (deltas: readonly Delta[]) => void | Promise<void>
  readonly failed: ReportFailure
}

interface Reflecting {
  readonly reflector: Reflector
  /** Absent until it runs. */
  stop: LinkedController | undefined
  running: Promise<void> | undefined
}

/** One run of a controller, which reflectors may join and leave. */
interface ControllerRun {
  readonly queue: DeltaQueue
  readonly signal: AbortSignal
  /** A reflector has failed, by a fault of this library or an observer. */
  readonly broken: () => void
}

/** Stands for all namespaces, as in the API. */
const everywhere = ''

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
  readonly #source: ListerWatcher
  readonly #queueLimit: number
  readonly #slowListMs: number
  readonly #reflectorOf: (namespace: string) => Reflector
  readonly #intake: ObjectIntake
  readonly #backoff: Backoff
  /** By namespace. One reflector of all namespaces, or one of each. */
  readonly #reflectors = new Map<string, Reflecting>()
  /** Reflectors of namespaces that are no longer covered, until their connections are closed. */
  readonly #leaving = new Set<Promise<void>>()
  /** Whether the objects of an archive may still be taken for several namespaces: nothing was listed yet. */
  #mayRestore: boolean
  /** While they are taken, no reflector starts. */
  #restoring: { readonly stop: LinkedController; readonly ended: Promise<void> } | undefined
  #run: ControllerRun | undefined
  #queue: DeltaQueue
  #isPausing = false
  /** Why the loop failed; `undefined` once a list was processed since. */
  #loopError: Error | undefined

  constructor(options: ControllerOptions, parts: ControllerParts) {
    const { resource, source, tweakListOptions: tweak, observer = {} } = options
    const { codec, transform, stage, failed, base } = parts
    this.#parts = parts
    this.#observer = observer
    this.#source = source
    this.#queueLimit = options.queueLimit ?? defaultQueueLimit
    this.#slowListMs = options.slowListMs ?? reflectorDefaults.slowListMs
    this.#backoff = new Backoff(options.backoff ?? reflectorDefaults.backoff)
    this.#queue = new DeltaQueue(this.#queueLimit)
    const keepsTexts = base !== undefined
    this.#mayRestore = keepsTexts
    this.#intake = new ObjectIntake({ resource, codec, transform, failed, keepsTexts })
    const reading = {
      resourceName: groupResourceOf(resource),
      source: tweak === undefined ? source : tweakedSource(source, tweak),
      intake: this.#intake,
    }
    const { stageNamespace = stage, notBefore } = parts
    this.#reflectorOf = (namespace) =>
      namespace === everywhere
        ? new Reflector({ ...reading, stage, observer, failed, base }, options)
        : new Reflector(
            {
              ...reading,
              stage: stageNamespace,
              observer: observerOf(observer, namespace),
              failed: (failure, error) => failed(failure, error, namespace),
              notBefore: notBefore?.(),
            },
            { ...options, namespace },
          )
    for (const namespace of options.namespaces ?? [everywhere]) this.#add(namespace)
  }

  /** The least advanced state of all reflectors. */
  get state(): ReflectorState {
    if (this.#isPausing) return 'waiting'
    let state: ReflectorState | undefined
    for (const { reflector } of this.#reflectors.values()) {
      const one = reflector.state
      if (state === undefined || progress.indexOf(one) < progress.indexOf(state)) state = one
    }
    // No namespace: there is nothing to wait for.
    state ??= this.#run === undefined ? 'idle' : 'watching'
    return state === 'watching' && this.#loopError !== undefined ? 'reconnecting' : state
  }

  /** The last failure of a list, a watch or the loop; `undefined` since the last success. */
  get lastError(): Error | undefined {
    if (this.#loopError !== undefined) return this.#loopError
    for (const { reflector } of this.#reflectors.values()) {
      if (reflector.lastError !== undefined) return reflector.lastError
    }
    return undefined
  }

  /** The earliest contact of all reflectors; `undefined` while one has had none. */
  get lastContactMs(): number | undefined {
    let earliest = Infinity
    for (const { reflector } of this.#reflectors.values()) {
      if (reflector.lastContactMs === undefined) return undefined
      earliest = Math.min(earliest, reflector.lastContactMs)
    }
    return earliest === Infinity ? undefined : earliest
  }

  /** The longest silence of a reflector that waits for its first list; 0 if none does. */
  get silentMs(): number {
    let longest = 0
    for (const { reflector } of this.#reflectors.values())
      longest = Math.max(longest, reflector.silentMs)
    return longest
  }

  /** The namespaces that are listed and watched, each by itself; `undefined` if there is one list of all. */
  get namespaces(): ReadonlyMap<string, NamespaceState> | undefined {
    if (this.#reflectors.has(everywhere)) return undefined
    return new Map(Array.from(this.#reflectors, ([name, { reflector }]) => [name, reflector]))
  }

  get queueLength(): number {
    return this.#queue.length
  }

  reread(): void {
    for (const { reflector } of this.#reflectors.values()) reflector.reread()
  }

  /** Lists and watches these namespaces from now on, each by itself; `undefined`: all of them, by one list. */
  cover(namespaces: ReadonlySet<string> | undefined): void {
    const next = namespaces ?? new Set([everywhere])
    for (const [name, { reflector, stop, running }] of this.#reflectors) {
      if (next.has(name)) continue
      this.#reflectors.delete(name)
      if (name === everywhere && !reflector.awaitsBase) this.#mayRestore = false
      // Its deltas are in the queue before the delta that follows, and it sends no more.
      stop?.abort()
      if (running !== undefined) this.#leave(running)
    }
    if (namespaces !== undefined) this.#run?.queue.push({ type: 'NAMESPACES', namespaces })
    for (const name of next) if (!this.#reflectors.has(name)) this.#add(name)
    if (next.size === 0 || next.has(everywhere)) this.#restoring?.stop.abort()
    if (this.#run !== undefined) this.#start(this.#run)
  }

  #leave(running: Promise<void>): void {
    const left = running.catch(() => {}).finally(() => this.#leaving.delete(left))
    this.#leaving.add(left)
  }

  #add(namespace: string): void {
    const reflector = this.#reflectorOf(namespace)
    this.#reflectors.set(namespace, { reflector, stop: undefined, running: undefined })
  }

  /** Starts the reflectors that do not run yet. Those of several namespaces begin with the objects of an archive. */
  #start(run: ControllerRun): void {
    const { queue, signal, broken } = run
    if (this.#mayRestore && !this.#reflectors.has(everywhere)) {
      this.#mayRestore = false
      if (this.#reflectors.size > 0) {
        const stop = new LinkedController(signal)
        const ended = this.#restore(queue, stop.signal).then(() => {
          stop.unlink()
          this.#restoring = undefined
          if (this.#run === run) this.#start(run)
        })
        this.#restoring = { stop, ended }
      }
    }
    if (this.#restoring !== undefined) return
    for (const [namespace, one] of this.#reflectors) {
      if (one.running !== undefined) continue
      one.stop = new LinkedController(signal)
      const sink = sinkOf(queue, namespace, one.stop.signal)
      one.running = one.reflector.run(sink, one.stop.signal)
      one.running.catch(broken)
    }
  }

  /** Begins with the objects of several namespaces, and lets those that have a position follow from there. Never rejects. */
  async #restore(queue: DeltaQueue, signal: AbortSignal): Promise<void> {
    try {
      const base = await this.#parts.base?.(signal, true)
      if (base?.namespaces === undefined) return
      const { resourceVersion, namespaces, reached } = base
      const clock = new ListClock(() => {})
      const contents = this.#parts.stage()
      await takeBase(base, { intake: this.#intake, contents }, clock.heard, signal)
      signal.throwIfAborted()
      clock.received()
      const list = { contents, resourceVersion, clock, isReread: false, isBase: true }
      queue.push({ type: 'REPLACED', ...list, namespaces })
      queue.push({ type: 'NAMESPACES', namespaces: new Set(this.#reflectors.keys()) })
      for (const [name, { reflector }] of this.#reflectors) {
        const position = namespaces.get(name)
        if (position !== undefined) reflector.follow(position, reached)
      }
      this.#observer.restored?.({ items: contents.size, durationMs: clock.ageMs })
    } catch (error) {
      if (!signal.aborted) this.#parts.failed('list', error as Error)
    }
  }

  /** Runs until the signal aborts, or the source is closed, which is the `lastError` then. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const ends = this.#endOf(signal)
    while (!ends.aborted) {
      try {
        await this.#once(ends)
      } catch (error) {
        await this.#recover(error, ends)
      }
    }
    if (!signal.aborted) this.#loopError = ends.reason as Error
  }

  #endOf(signal: AbortSignal): AbortSignal {
    const { closed } = this.#source
    return closed === undefined ? signal : AbortSignal.any([signal, closed])
  }

  /** Like {@link run}, but rejects with the error of `process` or an observer, after everything has ended. */
  async runOnce(signal: AbortSignal): Promise<void> {
    await this.#once(this.#endOf(signal))
  }

  async #once(signal: AbortSignal): Promise<void> {
    const queue = new DeltaQueue(this.#queueLimit)
    this.#queue = queue
    const ending = new LinkedController(signal)
    // If a reflector fails, its part of the queue receives nothing more.
    this.#run = { queue, signal: ending.signal, broken: () => ending.abort() }
    if (!this.#reflectors.has(everywhere)) {
      queue.push({ type: 'NAMESPACES', namespaces: new Set(this.#reflectors.keys()) })
    }
    this.#start(this.#run)
    try {
      for await (const deltas of this.#queue.batches(ending.signal)) {
        const processed = this.#parts.process(deltas)
        if (processed !== undefined) await processed
        this.#reportSlowList(deltas)
        if (deltas[0]?.type === 'REPLACED') this.#loopError = undefined
      }
    } finally {
      this.#run = undefined
      ending.abort()
      await this.#ended()
    }
  }

  /** Waits for all reflectors of a run. Rejects with the first error. */
  async #ended(): Promise<void> {
    await this.#restoring?.ended
    const reflectors = [...this.#reflectors.values()]
    const ended = await Promise.allSettled(reflectors.map(async ({ running }) => running))
    for (const one of reflectors) one.running = undefined
    await Promise.all(this.#leaving)
    for (const one of ended) if (one.status === 'rejected') throw one.reason
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

/** The states of reflectors, the least advanced first. */
const progress: readonly ReflectorState[] = [
  'idle',
  'listing',
  'waiting',
  'reconnecting',
  'watching',
  'stopped',
]

/** Marks the deltas of one namespace. Takes none after the signal: another delta says what becomes of the objects. */
function sinkOf(queue: DeltaQueue, namespace: string, signal: AbortSignal): DeltaSink {
  return {
    get isFull() {
      return queue.isFull
    },
    push: (delta) => {
      if (!signal.aborted) queue.push(namespace === everywhere ? delta : { ...delta, namespace })
    },
    room: (until) => queue.room(until),
  }
}

/** Adds the namespace to the reports that an observer gets. */
function observerOf(observer: InformerObserver, namespace: string): InformerObserver {
  return {
    listing: () => observer.listing?.(namespace),
    listed: (list) => observer.listed?.({ ...list, namespace }),
    watching: (position, _, continues) => observer.watching?.(position, namespace, continues),
    watched: (watch) => observer.watched?.({ ...watch, namespace }),
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
