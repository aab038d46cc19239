/*
 * The status of each kind as one table, from the pods of its controller, and the endpoints of Services. Only
 * differences are written.
 */

import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type {
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
} from '../../kubernetes/wire/apps-v1.ts'
import type { CronJob, Job } from '../../kubernetes/wire/batch-v1.ts'
import type { PodDisruptionBudget } from '../../kubernetes/wire/policy-v1.ts'
import { equalJson } from '../api/json.ts'
import {
  activePods,
  type Cluster,
  type Controller,
  controllerResources,
  type ControllerKind,
  isFinished,
  replicasOf,
  type Selecting,
} from './cluster.ts'
import {
  controllerManager,
  identified,
  ownedFields,
  ownerReference,
  statusOf,
  withReport,
} from './object.ts'

/** Updates the counters, endpoints and budgets of all changed controllers. Writes only differences. */
export function syncChanged(cluster: Cluster): void {
  const owned = [...cluster.changed]
  cluster.changed.clear()
  const owners = owned.flatMap(({ owner }) => cluster.controllers.get(owner) ?? [])
  const changed = new Set([...owned, ...owners])
  for (const controller of changed) {
    const statusOfKind = statuses[controller.kind]
    cluster.change(controllerResources[controller.kind], controller, (object) =>
      withStatus(cluster, object, statusOfKind(object as never, controller, cluster)),
    )
  }
  const selecting = new Set([...changed].flatMap((controller) => cluster.selecting(controller)))
  for (const one of selecting) {
    if (one.kind === 'Service') syncService(cluster, one)
    else
      cluster.change(resources.podDisruptionBudgets, one, (budget) =>
        withStatus(cluster, budget, budgetStatus(budget, cluster, one)),
      )
  }
}

/** The object with a new status; `undefined` if the status is the same. */
export function withStatus(
  cluster: Cluster,
  object: Unstructured,
  status: object | undefined,
): Unstructured | undefined {
  // JSON has no undefined fields.
  const known = Object.entries(status ?? {}).filter(([, value]) => value !== undefined)
  const next = Object.fromEntries(known)
  if (status === undefined || equalJson(object['status'], next)) return undefined
  const by = statusOf(controllerManager)
  return withReport(object, next, {
    by,
    atMs: cluster.now(),
    fields: ownedFields({ status: next }),
  })
}

/** The status of each kind of controller. `undefined` fields are left out, `undefined` leaves the status as it is. */
const statuses: {
  readonly [kind in ControllerKind]: (
    object: never,
    controller: Controller,
    cluster: Cluster,
  ) => object | undefined
} = {
  Deployment: deploymentStatus,
  ReplicaSet: ({ metadata }: ReplicaSet, controller) => {
    const { active, ready, terminating } = countPods([controller])
    return {
      availableReplicas: ready || undefined,
      fullyLabeledReplicas: active || undefined,
      observedGeneration: metadata.generation ?? 1,
      readyReplicas: ready || undefined,
      replicas: active,
      terminatingReplicas: terminating,
    }
  },
  StatefulSet: ({ metadata, status }: StatefulSet, controller) => {
    const { active, ready } = countPods([controller])
    const revision = status?.updateRevision ?? ''
    return {
      availableReplicas: ready,
      collisionCount: 0,
      currentReplicas: active,
      currentRevision: revision,
      observedGeneration: metadata.generation ?? 1,
      readyReplicas: ready || undefined,
      replicas: active,
      updateRevision: revision,
      updatedReplicas: active,
    }
  },
  DaemonSet: ({ metadata }: DaemonSet, controller) => {
    const { active, ready } = countPods([controller])
    return {
      currentNumberScheduled: active,
      desiredNumberScheduled: active,
      numberAvailable: ready,
      numberMisscheduled: 0,
      numberReady: ready,
      numberUnavailable: active - ready || undefined,
      observedGeneration: metadata.generation ?? 1,
      updatedNumberScheduled: active,
    }
  },
  Job: (job: Job, controller) =>
    controller.outcome === undefined ? jobStatus(job, controller) : undefined,
  CronJob: ({ status }: CronJob, controller, cluster) => {
    const running = cluster.ownedBy(controller).filter(({ outcome }) => outcome === undefined)
    const active = running.map(({ name, namespace, uid }) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      name,
      namespace,
      uid,
    }))
    return { ...status, active: active.length === 0 ? undefined : active }
  },
}

/** The number of a controller's pods. Terminating pods count separately, as in Kubernetes. */
interface PodCounts {
  active: number
  ready: number
  terminating: number
}

export function countPods(controllers: Iterable<Controller>): PodCounts {
  const counts = { active: 0, ready: 0, terminating: 0 }
  for (const { pods } of controllers) {
    for (const pod of pods) {
      if (pod.terminating) counts.terminating += 1
      else if (!isFinished(pod)) {
        counts.active += 1
        if (pod.ready) counts.ready += 1
      }
    }
  }
  return counts
}

/** The number of extra pods during a rollout: 25 %, rounded up. */
export function maxSurge(desired: number): number {
  return Math.ceil(desired / 4)
}

/** The number of pods that may be missing during a rollout: 25 %, rounded down. */
export function maxUnavailable(desired: number): number {
  return Math.floor(desired / 4)
}

function deploymentStatus(
  deployment: Deployment & Unstructured,
  controller: Controller,
  cluster: Cluster,
): object | undefined {
  const revisions = cluster.ownedBy(controller)
  const current = revisions.at(-1)
  if (current === undefined) return undefined
  const desired = replicasOf(deployment)
  const { conditions = [] } = deployment.status ?? {}
  const { active, ready, terminating } = countPods(revisions)
  const updated = activePods(current).length
  const isAvailable = ready >= desired - maxUnavailable(desired)
  const before = conditions.find(({ type }) => type === 'Progressing')
  const isSame = before?.message?.includes(`"${current.name}"`) === true
  const deadlineMs = (deployment.spec?.progressDeadlineSeconds ?? 600) * 1000
  const isLate = isSame && cluster.now() - Date.parse(before.lastUpdateTime ?? '') > deadlineMs
  // A finished rollout stays finished, whatever happens to its pods later.
  const going = isLate ? 'ProgressDeadlineExceeded' : 'ReplicaSetUpdated'
  const last = isSame && before.reason !== 'ReplicaSetUpdated' ? before.reason : going
  const isComplete = updated === desired && active === desired && ready === desired
  const progress = isComplete ? 'NewReplicaSetAvailable' : (last as keyof typeof progressMessages)
  const now = [
    {
      message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
      reason: `MinimumReplicas${isAvailable ? 'Available' : 'Unavailable'}`,
      status: isAvailable ? 'True' : 'False',
      type: 'Available',
    },
    {
      message: `ReplicaSet "${current.name}" ${progressMessages[progress]}`,
      reason: progress,
      status: progress === 'ProgressDeadlineExceeded' ? 'False' : 'True',
      type: 'Progressing',
    },
  ]
  return {
    availableReplicas: ready || undefined,
    conditions: now.map((condition) => {
      const was = conditions.find(({ type }) => type === condition.type)
      const isKept = was?.status === condition.status
      const isEqual = isKept && was.reason === condition.reason && was.message === condition.message
      const at = timestamp(cluster.now())
      return {
        lastTransitionTime: (isKept ? was.lastTransitionTime : undefined) ?? at,
        lastUpdateTime: (isEqual ? was.lastUpdateTime : undefined) ?? at,
        ...condition,
      }
    }),
    observedGeneration: deployment.metadata.generation ?? 1,
    readyReplicas: ready || undefined,
    replicas: active || undefined,
    terminatingReplicas: terminating,
    unavailableReplicas: Math.max(0, desired - ready, active - ready) || undefined,
    updatedReplicas: updated || undefined,
  }
}

const progressMessages = {
  NewReplicaSetAvailable: 'has successfully progressed.',
  ReplicaSetUpdated: 'is progressing.',
  ProgressDeadlineExceeded: 'has timed out progressing.',
}

/** `status` of a Job, which has ended at `finishedAtMs` if that is given. */
export function jobStatus(
  { metadata }: Job,
  controller: Controller,
  outcome?: Controller['outcome'],
  finishedAtMs = 0,
): object {
  const at = timestamp(finishedAtMs)
  const causes = {
    complete: [
      'CompletionsReached',
      'Reached expected number of succeeded pods',
      'SuccessCriteriaMet',
      'Complete',
    ],
    failed: [
      'BackoffLimitExceeded',
      'Job has reached the specified backoff limit',
      'FailureTarget',
      'Failed',
    ],
  } as const
  const [reason, message, ...types] = outcome === undefined ? [] : causes[outcome]
  const conditions = types.map((type) => ({
    lastProbeTime: at,
    lastTransitionTime: at,
    message,
    reason,
    status: 'True',
    type,
  }))
  const ended = outcome !== undefined
  return {
    active: ended ? undefined : 1,
    completionTime: outcome === 'complete' ? at : undefined,
    conditions: ended ? conditions : undefined,
    failed: failedPods(controller) || undefined,
    ready: ended ? 0 : countPods([controller]).ready,
    startTime: metadata.creationTimestamp,
    succeeded: outcome === 'complete' ? 1 : undefined,
    terminating: 0,
    uncountedTerminatedPods: {},
  }
}

export const failedPods = ({ pods }: Controller): number =>
  [...pods].filter(({ stage }) => stage === 'failed').length

function budgetStatus(
  { metadata, spec, status: before }: PodDisruptionBudget,
  cluster: Cluster,
  budget: Selecting,
): object {
  const { active, ready } = countPods(cluster.selectedBy(budget))
  const share = (value: number | string): number =>
    typeof value === 'number' ? value : Math.ceil((active * Number.parseInt(value, 10)) / 100)
  const { maxUnavailable: most = 1, minAvailable } = spec ?? {}
  const desiredHealthy = Math.max(
    0,
    minAvailable === undefined ? active - share(most) : share(minAvailable),
  )
  const disruptionsAllowed = Math.max(0, ready - desiredHealthy)
  const status = disruptionsAllowed > 0 ? 'True' : 'False'
  const observedGeneration = metadata.generation ?? 1
  const known = before?.conditions?.find((condition) => condition.status === status)
  const condition = {
    lastTransitionTime: known?.lastTransitionTime ?? timestamp(cluster.now()),
    message: '',
    observedGeneration,
    reason: disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    status,
    type: 'DisruptionAllowed',
  }
  return {
    conditions: [condition],
    currentHealthy: ready,
    desiredHealthy,
    disruptionsAllowed,
    expectedPods: active,
    observedGeneration,
  }
}

/** The maximum number of endpoints per slice, the controller's default. */
const endpointsPerSlice = 100

/** Rewrites changed endpoint slices. Adds and removes slices as needed. */
function syncService(cluster: Cluster, service: Selecting): void {
  const { namespace, slices } = service
  const endpoints = cluster.selectedBy(service).flatMap(({ pods }) =>
    [...pods].flatMap((pod) => {
      const { name, namespace: within, uid, at, ready, terminating } = pod
      if (at === undefined || at.podIP === '' || isFinished(pod)) return []
      return {
        addresses: [at.podIP],
        conditions: { ready: ready && !terminating, serving: ready, terminating },
        nodeName: at.nodeName,
        targetRef: { kind: 'Pod', name, namespace: within, uid },
        zone: cluster.nodes.get(at.nodeName)?.zone ?? '',
      }
    }),
  )
  const needed = Math.max(1, Math.ceil(endpoints.length / endpointsPerSlice))
  for (let number = 0; number < needed; number++) {
    const part = endpoints.slice(number * endpointsPerSlice, (number + 1) * endpointsPerSlice)
    const slice = slices[number]
    if (slice === undefined) createSlice(cluster, service, part)
    else
      cluster.change(resources.endpointSlices, { namespace, name: slice }, (before) => {
        if (equalJson(before.endpoints, part)) return undefined
        const { metadata } = before as Unstructured
        const annotations = { ...metadata.annotations, [changeTime]: timestamp(cluster.now()) }
        const generation = (metadata.generation ?? 0) + 1
        return { ...before, metadata: { ...metadata, annotations, generation }, endpoints: part }
      })
  }
  for (const extra of slices.splice(needed))
    cluster.remove(resources.endpointSlices, { namespace, name: extra })
}

const changeTime = 'endpoints.kubernetes.io/last-change-trigger-time'

function createSlice(cluster: Cluster, record: Selecting, endpoints: readonly object[]): void {
  const service = cluster.require(resources.services, record)
  const { namespace = '', name, labels } = service.metadata
  const createdAtMs = cluster.now()
  const metadata = {
    name: `${name}-${cluster.random.suffix(5)}`,
    generateName: `${name}-`,
    namespace,
    generation: 1,
    labels: {
      ...labels,
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': name,
    },
    annotations: { [changeTime]: timestamp(createdAtMs) },
    ownerReferences: [ownerReference(service)],
  }
  // Named ports resolve to the Service's port: pods are not looked up.
  const ports = (service.spec?.ports ?? []).map(({ targetPort, ...one }) => ({
    name: one.name ?? '',
    port: typeof targetPort === 'number' ? targetPort : one.port,
    protocol: one.protocol ?? 'TCP',
  }))
  const slice = { metadata, addressType: 'IPv4', endpoints, ports }
  const identity = { uid: cluster.random.uid(), createdAtMs }
  cluster.create(resources.endpointSlices, identified(resources.endpointSlices, slice, identity))
}
