import type { JsonObject, Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { ownedFields } from './object.ts'
import { hexDigest } from './random.ts'

/** The node and the addresses of a pod. */
export interface Placement {
  readonly nodeName: string
  readonly hostIP: string
  readonly podIP: string
}

/** The last exit of the first container. */
export interface ContainerExit {
  readonly reason: 'Error' | 'OOMKilled' | 'Completed'
  readonly exitCode: number
  readonly startedAtMs: number
  readonly finishedAtMs: number
}

/** The state of a pod, from which its `status` follows. Times are Unix milliseconds. */
export type PodState =
  /** `message` says why no node fits; it is absent before the scheduler's first attempt. */
  | { readonly kind: 'unscheduled'; readonly message?: string }
  | { readonly kind: 'creating'; readonly at: Placement; readonly sinceMs: number }
  | {
      readonly kind: 'running'
      readonly at: Placement
      readonly startedAtMs: number
      /** The time of the last change of `ready`. */
      readonly sinceMs: number
      readonly ready: boolean
      readonly restarts: number
      readonly lastExit?: ContainerExit | undefined
    }
  | {
      readonly kind: 'waiting'
      readonly at: Placement
      readonly sinceMs: number
      readonly reason: 'CrashLoopBackOff' | 'ImagePullBackOff'
      readonly message: string
      readonly restarts: number
      readonly lastExit?: ContainerExit | undefined
    }
  | { readonly kind: 'finished'; readonly at: Placement; readonly exit: ContainerExit }

/** Whether a pod in this state is ready. */
export function isReady(state: PodState): boolean {
  return state.kind === 'running' && state.ready
}

/** Whether a pod in this state has a sandbox, and so an address. */
export function hasAddress(state: PodState): boolean {
  return state.kind !== 'unscheduled' && state.kind !== 'creating'
}

function phaseOf(state: PodState): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  switch (state.kind) {
    case 'unscheduled':
    case 'creating':
      return 'Pending'
    case 'waiting':
      return state.reason === 'ImagePullBackOff' ? 'Pending' : 'Running'
    case 'running':
      return 'Running'
    case 'finished':
      return state.exit.exitCode === 0 ? 'Succeeded' : 'Failed'
  }
}

/** The start and the restarts of a pod's first container. */
export function mainStatus(pod: Unstructured): {
  readonly restarts: number
  readonly startedAtMs: number | undefined
  readonly lastExit: ContainerExit | undefined
} {
  const { containerStatuses = [] } = (pod['status'] ?? {}) as {
    readonly containerStatuses?: readonly {
      readonly restartCount?: number
      readonly state?: { readonly running?: { readonly startedAt?: string } }
      readonly lastState?: { readonly terminated?: Terminated }
    }[]
  }
  const [main] = containerStatuses
  const startedAt = main?.state?.running?.startedAt
  const exit = main?.lastState?.terminated
  const lastExit = exit && {
    reason: exit.reason as ContainerExit['reason'],
    exitCode: exit.exitCode,
    startedAtMs: Date.parse(exit.startedAt),
    finishedAtMs: Date.parse(exit.finishedAt),
  }
  return {
    restarts: main?.restartCount ?? 0,
    startedAtMs: startedAt === undefined ? undefined : Date.parse(startedAt),
    lastExit,
  }
}

interface Terminated {
  readonly exitCode: number
  readonly finishedAt: string
  readonly reason: string
  readonly startedAt: string
}

/** A container of a pod template: the fields that the simulator reads. */
export interface Container {
  readonly name: string
  readonly image: string
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>
    readonly limits?: Readonly<Record<string, string>>
  }
  readonly volumeMounts?: readonly VolumeMount[]
  readonly [field: string]: unknown
}

interface VolumeMount {
  readonly mountPath: string
  readonly name: string
  readonly readOnly?: boolean
}

/** The parts of container statuses that do not depend on the pod's state. */
export interface PodFacts {
  readonly containers: readonly ContainerFacts[]
  readonly initContainers: readonly ContainerFacts[]
  readonly containerNames: string
  readonly qosClass: 'Guaranteed' | 'Burstable' | 'BestEffort'
  /** Caches the kubelet's fields, by state. */
  readonly statusFields: Map<string, JsonObject>
}

interface ContainerFacts {
  readonly name: string
  readonly image: string
  readonly imageID: string
  /** `resources`, `allocatedResources`, `user`. */
  readonly granted: Readonly<Record<string, unknown>>
  readonly mounts: readonly object[]
}

/** The digest of an image. The same image name gives the same digest. */
export function imageIdOf(image: string): string {
  return `${image.slice(0, image.lastIndexOf(':'))}@sha256:${hexDigest(image, 64)}`
}

/** Derives the facts of a template's or a pod's containers. */
export function podFacts(spec: {
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
}): PodFacts {
  const { containers, initContainers = [] } = spec
  return {
    containers: containers.map(containerFacts),
    initContainers: initContainers.map(containerFacts),
    containerNames: containers.map(({ name }) => name).join(' '),
    qosClass: qosClassOf(containers),
    statusFields: new Map(),
  }
}

const user = { linux: { gid: 0, supplementalGroups: [65532], uid: 65532 } }

function containerFacts({
  name,
  image,
  resources = {},
  volumeMounts = [],
}: Container): ContainerFacts {
  const { requests } = resources
  const allocated = requests === undefined ? {} : { allocatedResources: requests }
  return {
    name,
    image,
    imageID: imageIdOf(image),
    granted: { ...allocated, resources, user },
    mounts: volumeMounts.map(mountStatus),
  }
}

function mountStatus({ mountPath, name, readOnly }: VolumeMount): object {
  const more = readOnly === true ? { readOnly, recursiveReadOnly: 'Disabled' } : {}
  return { mountPath, name, ...more }
}

function qosClassOf(containers: readonly Container[]): PodFacts['qosClass'] {
  const all = containers.map(({ resources = {} }) => resources)
  if (all.every(({ requests, limits }) => requests === undefined && limits === undefined))
    return 'BestEffort'
  const guaranteed = all.every(({ requests, limits }) =>
    ['cpu', 'memory'].every(
      (one) => limits?.[one] !== undefined && limits[one] === requests?.[one],
    ),
  )
  return guaranteed ? 'Guaranteed' : 'Burstable'
}

/**
 * The `status` of a pod in a state, and its fields as FieldsV1. `tokenMount` is the mount that the facts of a template
 * lack.
 */
export function podStatus(
  pod: Unstructured,
  facts: PodFacts,
  state: PodState,
  tokenMount: VolumeMount | undefined,
): { readonly status: Readonly<Record<string, unknown>>; readonly fields: JsonObject } {
  const { uid = '', creationTimestamp } = pod.metadata
  const createdAt = creationTimestamp ?? ''
  const phase = phaseOf(state)
  const conditions = podConditions(state, phase, createdAt, facts.containerNames)
  const common = { observedGeneration: 1, phase, qosClass: facts.qosClass }
  if (state.kind === 'unscheduled') {
    const status = conditions.length === 0 ? common : { conditions, ...common }
    return { status, fields: sharedFields(facts, state, phase, status) }
  }
  const extra = tokenMount === undefined ? [] : [mountStatus(tokenMount)]
  const { hostIP, podIP } = state.at
  const addressed = hasAddress(state)
  const status = {
    conditions,
    containerStatuses: facts.containers.map((container, index) =>
      containerStatus(uid, container, state, index === 0, [...container.mounts, ...extra]),
    ),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(facts.initContainers.length === 0
      ? {}
      : {
          initContainerStatuses: facts.initContainers.map((container) =>
            initContainerStatus(uid, container, state, [...container.mounts, ...extra]),
          ),
        }),
    ...common,
    ...(addressed ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    startTime: createdAt,
  }
  const shared = sharedFields(facts, state, phase, status)
  if (!addressed) return { status, fields: { 'f:status': shared } }
  const address = { '.': {}, [`k:{"ip":"${podIP}"}`]: { '.': {}, 'f:ip': {} } }
  return { status, fields: { 'f:status': { ...shared, 'f:podIPs': address } } }
}

/** Pods in similar states have the same fields, except for their address, which is a key. */
function sharedFields(
  { statusFields }: PodFacts,
  state: PodState,
  phase: string,
  status: Readonly<Record<string, unknown>>,
): JsonObject {
  const key = `${state.kind}/${phase}/${isReady(state)}`
  let shared = statusFields.get(key)
  if (shared === undefined) {
    const { qosClass: _setAtCreation, podIPs: _keyedByAddress, ...reported } = status
    shared = ownedFields({ status: reported })['f:status'] as JsonObject
    statusFields.set(key, shared)
  }
  return shared
}

function podConditions(
  state: PodState,
  phase: string,
  createdAt: string,
  containerNames: string,
): readonly object[] {
  if (state.kind === 'unscheduled') {
    if (state.message === undefined) return []
    return [condition('PodScheduled', false, createdAt, 'Unschedulable', state.message)]
  }
  const readyAt = timestamp(state.kind === 'finished' ? state.exit.finishedAtMs : state.sinceMs)
  const done = phase === 'Succeeded' ? 'PodCompleted' : undefined
  const why = (): readonly [reason?: string, message?: string] => {
    if (isReady(state)) return []
    if (state.kind === 'finished') return [done ?? 'PodFailed']
    return ['ContainersNotReady', `containers with unready status: [${containerNames}]`]
  }
  const hasSandbox = hasAddress(state) && state.kind !== 'finished'
  return [
    condition('PodReadyToStartContainers', hasSandbox, createdAt),
    condition('Initialized', true, createdAt, done),
    condition('Ready', isReady(state), readyAt, ...why()),
    condition('ContainersReady', isReady(state), readyAt, ...why()),
    condition('PodScheduled', true, createdAt),
  ]
}

function condition(
  type: string,
  holds: boolean,
  lastTransitionTime: string,
  reason?: string,
  message?: string,
): object {
  return {
    lastProbeTime: null,
    lastTransitionTime,
    ...(message === undefined ? {} : { message }),
    observedGeneration: 1,
    ...(reason === undefined ? {} : { reason }),
    status: holds ? 'True' : 'False',
    type,
  }
}

type PlacedState = Exclude<PodState, { readonly kind: 'unscheduled' }>

/** Only the first container of a pod fails. The others keep running. */
function containerStatus(
  podUid: string,
  facts: ContainerFacts,
  state: PlacedState,
  main: boolean,
  volumeMounts: readonly object[],
): object {
  const common = { podUid, facts, volumeMounts }
  if (state.kind === 'creating') return waiting(facts, volumeMounts, 'ContainerCreating')
  if (state.kind === 'finished') return created({ ...common, ended: state.exit, restarts: 0 })
  const { restarts, lastExit } = main ? state : { restarts: 0 }
  if (main && state.kind === 'waiting') {
    const { reason, message } = state
    if (reason === 'ImagePullBackOff') return waiting(facts, volumeMounts, reason, message)
    return created({
      ...common,
      restarts,
      lastExit,
      lastRun: restarts,
      waiting: { message, reason },
    })
  }
  const ready = !main || isReady(state)
  const running = { startedAt: timestamp(startOf(state)) }
  return created({ ...common, restarts, lastExit, lastRun: restarts - 1, running, ready })
}

/** The status of an init container, which has succeeded. */
function initContainerStatus(
  podUid: string,
  facts: ContainerFacts,
  state: PlacedState,
  volumeMounts: readonly object[],
): object {
  if (state.kind === 'creating') return waiting(facts, volumeMounts, 'PodInitializing')
  const finishedAtMs = startOf(state) - 2000
  const times = { startedAtMs: finishedAtMs - 3000, finishedAtMs }
  const ended = { reason: 'Completed', exitCode: 0, ...times } as const
  return created({ podUid, facts, volumeMounts, ended, restarts: 0, ready: true })
}

/** The status of a container before its creation. */
function waiting(
  { name, image }: ContainerFacts,
  volumeMounts: readonly object[],
  reason: string,
  message?: string,
): object {
  const state = { waiting: message === undefined ? { reason } : { message, reason } }
  const never = { imageID: '', lastState: {}, ready: false, restartCount: 0, started: false }
  return { image, name, ...never, state, volumeMounts }
}

/** The status of a container that runs, waits for a restart, or has ended. */
function created(facts: {
  readonly podUid: string
  readonly facts: ContainerFacts
  readonly volumeMounts: readonly object[]
  readonly restarts: number
  readonly ready?: boolean
  readonly running?: object
  readonly waiting?: object
  readonly ended?: ContainerExit
  readonly lastExit?: ContainerExit | undefined
  /** The number of the run of {@link lastExit}. */
  readonly lastRun?: number
}): object {
  const { restarts, running, ended, lastExit, lastRun = 0, volumeMounts } = facts
  const { name, image, imageID, granted } = facts.facts
  const idOf = (run: number): string =>
    `containerd://${hexDigest(`${facts.podUid}/${name}/${run}`, 64)}`
  const terminated = (run: number, exit: ContainerExit): object => {
    const finishedAt = timestamp(exit.finishedAtMs)
    const times = { finishedAt, startedAt: timestamp(exit.startedAtMs) }
    return {
      terminated: {
        containerID: idOf(run),
        exitCode: exit.exitCode,
        reason: exit.reason,
        ...times,
      },
    }
  }
  const now = running === undefined ? { waiting: facts.waiting } : { running }
  return {
    ...granted,
    containerID: idOf(restarts),
    image,
    imageID,
    lastState: lastExit === undefined ? {} : terminated(lastRun, lastExit),
    name,
    ready: facts.ready ?? false,
    restartCount: restarts,
    started: running !== undefined,
    state: ended === undefined ? now : terminated(0, ended),
    volumeMounts,
  }
}

function startOf(state: Exclude<PlacedState, { readonly kind: 'creating' }>): number {
  if (state.kind === 'running') return state.startedAtMs
  return state.kind === 'waiting' ? state.sinceMs : state.exit.startedAtMs
}
