/**
 * `informerql/controller`: controllers as controller-runtime builds them, upon the informers and the work queue of
 * `informerql/informer`, which also work alone.
 */
import './lib/node-version.ts'
export {
  type Caches,
  type Controller,
  controllerDefaults,
  type ControllerOptions,
  defineController,
  type MappedSource,
  NotCachedError,
  type ObjectEvent,
  type ReconcileContext,
  type ReconcileRequest,
  type Source,
  type SourceOptions,
} from './controller/define-controller.ts'
export {
  DuplicateControllerError,
  runController,
  runControllers,
  runDefaults,
  type RunElectionOptions,
  type RunOptions,
} from './controller/run-controllers.ts'
export {
  type ReconcileResult,
  ReconcileStuckError,
  TerminalError,
} from './informer/work-queue/workers.ts'
export { type SourceProblem, SourceSyncError } from './controller/cache-sync.ts'
export type { ControllerLog } from './controller/controller-log.ts'
export {
  type ControllerMetrics,
  createControllerMetrics,
  metricsContentType,
} from './controller/health-server.ts'
export type {
  ControllerObserver,
  ReconcileOutcome,
  ReconcileReport,
} from './controller/controller-observer.ts'
export type { HealthOptions } from './controller/health-server.ts'
export {
  type ConditionUpdate,
  findCondition,
  isConditionTrue,
  setCondition,
  type SetConditions,
  type StatusCondition,
} from './controller/conditions.ts'
export type { RecordedEvent } from './controller/event-recorder.ts'
export {
  createEventRecorder,
  type EventDrop,
  EventRecorder,
  eventRecorderDefaults,
  type EventRecorderObserver,
  type EventRecorderOptions,
} from './controller/event-recorder.ts'
export {
  type LeaderElectionCallbacks,
  leaderElectionDefaults,
  type LeaderElectionObserver,
  type LeaderElectionOptions,
  LeadershipLostError,
  type LeaderTerm,
  runLeaderElection,
} from './controller/leader-election.ts'
export {
  dropFinalizer,
  ensureFinalizer,
  hasFinalizer,
  isBeingDeleted,
} from './api-server/writes/finalizers.ts'
