import { type ApiResource, groupResourceOf } from '../kubernetes/api-resource.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import type { Change } from './store/change.ts'
import type { ListStages } from './reflector/delta-queue.ts'
import { CodedError } from '../lib/coded-error.ts'

/** Failures that do not end an informer. */
export type InformerFailure =
  /** A LIST or WATCH failed, or an ERROR event arrived. It is retried. */
  | 'list'
  | 'watch'
  /** An event or item is an object of another kind, or has no name. It is dropped. */
  | 'object'
  | 'transform'
  | 'index'
  | 'handler'
  /** The informer's loop failed, by a fault of this library or an observer. It restarts with a list. */
  | 'loop'

/**
 * The reports of an informer, for logs and metrics (client-go's reflector metrics). Every method is optional and must
 * not throw. Read gauges from the informer: `queueLength`, `listeners`, `failures`, `lastContactMs`,
 * `store.resourceVersion`, `store.size`.
 */
export interface InformerObserver {
  /**
   * `resource` tells the informers of a shared observer apart. `namespace`, here and below: the namespace of the list or
   * watch, if the informer has `namespaces`.
   */
  failed?(failure: InformerFailure, error: Error, resource: ApiResource, namespace?: string): void
  /** A list begins; it may take several requests. */
  listing?(namespace?: string): void
  /** A whole list was received. */
  listed?(list: {
    readonly items: number
    readonly durationMs: number
    readonly namespace?: string
  }): void
  /** The store begins with the objects of an archive, instead of a list. */
  restored?(base: { readonly items: number; readonly durationMs: number }): void
  /** Receiving and applying a list took longer than `slowListMs`. The stages add up to the duration. */
  slowList?(list: {
    readonly items: number
    readonly durationMs: number
    readonly stages: ListStages
  }): void
  /**
   * The store has reached a position by these changes, in the tick in which listeners receive them. No changes: a
   * bookmark, or the first list. `isList`: the position comes from a list, so states since the last position may have
   * been missed. `at`: with `namespaces`, the namespace that has moved, and the resource version that it has reached.
   */
  advanced?(
    resourceVersion: ResourceVersion,
    changes: readonly Change[],
    isList: boolean,
    at?: NamespaceStep,
  ): void
  /** The store, or a list that is to replace it, has about a mebibyte more than at the last report. */
  grown?(): void
  /** A watch began. `continues`: the server has ended the one before at its time, so most likely it is the same server. */
  watching?(resourceVersion: string, namespace?: string, continues?: boolean): void
  /** The informer has stopped: it does not start again. */
  stopped?(): void
  /** A watch ended. `isShort`: sooner than `shortWatchMs`, and without an event. */
  watched?(watch: {
    readonly events: number
    readonly durationMs: number
    readonly isShort: boolean
    readonly namespace?: string
  }): void
}

/** A step of one namespace, of several. */
export interface NamespaceStep {
  /** `''`: all of them are listed for the first time; the resource version is the highest of their lists. */
  readonly namespace: string
  /** `undefined`: the informer no longer covers the namespace, and its objects leave the store. */
  readonly resourceVersion: ResourceVersion | undefined
  /** Whether it is the first list of the namespace. */
  readonly isFirst: boolean
  /** Of a step of a list: whether more of that list follows. Absent: of an event. */
  readonly isListing?: boolean
}

/** Forwards the reports of an informer to several observers, which may come and go. It reports no failures. */
export class SharedObserver implements InformerObserver {
  readonly #all: Set<InformerObserver>

  constructor(first: InformerObserver) {
    this.#all = new Set([first])
  }

  /** Returns a function that removes the observer. */
  add(observer: InformerObserver): () => void {
    this.#all.add(observer)
    return () => void this.#all.delete(observer)
  }

  [Symbol.iterator](): Iterator<InformerObserver> {
    return this.#all.values()
  }

  listing(...report: Parameters<Report<'listing'>>): void {
    for (const one of this.#all) one.listing?.(...report)
  }

  listed(...report: Parameters<Report<'listed'>>): void {
    for (const one of this.#all) one.listed?.(...report)
  }

  restored(...report: Parameters<Report<'restored'>>): void {
    for (const one of this.#all) one.restored?.(...report)
  }

  slowList(...report: Parameters<Report<'slowList'>>): void {
    for (const one of this.#all) one.slowList?.(...report)
  }

  advanced(...report: Parameters<Report<'advanced'>>): void {
    for (const one of this.#all) one.advanced?.(...report)
  }

  watching(...report: Parameters<Report<'watching'>>): void {
    for (const one of this.#all) one.watching?.(...report)
  }

  watched(...report: Parameters<Report<'watched'>>): void {
    for (const one of this.#all) one.watched?.(...report)
  }

  grown(): void {
    for (const one of this.#all) one.grown?.()
  }

  stopped(): void {
    for (const one of this.#all) one.stopped?.()
  }
}

type Report<K extends keyof InformerObserver> = NonNullable<InformerObserver[K]>

export type ReportFailure = (failure: InformerFailure, error: Error, namespace?: string) => void

/**
 * Counts the failures of an informer and reports them to its observer. Without an observer, the first failure of each
 * kind is a warning of the process.
 */
export class FailureReport {
  readonly #resource: ApiResource
  readonly #observer: InformerObserver
  readonly #all: Iterable<InformerObserver>
  readonly #counts = new Map<InformerFailure, number>()

  /** `all`: the observer, and the observers that were added since. */
  constructor(
    resource: ApiResource,
    observer: InformerObserver,
    all: Iterable<InformerObserver> = [observer],
  ) {
    this.#resource = resource
    this.#observer = observer
    this.#all = all
  }

  get counts(): ReadonlyMap<InformerFailure, number> {
    return this.#counts
  }

  readonly failed: ReportFailure = (failure, error, namespace) => {
    const count = (this.#counts.get(failure) ?? 0) + 1
    this.#counts.set(failure, count)
    if (this.#observer.failed === undefined && count === 1) this.#warn(failure, error)
    for (const observer of this.#all) {
      if (namespace === undefined) observer.failed?.(failure, error, this.#resource)
      else observer.failed?.(failure, error, this.#resource, namespace)
    }
  }

  #warn(failure: InformerFailure, error: Error): void {
    const hint = error instanceof CodedError && error.hint !== undefined ? ` (${error.hint})` : ''
    process.emitWarning(`informer of ${groupResourceOf(this.#resource)}: ${error.message}${hint}`, {
      type: 'InformerWarning',
      code: `INFORMER_${failure.toUpperCase()}`,
      detail:
        `The first failure of the kind "${failure}"; further ones are counted in informer.failures. ` +
        'Give the informer an observer to receive each one.',
    })
  }
}
