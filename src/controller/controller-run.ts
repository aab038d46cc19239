/*
 * One controller at work: events of its sources queue keys, workers reconcile them with a context of their own, and its
 * Events are written until the end.
 */

import type { ApiServer } from '../api-server/api-server.ts'
import { ObjectClient } from '../api-server/writes/object-client.ts'
import type { SharedInformerFactory } from '../informer/informers.ts'
import type { SharedInformer } from '../informer/shared-informer.ts'
import {
  enqueueMapped,
  enqueueObject,
  enqueueOwner,
  withPredicates,
} from '../informer/work-queue/event-handlers.ts'
import { createWorkQueue, type WorkQueue } from '../informer/work-queue/work-queue.ts'
import {
  type ReconcileError,
  type ReconcileResult,
  runWorkers,
  TerminalError,
} from '../informer/work-queue/workers.ts'
import { type ApiResource, isSameResource, type Resource } from '../kubernetes/api-resource.ts'
import { type KubernetesObject, splitObjectKey } from '../kubernetes/object.ts'
import { isConflict } from '../kubernetes/status.ts'
import { InvalidOptionError, present } from '../lib/options.ts'
import { createEventRecorder, type EventDrop, type EventRecorder } from './event-recorder.ts'
import { type ControllerLog, logWith } from './controller-log.ts'
import type { ControllerObserver, ReconcileOutcome } from './controller-observer.ts'
import type { LeaderTerm } from './leader-election.ts'
import {
  type Caches,
  type Controller,
  controllerDefaults,
  type DefinedSource,
  NotCachedError,
  type ReconcileContext,
} from './define-controller.ts'

/** The parts that the controllers of a run share. */
interface SharedParts {
  readonly apiServer: ApiServer
  readonly informers: SharedInformerFactory
  readonly log: ControllerLog
  readonly observer: Required<ControllerObserver>
  readonly drainDeadlineMs: number
  readonly stopDeadlineMs: number
  /** How long the last events may take after the reconciles have ended. */
  readonly eventsDeadlineMs: number
}

/** The part of a lease term that a run needs. */
export type HeldLease = Pick<LeaderTerm, 'lost' | 'remainingMs'>

/** What the reconciles of one run share. */
interface ReconcileTerm {
  readonly events: EventRecorder
  readonly lease: HeldLease
  /** Aborts before the lease is given up, so that a reconcile which still runs sends nothing afterwards. */
  readonly over: AbortSignal
}

interface WatchedSource extends DefinedSource {
  readonly cache: SharedInformer
}

/** One controller while it runs: its informers, its queue and its workers. */
export class ControllerRun {
  readonly name: string
  readonly concurrency: number
  readonly queue: WorkQueue
  readonly #controller: Controller
  readonly #parts: SharedParts
  readonly #log: ControllerLog
  readonly #sources: readonly WatchedSource[]
  readonly #caches: Caches
  readonly #running = new Set<AbortController>()
  /** Keys that were still queued at the stop. */
  #left = 0

  /** Creates its informers. Throws `InformerConflictError`, and `InvalidOptionError` for two caches of one resource. */
  constructor(controller: Controller, parts: SharedParts) {
    const { name, options } = controller
    const { observer } = parts
    this.name = name
    this.concurrency = options.concurrency ?? controllerDefaults.concurrency
    this.#controller = controller
    this.#parts = parts
    this.#log = logWith(parts.log, { controller: name })
    this.#sources = controller.sources.map((source) => ({
      ...source,
      cache: parts.informers.informer(source.resource, source.informer),
    }))
    this.#caches = cachesOf(name, this.#sources)
    this.queue = createWorkQueue({
      ...present({ rateLimiter: options.rateLimiter }),
      observer: {
        added: (key) => observer.added(name, key),
        started: (key, latencyMs) => observer.started(name, key, latencyMs),
        retried: (key, delayMs) => observer.retried(name, key, delayMs),
      },
    })
  }

  get informers(): readonly SharedInformer[] {
    return this.#sources.map(({ cache }) => cache)
  }

  /**
   * Reconciles until `signal` aborts, then lets the running reconciles end and writes their events. Queued keys are left:
   * the next run finds them in its initial list. When the lease is lost, the running reconciles abort at once. Rejects
   * with `ReconcileStuckError`.
   */
  async run(signal: AbortSignal, lease: HeldLease): Promise<void> {
    const { lost } = lease
    const { drainDeadlineMs, stopDeadlineMs, observer } = this.#parts
    const { reconcileDeadlineMs } = { ...controllerDefaults, ...this.#controller.options }
    const registrations = this.#sources.flatMap((source) => this.#listen(source) ?? [])
    const stop = () => {
      for (const registration of registrations) registration.remove()
    }
    const abort = () => {
      for (const running of this.#running) running.abort(lost.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    lost.addEventListener('abort', abort, { once: true })
    const events = this.#recorder()
    const over = new AbortController()
    const term = { events, lease, over: over.signal }
    this.#log.info('started', { workers: this.concurrency })
    try {
      const { abandoned } = await runWorkers(
        this.queue,
        this.concurrency,
        async (key, own, attempt) => {
          if (!signal.aborted) return await this.#reconcile(key, own, attempt, term)
          this.#left += 1
        },
        signal,
        {
          reconcileDeadlineMs,
          drainDeadlineMs,
          stopDeadlineMs,
          onFailure: (error) => this.#failed(error),
          onStuck: (error) => {
            this.#log.error(error.message, { hint: error.hint })
            observer.stuck(this.name, error)
          },
        },
      )
      this.#log.info('stopped', { left: abandoned.length + this.#left })
    } finally {
      signal.removeEventListener('abort', stop)
      lost.removeEventListener('abort', abort)
      stop()
      over.abort(new DOMException('the controller has ended', 'AbortError'))
      // Events need no lease. A process that has lost it writes them, but does not wait.
      const closing = events.close()
      if (!lost.aborted) await closing
    }
  }

  /** Logs the first event of each reason that is dropped. */
  #recorder(): EventRecorder {
    const dropped = new Set<EventDrop>()
    return createEventRecorder({
      apiServer: this.#parts.apiServer,
      controller: this.name,
      closeDeadlineMs: this.#parts.eventsDeadlineMs,
      observer: {
        dropped: ({ reason: event }, reason, error) => {
          this.#parts.observer.eventDropped(this.name, reason)
          if (dropped.has(reason)) return
          dropped.add(reason)
          this.#log.warn('an event was dropped', { event, reason, error })
        },
      },
    })
  }

  #listen({ role, cache, predicates = [], map }: WatchedSource) {
    const { queue } = this
    const { resyncPeriodMs } = { ...controllerDefaults, ...this.#controller.options }
    const listen = (handler: ReturnType<typeof enqueueObject>, options = {}) =>
      cache.addEventHandler(withPredicates(handler, ...predicates), options)
    switch (role) {
      case 'for':
        return listen(enqueueObject(queue), { resyncPeriodMs })
      case 'owns': {
        const owner = this.#controller.resource
        return listen(enqueueOwner(queue, { owner, onlyController: true }))
      }
      case 'watches':
        return listen(
          enqueueMapped(queue, (object) => this.#checkedKeys(map?.(object, this.#caches) ?? [])),
        )
      case 'reads':
        return undefined
    }
  }

  /** Throws `InvalidOptionError` for texts that cannot be keys of the kind: their reconciles would find no object. */
  #checkedKeys(keys: Iterable<string>): readonly string[] {
    const { kind, namespaced } = this.#controller.resource
    const pattern = namespaced ? /^[^/]+\/[^/]+$/ : /^[^/]+$/
    return Array.from(keys, (key: unknown) => {
      if (typeof key === 'string' && pattern.test(key)) return key
      const problem = `a map of ${this.name} returns ${JSON.stringify(key)}, which is no key of a ${kind}`
      const form = namespaced ? '"namespace/name"' : 'its name'
      throw new InvalidOptionError('map', key, `the key of an object, ${form}, or none`, problem)
    })
  }

  async #reconcile(
    key: string,
    own: AbortSignal,
    attempt: number,
    term: ReconcileTerm,
  ): Promise<void | ReconcileResult> {
    const { observer } = this.#parts
    const { name: controller } = this
    const running = new AbortController()
    const stop = () => running.abort(own.reason)
    own.addEventListener('abort', stop, { once: true })
    this.#running.add(running)
    const beganAtMs = performance.now()
    const ended = (outcome: ReconcileOutcome, details: { readonly error?: unknown } = {}) => {
      const durationMs = performance.now() - beganAtMs
      observer.reconciled({ controller, key, outcome, durationMs, attempt, ...details })
    }
    try {
      const request = { key, ...splitObjectKey(key) }
      const context = this.#contextOf(key, running.signal, attempt, term)
      const result = await this.#controller.options.reconcile(request, context)
      ended(result?.requeueAfterMs === undefined ? 'success' : 'requeue')
      return result
    } catch (error) {
      ended(error instanceof TerminalError ? 'terminal' : 'error', { error })
      throw error
    } finally {
      own.removeEventListener('abort', stop)
      this.#running.delete(running)
    }
  }

  #contextOf(
    key: string,
    signal: AbortSignal,
    attempt: number,
    { events, lease, over }: ReconcileTerm,
  ): ReconcileContext {
    const { apiServer } = this.#parts
    const { resource } = this.#controller
    const object = this.#caches.indexer(resource).getByKey(key)
    return {
      ...this.#caches,
      object,
      signal,
      attempt,
      log: logWith(this.#log, { key }),
      event: ({ regarding = object, ...event }) => {
        if (regarding === undefined) {
          throw new InvalidOptionError(
            'regarding',
            regarding,
            'an object: the one of the key is gone',
          )
        }
        events.record({ regarding, ...event })
      },
      client: (of) =>
        new ObjectClient(
          of,
          {
            request: async (method, path, options) => {
              // A process that was blocked or suspended may get here before the timer of the loss.
              if (lease.remainingMs() <= 0)
                throw new DOMException('the lease has run out', 'AbortError')
              over.throwIfAborted()
              const ends = options.signal === undefined ? [signal] : [signal, options.signal]
              return await apiServer.request(method, path, {
                ...options,
                signal: AbortSignal.any(ends),
              })
            },
          },
          { fieldManager: this.name },
        ),
    }
  }

  #failed({ key, cause, failures, retried }: ReconcileError<string>): void {
    const details = { key, failures }
    // A cache that was a little behind is no fault.
    if (retried && isConflict(cause)) {
      return this.#log.info('the object has changed meanwhile, trying again', details)
    }
    const message = retried ? 'reconcile failed, trying again' : 'reconcile failed'
    this.#log.error(message, { ...details, error: cause })
  }
}

/** Throws `InvalidOptionError` if it is not clear which cache a reader means. */
function cachesOf(controller: string, sources: readonly WatchedSource[]): Caches {
  for (const { resource, cache } of sources) {
    const other = sources.find(
      (one) => one.cache !== cache && isSameResource(one.resource, resource),
    )
    if (other === undefined) continue
    throw new InvalidOptionError(
      'informer',
      other.informer,
      `the same selection, transform and metadataOnly wherever ${controller} names ${resource.resource}`,
      `${controller} has two caches of ${resource.resource}`,
    )
  }
  const cacheOf = (resource: ApiResource): SharedInformer => {
    const found = sources.find((one) => isSameResource(one.resource, resource))
    if (found === undefined) throw new NotCachedError(controller, resource)
    return found.cache
  }
  return {
    lister: <T extends KubernetesObject>(resource: Resource<T>) =>
      (cacheOf(resource) as unknown as SharedInformer<T>).lister(),
    indexer: <T extends KubernetesObject>(resource: Resource<T>) =>
      (cacheOf(resource) as unknown as SharedInformer<T>).indexer(),
  }
}
