/** `informerql/informer`: the informer library, without the gateway. */
export {
  createSharedInformer,
  InformerStoppedError,
  type InformerState,
  type SharedInformer,
  type SharedInformerOptions,
} from './informer/shared-informer.ts'
export {
  createSharedInformerFactory,
  type InformerOptions,
  type SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from './informer/informers.ts'
export {
  createDynamicInformerFactory,
  type DynamicInformerFactory,
  type DynamicInformerFactoryOptions,
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
export type { InformerFailure, InformerObserver } from './informer/informer-observer.ts'
export type { ListStages } from './informer/reflector/list-stages.ts'
export {
  DeletedFinalStateUnknown,
  type EventHandlerOptions,
  HandlerError,
  MissingOnResetError,
  type HandlerRegistration,
  type ResourceEventHandler,
} from './informer/delivery/event-handler.ts'
export {
  createController,
  type DeltaController,
  type DeltaControllerOptions,
  type KnownObjects,
  type RawDelta,
} from './informer/raw-deltas.ts'
export type { HeldObject } from './informer/codec/object-codec.ts'
export type { Change, ChangeType } from './informer/store/change.ts'
export {
  type Listener,
  type ListenerBatch,
  type ListenerOptions,
  ListenerOverflowError,
  type OverflowPolicy,
} from './informer/delivery/listener.ts'
export type { ListenerRoute } from './informer/delivery/route.ts'
export { type Lister, ObjectNotFoundError } from './informer/store/lister.ts'
export { TransformError, type Transform } from './informer/object-intake.ts'
export {
  DuplicateIndexError,
  IncomparableResourceVersionError,
  IndexFunctionError,
  UnknownIndexError,
} from './informer/store/store-errors.ts'
export type { Indexer } from './informer/store/indexer.ts'
export type {
  IndexFunction,
  Indexers,
  IndexView,
  ObjectId,
  PostingView,
  StoreView,
} from './informer/store/store-view.ts'
export { createWorkQueue, type WorkQueue } from './informer/work-queue/work-queue.ts'
export type { WorkersOptions, WorkQueueOptions } from './informer/work-queue/work-queue-options.ts'
export { workQueueDefaults } from './informer/work-queue/work-queue-defaults.ts'
export type { WorkQueueObserver } from './informer/work-queue/work-queue-observer.ts'
export type { PendingKeys } from './informer/work-queue/pending-keys.ts'
export {
  bucketRateLimiter,
  defaultControllerRateLimiter,
  itemExponentialFailureRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  maxWaitRateLimiter,
  type RateLimiter,
} from './informer/work-queue/rate-limiter.ts'
export {
  ReconcileError,
  ReconcileStuckError,
  WorkQueueOptionError,
} from './informer/work-queue/work-queue-errors.ts'
export type { Reconcile, ReconcileResult } from './informer/work-queue/reconciliation.ts'
export { runWorkers, type WorkersQueue, type WorkersReport } from './informer/work-queue/workers.ts'
export { type ApiServer, type ApiServerOptions, createApiServer } from './api-server/api-server.ts'
export { ClusterConfigError } from './api-server/kubeconfig/cluster-config-error.ts'
export type { ClusterConfig, ClusterSelection } from './api-server/kubeconfig/cluster-config.ts'
export { loadClusterConfig } from './api-server/kubeconfig/cluster-lookup.ts'
export { ConnectionError } from './api-server/transport/connection-error.ts'
export type { ApiResource } from './kubernetes/api-resource.ts'
export type { KubernetesObject, ObjectMeta, OwnerReference } from './kubernetes/object.ts'
export { ApiStatusError, type Status } from './kubernetes/status.ts'
export {
  compareResourceVersions,
  resourceVersion,
  type ResourceVersion,
} from './kubernetes/resource-version.ts'
export { CodedError } from './lib/coded-error.ts'
export { DeadlineError } from './lib/deadline.ts'
