import { type ApiResource, groupResourceOf, type Resource } from '../kubernetes/api-resource.ts'
import {
  type KubernetesObject,
  type MetadataOf,
  splitObjectKey,
  type Unstructured,
} from '../kubernetes/object.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import { CodedError } from '../lib/coded-error.ts'
import { checkedWait, DeadlineError, type WaitOptions, withDeadline } from '../lib/deadline.ts'
import { inSlices } from '../lib/event-loop.ts'
import {
  aFlag,
  aFunction,
  aList,
  anObject,
  checkedOptions,
  checksLike,
  InvalidOptionError,
  type OptionChecks,
  present,
} from '../lib/options.ts'
import { createObjectCodec, freezingCodec, type ObjectCodec } from './codec/object-codec.ts'
import {
  cacheChecks,
  type CacheOptions,
  Controller,
  controllerOptionsOf,
  defaultQueueLimit,
  type NamespaceState,
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
import {
  FailureReport,
  SharedObserver,
  type InformerFailure,
  type InformerObserver,
  type NamespaceStep,
} from './informer-observer.ts'
import type { Delta, ListDelta, NamespacesDelta } from './reflector/delta-queue.ts'
import { ordersResourceVersions } from './reflector/lister-watcher.ts'
import type { Transform } from './reflector/object-intake.ts'
import type { ReflectorState } from './reflector/reflector.ts'
import type { BaseOf } from './reflector/reflector-options.ts'
import type { Change } from './store/change.ts'
import { IndexedStore, type InformerStore } from './store/indexed-store.ts'
import { type Indexer, indexerOf, type Lister, listerOf } from './store/lister.ts'
import type { Indexers } from './store/store-view.ts'
import { StoreContents } from './store/store-contents.ts'
import { type Applied, StoreWriter } from './store-writer.ts'

/** The options of an informer; the defaults are in {@link sharedInformerDefaults} and `reflectorDefaults`. */
export interface SharedInformerOptions<
  T extends KubernetesObject = KubernetesObject,
> extends CacheOptions {
  /** One of the built-in `resources`, or another `Resource<T>`. */
  readonly resource: Resource<T>
  /**
   * Lists and watches these namespaces only, each by itself, behind one store (controller-runtime's
   * `cache.Options.DefaultNamespaces`): for accounts that may not list the resource in all. Absent: one list and one
   * watch. {@link SharedInformer.setNamespaces} changes them while the informer runs.
   */
  readonly namespaces?: readonly string[]
  /** Index functions besides the built-in ones. More can be added at any time. */
  readonly indexers?: Indexers<T>
  readonly transform?: Transform<T>
  /**
   * An archive behind the store: the objects that it begins with, instead of a list, and the changes since then. The changes of
   * such an informer have their texts (`Change.takeText`).
   */
  readonly base?: BaseOf
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
  namespaces: aList,
  indexers: anObject,
  transform: aFunction,
  base: aFunction,
  resourceVersionsComparable: aFlag,
}

/** The state of a namespace, and whether the store has its list. */
export interface CoveredNamespace extends NamespaceState {
  readonly isListed: boolean
}

/** `run` was called on a running informer. */
export class InformerRunningError extends CodedError {
  constructor(resource: string) {
    super('INFORMER_RUNNING', `the informer of ${resource} is already running`, {
      hint: 'an informer runs once; its factory starts those that are not running yet',
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
  readonly #observers: SharedObserver
  readonly #resyncPeriodMs: number
  readonly #handlerStopDeadlineMs: number
  readonly #processor: Processor
  readonly #writer: StoreWriter
  readonly #controller: Controller
  readonly #registrations = new Set<HandlerRun>()
  readonly #firstSync = Promise.withResolvers<void>()
  /** Settled when all namespaces are listed; only while someone waits for that. */
  #allListed: PromiseWithResolvers<void> | undefined
  /** Whether the store has the objects of an archive, and not yet all changes since. */
  #isBase = false
  /** In that case: the namespaces whose changes or lists are still to come; `undefined` until they are known. */
  #awaited: Set<string> | undefined
  /** The namespace whose list is being applied. */
  #listing: string | undefined
  #phase: 'new' | 'running' | 'stopped' = 'new'

  /** Throws `InvalidOptionError` and `SourceMismatchError`. */
  constructor(given: SharedInformerOptions<T>) {
    const checks = sharedInformerChecks as OptionChecks<SharedInformerOptions<T>>
    const checked = controllerOptionsOf('an informer', given, checks)
    const { resource, source, indexers = {}, observer = {} } = checked
    this.#observers = new SharedObserver(observer)
    const options = { ...checked, observer: this.#observers }
    const settings = { ...sharedInformerDefaults, ...options }
    requireNamespaces(options)
    this.resource = resource
    this.#resyncPeriodMs = settings.resyncPeriodMs
    this.#handlerStopDeadlineMs = settings.handlerStopDeadlineMs
    this.#report = new FailureReport(resource, observer, this.#observers)
    const codec = createObjectCodec({ resource, metadataOnly: settings.metadataOnly })
    this.#store = new IndexedStore({
      resource,
      codec: settings.detectMutations ? freezingCodec(codec) : codec,
      indexers: indexers as Indexers,
      onIndexFailure: (error) => this.#report.failed('index', error),
      grown: () => this.#observers.grown(),
      resourceVersionsComparable:
        options.resourceVersionsComparable ?? (() => ordersResourceVersions(source)),
    })
    this.store = this.#store.view
    this.#processor = new Processor(this.#store)
    this.#writer = new StoreWriter(this.#store)
    this.#controller = new Controller(options, {
      codec: this.#store.codec,
      transform: options.transform as Transform | undefined,
      base: options.base,
      stage: (isReread) => this.#store.stage(isReread),
      stageNamespace: () => stageNamespace(resource, codec),
      notBefore: () => this.#writer.namespaces?.low,
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

  /** For how many milliseconds the server has sent nothing of the first list; 0 once it is there. */
  get silentMs(): number {
    return this.hasSynced() ? 0 : this.#controller.silentMs
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
    return this.#writer.hasList && !this.#isBase
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
   * Runs until the signal aborts or the `ApiServer` is disposed of, then ends all handlers and listeners. Reports a
   * handler that does not return within `handlerStopDeadlineMs` with `HandlerStuckError`. Call once: later calls reject
   * with {@link InformerRunningError} or {@link InformerStoppedError}.
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
   * The namespaces that are listed and watched, each by itself; `undefined` if one list fills the store. A namespace
   * that fails is stale; the others follow their changes.
   */
  get namespaces(): ReadonlyMap<string, CoveredNamespace> | undefined {
    const states = this.#controller.namespaces
    if (states === undefined) return undefined
    const { namespaces } = this.#writer
    return new Map(
      Array.from(states, ([name, { state, lastError, lastContactMs }]) => [
        name,
        { state, lastError, lastContactMs, isListed: namespaces?.isListed(name) === true },
      ]),
    )
  }

  /** The resource version of each namespace whose objects the store has as they were then; `undefined` if one list fills it. */
  get positions(): ReadonlyMap<string, ResourceVersion> | undefined {
    const { namespaces } = this.#writer
    if (namespaces === undefined) return undefined
    const whole = new Map<string, ResourceVersion>()
    for (const [name, position] of namespaces.covered) {
      if (position !== undefined && name !== this.#listing) whole.set(name, position)
    }
    return whole
  }

  /**
   * Lists and watches these namespaces from now on; `undefined`: all, by one list and one watch. The objects of
   * namespaces that are no longer covered leave the store, as deletions. The others stay as they are, and their watches
   * go on. Throws `InvalidOptionError`.
   */
  setNamespaces(namespaces: readonly string[] | undefined): void {
    requireNamespaces({ resource: this.resource, namespaces })
    this.#controller.cover(namespaces === undefined ? undefined : new Set(namespaces))
  }

  /**
   * Resolves when every namespace that is covered now is listed: after {@link setNamespaces}, the added ones too. Without
   * namespaces, when the one list of all is there. Rejects as {@link waitForSync} does; its `DeadlineError` names the
   * namespaces.
   */
  async waitForNamespaces(options: WaitOptions = {}): Promise<void> {
    const { deadlineMs = Infinity, signal } = checkedWait(options)
    const endMs = performance.now() + deadlineMs
    await this.waitForSync(options)
    if (this.#hasAllNamespaces()) return
    if (this.#allListed === undefined) {
      this.#allListed = Promise.withResolvers()
      this.#allListed.promise.catch(() => {})
    }
    const name = groupResourceOf(this.resource)
    const leftMs = Math.max(0, endMs - performance.now())
    await withDeadline(`a list of ${name}`, this.#allListed.promise, leftMs, signal, () => {
      const late = [...(this.namespaces ?? [])].filter(([, { isListed }]) => !isListed)
      const [cause] = late.flatMap(([, { lastError }]) => lastError ?? [])
      const names = late.map(([namespace]) => namespace).join(', ')
      return new DeadlineError(`a list of ${name} in ${names}`, deadlineMs, { cause })
    })
  }

  #hasAllNamespaces(): boolean {
    const states = this.namespaces
    if (states === undefined) return this.hasSynced() && this.#writer.namespaces === undefined
    return this.hasSynced() && [...states.values()].every(({ isListed }) => isListed)
  }

  #namespacesListed(): void {
    if (this.#allListed === undefined || !this.#hasAllNamespaces()) return
    this.#allListed.resolve()
    this.#allListed = undefined
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

  /**
   * Replaces an object's values in indexes whose functions read more than the object. Call it when that has changed:
   * the informer calls the functions only when the object changes. Listeners are not told.
   */
  reindex(key: string, values: Readonly<Record<string, readonly string[]>>): void {
    this.#store.reindex(key, values)
  }

  /** Removes indexes. Those that are still being filled stay. */
  dropIndexers(names: readonly string[]): void {
    this.#store.dropIndexers(names)
  }

  /** Adds an observer, which receives all further reports. Returns a function that removes it. */
  observe(observer: InformerObserver): () => void {
    return this.#observers.add(observer)
  }

  /** Reads by namespace, name and labels. */
  lister(): Lister<T> {
    return listerOf(this.#store)
  }

  /** Reads by index. */
  indexer(): Indexer<T> {
    return indexerOf(this.#store)
  }

  /** Runs in the same tick as the abort, so that a handler in the middle of a batch receives no more calls. */
  #stop(): void {
    if (this.#phase === 'stopped') return
    this.#phase = 'stopped'
    this.#processor.close()
    const name = groupResourceOf(this.resource)
    const stopped = new InformerStoppedError(name, this.#controller.lastError)
    this.#store.endWaits(stopped)
    this.#firstSync.reject(stopped)
    this.#allListed?.reject(stopped)
    this.#observers.stopped()
  }

  async #endHandlers(): Promise<void> {
    const deadlineMs = this.#handlerStopDeadlineMs
    const ended = [...this.#registrations].map(async (run) => {
      await withDeadline('the end of a handler', run[Symbol.asyncDispose](), deadlineMs)
        // It rejects only by the deadline.
        .catch(() => this.#report.failed('handler', new HandlerStuckError(run.current, deadlineMs)))
    })
    await Promise.all(ended)
  }

  #apply(deltas: readonly Delta[]): Promise<void> | undefined {
    for (const delta of deltas) {
      // A list is alone in its batch, and so is a change of the namespaces.
      if (delta.type === 'REPLACED' || delta.type === 'NAMESPACES') {
        return this.#applyList(delta).then(() => this.#namespacesListed())
      }
      const applied = this.#writer.apply(delta, this.#processor.routedIndexes)
      const { namespace, resourceVersion } = delta
      if (namespace === undefined) this.#deliver(applied)
      else this.#deliver(applied, { namespace, resourceVersion, isFirst: false })
      if (delta.type === 'BOOKMARK' && delta.endsBase === true) this.#endBase(namespace)
    }
    return undefined
  }

  /** The changes since the archive was written are there; `namespace`: those of one of several. */
  #endBase(namespace: string | undefined): void {
    if (namespace !== undefined) this.#awaited?.delete(namespace)
    if (!this.#isBase || (this.#awaited?.size ?? 0) > 0) return
    this.#isBase = false
    this.#begin()
  }

  async #applyList(delta: ListDelta | NamespacesDelta): Promise<void> {
    if (delta.type === 'NAMESPACES') return await this.#cover(delta)
    const { namespace } = delta
    return await (namespace === undefined
      ? this.#replace(delta)
      : this.#replaceIn(delta, namespace))
  }

  #deliver({ changes, repeated, valuesOf }: Applied, at?: NamespaceStep): void {
    // Before the first list is whole, listeners wait for it.
    if (this.hasSynced()) {
      if (repeated === undefined) this.#processor.distribute(changes, valuesOf)
      else this.#processor.distributeRepeated(repeated, valuesOf)
    } else if (at !== undefined && !this.#isBase) return
    const position = this.#store.resourceVersion
    if (at === undefined) this.#observers.advanced(position, changes, false)
    else this.#observers.advanced(position, changes, false, at)
  }

  /**
   * Applies the list of one namespace, an object at a time: other namespaces share the store, and their objects stay.
   * Readers see each object in one of its states meanwhile, as they do while a watch catches up.
   */
  async #replaceIn(delta: ListDelta, namespace: string): Promise<void> {
    const writer = this.#writer
    if (writer.namespaces?.covered.has(namespace) !== true) return
    const isFirst = !writer.namespaces.isListed(namespace)
    const { contents, resourceVersion } = delta
    const at = { namespace, resourceVersion, isFirst, isListing: false }
    const changed: Change[] = []
    const applied = (one: Applied | undefined): void => {
      if (one === undefined) return
      changed.push(...one.changes)
      this.#deliver(one, { ...at, isListing: true })
    }
    this.#listing = namespace
    const apply = function* (this: SharedInformer<T>): Generator<void, true> {
      let done = 0
      const routed = this.#processor.routedIndexes
      for (const key of writer.missingIn(delta, namespace)) {
        if (++done % objectsPerStep === 0) yield
        applied(writer.drop(key, routed))
      }
      for (const key of contents.ids.keys()) {
        if (++done % objectsPerStep === 0) yield
        applied(writer.putListed(delta, key, routed))
      }
      return true
    }
    const isDone = await inSlices(apply.call(this), () => this.#phase === 'stopped')
    if (isDone === undefined || this.#phase === 'stopped') return
    this.#listing = undefined
    const isWhole = writer.listed(namespace, resourceVersion)
    if (!writer.hasList) return
    if (isWhole) return this.#firstListed()
    this.#observers.advanced(this.#store.resourceVersion, [], true, at)
    if (this.#isBase) this.#endBase(namespace)
    else this.#processor.distributeRelisted(changed)
  }

  async #cover({ namespaces }: NamespacesDelta): Promise<void> {
    const writer = this.#writer
    const before = [...(writer.namespaces?.covered.keys() ?? [])]
    const gone = writer.cover(namespaces)
    if (this.#isBase) {
      const left = this.#awaited ?? namespaces
      this.#awaited = new Set([...left].filter((name) => namespaces.has(name)))
    }
    const drop = function* (this: SharedInformer<T>): Generator<void, true> {
      for (const [done, key] of gone.entries()) {
        if (done % objectsPerStep === objectsPerStep - 1) yield
        const applied = writer.drop(key, this.#processor.routedIndexes)
        const { namespace } = splitObjectKey(key)
        const at = { namespace, resourceVersion: undefined, isFirst: false }
        if (applied !== undefined) this.#deliver(applied, at)
      }
      return true
    }
    await inSlices(drop.call(this), () => this.#phase === 'stopped')
    if (this.#phase === 'stopped') return
    for (const namespace of before) {
      const at = { namespace, resourceVersion: undefined, isFirst: false }
      if (!namespaces.has(namespace)) this.#deliver({ changes: [], valuesOf: () => [] }, at)
    }
    if (writer.completesList()) this.#firstListed()
    this.#endBase(undefined)
  }

  #firstListed(): void {
    const { namespaces } = this.#writer
    if (namespaces !== undefined) {
      const at = { namespace: '', resourceVersion: namespaces.highest, isFirst: true }
      this.#observers.advanced(this.#store.resourceVersion, [], true, at)
    }
    this.#begin()
  }

  /** The store is whole for the first time: its listeners receive it. */
  #begin(): void {
    this.#processor.distributeInitial()
    this.#firstSync.resolve()
  }

  async #replace(delta: ListDelta): Promise<void> {
    const found = await inSlices(this.#writer.compare(delta), () => this.#phase === 'stopped')
    if (found === undefined || this.#phase === 'stopped') return
    const isFirst = !this.hasSynced()
    const { changes, valuesOf } = this.#writer.replace(delta, found)
    this.#isBase = delta.isBase === true
    this.#awaited = undefined
    const { namespaces } = this.#writer
    const at = namespaces && { namespace: '', resourceVersion: namespaces.highest, isFirst: true }
    this.#observers.advanced(this.#store.resourceVersion, changes, true, at)
    if (this.#isBase) return
    if (isFirst) this.#firstListed()
    else {
      this.#processor.distribute(changes, valuesOf)
      this.#processor.distributeRelisted(changes)
    }
  }
}

/** Between two points where the application of a list may pause. */
const objectsPerStep = 64

/** A generation for the list of one namespace. It needs no indexes: its objects move into the store one by one. */
function stageNamespace(resource: ApiResource, codec: ObjectCodec): StoreContents {
  const resourceName = groupResourceOf(resource)
  return new StoreContents({ resourceName, indexers: {}, onIndexFailure: () => {}, codec })
}

/** Throws `InvalidOptionError`. */
function requireNamespaces({
  resource,
  namespaces,
  namespace,
}: Pick<SharedInformerOptions, 'resource' | 'namespace'> & {
  readonly namespaces?: readonly string[] | undefined
}): void {
  requireNamespaceNames({ namespaces, namespace })
  if (namespaces === undefined || resource.namespaced) return
  const problem = `${groupResourceOf(resource)} has no namespaces`
  const expected = 'namespaces only for namespaced resources'
  throw new InvalidOptionError('namespaces', namespaces, expected, problem)
}

/** Throws `InvalidOptionError` unless the namespaces are names, and the only choice of namespaces. */
export function requireNamespaceNames({
  namespaces,
  namespace,
}: {
  readonly namespaces?: readonly string[] | undefined
  readonly namespace?: string | undefined
}): void {
  if (namespaces === undefined) return
  const refuse = (expected: string, problem?: string): never => {
    throw new InvalidOptionError('namespaces', namespaces, expected, problem)
  }
  if (!Array.isArray(namespaces)) refuse('a list of names of namespaces')
  if (namespaces.some((name) => typeof name !== 'string' || name === '')) {
    refuse('a list of names of namespaces', 'namespaces has an item that is not a name')
  }
  if (namespace !== undefined) {
    refuse('one of the two', 'namespaces and namespace cannot be combined')
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
