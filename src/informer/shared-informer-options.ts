import type { KubernetesObject } from '../kubernetes/object.ts'
import type { Resource } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import { aDuration, aFlag, aFunction, anObject, type OptionChecks } from '../lib/options.ts'
import { cacheChecks, type CacheOptions, defaultQueueLimit } from './controller.ts'
import type { Transform } from './object-intake.ts'
import type { Indexers } from './store/store-view.ts'

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
  ...cacheChecks,
  indexers: anObject,
  transform: aFunction,
  resyncPeriodMs: aDuration,
  detectMutations: aFlag,
  resourceVersionsComparable: aFlag,
  handlerStopDeadlineMs: aDuration,
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
