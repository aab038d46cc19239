/*
 * What a pod looks like in each state of its life. The parts that a controller's pods have in common are derived once;
 * a pod adds its identity, and its status follows from its state.
 */

import type { JsonObject, OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type {
  Container,
  Pod,
  PodSpec,
  PodTemplateSpec,
  VolumeMount,
} from '../../kubernetes/wire/core-v1.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import {
  controllerManager,
  type Labels,
  managedBy,
  ownedFields,
  ownerReference,
  statusOf,
  withReport,
} from './object.ts'
import { hexDigest } from './random.ts'

/** `spec.template` of a workload. */
export interface PodTemplate extends PodTemplateSpec {
  readonly spec: PodSpec
}

/** The template of a workload. Throws a TypeError without one, which a real API server refuses. */
export function templateOf(workload: { readonly [field: string]: unknown }): PodTemplate {
  const { template } = workload['spec'] as { readonly template: PodTemplate }
  return template
}

/** A pod template with additional labels. */
export function labelled(template: PodTemplate, labels: Labels): PodTemplate {
  const { metadata } = template
  return { ...template, metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } } }
}

/** The common parts of a controller's pods, derived once. A pod adds its identity and its state. */
export interface PodShape {
  readonly namespace: string
  readonly owner: OwnerReference
  readonly generateName: string
  readonly template: PodTemplate
  readonly priority: number
  readonly facts: PodFacts
  /** The fields that the controller sets, as FieldsV1. */
  readonly createdFields: JsonObject
}

/** The parts of a pod that differ from its siblings. */
export interface PodIdentity {
  readonly name: string
  readonly uid: string
  readonly createdAtMs: number
  readonly labels?: Labels
  /** Fields of `spec` that differ from the template's. */
  readonly spec?: Partial<PodSpec>
}

/** Derives the common parts of a controller's pods. `labels` are those that the controller adds. */
export function podShape(controller: Unstructured, labels: Labels, priority: number): PodShape {
  const owner = ownerReference(controller)
  const { namespace = '', name } = controller.metadata
  const generateName = `${name}-`
  const template = labelled(templateOf(controller), labels)
  const metadata = { generateName, ...template.metadata, ownerReferences: [owner] }
  const createdFields = ownedFields({ metadata, spec: template.spec })
  const facts = podFacts(template.spec)
  return { namespace, owner, generateName, template, priority, facts, createdFields }
}

/** A new pod, before it has a node. */
export function newPod(shape: PodShape, identity: PodIdentity): Unstructured {
  const { template, owner, namespace, generateName, facts } = shape
  const { name, uid, createdAtMs, labels } = identity
  const { annotations, labels: shared = {} } = template.metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName,
      namespace,
      uid,
      creationTimestamp: timestamp(createdAtMs),
      generation: 1,
      labels: labels === undefined ? shared : { ...shared, ...labels },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [owner],
      managedFields: [managedBy(controllerManager, 'v1', createdAtMs, shape.createdFields)],
    } as Unstructured['metadata'],
    spec: podSpec(shape, identity),
    status: { observedGeneration: 1, phase: 'Pending', qosClass: facts.qosClass },
  }
}

/**
 * The pod in another state: changes node, status and the kubelet's managed fields. `atMs` is the time of the kubelet's
 * report. `shape` saves the many pods of a controller from deriving its parts again.
 */
export function withPodState(
  pod: Unstructured,
  state: PodState,
  atMs: number,
  shape?: PodShape,
): Unstructured {
  const spec = pod['spec'] as PodSpec
  const facts = shape?.facts ?? podFacts(spec)
  const mount = shape === undefined ? undefined : tokenMount(pod.metadata.uid ?? '')
  const { status, fields } = podStatus(pod, facts, state, mount)
  const unscheduled = state.kind === 'unscheduled'
  const by = unscheduled ? scheduler : kubelet
  const reported = withReport(pod, status, { by, atMs, fields })
  return unscheduled ? reported : { ...reported, spec: { ...spec, nodeName: state.at.nodeName } }
}

const kubelet = statusOf({ manager: 'kubelet', operation: 'Update' })
const scheduler = statusOf({ manager: 'kube-scheduler', operation: 'Update' })

export function mainContainer(pod: Unstructured): Container {
  return (pod['spec'] as PodSpec).containers[0] ?? { name: '' }
}

function podSpec(shape: PodShape, { uid, spec: own = {} }: PodIdentity): PodSpec {
  const { spec } = shape.template
  const mount = tokenMount(uid)
  const mounted = (container: Container): Container => ({
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), mount],
  })
  const { initContainers } = spec
  return {
    ...spec,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: shape.priority,
    ...own,
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(mounted) }),
    containers: spec.containers.map(mounted),
    tolerations: [...(spec.tolerations ?? []), ...defaultTolerations],
    volumes: [
      ...(own.volumes ?? []),
      ...(spec.volumes ?? []),
      { name: mount.name, projected: tokenProjection },
    ],
  }
}

/** A cluster uses a random name. Here the name follows from the UID, so that all states of a pod agree. */
const tokenMount = (uid: string): VolumeMount => ({
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  name: `kube-api-access-${hexDigest(uid, 5)}`,
  readOnly: true,
})

const defaultTolerations = ['not-ready', 'unreachable'].map((taint) => ({
  effect: 'NoExecute',
  key: `node.kubernetes.io/${taint}`,
  operator: 'Exists',
  tolerationSeconds: 300,
}))

const tokenProjection = {
  defaultMode: 420,
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
    {
      downwardAPI: {
        items: [
          { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' },
        ],
      },
    },
  ],
}

/** The node and the addresses of a pod. */
export interface Placement {
  readonly nodeName: string
  readonly hostIP: string
  readonly podIP: string
}

/** The last exit of the first container. */
interface ContainerExit {
  readonly reason: string
  readonly exitCode: number
  readonly startedAtMs: number
  readonly finishedAtMs: number
}

/** The state of a pod, from which its `status` follows. Times are Unix milliseconds. */
export type PodState =
  /** `message` says why no node fits. */
  | { readonly kind: 'unscheduled'; readonly message: string }
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

type PlacedState = Exclude<PodState, { readonly kind: 'unscheduled' }>

/** The start, the restarts and the last exit of a pod's first container. */
export function mainStatus(pod: Unstructured): {
  readonly restarts: number
  readonly startedAtMs: number | undefined
  readonly lastExit: ContainerExit | undefined
} {
  const main = (pod as Pod).status?.containerStatuses?.[0]
  const startedAt = main?.state?.running?.startedAt ?? ''
  const exit = main?.lastState?.terminated
  return {
    restarts: main?.restartCount ?? 0,
    startedAtMs: Date.parse(startedAt) || undefined,
    lastExit: exit && {
      reason: exit.reason ?? '',
      exitCode: exit.exitCode,
      startedAtMs: Date.parse(exit.startedAt ?? ''),
      finishedAtMs: Date.parse(exit.finishedAt ?? ''),
    },
  }
}

/** The parts of container statuses that do not depend on the pod's state. */
interface PodFacts {
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

const knownFacts = new WeakMap<readonly Container[], PodFacts>()

/** The facts of a template's or a pod's containers. */
function podFacts({ containers, initContainers = [] }: PodSpec): PodFacts {
  return getOrInsert(knownFacts, containers, () => ({
    containers: containers.map(containerFacts),
    initContainers: initContainers.map(containerFacts),
    containerNames: containers.map(({ name }) => name).join(' '),
    qosClass: qosClassOf(containers),
    statusFields: new Map(),
  }))
}

const user = { linux: { gid: 0, supplementalGroups: [65532], uid: 65532 } }

function containerFacts(container: Container): ContainerFacts {
  const { name, image = '', resources = {}, volumeMounts = [] } = container
  const { requests } = resources
  const allocated = requests === undefined ? {} : { allocatedResources: requests }
  const granted = { ...allocated, resources, user }
  return { name, image, imageID: imageIdOf(image), granted, mounts: volumeMounts.map(mountStatus) }
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
 * The `status` of a pod in a state, and its fields as FieldsV1. `mount` is the mount that the facts of a template
 * lack.
 */
function podStatus(
  { metadata: { uid = '', creationTimestamp } }: Unstructured,
  facts: PodFacts,
  state: PodState,
  mount: VolumeMount | undefined,
): { readonly status: Readonly<Record<string, unknown>>; readonly fields: JsonObject } {
  const createdAt = creationTimestamp ?? ''
  const { qosClass } = facts
  if (state.kind === 'unscheduled') {
    const conditions = [condition('PodScheduled', false, createdAt, 'Unschedulable', state.message)]
    const status = { conditions, observedGeneration: 1, phase: 'Pending', qosClass }
    return { status, fields: ownedFields({ status }) }
  }
  const isPulling = state.kind === 'waiting' && state.reason === 'ImagePullBackOff'
  let phase = isPulling || state.kind === 'creating' ? 'Pending' : 'Running'
  if (state.kind === 'finished') phase = state.exit.exitCode === 0 ? 'Succeeded' : 'Failed'
  const extra = mount === undefined ? [] : [mountStatus(mount)]
  const { hostIP, podIP } = state.at
  const statuses = (containers: readonly ContainerFacts[], run: (index: number) => Run) =>
    containers.map((one, index) => containerStatus(uid, one, [...one.mounts, ...extra], run(index)))
  const init = facts.initContainers
  // An init container has succeeded before the others start.
  let initRun = notCreated('PodInitializing')
  if (state.kind !== 'creating') {
    const finishedAtMs = startOf(state) - 2000
    const times = { startedAtMs: finishedAtMs - 3000, finishedAtMs }
    const exit = { reason: 'Completed', exitCode: 0, ...times }
    initRun = { restarts: 0, ready: true, state: { exit } }
  }
  const ready = isReady(state)
  const finished = state.kind === 'finished'
  const changedAt = timestamp(finished ? state.exit.finishedAtMs : state.sinceMs)
  const done = phase === 'Succeeded' ? 'PodCompleted' : undefined
  const unready = `containers with unready status: [${facts.containerNames}]`
  const why = finished ? [done ?? 'PodFailed'] : ['ContainersNotReady', unready]
  const [reason, message] = ready ? [] : why
  const status = {
    conditions: [
      condition('PodReadyToStartContainers', !finished && state.kind !== 'creating', createdAt),
      condition('Initialized', true, createdAt, done),
      condition('Ready', ready, changedAt, reason, message),
      condition('ContainersReady', ready, changedAt, reason, message),
      condition('PodScheduled', true, createdAt),
    ],
    containerStatuses: statuses(facts.containers, (index) => runOf(state, index === 0)),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(init.length === 0 ? {} : { initContainerStatuses: statuses(init, () => initRun) }),
    observedGeneration: 1,
    phase,
    ...(state.kind === 'creating' ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    qosClass,
    startTime: createdAt,
  }
  // Pods in similar states have the same fields, except for their address, which is a key.
  const key = `${state.kind}/${phase}/${ready}`
  const shared = getOrInsert(facts.statusFields, key, () =>
    ownedFields({ ...status, qosClass: undefined, podIPs: undefined }),
  )
  if (state.kind === 'creating') return { status, fields: { 'f:status': shared } }
  const address = { '.': {}, [`k:{"ip":"${podIP}"}`]: { '.': {}, 'f:ip': {} } }
  return { status, fields: { 'f:status': { ...shared, 'f:podIPs': address } } }
}

const isReady = (state: PlacedState): boolean => state.kind === 'running' && state.ready

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

/** What a container does, and how it ended last. */
interface Run {
  /** `undefined` before the container is created. */
  readonly restarts: number | undefined
  readonly ready: boolean
  readonly state: {
    readonly running?: object
    readonly waiting?: object
    readonly exit?: ContainerExit
  }
  readonly lastExit?: ContainerExit | undefined
}

/** Only the first container of a pod fails. The others keep running. */
function runOf(state: PlacedState, main: boolean): Run {
  if (state.kind === 'creating') return notCreated('ContainerCreating')
  if (state.kind === 'finished') return { restarts: 0, ready: false, state: { exit: state.exit } }
  if (main && state.kind === 'waiting') {
    const { reason, message, restarts, lastExit } = state
    if (reason === 'ImagePullBackOff') return notCreated(reason, message)
    return { restarts, ready: false, state: { waiting: { message, reason } }, lastExit }
  }
  const running = { startedAt: timestamp(startOf(state)) }
  const { restarts, lastExit } = main ? state : { restarts: 0 }
  return { restarts, ready: !main || isReady(state), state: { running }, lastExit }
}

function notCreated(reason: string, message?: string): Run {
  const waiting = message === undefined ? { reason } : { message, reason }
  return { restarts: undefined, ready: false, state: { waiting } }
}

function startOf(state: Exclude<PlacedState, { readonly kind: 'creating' }>): number {
  if (state.kind === 'running') return state.startedAtMs
  return state.kind === 'waiting' ? state.sinceMs : state.exit.startedAtMs
}

function containerStatus(
  podUid: string,
  { name, image, imageID, granted }: ContainerFacts,
  volumeMounts: readonly object[],
  { restarts, ready, state: { exit, ...state }, lastExit }: Run,
): object {
  const idOf = (run: number): string => `containerd://${hexDigest(`${podUid}/${name}/${run}`, 64)}`
  const terminated = (run: number, { reason, exitCode, ...times }: ContainerExit): object => {
    const finishedAt = timestamp(times.finishedAtMs)
    const startedAt = timestamp(times.startedAtMs)
    return { terminated: { containerID: idOf(run), exitCode, reason, finishedAt, startedAt } }
  }
  const { running } = state
  // A container that waits for its restart is still known by its last run.
  const lastRun = (restarts ?? 0) - (running === undefined ? 0 : 1)
  const isCreated = restarts !== undefined
  return {
    ...(isCreated ? { ...granted, containerID: idOf(restarts) } : {}),
    image,
    imageID: isCreated ? imageID : '',
    lastState: lastExit === undefined ? {} : terminated(lastRun, lastExit),
    name,
    ready,
    restartCount: restarts ?? 0,
    started: running !== undefined,
    state: exit === undefined ? state : terminated(0, exit),
    volumeMounts,
  }
}
