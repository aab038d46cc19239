/*
 * The health rules of built-in kinds, and of Argo CD's Applications. `rules` lists them by kind, and `stateless` the kinds
 * whose objects have no state. Other kinds are judged by their conditions.
 */

import type { ApiResource } from '../api-resource.ts'
import {
  countOf,
  type Fields,
  fieldsOf,
  itemsOf,
  numberOf,
  specOf,
  statusOf,
  textOf,
} from '../fields.ts'
import { customHealth } from './custom-health.ts'
import {
  type Conditions,
  conditionsOf,
  conditionWith,
  degraded,
  degradedBy,
  type Health,
  type HealthRule,
  healthy,
  progressing,
  suspended,
} from './health.ts'
import { podHealth } from './pod-health.ts'

export function healthRuleOf({ group, kind }: Pick<ApiResource, 'group' | 'kind'>): HealthRule {
  const name = `${group}/${kind}`
  if (stateless.has(name)) return () => undefined
  return (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? customHealth
}

/** Kinds that only say what others read. Those of other groups are known by their lack of a status. */
const stateless: ReadonlySet<string> = new Set([
  '/ConfigMap',
  '/Endpoints',
  '/Event',
  '/LimitRange',
  '/PodTemplate',
  '/Secret',
  '/ServiceAccount',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'apps/ControllerRevision',
  'coordination.k8s.io/Lease',
  'discovery.k8s.io/EndpointSlice',
  'events.k8s.io/Event',
  'networking.k8s.io/IngressClass',
  'networking.k8s.io/NetworkPolicy',
  'node.k8s.io/RuntimeClass',
  'rbac.authorization.k8s.io/ClusterRole',
  'rbac.authorization.k8s.io/ClusterRoleBinding',
  'rbac.authorization.k8s.io/Role',
  'rbac.authorization.k8s.io/RoleBinding',
  'scheduling.k8s.io/PriorityClass',
  'storage.k8s.io/CSIDriver',
  'storage.k8s.io/CSINode',
  'storage.k8s.io/CSIStorageCapacity',
  'storage.k8s.io/StorageClass',
])

const rules: Readonly<Record<string, HealthRule>> = {
  '/Namespace': namespaceHealth,
  '/Node': nodeHealth,
  '/PersistentVolume': volumeHealth,
  '/PersistentVolumeClaim': claimHealth,
  '/Pod': podHealth,
  '/ReplicationController': replicaSetHealth,
  '/Service': serviceHealth,
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinitionHealth,
  'apiregistration.k8s.io/APIService': apiServiceHealth,
  'apps/DaemonSet': daemonSetHealth,
  'apps/Deployment': deploymentHealth,
  'apps/ReplicaSet': replicaSetHealth,
  'apps/StatefulSet': statefulSetHealth,
  'argoproj.io/Application': argoApplicationHealth,
  'autoscaling/HorizontalPodAutoscaler': autoscalerHealth,
  'batch/CronJob': cronJobHealth,
  'batch/Job': jobHealth,
  'certificates.k8s.io/CertificateSigningRequest': signingRequestHealth,
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchemaHealth,
  'networking.k8s.io/Ingress': ingressHealth,
  'policy/PodDisruptionBudget': disruptionBudgetHealth,
  'storage.k8s.io/VolumeAttachment': volumeAttachmentHealth,
}

/**
 * A node whose kubelet is silent runs nothing that anybody can rely on: DEGRADED, as one that reports so itself. UNKNOWN if
 * no kubelet has reported yet, SUSPENDED if the node accepts no new pods.
 */
function nodeHealth(object: Fields): Health {
  const conditions = conditionsOf(object)
  const ready = conditions.get('Ready')
  if (ready === undefined) {
    return { status: 'UNKNOWN', reason: 'NoStatus', message: 'no kubelet has reported yet' }
  }
  const { reason = 'NotReady', message, since } = ready
  if (ready.status !== 'True') return degraded(reason, message, since)
  for (const type of ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']) {
    const trouble = conditionWith(conditions, type, 'True')
    if (trouble !== undefined) return degraded(type, trouble.message, trouble.since)
  }
  const isCordoned = specOf(object)['unschedulable'] === true
  return isCordoned ? suspended('Cordoned', 'it takes no new pods') : healthy
}

function namespaceHealth(object: Fields): Health {
  if (statusOf(object)['phase'] !== 'Terminating') return healthy
  return { status: 'TERMINATING', reason: 'Deleted' }
}

/** Only services with a load balancer have anything to wait for: the others have no state. */
function serviceHealth(object: Fields): Health | undefined {
  const { type, externalIPs } = specOf(object)
  const { ingress } = fieldsOf(statusOf(object)['loadBalancer'])
  if (type !== 'LoadBalancer') return undefined
  if (itemsOf(ingress).length > 0) return healthy
  if (Array.isArray(externalIPs) && externalIPs.length > 0) return healthy
  return progressing('NoAddress', 'the load balancer has no address yet')
}

const failedResizes = ['ControllerResizeError', 'NodeResizeError', 'ModifyVolumeError']
const resizes = ['Resizing', 'FileSystemResizePending', 'ModifyingVolume']

function claimHealth(object: Fields): Health {
  const phase = textOf(statusOf(object)['phase']) ?? 'Pending'
  if (phase === 'Lost') return degraded(phase, 'the volume that it was bound to is gone')
  if (phase !== 'Bound') return progressing(phase, 'no volume is bound to it yet')
  const conditions = conditionsOf(object)
  for (const type of [...failedResizes, ...resizes]) {
    const found = conditionWith(conditions, type, 'True')
    if (found === undefined) continue
    return (failedResizes.includes(type) ? degraded : progressing)(type, found.message, found.since)
  }
  return healthy
}

/** A released volume waits for its administrator if it is kept, and for its driver if it is to be deleted. */
function volumeHealth(object: Fields): Health {
  const status = statusOf(object)
  const message = textOf(status['message'])
  const phase = textOf(status['phase']) ?? 'Pending'
  const since = textOf(status['lastPhaseTransitionTime'])
  switch (phase) {
    case 'Failed':
      return degraded(textOf(status['reason']) ?? phase, message, since)
    case 'Pending':
      return progressing(phase, message, since)
    case 'Released':
      return specOf(object)['persistentVolumeReclaimPolicy'] === 'Retain'
        ? { status: 'HEALTHY', reason: phase, message }
        : progressing(phase, message, since)
    default:
      return healthy
  }
}

function volumeAttachmentHealth(object: Fields): Health {
  const { attached, attachError, detachError } = statusOf(object)
  const message = textOf(fieldsOf(attachError ?? detachError)['message'])
  if (message !== undefined) {
    return degraded(attachError === undefined ? 'DetachError' : 'AttachError', message)
  }
  return attached === true ? healthy : progressing('Attaching')
}

/** With fewer pods than the budget requires there is no room for a disruption. */
function disruptionBudgetHealth(object: Fields): Health {
  const { currentHealthy, desiredHealthy } = statusOf(object)
  const allowed = conditionsOf(object).get('DisruptionAllowed')
  if (allowed?.reason === 'SyncFailed') return degraded(allowed.reason, allowed.message)
  const [have, want] = [countOf(currentHealthy), countOf(desiredHealthy)]
  return have < want ? degraded('TooFewPods', `${have} of ${want} pods are healthy`) : healthy
}

function autoscalerHealth(object: Fields): Health {
  const conditions = conditionsOf(object)
  const unable = degradedBy(conditionWith(conditions, 'AbleToScale', 'False'))
  if (unable !== undefined) return unable
  const inactive = conditionWith(conditions, 'ScalingActive', 'False')
  if (inactive?.reason === 'ScalingDisabled') return suspended(inactive.reason, inactive.message)
  if (inactive !== undefined) return degradedBy(inactive) ?? healthy
  if (conditions.size === 0) return progressing('NoStatus')
  const limited = conditionWith(conditions, 'ScalingLimited', 'True')
  return limited === undefined
    ? healthy
    : { status: 'HEALTHY', reason: limited.reason, message: limited.message }
}

function apiServiceHealth(object: Fields): Health {
  const available = conditionsOf(object).get('Available')
  if (available?.status === 'True') return healthy
  if (available === undefined) return progressing('NoStatus')
  return degraded(available.reason ?? 'NotAvailable', available.message, available.since)
}

function customResourceDefinitionHealth(object: Fields): Health {
  const conditions = conditionsOf(object)
  const established = conditions.get('Established')
  return (
    degradedBy(
      conditionWith(conditions, 'NamesAccepted', 'False') ??
        conditionWith(conditions, 'NonStructuralSchema', 'True') ??
        conditionWith(conditions, 'KubernetesAPIApprovalPolicyConformant', 'False'),
    ) ??
    (established?.status === 'True'
      ? healthy
      : progressing(
          established?.reason ?? 'NotEstablished',
          established?.message,
          established?.since,
        ))
  )
}

function signingRequestHealth(object: Fields): Health {
  const conditions = conditionsOf(object)
  const refused = degradedBy(conditions.get('Denied') ?? conditions.get('Failed'))
  if (refused !== undefined) return refused
  if (!conditions.has('Approved')) return progressing('Pending', 'it is not approved yet')
  const { certificate } = statusOf(object)
  return textOf(certificate) === undefined ? progressing('Signing') : healthy
}

/** Many controllers never report the address of an Ingress: without one, nothing is known of its state. */
function ingressHealth(object: Fields): Health | undefined {
  const { ingress } = fieldsOf(statusOf(object)['loadBalancer'])
  return itemsOf(ingress).length > 0 ? healthy : undefined
}

function flowSchemaHealth(object: Fields): Health {
  return degradedBy(conditionWith(conditionsOf(object), 'Dangling', 'True')) ?? healthy
}

/** The wanted replicas; the API's default is one. */
function wantedOf(object: Fields): number {
  return numberOf(specOf(object)['replicas']) ?? 1
}

/** What the replicas lack, by the reason: `1 of 2 replicas are updated`. */
const lacking = {
  Updating: 'updated',
  ScalingUp: 'made',
  Scheduling: 'made',
  NotReady: 'ready',
  NotAvailable: 'available',
} as const

function counted(
  have: unknown,
  want: number,
  reason: keyof typeof lacking,
  what = replicasOf(want),
): Health | undefined {
  const count = countOf(have)
  if (count >= want) return undefined
  return progressing(reason, `${count} of ${what} ${want === 1 ? 'is' : 'are'} ${lacking[reason]}`)
}

/** More replicas than are wanted, or besides the updated ones. */
function surplus(have: unknown, want: number, which: string): Health | undefined {
  const count = countOf(have) - want
  if (count <= 0) return undefined
  const replicas = count === 1 ? `replica ${which} is` : `replicas ${which} are`
  return progressing('ScalingDown', `${count} ${replicas} still to end`)
}

function replicasOf(count: number): string {
  return `${count} ${count === 1 ? 'replica' : 'replicas'}`
}

/** The API server or a quota refuses the replicas. */
function replicaFailure(conditions: Conditions): Health | undefined {
  return degradedBy(conditionWith(conditions, 'ReplicaFailure', 'True'))
}

/**
 * Which revision does not come up, and how far it is: `revision 35 does not come up: 1 of 2 updated`. The pods of the former
 * revision may all be ready. `undefined` without a revision.
 */
function stuckRevision(object: Fields): string | undefined {
  const { annotations } = fieldsOf(object['metadata'])
  const revision = textOf(fieldsOf(annotations)['deployment.kubernetes.io/revision'])
  if (revision === undefined) return undefined
  const { updatedReplicas, availableReplicas, replicas } = statusOf(object)
  const [want, all] = [wantedOf(object), countOf(replicas)]
  const [updated, available] = [countOf(updatedReplicas), countOf(availableReplicas)]
  const lag = (): string => {
    if (updated < want) return `${updated} of ${want} updated`
    if (available < want) return `${available} of ${want} available`
    // Pods of earlier revisions stay until the new ones are available.
    return `${all - available} of ${replicasOf(all)} not available, ${all - updated} of earlier revisions`
  }
  return `revision ${revision} does not come up: ${lag()}`
}

/** As `kubectl rollout status` decides. */
function deploymentHealth(object: Fields): Health {
  const conditions = conditionsOf(object)
  const failure = replicaFailure(conditions)
  if (failure !== undefined) return failure
  const progress = conditionWith(conditions, 'Progressing', 'False')
  if (progress !== undefined) {
    const { reason = 'NotProgressing', message, since } = progress
    const stuck = reason === 'ProgressDeadlineExceeded' ? stuckRevision(object) : undefined
    return degraded(reason, stuck ?? message, since)
  }
  if (specOf(object)['paused'] === true) return suspended('Paused', 'the rollout is paused')
  const { updatedReplicas, replicas, availableReplicas } = statusOf(object)
  const updated = countOf(updatedReplicas)
  return (
    counted(updated, wantedOf(object), 'Updating') ??
    surplus(replicas, updated, 'of earlier revisions') ??
    counted(availableReplicas, updated, 'NotAvailable') ??
    healthy
  )
}

/** Also for ReplicationControllers. */
function replicaSetHealth(object: Fields): Health {
  const { replicas, availableReplicas } = statusOf(object)
  const want = wantedOf(object)
  return (
    replicaFailure(conditionsOf(object)) ??
    counted(replicas, want, 'ScalingUp') ??
    surplus(replicas, want, 'beyond those wanted') ??
    counted(availableReplicas, want, 'NotAvailable') ??
    healthy
  )
}

/**
 * A partition keeps the replicas below it on the old revision. The rollout is complete when the others have the new
 * one.
 */
function statefulSetHealth(object: Fields): Health {
  const status = statusOf(object)
  const want = wantedOf(object)
  const count =
    counted(status['readyReplicas'], want, 'NotReady') ??
    surplus(status['replicas'], want, 'beyond those wanted')
  const strategy = fieldsOf(specOf(object)['updateStrategy'])
  if (count !== undefined || strategy['type'] === 'OnDelete') return count ?? healthy
  const partition = countOf(fieldsOf(strategy['rollingUpdate'])['partition'])
  const updated = countOf(status['updatedReplicas'])
  if (partition > 0) {
    const above = Math.max(0, want - partition)
    const what = `${replicasOf(above)} above the partition`
    return counted(updated, above, 'Updating', what) ?? healthy
  }
  const [current, update] = [textOf(status['currentRevision']), textOf(status['updateRevision'])]
  if (current === update) return healthy
  const verb = want === 1 ? 'is' : 'are'
  const message = `${updated} of ${replicasOf(want)} ${verb} at revision ${update ?? ''}`
  return progressing('Updating', message)
}

function daemonSetHealth(object: Fields): Health {
  const status = statusOf(object)
  const want = numberOf(status['desiredNumberScheduled'])
  // The nodes are not counted yet.
  if (want === undefined) return progressing('NoStatus', 'the nodes are not counted yet')
  const what = `${want} ${want === 1 ? 'pod' : 'pods'}`
  const isOnDelete = fieldsOf(specOf(object)['updateStrategy'])['type'] === 'OnDelete'
  return (
    counted(status['currentNumberScheduled'], want, 'Scheduling', what) ??
    (isOnDelete ? undefined : counted(status['updatedNumberScheduled'], want, 'Updating', what)) ??
    counted(status['numberAvailable'], want, 'NotAvailable', what) ??
    healthy
  )
}

function jobHealth(object: Fields): Health {
  const { startTime, failed } = statusOf(object)
  const conditions = conditionsOf(object)
  const failure =
    conditionWith(conditions, 'Failed', 'True') ??
    conditionWith(conditions, 'FailureTarget', 'True')
  if (failure !== undefined) {
    return degraded(failure.reason ?? 'Failed', failure.message, failure.since)
  }
  if (conditionWith(conditions, 'Complete', 'True') !== undefined) {
    return { status: 'HEALTHY', reason: 'Completed' }
  }
  if (specOf(object)['suspend'] === true) return suspended('Suspended')
  if (textOf(startTime) === undefined) return progressing('NotStarted')
  const failures = countOf(failed)
  return progressing('Running', failures === 0 ? undefined : failedPods(failures))
}

function failedPods(count: number): string {
  return count === 1 ? '1 pod has failed' : `${count} pods have failed`
}

/** A run that ended without success counts until the next one begins. */
function cronJobHealth(object: Fields): Health {
  const { lastScheduleTime, lastSuccessfulTime, active } = statusOf(object)
  if (specOf(object)['suspend'] === true) return suspended('Suspended')
  const scheduled = textOf(lastScheduleTime)
  if (scheduled === undefined || itemsOf(active).length > 0) return healthy
  const succeeded = textOf(lastSuccessfulTime)
  if (succeeded !== undefined && Date.parse(succeeded) >= Date.parse(scheduled)) return healthy
  return degraded('LastRunFailed', `the run of ${scheduled} has not succeeded`, scheduled)
}

const argoStatuses: Readonly<Record<string, Health['status']>> = {
  Healthy: 'HEALTHY',
  Progressing: 'PROGRESSING',
  Degraded: 'DEGRADED',
  Suspended: 'SUSPENDED',
  Missing: 'DEGRADED',
  Unknown: 'UNKNOWN',
}

/** Argo CD reports the health of an Application itself. */
function argoApplicationHealth(object: Fields): Health {
  const { status, message } = fieldsOf(statusOf(object)['health'])
  const reason = textOf(status)
  if (reason === undefined) return progressing('NoStatus')
  return { status: argoStatuses[reason] ?? 'UNKNOWN', reason, message: textOf(message) }
}
