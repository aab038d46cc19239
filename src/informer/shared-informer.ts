import { groupResourceOf, type Resource } from '../kubernetes/api-resource.ts'
import type { KubernetesObject, MetadataOf, Unstructured } from '../kubernetes/object.ts'
import { CodedError } from '../lib/coded-error.ts'
import { checkedWait, DeadlineError, type WaitOptions, withDeadline } from '../lib/deadline.ts'
import { checkedOptions, type OptionChecks, present, withDefaults } from '../lib/options.ts'
import { inSlices } from '../lib/event-loop.ts'
import { Controller } from './controller.ts'
import { controllerOptionsOf } from './controller-options.ts'
import { FailureReport } from './failure-report.ts'
import { InformerStore } from './informer-store.ts'
import type { Delta, ListDelta } from './reflector/delta-queue.ts'
import {
  type EventHandlerOptions,
  type HandlerRegistration,
  HandlerRun,
  HandlerStuckError,
  MissingOnResetError,
  type ResourceEventHandler,
} from './delivery/event-handler.ts'
import { IndexedStore } from './store/indexed-store.ts'
import { type Indexer, indexerOf } from './store/indexer.ts'
import type { InformerFailure, InformerObserver } from './informer-observer.ts'
import { type Listener, listenerChecks, type ListenerOptions } from './delivery/listener.ts'
import { type Lister, listerOf } from './store/lister.ts'
import { freezingCodec } from './codec/freezing-codec.ts'
import { createObjectCodec, type ObjectCodec } from './codec/object-codec.ts'
import { ordersResourceVersions } from './reflector/lister-watcher.ts'
import type { Transform } from './object-intake.ts'
import { Processor } from './delivery/processor.ts'
import type { ReflectorState } from './reflector/reflector-status.ts'
import {
  InformerRunningError,
  InformerStoppedError,
  sharedInformerChecks,
  sharedInformerDefaults,
  type SharedInformerOptions,
} from './shared-informer-options.ts'
import { StoreWriter } from './store-writer.ts'
import { snapshotOf } from './delivery/snapshot.ts'
import type { Indexers } from './store/store-view.ts'

/** What an informer is doing: a reflector's state, or that it has synced and is watching. */
export type InformerState = ReflectorState | 'synced'

/**
 * Keeps an indexed store in step with one resource and tells its handlers and listeners of every change (client-go's
 * `SharedIndexInformer`). Store and indices are always up to date before anyone is told.
 */
export class SharedInformer<T extends KubernetesObject = KubernetesObject> {
  readonly resource: Resource<T>
  /** The indexed store; only the informer writes it. */
  readonly store: InformerStore<T>
  readonly #store: IndexedStore<T>
  readonly #codec: ObjectCodec
  readonly #report: FailureReport
  readonly #advanced: InformerObserver['advanced']
  readonly #settings: InformerSettings
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
    const { resource, indexers = {}, observer = {} } = options
    const settings = withDefaults<InformerSettings>(sharedInformerDefaults, options)
    this.resource = resource
    this.#settings = settings
    this.#advanced = observer.advanced?.bind(observer)
    this.#report = new FailureReport(resource, observer)
    const codec = createObjectCodec({ resource, metadataOnly: settings.metadataOnly })
    this.#codec = settings.detectMutations ? freezingCodec(codec) : codec
    this.#store = new IndexedStore({
      resource,
      codec: this.#codec,
      indexers: indexers as Indexers,
      onIndexFailure: (error) => this.#report.failed('index', error),
      resourceVersionsComparable:
        options.resourceVersionsComparable ?? (() => ordersResourceVersions(options.source)),
    })
    this.store = new InformerStore(this.#store)
    this.#processor = new Processor({
      snapshot: (type, route) => snapshotOf(this.#store, { codec: this.#codec, type, route }),
      position: () => this.#store.resourceVersion,
    })
    this.#writer = new StoreWriter({ store: this.#store, codec: this.#codec })
    this.#controller = new Controller(options, {
      codec: this.#codec,
      transform: options.transform as Transform | undefined,
      stage: () => this.#store.stage(),
      process: (deltas) => this.#apply(deltas),
      failed: this.#report.failed,
    })
    // Nobody need wait for it.
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

  /** How often each kind of failure has happened. */
  get failures(): ReadonlyMap<InformerFailure, number> {
    return this.#report.counts
  }

  /** How many deltas wait to be applied to the store. */
  get queueLength(): number {
    return this.#controller.queueLength
  }

  /** How many handlers and listeners it has. */
  get listeners(): number {
    return this.#processor.size
  }

  /** Whether the first whole list is in the store, also when it was empty. */
  hasSynced(): boolean {
    return this.#writer.hasList
  }

  /**
   * Resolves when {@link hasSynced}. Rejects with `DeadlineError`, whose cause is the last failure; with the signal's
   * reason; with {@link InformerStoppedError} where the informer has been stopped, or is while this waits.
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
   * Runs until the signal is aborted, then ends all handlers and listeners. A handler that does not return within
   * `handlerStopDeadlineMs` is reported with `HandlerStuckError`. To be called once: rejects with
   * {@link InformerRunningError}, later with {@link InformerStoppedError}.
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
   * Lists anew, now and once more when the watch that follows has ended, and compares what objects say instead of their resource
   * versions. For custom resources whose definition has changed: the server may show other fields of them than before.
   */
  reread(): void {
    this.#controller.reread()
  }

  /**
   * Adds a handler. One that is added late is told of everything present first, with `isInInitialList`, and then of
   * whatever follows, and, where it wants a resync, of everything again from time to time. Throws
   * {@link InformerStoppedError} and {@link MissingOnResetError}.
   */
  addEventHandler(
    handler: ResourceEventHandler<T>,
    options: EventHandlerOptions = {},
  ): HandlerRegistration {
    if (options.overflow === 'reset' && handler.onReset === undefined) {
      throw new MissingOnResetError()
    }
    const { resyncPeriodMs } = this.#settings
    // A handler that reads the lister may have met an object that it has not been told of: the end of that one it must be.
    const listener = this.listen({ resyncPeriodMs, readsStore: true, ...present(options) })
    const run = new HandlerRun(handler as ResourceEventHandler, listener, (error) =>
      this.#report.failed('handler', error),
    )
    this.#registrations.add(run)
    run.start(() => this.#registrations.delete(run))
    return run
  }

  /** Removes a handler; a registration of another informer, or one already removed, is ignored. */
  removeEventHandler(registration: HandlerRegistration): void {
    if (registration instanceof HandlerRun && this.#registrations.has(registration)) {
      registration.remove()
    }
  }

  /**
   * The handler as an async iterable of batches. Without `replay` it begins with what changes from now on. Throws
   * {@link InformerStoppedError}, and `UnknownIndexError` where its route names an index that the store does not have.
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
   * Adds indexes, also while running: they are back-filled at once, which in a big store takes its time (about 5 ms for 1,000
   * objects): see {@link backfillIndexers}. Throws `DuplicateIndexError`, and then adds none.
   */
  addIndexers(indexers: Indexers<T>): void {
    this.#store.addIndexers(indexers as Indexers)
  }

  /**
   * The same without holding up the event loop for longer than some milliseconds at a time. The indexes are there when it
   * resolves, complete and up to date; until then they are unknown, but their names are taken. Rejects with
   * `DuplicateIndexError`, with {@link InformerStoppedError} where the informer is stopped meanwhile, and with whatever goes
   * wrong while they are made: then there are none, and their names are free again.
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

  /** In the same tick as the abort, so that a handler in the middle of a batch is called no more. */
  #stop(): void {
    this.#phase = 'stopped'
    this.#processor.close()
    const name = groupResourceOf(this.resource)
    const stopped = new InformerStoppedError(name, this.#controller.lastError)
    this.#store.endWaits(stopped)
    this.#firstSync.reject(stopped)
  }

  async #endHandlers(): Promise<void> {
    const { handlerStopDeadlineMs } = this.#settings
    const ended = [...this.#registrations].map(async (run) => {
      await withDeadline('the end of a handler', run[Symbol.asyncDispose](), handlerStopDeadlineMs)
        // It can only be late: it never rejects.
        .catch(() =>
          this.#report.failed('handler', new HandlerStuckError(run.current, handlerStopDeadlineMs)),
        )
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

/** The options that the informer itself follows, with their defaults. */
interface InformerSettings {
  readonly metadataOnly: boolean
  readonly resyncPeriodMs: number
  readonly detectMutations: boolean
  readonly handlerStopDeadlineMs: number
}

/** The options of an informer that holds the metadata of objects alone. */
export type MetadataInformerOptions<T extends KubernetesObject = KubernetesObject> = Omit<
  SharedInformerOptions<MetadataOf<T>>,
  'resource' | 'metadataOnly'
> & { readonly resource: Resource<T>; readonly metadataOnly: true }

/**
 * Creates an informer; nothing happens until {@link SharedInformer.run}. Throws `InvalidOptionError`, and
 * `SourceMismatchError` where the source is of another resource.
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
