import type { Fields } from '../gateway/test-cluster.ts'

/** An object to create, with its status. Its namespace is that of the shape. */
export interface ShapedObject {
  /** `apps/v1 Deployment`. */
  readonly is: string
  readonly name: string
  /** The `kind/name` of an object before it, which controls it. */
  readonly owner?: string
  readonly object?: Fields
  readonly status?: Fields
  /** Deleted once it is there: a finalizer keeps it. */
  readonly isDeleted?: true
}

/** A way in which something is wrong, and the rows of `problems` about it. */
export interface ProblemShape {
  /** What is wrong, as the documentation says it. */
  readonly wrong: string
  /** `Kind/name`, the reason, the severity and the number of objects. */
  readonly rows: readonly (readonly [
    object: string,
    reason: string,
    severity: string,
    count: number,
  ])[]
  readonly objects: readonly ShapedObject[]
  /** The message of the first row. */
  readonly says?: string
  /** Who notices it: `Kind/name`. */
  readonly behind?: readonly string[]
  /** Asks as if `problemAfterMs` had passed. */
  readonly isLate?: true
}

export const ago = (minutes: number): string =>
  `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}Z`

export const long: string = ago(40)
export const just: string = ago(0.5)

export const condition = (
  type: string,
  status: string,
  reason: string = '',
  since: string = long,
): Fields => ({
  type,
  status,
  reason,
  message: `${type} is ${status}`,
  lastTransitionTime: since,
})

export const container: Fields = { name: 'main', image: 'registry.example/main:1' }
export const podSpec: Fields = { containers: [container] }
export const selector: Fields = { matchLabels: { app: 'web' } }
export const template: Fields = { metadata: { labels: { app: 'web' } }, spec: podSpec }
export const workload: Fields = { spec: { replicas: 3, selector, template } }

export const containerStatus = (state: Fields, more: Fields = {}): Fields => ({
  name: 'main',
  image: container['image'],
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  ...more,
})
export const waiting = (reason: string): Fields => ({ waiting: { reason, message: 'back-off' } })
export const terminated = (reason: string, exitCode: number): Fields => ({
  terminated: { reason, exitCode, startedAt: ago(3), finishedAt: ago(2) },
})

export const pod = (
  name: string,
  status: Fields,
  more: Partial<ShapedObject> = {},
): ShapedObject => ({
  is: 'v1 Pod',
  name,
  object: { spec: podSpec },
  status,
  ...more,
})
export const unready: readonly Fields[] = [condition('Ready', 'False', 'ContainersNotReady')]
export const ready: readonly Fields[] = [condition('Ready', 'True')]

export const failing = (
  name: string,
  state: Fields,
  more: Fields = {},
  owner?: string,
): ShapedObject =>
  pod(
    name,
    {
      phase: 'Running',
      conditions: unready,
      containerStatuses: [containerStatus(state, more)],
    },
    owner === undefined ? {} : { owner },
  )

/** A Deployment and its ReplicaSet. */
export const web = (
  deployment: Fields,
  replicaSet: Fields = { replicas: 3 },
): readonly ShapedObject[] => [
  { is: 'apps/v1 Deployment', name: 'web', object: workload, status: deployment },
  {
    is: 'apps/v1 ReplicaSet',
    name: 'web-1',
    owner: 'Deployment/web',
    object: workload,
    status: { observedGeneration: 1, ...replicaSet },
  },
]

export const unavailable: Fields = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  unavailableReplicas: 3,
  conditions: [
    condition('Available', 'False', 'MinimumReplicasUnavailable', just),
    condition('Progressing', 'True', 'ReplicaSetUpdated', just),
  ],
}
export const late: Fields = {
  ...unavailable,
  conditions: [
    condition('Available', 'False', 'MinimumReplicasUnavailable'),
    condition('Progressing', 'False', 'ProgressDeadlineExceeded'),
  ],
}
export const job: Fields = { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } }
export const failedJob: Fields = {
  startTime: ago(20),
  failed: 1,
  conditions: [
    condition('FailureTarget', 'True', 'BackoffLimitExceeded', ago(10)),
    condition('Failed', 'True', 'BackoffLimitExceeded', ago(10)),
  ],
}
export const failedPod: Fields = {
  phase: 'Failed',
  containerStatuses: [containerStatus(terminated('Error', 1))],
}

export const cronJob: Fields = {
  spec: { schedule: '0 * * * *', jobTemplate: { spec: { template: job.spec.template } } },
}

export const claim: Fields = {
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

export const autoscaler: Fields = {
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 5,
  },
}
export const scaling = (conditions: readonly Fields[]): Fields => ({
  currentReplicas: 5,
  desiredReplicas: 5,
  conditions,
})

export const event = (
  name: string,
  about: Fields,
  count: number,
  more: Fields = {},
): ShapedObject => ({
  is: 'v1 Event',
  name,
  object: {
    type: 'Warning',
    reason: 'FailedMount',
    message: 'no such volume',
    involvedObject: { apiVersion: 'v1', ...about },
    count,
    firstTimestamp: ago(9),
    lastTimestamp: ago(1),
    source: { component: 'kubelet' },
    ...more,
  },
})
