/*
 * A controller: the kind that it reconciles, the kinds whose events lead to its keys, and the function that does the work.
 * Options are checked here; `runControllers` runs it.
 */

import type { ObjectClient } from '../api-server/writes/object-client.ts'
import type { InformerOptions } from '../informer/informers.ts'
import type { Indexer, Lister } from '../informer/store/lister.ts'
import type { Predicate } from '../informer/work-queue/event-handlers.ts'
import { type RateLimiter, workQueueDefaults } from '../informer/work-queue/rate-limiter.ts'
import type { ReconcileResult } from '../informer/work-queue/workers.ts'
import {
  type ApiResource,
  groupResourceOf,
  requireResource,
  type Resource,
} from '../kubernetes/api-resource.ts'
import type { KubernetesObject, Unstructured } from '../kubernetes/object.ts'
import { CodedError } from '../lib/coded-error.ts'
import {
  aCount,
  aDuration,
  aFunction,
  aList,
  anObject,
  aString,
  checkedOptions,
  InvalidOptionError,
  type OptionChecks,
} from '../lib/options.ts'
import type { ControllerLog } from './controller-log.ts'
import type { RecordedEvent } from './event-recorder.ts'

/** The defaults of {@link ControllerOptions}. */
export const controllerDefaults: Required<
  Pick<ControllerOptions, 'concurrency' | 'reconcileDeadlineMs' | 'resyncPeriodMs'>
> = {
  concurrency: 4,
  reconcileDeadlineMs: workQueueDefaults.reconcileDeadlineMs,
  resyncPeriodMs: 0,
}

/** A resource that a controller watches, and how. */
export interface SourceOptions<T extends KubernetesObject = KubernetesObject> {
  readonly resource: Resource<T>
  /** Only events that every predicate accepts count. */
  readonly predicates?: readonly Predicate<T>[]
  /**
   * Options of its informer: indexes, selectors, transform. Controllers with the same selection share the informer. With
   * `metadataOnly`, objects have `apiVersion`, `kind` and `metadata` alone, whatever their type says.
   */
  readonly informer?: InformerOptions<T>
}

/** A resource alone, or with predicates and options of its informer. */
export type Source<T extends KubernetesObject = KubernetesObject> = Resource<T> | SourceOptions<T>

/** A resource whose events concern objects of the controller's own kind. */
export interface MappedSource<
  T extends KubernetesObject = KubernetesObject,
> extends SourceOptions<T> {
  /** The keys of the objects to reconcile; `enqueueMapped` says when it is called. */
  readonly map: (object: T, caches: Caches) => Iterable<string>
}

/** Reads the caches of a controller: of its `for`, `owns`, `watches` and `reads`. */
export interface Caches {
  /** Throws {@link NotCachedError} for other resources. */
  readonly lister: <T extends KubernetesObject = Unstructured>(resource: Resource<T>) => Lister<T>
  /** Throws {@link NotCachedError} for other resources. */
  readonly indexer: <T extends KubernetesObject = Unstructured>(resource: Resource<T>) => Indexer<T>
}

/** The object to reconcile. */
export interface ReconcileRequest {
  /** `namespace/name`, or `name`. */
  readonly key: string
  /** `''` for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

/** An event about the object of a reconcile, or about another one: `regarding`. */
export type ObjectEvent = Omit<RecordedEvent, 'regarding'> &
  Partial<Pick<RecordedEvent, 'regarding'>>

/** What a reconcile works with. */
export interface ReconcileContext<T extends KubernetesObject = KubernetesObject> extends Caches {
  /** The object as the cache had it when the reconcile began; `undefined` if there is none. */
  readonly object: T | undefined
  /**
   * Aborts when the reconcile takes longer than `reconcileDeadlineMs`, when the drain at the stop takes too long, and
   * when the lease is lost.
   */
  readonly signal: AbortSignal
  /** 1, and one more after each failure in a row. */
  readonly attempt: number
  /** Adds the controller's name and the key to each line. */
  readonly log: ControllerLog
  /**
   * Records an Event about {@link object}, to be written soon. Never waits, and never fails because of the server. Throws
   * `InvalidOptionError` if the API would refuse the event, or if there is neither an object nor `regarding`.
   */
  readonly event: (event: ObjectEvent) => void
  /** Reads and writes at the API server. Its requests end with {@link signal}; its writes have the field manager. */
  readonly client: <R extends KubernetesObject = Unstructured>(
    resource: Resource<R>,
  ) => ObjectClient<R>
}

/**
 * A controller: what it watches, and how it reconciles. `Owned`, `Watched` and `Read` are the types of the objects of
 * `owns`, `watches` and `reads`, in order; the compiler infers all of them.
 */
export interface ControllerOptions<
  T extends KubernetesObject = KubernetesObject,
  Owned extends readonly KubernetesObject[] = readonly KubernetesObject[],
  Watched extends readonly KubernetesObject[] = readonly KubernetesObject[],
  Read extends readonly KubernetesObject[] = readonly KubernetesObject[],
> {
  /** Names it in logs, metrics and as the field manager. Default: the kind of `for` in lower case. */
  readonly name?: string
  /** The kind that it reconciles: each event of an object queues the object's key. */
  readonly for: Source<T>
  /** Kinds whose objects it makes: each event of one queues the object of `for` that controls it. */
  readonly owns?: { readonly [At in keyof Owned]: Source<Owned[At]> }
  /** Other kinds that matter: each event queues the keys that `map` returns. */
  readonly watches?: { readonly [At in keyof Watched]: MappedSource<Watched[At]> }
  /** Kinds that it only reads, by their lister and indexer: their events queue nothing. */
  readonly reads?: { readonly [At in keyof Read]: Source<Read[At]> }
  /**
   * Makes the state of the world match the wanted state of one object. May be called without need. What it throws is
   * tried again for as long as it fails, with growing delays, unless it is a `TerminalError`. Two reconciles of one key
   * never run at once.
   */
  readonly reconcile: (
    request: ReconcileRequest,
    context: ReconcileContext<T>,
  ) => void | ReconcileResult | Promise<void | ReconcileResult>
  /** How many keys are reconciled at once. */
  readonly concurrency?: number
  /** The delays of retries; default: `defaultControllerRateLimiter()`. Do not share it between controllers. */
  readonly rateLimiter?: RateLimiter
  /** Then the signal of a reconcile aborts. One that goes on is reported as stuck. */
  readonly reconcileDeadlineMs?: number
  /** How often all objects of `for` are queued again, behind all changes; 0: never. */
  readonly resyncPeriodMs?: number
}

const controllerChecks: OptionChecks<ControllerOptions> = {
  name: aString,
  for: anObject,
  owns: aList,
  watches: aList,
  reads: aList,
  reconcile: aFunction,
  concurrency: aCount,
  rateLimiter: anObject,
  reconcileDeadlineMs: aDuration,
  resyncPeriodMs: aDuration,
}

const sourceChecks: OptionChecks<SourceOptions> = {
  resource: requireResource,
  predicates: aList,
  informer: anObject,
}

/** A controller reads the cache of a resource that it does not watch. */
export class NotCachedError extends CodedError {
  constructor(controller: string, resource: ApiResource) {
    const name = groupResourceOf(resource)
    super('NOT_CACHED', `the controller ${controller} has no cache of ${name}`, {
      value: name,
      hint: `add it to reads of the controller, or read single objects by client(${resource.kind})`,
    })
  }
}

/** Why a controller watches a resource. */
type SourceRole = 'for' | 'owns' | 'reads' | 'watches'

/** A source of a controller, checked. */
export interface DefinedSource extends SourceOptions {
  readonly role: SourceRole
  readonly map?: MappedSource['map']
}

/** A controller to be run by `runControllers`. Running it is up to them: it holds no state. */
export class Controller {
  readonly name: string
  /** @internal */
  readonly sources: readonly DefinedSource[]
  /** @internal */
  readonly options: Omit<ControllerOptions, 'for' | 'name' | 'owns' | 'reads' | 'watches'>

  /** @internal */
  constructor(given: ControllerOptions) {
    const checked = checkedOptions('a controller', given, controllerChecks)
    anObject('for', checked.for)
    aFunction('reconcile', checked.reconcile)
    const { name, for: own, owns = [], watches = [], reads = [], ...options } = checked
    this.sources = [
      sourceOf('for', own, 'for'),
      ...owns.map((one, at) => sourceOf('owns', one, `owns[${at}]`)),
      ...watches.map((one, at) => sourceOf('watches', one, `watches[${at}]`)),
      ...reads.map((one, at) => sourceOf('reads', one, `reads[${at}]`)),
    ]
    this.options = options
    this.name = name ?? this.resource.kind.toLowerCase()
    if (!namePattern.test(this.name)) {
      throw new InvalidOptionError(
        'name',
        this.name,
        'at most 63 letters, digits, "-", "_" and ".", a letter or a digit at both ends',
      )
    }
  }

  /** The resource that it reconciles. */
  get resource(): ApiResource {
    const [{ resource }] = this.sources as readonly [DefinedSource]
    return resource
  }
}

/** The name is a label of metrics, a field manager, and the reporting controller of events, which is the strictest. */
const namePattern = /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

function sourceOf(role: SourceRole, given: Source | MappedSource, option: string): DefinedSource {
  anObject(option, given)
  if (typeof given.resource === 'string') {
    requireResource(option, given)
    if (role === 'watches') aFunction(`${option}.map`, undefined)
    return { role, resource: given as Resource }
  }
  const { map, ...source } = given as MappedSource
  const checked = checkedOptions(option, source, sourceChecks)
  requireResource(`${option}.resource`, checked.resource)
  if (role !== 'watches') {
    if (map === undefined) return { role, ...checked }
    throw new InvalidOptionError(`${option}.map`, map, 'a map function in watches only')
  }
  aFunction(`${option}.map`, map)
  return { role, ...checked, map }
}

/** Checks the options of a controller, for `runControllers`. Throws `InvalidOptionError`. */
export function defineController<
  T extends KubernetesObject = Unstructured,
  Owned extends readonly KubernetesObject[] = [],
  Watched extends readonly KubernetesObject[] = [],
  Read extends readonly KubernetesObject[] = [],
>(options: ControllerOptions<T, Owned, Watched, Read>): Controller {
  return new Controller(options as unknown as ControllerOptions)
}
