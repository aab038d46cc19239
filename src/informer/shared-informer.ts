import { groupResourceOf, type Resource } from '../kubernetes/api-resource.ts'
import type { KubernetesObject, MetadataOf, Unstructured } from '../kubernetes/object.ts'
import { CodedError } from '../lib/coded-error.ts'
import { checkedWait, DeadlineError, type WaitOptions, withDeadline } from '../lib/deadline.ts'
import { inSlices } from '../lib/event-loop.ts'
import {
  aFlag,
  aFunction,
  anObject,
  checkedOptions,
  checksLike,
  type OptionChecks,
  present,
} from '../lib/options.ts'
import { createObjectCodec, freezingCodec } from './codec/object-codec.ts'
import {
  cacheChecks,
  type CacheOptions,
  Controller,
  controllerOptionsOf,
  defaultQueueLimit,
} from './controller.ts'
import {
  type EventHandlerOptions,
  type HandlerRegistration,
  HandlerRun,
  HandlerStuckError,
  MissingOnResetError,
  type ResourceEventHandler,
} from './delivery/event-handler.ts'
import { type Listener, listenerChecks, type ListenerOptions } from './delivery/listener.ts'
import { Processor } from './delivery/processor.ts'
import { FailureReport, type InformerFailure, type InformerObserver } from './informer-observer.ts'
import type { Delta, ListDelta } from './reflector/delta-queue.ts'
import { ordersResourceVersions } from './reflector/lister-watcher.ts'
import type { Transform } from './reflector/object-intake.ts'
import type { ReflectorState } from './reflector/reflector.ts'
import { IndexedStore, type InformerStore } from './store/indexed-store.ts'
import { type Indexer, indexerOf, type Lister, listerOf } from './store/lister.ts'
import type { Indexers } from './store/store-view.ts'
import { StoreWriter } from './store-writer.ts'

/** The options of an informer; the defaults are in {@link sharedInformerDefaults} and `reflectorDefaults`. */
export interface SharedInformerOptions<
  T extends KubernetesObject = KubernetesObject,
> extends CacheOptions {
  /** One of the built-in `resources`, or another `Resource<T>`. */
  readonly resource: Resource<T>
  /** Index functions besides the built-in ones. More can be added at any time. */
  readonly indexers?: Indexers<T>
  readonly transform?: Transform<T>
  /** The resync period of handlers without their own, in milliseconds; default 0: none. */
  readonly resyncPeriodMs?: number
  /** Freezes every object that leaves the store, so that a handler that modifies one throws. Costly. */
  readonly detectMutations?: boolean
  /**
   * Whether resource versions are compared. Default: if the server promises an order (Kubernetes 1.35 and later), which
   * is checked when it matters.
   */
  readonly resourceVersionsComparable?: boolean
  /**
   * How long a running handler may take to return after the informer stops. Then it is reported as a failure and
   * abandoned.
   */
  readonly handlerStopDeadlineMs?: number
}

/** The defaults of {@link SharedInformerOptions}, without the reflector's. */
export const sharedInformerDefaults: Required<
  Pick<
    SharedInformerOptions,
    'metadataOnly' | 'queueLimit' | 'resyncPeriodMs' | 'detectMutations' | 'handlerStopDeadlineMs'
  >
> = {
  metadataOnly: false,
  queueLimit: defaultQueueLimit,
  resyncPeriodMs: 0,
  detectMutations: false,
  handlerStopDeadlineMs: 10_000,
}

export const sharedInformerChecks: OptionChecks<SharedInformerOptions> = {
  ...checksLike(sharedInformerDefaults),
  ...cacheChecks,
  indexers: anObject,
  transform: aFunction,
  resourceVersionsComparable: aFlag,
}

/** `run` was called on a running informer. */
export class InformerRunningError extends CodedError {
  constructor(resource: string) {
    super('INFORMER_RUNNING', `the informer of ${resource} is running already`, {
      hint: 'an informer runs once; its factory starts those that do not run yet',
    })
  }
}

/** A stopped informer was asked for something that only a running one provides. */
export class InformerStoppedError extends CodedError {
  constructor(resource: string, cause?: Error) {
    super('INFORMER_STOPPED', `the informer of ${resource} has been stopped`, {
      hint: 'create a new informer: a stopped one does not start again',
      cause,
    })
  }
}

/** The reflector's state, or `synced`: synced and watching. */
export type InformerState = ReflectorState | 'synced'

/**
 * Keeps an indexed store in step with one resource and delivers every change to its handlers and listeners (client-go's
 * `SharedIndexInformer`). The store and its indexes are up to date before any delivery.
 */
export class SharedInformer<T extends KubernetesObject = KubernetesObject> {
  readonly resource: Resource<T>
  /** The indexed store. Only the informer writes to it. */
  readonly store: InformerStore<T>
  readonly #store: IndexedStore<T>
  readonly #report: FailureReport
  readonly #advanced: InformerObserver['advanced']
  readonly #resyncPeriodMs: number
  readonly #handlerStopDeadlineMs: number
  readonly #processor: Processor
  readonly #writer: StoreWriter
  readonly #controller: Controller
  readonly #registrations = new Set<HandlerRun>()
  readonly #firstSync = Promise.withResolvers<void>()
  #phase: 'new' | 'running' | 'stopped' = 'new'

  /** Throws `InvalidOptionError` and `SourceMismatchError`. */
  constructor(given: SharedInformerOptions<T>) {
    const checks = sharedInformerChecks as OptionChecks<SharedInformerOptions<T>>
    const options = controllerOptionsOf('an informer', given, checks)
    const { resource, source, indexers = {}, observer = {} } = options
    const settings = { ...sharedInformerDefaults, ...options }
    this.resource = resource
    this.#resyncPeriodMs = settings.resyncPeriodMs
    this.#handlerStopDeadlineMs = settings.handlerStopDeadlineMs
    this.#advanced = observer.advanced?.bind(observer)
    this.#report = new FailureReport(resource, observer)
    const codec = createObjectCodec({ resource, metadataOnly: settings.metadataOnly })
    this.#store = new IndexedStore({
      resource,
      codec: settings.detectMutations ? freezingCodec(codec) : codec,
      indexers: indexers as Indexers,
      onIndexFailure: (error) => this.#report.failed('index', error),
      resourceVersionsComparable:
        options.resourceVersionsComparable ?? (() => ordersResourceVersions(source)),
    })
    this.store = this.#store.view
    this.#processor = new Processor(this.#store)
    this.#writer = new StoreWriter(this.#store)
    this.#controller = new Controller(options, {
      codec: this.#store.codec,
      transform: options.transform as Transform | undefined,
      stage: () => this.#store.stage(),
      process: (deltas) => this.#apply(deltas),
      failed: this.#report.failed,
    })
    // Without this, an unawaited promise would count as an unhandled rejection.
    this.#firstSync.promise.catch(() => {})
  }

  get state(): InformerState {
    const { state } = this.#controller
    return state === 'watching' && this.hasSynced() ? 'synced' : state
  }

  /** The last failure of a list or watch; `undefined` since the last success. */
  get lastError(): Error | undefined {
    return this.#controller.lastError
  }

  /** `performance.now()` at the last list, event or bookmark; `undefined` before the first. */
  get lastContactMs(): number | undefined {
    return this.#controller.lastContactMs
  }

  /** The number of failures of each kind. */
  get failures(): ReadonlyMap<InformerFailure, number> {
    return this.#report.counts
  }

  /** How many deltas wait to be applied to the store. */
  get queueLength(): number {
    return this.#controller.queueLength
  }

  /** The number of handlers and listeners. */
  get listeners(): number {
    return this.#processor.size
  }

  /** Whether the store has the first whole list, even if it is empty. */
  hasSynced(): boolean {
    return this.#writer.hasList
  }

  /**
   * Resolves when {@link hasSynced} becomes true. Rejects with `DeadlineError`, whose cause is the last failure; with
   * the signal's reason; or with {@link InformerStoppedError} if the informer is or gets stopped.
   */
  async waitForSync(options: WaitOptions = {}): Promise<void> {
    const { deadlineMs, signal } = checkedWait(options)
    const name = groupResourceOf(this.resource)
    if (this.#phase === 'stopped') throw new InformerStoppedError(name, this.lastError)
    if (this.hasSynced()) return
    const what = `the first sync of ${name}`
    await withDeadline(what, this.#firstSync.promise, deadlineMs, signal, (lateMs) => {
      const hint =
        this.#phase === 'new'
          ? 'the informer has not been started: call its run(signal), or start() of its factory'
          : this.lastError instanceof CodedError
            ? this.lastError.hint
            : undefined
      return new DeadlineError(what, lateMs, { cause: this.lastError, hint })
    })
  }

  /**
   * Runs until the signal aborts, then ends all handlers and listeners. Reports a handler that does not return within
   * `handlerStopDeadlineMs` with `HandlerStuckError`. Call once: later calls reject with {@link InformerRunningError}
   * or {@link InformerStoppedError}.
   */
  async run(signal: AbortSignal): Promise<void> {
    const name = groupResourceOf(this.resource)
    if (this.#phase === 'running') throw new InformerRunningError(name)
    if (this.#phase === 'stopped') throw new InformerStoppedError(name)
    this.#phase = 'running'
    const stop = () => this.#stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await this.#controller.run(signal)
    } finally {
      signal.removeEventListener('abort', stop)
      this.#stop()
      await this.#endHandlers()
    }
  }

  /**
   * Lists again, now and when the watch after that has ended, and compares whole objects instead of resource versions.
   * For custom resources whose definition has changed, because the server may show other fields of them.
   */
  reread(): void {
    this.#controller.reread()
  }

  /**
   * Adds a handler. It first receives all present objects, with `isInInitialList`, then all changes, and resyncs if it
   * has a resync period. Throws {@link InformerStoppedError} and {@link MissingOnResetError}.
   */
  addEventHandler(
    handler: ResourceEventHandler<T>,
    options: EventHandlerOptions = {},
  ): HandlerRegistration {
    if (options.overflow === 'reset' && handler.onReset === undefined) {
      throw new MissingOnResetError()
    }
    const resyncPeriodMs = this.#resyncPeriodMs
    // A handler that reads the lister may know an object before its addition is delivered, so the deletion must be
    // delivered too.
    const listener = this.listen({ resyncPeriodMs, readsStore: true, ...present(options) })
    const run = new HandlerRun(handler as ResourceEventHandler, listener, (error) =>
      this.#report.failed('handler', error),
    )
    this.#registrations.add(run)
    run.start(() => this.#registrations.delete(run))
    return run
  }

  /** Removes a handler. Ignores registrations of other informers and removed ones. */
  removeEventHandler(registration: HandlerRegistration): void {
    if (registration instanceof HandlerRun && this.#registrations.has(registration)) {
      registration.remove()
    }
  }

  /**
   * The changes as an async iterable of batches. It starts with all present objects; with `replay: false`, it starts
   * with the next change. A listener that is added before the first list receives that whole list in any case. Throws
   * {@link InformerStoppedError}, and `UnknownIndexError` if the route names an unknown index.
   */
  listen(given: ListenerOptions & { readonly replay?: boolean } = {}): Listener<T> {
    if (this.#phase === 'stopped') throw new InformerStoppedError(groupResourceOf(this.resource))
    const options = checkedOptions('a listener', given, listenerChecks)
    if (options.route !== undefined && 'index' in options.route) {
      this.store.index(options.route.index)
    }
    return this.#processor.listen(options) as Listener<T>
  }

  /**
   * Adds and fills indexes at once, even while running. That takes about 5 ms per 1,000 objects; see {@link
   * backfillIndexers}. If it throws `DuplicateIndexError`, it adds none.
   */
  addIndexers(indexers: Indexers<T>): void {
    this.#store.addIndexers(indexers as Indexers)
  }

  /**
   * Adds and fills indexes without blocking the event loop for more than some milliseconds at a time. When it resolves,
   * they are complete; until then they are unknown, but their names are taken. Rejects with `DuplicateIndexError`, with
   * {@link InformerStoppedError} if the informer stops meanwhile, or with another error; then it adds none and frees
   * the names.
   */
  async backfillIndexers(indexers: Indexers<T>): Promise<void> {
    await this.#store.backfillIndexers(indexers as Indexers, () => this.#phase === 'stopped')
    if (this.#phase === 'stopped') throw new InformerStoppedError(groupResourceOf(this.resource))
  }

  /** Reads by namespace, name and labels. */
  lister(): Lister<T> {
    return listerOf(this.#store)
  }

  /** Reads by index. */
  indexer(): Indexer<T> {
    return indexerOf(this.#store)
  }

  /** In the same tick as the abort, so that a handler in the middle of a batch receives no more calls. */
  #stop(): void {
    this.#phase = 'stopped'
    this.#processor.close()
    const name = groupResourceOf(this.resource)
    const stopped = new InformerStoppedError(name, this.#controller.lastError)
    this.#store.endWaits(stopped)
    this.#firstSync.reject(stopped)
  }

  async #endHandlers(): Promise<void> {
    const deadlineMs = this.#handlerStopDeadlineMs
    const ended = [...this.#registrations].map(async (run) => {
      await withDeadline('the end of a handler', run[Symbol.asyncDispose](), deadlineMs)
        // It never rejects but by the deadline.
        .catch(() => this.#report.failed('handler', new HandlerStuckError(run.current, deadlineMs)))
    })
    await Promise.all(ended)
  }

  #apply(deltas: readonly Delta[]): Promise<void> | undefined {
    for (const delta of deltas) {
      // A list is alone in its batch.
      if (delta.type === 'REPLACED') return this.#replace(delta)
      const applied = this.#writer.apply(delta, this.#processor.routedIndexes)
      const { changes, repeated, valuesOf } = applied
      if (repeated === undefined) this.#processor.distribute(changes, valuesOf)
      else this.#processor.distributeRepeated(repeated, valuesOf)
      this.#advanced?.(this.#store.resourceVersion, changes, false)
    }
    return undefined
  }

  async #replace(delta: ListDelta): Promise<void> {
    const found = await inSlices(this.#writer.compare(delta), () => this.#phase === 'stopped')
    if (found === undefined || this.#phase === 'stopped') return
    const isFirst = !this.#writer.hasList
    const { changes, valuesOf } = this.#writer.replace(delta, found)
    this.#advanced?.(this.#store.resourceVersion, changes, true)
    if (isFirst) {
      this.#processor.distributeInitial()
      this.#firstSync.resolve()
    } else {
      this.#processor.distribute(changes, valuesOf)
      this.#processor.distributeRelisted(changes)
    }
  }
}

/** The options of an informer that holds the metadata of objects alone. */
export type MetadataInformerOptions<T extends KubernetesObject = KubernetesObject> = Omit<
  SharedInformerOptions<MetadataOf<T>>,
  'resource' | 'metadataOnly'
> & { readonly resource: Resource<T>; readonly metadataOnly: true }

/**
 * Creates an informer; nothing happens until {@link SharedInformer.run}. Throws `InvalidOptionError`, and
 * `SourceMismatchError` if the source is of another resource.
 */
export function createSharedInformer<T extends KubernetesObject = Unstructured>(
  options: MetadataInformerOptions<T>,
): SharedInformer<MetadataOf<T>>
export function createSharedInformer<T extends KubernetesObject = Unstructured>(
  options: SharedInformerOptions<T>,
): SharedInformer<T>
export function createSharedInformer<T extends KubernetesObject>(
  options: SharedInformerOptions<T>,
): SharedInformer<T> {
  return new SharedInformer(options)
}
