import type { KubernetesObject } from '../kubernetes/object.ts'
import type { Resource } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import { aDuration, aFlag, aFunction, anObject, type OptionChecks } from '../lib/options.ts'
import { defaultQueueLimit } from './controller.ts'
import { cacheChecks, type CacheOptions } from './controller-options.ts'
import type { Transform } from './object-intake.ts'
import type { Indexers } from './store/store-view.ts'

/** What an informer is made from; the defaults are in {@link sharedInformerDefaults} and `reflectorDefaults`. */
export interface SharedInformerOptions<
  T extends KubernetesObject = KubernetesObject,
> extends CacheOptions {
  /** Whose objects these are; one of the built-in `resources`, or any other of the type `Resource<T>`. */
  readonly resource: Resource<T>
  /** Index functions besides the standard ones; more can be added at any time. */
  readonly indexers?: Indexers<T>
  readonly transform?: Transform<T>
  /** The resync period of handlers that do not say their own, milliseconds; 0, the default, is none. */
  readonly resyncPeriodMs?: number
  /** Freezes every object that leaves the store, so that a handler that modifies one throws there and then. Costly. */
  readonly detectMutations?: boolean
  /**
   * Whether resource versions are compared. Unless given, they are where the server promises that they have an order, which it
   * is asked for when that matters (Kubernetes 1.35 and later).
   */
  readonly resourceVersionsComparable?: boolean
  /**
   * How long a handler that has been called may take to return once the informer stops; then it is reported as a failure and
   * left alone.
   */
  readonly handlerStopDeadlineMs?: number
}

/** Every default of {@link SharedInformerOptions}, but for the reflector's. */
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
  ...cacheChecks,
  indexers: anObject,
  transform: aFunction,
  resyncPeriodMs: aDuration,
  detectMutations: aFlag,
  resourceVersionsComparable: aFlag,
  handlerStopDeadlineMs: aDuration,
}

/** An informer that runs was told to run. */
export class InformerRunningError extends CodedError {
  constructor(resource: string) {
    super('INFORMER_RUNNING', `the informer of ${resource} is running already`, {
      hint: 'an informer runs once; its factory starts those that do not run yet',
    })
  }
}

/** An informer that has been stopped was asked for something that only a running one gives. */
export class InformerStoppedError extends CodedError {
  constructor(resource: string, cause?: Error) {
    super('INFORMER_STOPPED', `the informer of ${resource} has been stopped`, {
      hint: 'create a new informer: a stopped one does not start again',
      ...(cause === undefined ? {} : { cause }),
    })
  }
}
