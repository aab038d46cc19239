/*
 * The health rules of built-in kinds, and of Argo CD's Applications. `rules` lists them by kind. Kinds without a rule of
 * their own are judged by their conditions.
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
  return (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? customHealth
}

const rules: Readonly<Record<string, HealthRule>> = {
  '/Event': () => healthy,
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

/** UNKNOWN if the kubelet is silent, SUSPENDED if the node accepts no new pods. */
function nodeHealth(object: Fields): Health {
  const conditions = conditionsOf(object)
  const ready = conditions.get('Ready')
  if (ready === undefined) return { status: 'UNKNOWN', reason: 'NoStatus' }
  const { reason = 'NotReady', message, since } = ready
  if (ready.status === 'Unknown') return { status: 'UNKNOWN', reason, message, since }
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

/** Only services with a load balancer have anything to wait for. */
function serviceHealth(object: Fields): Health {
  const { type, externalIPs } = specOf(object)
  const { ingress } = fieldsOf(statusOf(object)['loadBalancer'])
  if (type !== 'LoadBalancer' || itemsOf(ingress).length > 0) return healthy
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

/** Many controllers never report the address of an Ingress, so a missing address does not make it unhealthy. */
function ingressHealth(object: Fields): Health {
  const { ingress } = fieldsOf(statusOf(object)['loadBalancer'])
  if (Array.isArray(ingress) && ingress.length > 0) return healthy
  return {
    status: 'HEALTHY',
    reason: 'NoAddress',
    message: 'no controller has reported its address',
  }
}

function flowSchemaHealth(object: Fields): Health {
  return degradedBy(conditionWith(conditionsOf(object), 'Dangling', 'True')) ?? healthy
}

/** The wanted replicas; the API's default is one. */
function replicasOf(object: Fields): number {
  return numberOf(specOf(object)['replicas']) ?? 1
}

function counted(have: unknown, want: number, what: string): Health | undefined {
  if (countOf(have) >= want) return undefined
  return progressing(what, `${countOf(have)} of ${want} replicas`)
}

function surplus(have: unknown, want: number): Health | undefined {
  if (countOf(have) <= want) return undefined
  return progressing('ScalingDown', `${countOf(have) - want} replicas are to end`)
}

/** The API server or a quota refuses the replicas. */
function replicaFailure(conditions: Conditions): Health | undefined {
  return degradedBy(conditionWith(conditions, 'ReplicaFailure', 'True'))
}

/** As `kubectl rollout status` decides. */
function deploymentHealth(object: Fields): Health {
  const conditions = conditionsOf(object)
  const failure = replicaFailure(conditions)
  if (failure !== undefined) return failure
  const progress = conditionWith(conditions, 'Progressing', 'False')
  if (progress !== undefined) {
    return degraded(progress.reason ?? 'NotProgressing', progress.message, progress.since)
  }
  if (specOf(object)['paused'] === true) return suspended('Paused', 'the rollout is paused')
  const { updatedReplicas, replicas, availableReplicas } = statusOf(object)
  const updated = countOf(updatedReplicas)
  return (
    counted(updated, replicasOf(object), 'Updating') ??
    surplus(replicas, updated) ??
    counted(availableReplicas, updated, 'NotAvailable') ??
    healthy
  )
}

/** Also for ReplicationControllers. */
function replicaSetHealth(object: Fields): Health {
  const { replicas, availableReplicas } = statusOf(object)
  const want = replicasOf(object)
  return (
    replicaFailure(conditionsOf(object)) ??
    counted(replicas, want, 'ScalingUp') ??
    surplus(replicas, want) ??
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
  const want = replicasOf(object)
  const count =
    counted(status['readyReplicas'], want, 'NotReady') ?? surplus(status['replicas'], want)
  const strategy = fieldsOf(specOf(object)['updateStrategy'])
  if (count !== undefined || strategy['type'] === 'OnDelete') return count ?? healthy
  const partition = countOf(fieldsOf(strategy['rollingUpdate'])['partition'])
  const updated = countOf(status['updatedReplicas'])
  if (partition > 0) return counted(updated, want - partition, 'Updating') ?? healthy
  const [current, update] = [textOf(status['currentRevision']), textOf(status['updateRevision'])]
  if (current === update) return healthy
  return progressing('Updating', `${updated} of ${want} replicas are at revision ${update ?? ''}`)
}

function daemonSetHealth(object: Fields): Health {
  const status = statusOf(object)
  const want = numberOf(status['desiredNumberScheduled'])
  // The nodes are not counted yet.
  if (want === undefined) return progressing('NoStatus')
  const isOnDelete = fieldsOf(specOf(object)['updateStrategy'])['type'] === 'OnDelete'
  return (
    counted(status['currentNumberScheduled'], want, 'Scheduling') ??
    (isOnDelete ? undefined : counted(status['updatedNumberScheduled'], want, 'Updating')) ??
    counted(status['numberAvailable'], want, 'NotAvailable') ??
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
  return progressing('Running', failures === 0 ? undefined : `${failures} pods have failed`)
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
