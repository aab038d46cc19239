/*
 * Causes: which reasons are states of one and the same problem. A problem is known by its cause, so it keeps its id while its
 * reason changes: a pod that is `ContainerCreating`, then has repeated Events `FailedMount`, and later is `ContainersNotReady`
 * does not become ready, whatever is said of it. Of the reasons of one cause, the most telling one is shown (`tellingOf`).
 */

import type { ProblemFact } from './problem-fact.ts'

/** The cause of workloads and pods that do not become ready, for no reason that is a cause of its own. */
export const notReady = 'ready'

/** The cause of objects whose own conditions are bad. */
const ownConditions = 'health'

/** By cause: the reasons of facts and of Events. Other reasons are causes of their own. */
const reasons = {
  [notReady]: [
    'ContainersNotInitialized',
    'ContainersNotReady',
    'ContainerCreating',
    'PodInitializing',
    'Pending',
    'NotReady',
    'ReadinessGatesNotReady',
    'NodeLost',
    'NodeStatusUnknown',
    'Unknown',
    'MinimumReplicasUnavailable',
    'NotAvailable',
    'ProgressDeadlineExceeded',
    'NotProgressing',
    'NoStatus',
    'Updating',
    'ScalingUp',
    'Scheduling',
    // Events.
    'Unhealthy',
    'ProbeError',
    'ProbeWarning',
    'FailedMount',
    'FailedMapVolume',
    'FailedAttachVolume',
    'FailedCreatePodSandBox',
    'FailedPodSandBoxStatus',
    'NetworkNotReady',
    'NodeNotReady',
  ],
  schedule: [
    'NotScheduled',
    'Unschedulable',
    'SchedulerError',
    'FailedScheduling',
    'MissingPersistentVolumeClaim',
  ],
  image: [
    'ErrImagePull',
    'ImagePullBackOff',
    'ErrImageNeverPull',
    'InvalidImageName',
    'ImageInspectError',
    'RegistryUnavailable',
    'SignatureValidationFailed',
  ],
  crash: [
    'CrashLoopBackOff',
    'OOMKilled',
    'Error',
    'BackOff',
    'ContainerCannotRun',
    'StartError',
    'RunContainerError',
    'PostStartHookError',
    'FailedPostStartHook',
  ],
  config: [
    'CreateContainerConfigError',
    'CreateContainerError',
    'PreCreateHookError',
    'MissingConfigMap',
    'MissingSecret',
  ],
  create: ['FailedCreate', 'FailedDelete', 'MissingServiceAccount', 'MissingPriorityClass'],
  volume: ['ProvisioningFailed', 'FailedBinding', 'MissingStorageClass'],
  run: [
    'BackoffLimitExceeded',
    'DeadlineExceeded',
    'FailedIndexes',
    'LastRunFailed',
    'MaxFailedIndexesExceeded',
    'PodFailurePolicy',
  ],
  expiry: ['Expired', 'ExpiresSoon'],
  quota: ['QuotaFull', 'QuotaAlmostFull'],
  deletion: ['Terminating', 'Deleted'],
} as const satisfies Readonly<Record<string, readonly string[]>>

const causes: ReadonlyMap<string, string> = new Map(
  Object.entries(reasons).flatMap(([cause, all]) => all.map((reason) => [reason, cause] as const)),
)

/** Reasons that only say the state which every cause leads to. */
const states: ReadonlySet<string> = new Set([
  ...reasons[notReady].slice(0, reasons[notReady].indexOf('Unhealthy')),
  'LastRunFailed',
  'NotScheduled',
  'DEGRADED',
  'PROGRESSING',
  'UNKNOWN',
])

/** States of workloads, which say less than those of their pods. */
const workloadStates: ReadonlySet<string> = new Set([
  'MinimumReplicasUnavailable',
  'NotAvailable',
  'NotProgressing',
  'ProgressDeadlineExceeded',
])

/** The kinds whose pods or containers the reasons above are about. Their other reasons are causes of their own. */
const isBuiltIn = (group: string): boolean => !group.includes('.') || group.endsWith('.k8s.io')

/** The cause of a fact of an object of a kind. */
export function causeOf(
  { group, kind }: { readonly group: string; readonly kind: string },
  { reason, message, role }: Pick<ProblemFact, 'reason' | 'message' | 'role'>,
): string {
  // The reasons of an Event say less than its text does.
  if (role?.form === 'report' && /\bpull|ErrImage|ImagePull/.test(message ?? '')) {
    if (reason === 'Failed' || reason === 'BackOff') return 'image'
  }
  if (role?.form === 'report' && kind === 'Pod' && reason === 'Failed') return 'config'
  if (kind === 'PersistentVolumeClaim' && reason === 'Pending') return 'volume'
  const cause = causes.get(reason)
  if (isBuiltIn(group)) {
    if (kind === 'Node' && cause === notReady) return reason
    return cause ?? (/^(?:Failed(?:Get|Compute)|InvalidMetric)/.test(reason) ? 'metrics' : reason)
  }
  if (cause === 'expiry' || cause === 'deletion') return cause
  return reason.startsWith('Missing') ? reason : ownConditions
}

/**
 * Whether an Event of one cause says more about an object with another one. What an object says itself tells its cause, unless
 * it only is not ready, or the reason of the Event is of no known cause.
 */
export function isOfSameCause(ofEvent: string, ofObject: string): boolean {
  return ofEvent === ofObject || ofObject === notReady || !Object.hasOwn(reasons, ofEvent)
}

/**
 * The causes that an object has itself, whatever is wrong with what it owns: nothing below it explains them, unless it has the
 * same cause.
 */
export const ownCauses: ReadonlySet<string> = new Set(['create', 'config'])

/** How much the reason of a fact tells, beside the others of its cause: a state, an Event, a reason, a missing thing. */
export function tellingOf({ reason, role }: Pick<ProblemFact, 'reason' | 'role'>): number {
  if (role?.form === 'report') return 2
  if (role?.form === 'unscheduled' && role.claims.length > 0) return 1
  if (reason.startsWith('Missing') || reason === 'OOMKilled') return 4
  if (workloadStates.has(reason)) return 0
  return states.has(reason) ? 1 : 3
}
