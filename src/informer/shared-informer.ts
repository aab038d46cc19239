import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import { CodedError } from '../lib/coded-error.ts'
import { withDeadline } from '../lib/deadline.ts'
import { inSlices } from '../lib/slices.ts'
import { Controller, type ControllerOptions } from './controller.ts'
import type { Delta } from './reflector/delta-queue.ts'
import {
  type EventHandlerOptions,
  type HandlerRegistration,
  HandlerRun,
  MissingOnResetError,
  type ResourceEventHandler,
} from './delivery/event-handler.ts'
import { IndexedStore } from './store/indexed-store.ts'
import { type Indexer, indexerOf } from './store/indexer.ts'
import type { InformerFailure, InformerObserver } from './informer-observer.ts'
import type { Listener, ListenerOptions } from './delivery/listener.ts'
import { type Lister, listerOf } from './store/lister.ts'
import { freezingCodec } from './codec/freezing-codec.ts'
import { createObjectCodec, type ObjectCodec } from './codec/object-codec.ts'
import type { Transform } from './object-intake.ts'
import { Processor } from './delivery/processor.ts'
import type { ReflectorState } from './reflector/reflector-status.ts'
import { type ListDelta, StoreWriter } from './store-writer.ts'
import { snapshotOf } from './delivery/snapshot.ts'
import type { Indexers } from './store/store-view.ts'

/** What an informer is made from; the defaults are in {@link sharedInformerDefaults}. */
export interface SharedInformerOptions<
  T extends KubernetesObject = KubernetesObject,
> extends ControllerOptions {
  /** Index functions besides the standard ones; more can be added at any time. */
  readonly indexers?: Indexers<T>
  readonly transform?: Transform<T>
  /** The source sends `PartialObjectMetadata` instead of whole objects. */
  readonly metadataOnly?: boolean
  /** The resync period of handlers that do not say their own; 0, the default, is none. See {@link ListenerOptions}. */
  readonly resyncPeriodMs?: number
  /** Freezes every object that leaves the store, so that a handler that modifies one throws there and then. Costly. */
  readonly detectMutations?: boolean
  /** Whether the server promises that resource versions have an order (Kubernetes 1.35 and later). Default true. */
  readonly resourceVersionsComparable?: boolean
}

/** Every default of {@link SharedInformerOptions}, but for the controller's and the reflector's. */
export const sharedInformerDefaults = {
  resourceVersionsComparable: true,
  resyncPeriodMs: 0,
  detectMutations: false,
} as const

/** A handler or listener added to an informer that has been stopped. */
export class InformerStoppedError extends CodedError {
  constructor(resource: string) {
    super('INFORMER_STOPPED', `the informer of ${resource} has been stopped`, {
      hint: 'create a new informer: a stopped one does not start again',
    })
  }
}

/** What an informer is doing: a reflector's state, or that it has synced and is watching. */
export type InformerState = ReflectorState | 'synced'

/**
 * Keeps an indexed store in step with one resource and tells its handlers and listeners of every change (client-go's
 * `SharedIndexInformer`). Store and indices are always up to date before anyone is told.
 */
export class SharedInformer<T extends KubernetesObject = KubernetesObject> {
  readonly resource: ApiResource
  /** The indexed store; everyone but the informer only reads it. */
  readonly store: IndexedStore<T>
  readonly #codec: ObjectCodec
  readonly #observer: InformerObserver
  readonly #resyncPeriodMs: number
  readonly #processor: Processor
  readonly #writer: StoreWriter
  readonly #controller: Controller
  readonly #registrations = new Set<HandlerRun>()
  readonly #firstSync = Promise.withResolvers<void>()
  readonly #failures = new Map<InformerFailure, number>()
  #phase: 'new' | 'running' | 'stopped' = 'new'

  constructor(options: SharedInformerOptions<T>) {
    const { resource, metadataOnly } = options
    this.resource = resource
    this.#observer = options.observer ?? {}
    this.#resyncPeriodMs = options.resyncPeriodMs ?? sharedInformerDefaults.resyncPeriodMs
    const codec = createObjectCodec({
      resource,
      ...(metadataOnly === undefined ? {} : { metadataOnly }),
    })
    this.#codec =
      (options.detectMutations ?? sharedInformerDefaults.detectMutations)
        ? freezingCodec(codec)
        : codec
    this.store = new IndexedStore({
      resource,
      codec: this.#codec,
      indexers: (options.indexers ?? {}) as Indexers,
      onIndexFailure: (error) => this.#failed('index', error),
      resourceVersionsComparable:
        options.resourceVersionsComparable ?? sharedInformerDefaults.resourceVersionsComparable,
    })
    this.#processor = new Processor({
      snapshot: (type, route) => snapshotOf(this.store, { codec: this.#codec, type, route }),
      position: () => this.store.resourceVersion,
    })
    this.#writer = new StoreWriter({ store: this.store, codec: this.#codec })
    this.#controller = new Controller(options, {
      codec: this.#codec,
      transform: options.transform as Transform | undefined,
      stage: () => this.store.stage(),
      process: (deltas) => this.#apply(deltas),
      failed: (failure, error) => this.#failed(failure, error),
    })
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
    return this.#failures
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

  /** Resolves when {@link hasSynced}; rejects with `DeadlineError` or the signal's reason. */
  async waitForSync(options: {
    readonly deadlineMs: number
    readonly signal?: AbortSignal
  }): Promise<void> {
    if (this.hasSynced()) return
    await withDeadline(
      `the first sync of ${groupResourceOf(this.resource)}`,
      this.#firstSync.promise,
      options.deadlineMs,
      options.signal,
    )
  }

  /** Runs until the signal is aborted, then ends all handlers and listeners. To be called once. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#phase !== 'new') throw new InformerStoppedError(groupResourceOf(this.resource))
    this.#phase = 'running'
    const stop = () => this.#stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await this.#controller.run(signal)
    } finally {
      signal.removeEventListener('abort', stop)
      this.#stop()
      await Promise.all([...this.#registrations].map((run) => run[Symbol.asyncDispose]()))
    }
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
    const listener = this.listen({ resyncPeriodMs: this.#resyncPeriodMs, ...options })
    const run = new HandlerRun(handler, listener, (error) => this.#failed('handler', error))
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
  listen(options: ListenerOptions & { readonly replay?: boolean } = {}): Listener<T> {
    if (this.#phase === 'stopped') throw new InformerStoppedError(groupResourceOf(this.resource))
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
    this.store.addIndexers(indexers as Indexers)
  }

  /**
   * The same without holding up the event loop for longer than some milliseconds at a time. The indexes are there when it
   * resolves, complete and up to date; until then they are unknown, but their names are taken. Rejects with
   * `DuplicateIndexError`, and with {@link InformerStoppedError} where the informer is stopped meanwhile.
   */
  async backfillIndexers(indexers: Indexers<T>): Promise<void> {
    await this.store.backfillIndexers(indexers as Indexers, () => this.#phase === 'stopped')
    if (this.#phase === 'stopped') throw new InformerStoppedError(groupResourceOf(this.resource))
  }

  /** Reads by namespace, name and labels. */
  lister(): Lister<T> {
    return listerOf(this.store)
  }

  /** Reads by index. */
  indexer(): Indexer<T> {
    return indexerOf(this.store)
  }

  /** In the same tick as the abort, so that a handler in the middle of a batch is called no more. */
  #stop(): void {
    this.#phase = 'stopped'
    this.#processor.close()
  }

  #apply(deltas: readonly Delta[]): Promise<void> | undefined {
    for (const delta of deltas) {
      // A list is alone in its batch.
      if (delta.type === 'REPLACED') return this.#replace(delta)
      const { changes, valuesOf } = this.#writer.apply(delta, this.#processor.routedIndexes)
      this.#processor.distribute(changes, valuesOf)
    }
    return undefined
  }

  async #replace(delta: ListDelta): Promise<void> {
    const found = await inSlices(this.#writer.compare(delta), () => this.#phase === 'stopped')
    if (found === undefined || this.#phase === 'stopped') return
    const isFirst = !this.#writer.hasList
    const { changes, valuesOf } = this.#writer.replace(delta, found)
    if (isFirst) {
      this.#processor.distributeInitial()
      this.#firstSync.resolve()
    } else this.#processor.distribute(changes, valuesOf)
  }

  #failed(failure: InformerFailure, error: Error): void {
    this.#failures.set(failure, (this.#failures.get(failure) ?? 0) + 1)
    this.#observer.failed?.(failure, error)
  }
}

/** Creates an informer; nothing happens until {@link SharedInformer.run}. */
export function createSharedInformer<T extends KubernetesObject = KubernetesObject>(
  options: SharedInformerOptions<T>,
): SharedInformer<T> {
  return new SharedInformer(options)
}
