/**
 * `informerql/informer`: the informer library, without the gateway. Connections to clusters are in
 * `informerql/cluster`.
 */
import './lib/node-version.ts'
export {
  type CoveredNamespace,
  createSharedInformer,
  InformerRunningError,
  type InformerState,
  InformerStoppedError,
  type MetadataInformerOptions,
  type SharedInformer,
  sharedInformerDefaults,
  type SharedInformerOptions,
} from './informer/shared-informer.ts'
export {
  type CacheOptions,
  type NamespaceState,
  SourceMismatchError,
  type SourceOfResources,
  type SourceOptions,
} from './informer/controller.ts'
export type { InformerStore, VersionWaitOptions } from './informer/store/indexed-store.ts'
export {
  CacheSyncError,
  createSharedInformerFactory,
  type FactoryNamespace,
  InformerConflictError,
  type InformerOptions,
  type SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from './informer/informers.ts'
export {
  createDynamicInformerFactory,
  type DynamicInformerFactory,
  type DynamicInformerFactoryOptions,
  dynamicInformerDefaults,
  type GroupVersionResource,
  ResourceNotServedError,
} from './informer/dynamic-informers.ts'
export type {
  ListerWatcher,
  ListMetadata,
  ListOptions,
  ListResponse,
  Selection,
  TweakListOptions,
  WatchOptions,
} from './informer/reflector/lister-watcher.ts'
export { type ReflectorOptions, reflectorDefaults } from './informer/reflector/reflector-options.ts'
export type {
  InformerFailure,
  InformerObserver,
  NamespaceStep,
} from './informer/informer-observer.ts'
export type { ListStages } from './informer/reflector/delta-queue.ts'
export {
  type Deletion,
  type EventHandlerOptions,
  HandlerError,
  HandlerRemovedError,
  HandlerStuckError,
  MissingOnResetError,
  type HandlerRegistration,
  type ResourceEventHandler,
} from './informer/delivery/event-handler.ts'
export {
  createController,
  DeletedFinalStateUnknown,
  type DeltaController,
  type DeltaControllerOptions,
  type KnownObjects,
  type RawDelta,
} from './informer/raw-deltas.ts'
export type { Change, ChangeType } from './informer/store/change.ts'
export {
  type Listener,
  type ListenerBatch,
  listenerDefaults,
  type ListenerOptions,
  ListenerOverflowError,
  type ListenerRoute,
  type OverflowPolicy,
} from './informer/delivery/listener.ts'
export { type Lister, ObjectNotFoundError } from './informer/store/lister.ts'
export { TransformError, type Transform } from './informer/reflector/object-intake.ts'
export {
  DuplicateIndexError,
  IncomparableResourceVersionError,
  IndexFunctionError,
  UnknownIndexError,
} from './informer/store/store-errors.ts'
export type { Indexer } from './informer/store/lister.ts'
export type {
  IndexFunction,
  Indexers,
  IndexView,
  ObjectId,
  PostingView,
  StoreView,
} from './informer/store/store-view.ts'
export type { HeldObject } from './informer/codec/object-codec.ts'
export {
  type AddOptions,
  createWorkQueue,
  type KeyPriority,
  type PendingKeys,
  type WorkQueue,
  type WorkQueueObserver,
  type WorkQueueOptions,
} from './informer/work-queue/work-queue.ts'
export {
  bucketRateLimiter,
  defaultControllerRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  maxWaitRateLimiter,
  type RateLimiter,
  workQueueDefaults,
} from './informer/work-queue/rate-limiter.ts'
export {
  type Reconcile,
  ReconcileError,
  type ReconcileResult,
  ReconcileStuckError,
  runWorkers,
  TerminalError,
  type WorkersOptions,
  type WorkersQueue,
  type WorkersReport,
} from './informer/work-queue/workers.ts'
export {
  annotationsChanged,
  anyPredicate,
  enqueueMapped,
  enqueueObject,
  enqueueOwner,
  type EnqueueOwnerOptions,
  generationChanged,
  type KeySink,
  labelsChanged,
  objectPredicate,
  type Predicate,
  resourceVersionChanged,
  withPredicates,
} from './informer/work-queue/event-handlers.ts'
export type { ApiResource, Resource } from './kubernetes/api-resource.ts'
export { type BuiltInResources, resources } from './kubernetes/resources.ts'
export {
  type KubernetesObject,
  type MetadataOf,
  objectKey,
  type ObjectMeta,
  type OwnerReference,
  splitObjectKey,
  type Unstructured,
} from './kubernetes/object.ts'
export { type Mutable, mutableCopy } from './kubernetes/object.ts'
export { int64ToBigInt, int64ToNumber } from './kubernetes/object.ts'
export {
  controllerOf,
  OwnerError,
  type OwnerReferenceOptions,
  setControllerReference,
  setOwnerReference,
} from './kubernetes/owner-references.ts'
export { dropFinalizer, ensureFinalizer } from './api-server/writes/finalizers.ts'
export { hasFinalizer, isBeingDeleted } from './api-server/writes/finalizers.ts'
export {
  ApiStatusError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isNotFound,
  type Status,
} from './kubernetes/status.ts'
export {
  compareResourceVersions,
  resourceVersion,
  type ResourceVersion,
} from './kubernetes/resource-version.ts'
export type { BackoffOptions } from './lib/backoff.ts'
export { CodedError } from './lib/coded-error.ts'
export { DeadlineError, type WaitOptions } from './lib/deadline.ts'
export { InvalidOptionError } from './lib/options.ts'
