import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import {
  eventItem,
  firstUid,
  identified,
  managers,
  ownerReference,
  type PopulationItem,
  resources,
  type Written,
} from './object.ts'
import type { AppPlan, NodePlan } from './plan.ts'
import {
  backOff,
  kubeletReport,
  labelled,
  mainContainer,
  newPod,
  podShape,
  type PodIdentity,
  type PodShape,
  type PodTemplate,
  statefulPodIdentity,
  templateOf,
  withPodState,
} from './pod.ts'
import {
  type ContainerExit,
  hasAddress,
  isReady,
  type Placement,
  type PodState,
} from './pod-status.ts'
import type { Random } from './random.ts'
import type { Manifest } from './scenario.ts'
import { day, hour, minute, second, type Stamper } from './stamp.ts'
import {
  type Backend,
  daemonSetStatus,
  deploymentStatus,
  type JobOutcome,
  jobStatus,
  maxSurge,
  type PodCounts,
  replicaSetStatus,
  statefulSetStatus,
} from './workload-status.ts'

/** One app, as it is being written out. */
export interface AppStamp {
  readonly stamper: Stamper
  readonly app: AppPlan
  readonly random: Random
  /** When the app was deployed for the first time. */
  readonly createdAtMs: number
}

type Items = Generator<PopulationItem, readonly Backend[]>

/** The workload of an app with all that its controller makes of it; returns its pods that have an address. */
export const workloadItems: Readonly<
  Record<string, (stamp: AppStamp, manifest: Manifest) => Items>
> = {
  Deployment: deploymentItems,
  StatefulSet: statefulSetItems,
  DaemonSet: daemonSetItems,
  CronJob: cronJobItems,
}

/** One revision of a Deployment: it becomes a ReplicaSet. */
interface Revision {
  readonly number: number
  readonly hash: string
  readonly template: PodTemplate
  readonly createdAtMs: number
  readonly states: readonly PodState[]
}

function* deploymentItems(stamp: AppStamp, manifest: Manifest): Items {
  const { app, stamper, createdAtMs } = stamp
  const stuck = isStuck(app)
  // A stuck rollout has one pod more than is asked for.
  const desired = stuck ? Math.max(1, app.pods - 1) : app.pods
  const revisions = planRevisions(stamp, manifest, stuck)
  const [current] = revisions
  const generation = (current?.number ?? 1) + 2
  const updatedAtMs = (current?.createdAtMs ?? createdAtMs) + minute
  const deployment = stamper.item(manifest, app.values, { createdAtMs, updatedAtMs }, (object) => {
    const { metadata, spec } = object
    const annotations = {
      [revisionAnnotation]: String(current?.number ?? 1),
      ...metadata.annotations,
    }
    const status = deploymentStatus({
      generation,
      desired,
      counts: countsOf(revisions.flatMap(({ states }) => states)),
      updated: current?.states.length ?? 0,
      replicaSetName: `${metadata.name}-${current?.hash ?? ''}`,
      progress: stuck ? 'ProgressDeadlineExceeded' : 'NewReplicaSetAvailable',
      atMs: updatedAtMs,
      previous: [],
    })
    const asked = { ...(spec as object), replicas: desired }
    return { ...object, metadata: { ...metadata, generation, annotations }, spec: asked, status }
  })
  yield deployment
  if (stuck && current !== undefined) {
    // A rollout that is still going on is remembered; the Events of older ones are gone.
    const message = `Scaled up replica set ${deployment.object.metadata.name}-${current.hash} from 0 to 1`
    const times = { firstAtMs: current.createdAtMs, lastAtMs: current.createdAtMs, count: 1 }
    const report = {
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      component: 'deployment-controller',
    } as const
    yield eventItem({ regarding: deployment.object, message, ...report, ...times })
  }
  const backends: Backend[] = []
  for (const revision of revisions) {
    const { number, hash, template, states } = revision
    const name = `${deployment.object.metadata.name}-${hash}`
    const replicaSet = replicaSetItem(deployment.object, template, {
      name,
      hash,
      revision: number,
      desired,
      replicas: states.length,
      uid: firstUid(stamper.plan.seed, resources.replicaSets, app.namespace, name),
      createdAtMs: revision.createdAtMs,
      counts: countsOf(states),
    })
    yield replicaSet
    if (states.length === 0) continue
    const shape = shapeOf(stamper, replicaSet.object)
    backends.push(...(yield* replicaItems(stamp, shape, revision)))
  }
  return backends
}

/** The number of a Deployment's revision, on it and on its ReplicaSets. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'

/** The label that tells the pods of one revision of a Deployment from those of another. */
export const hashLabel = 'pod-template-hash'

/** What the Deployment controller makes of one template. */
export function replicaSetItem(
  deployment: Unstructured,
  template: PodTemplate,
  facts: {
    readonly name: string
    readonly uid: string
    readonly createdAtMs: number
    readonly hash: string
    readonly revision: number
    /** Of the Deployment. */
    readonly desired: number
    readonly replicas: number
    readonly counts: PodCounts
  },
): PopulationItem {
  const { desired, revision, replicas, hash } = facts
  const hashed = labelled(template, { [hashLabel]: hash })
  const { namespace = '' } = deployment.metadata
  const { selector } = deployment['spec'] as {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  }
  const matchLabels = { ...selector?.matchLabels, [hashLabel]: hash }
  const { labels = {} } = hashed.metadata
  const annotations = {
    'deployment.kubernetes.io/desired-replicas': String(desired),
    'deployment.kubernetes.io/max-replicas': String(desired + maxSurge(desired)),
    [revisionAnnotation]: String(revision),
  }
  const owned = {
    ownerReferences: [ownerReference(deployment)],
    managedFields: [managers.controller],
  }
  const metadata = { name: facts.name, namespace, generation: 1, labels, annotations, ...owned }
  const spec = { replicas, selector: { ...selector, matchLabels }, template: hashed }
  const status = replicaSetStatus(1, facts.counts)
  return identified(resources.replicaSets, { metadata, spec, status }, facts)
}

/** Whether the app's last rollout does not come to an end: its newest pod never becomes ready. */
function isStuck({ broken }: AppPlan): boolean {
  return broken !== undefined && broken.symptom !== 'FailedJob'
}

/** Newest first: the current revision, then one or two old ones. */
function planRevisions(stamp: AppStamp, manifest: Manifest, stuck: boolean): readonly Revision[] {
  const { app, random, createdAtMs, stamper } = stamp
  const { nowMs } = stamper.plan
  const newest = random.integer(3, 40)
  const old = random.integer(1, 2)
  const current = templateIn(stamper.written(manifest, app.values))
  const before = templateIn(stamper.written(manifest, app.values.with(app.previous)))
  let at = nowMs - (stuck ? random.integer(25, 55) * minute : random.integer(1, 14 * 24) * hour)
  return Array.from({ length: old + 1 }, (_, index): Revision => {
    const pods = stuck ? [1, app.pods - 1][index] : [app.pods][index]
    const template = index === 0 ? current : before
    const number = newest - index
    const hash = random.suffix(9)
    const revisionAtMs = at
    const states = Array.from({ length: pods ?? 0 }, () =>
      stuck && index === 0 ? brokenState(stamp, template, at) : runningState(stamp, at),
    )
    at = Math.max(createdAtMs, at - random.integer(1, 20) * day)
    return { number, hash, template, createdAtMs: revisionAtMs, states }
  })
}

const templateIn = ({ spec }: Written): PodTemplate =>
  (spec as { readonly template: PodTemplate }).template

/** The pod of a new version that does not come up. */
function brokenState(
  { app, stamper }: AppStamp,
  { spec }: PodTemplate,
  createdAtMs: number,
): PodState {
  const { nodes, nowMs } = stamper.plan
  const { name = '', image = '' } = spec.containers[0] ?? {}
  if (app.broken?.symptom === 'Unschedulable') {
    const ready = nodes.filter((node) => node.ready).length
    return { kind: 'unscheduled', message: tooLarge(nodes.length, ready) }
  }
  const at = stamper.place()
  if (app.broken?.symptom === 'ImagePullBackOff') {
    const sinceMs = createdAtMs + 4 * second
    return { kind: 'waiting', at, sinceMs, ...pullBackOff(image), restarts: 0 }
  }
  const finishedAtMs = nowMs - 2 * minute
  return {
    kind: 'waiting',
    at,
    sinceMs: createdAtMs + 9 * second,
    ...crashBackOff(name),
    restarts: 11,
    lastExit: { reason: 'Error', exitCode: 1, startedAtMs: finishedAtMs - 3000, finishedAtMs },
  }
}

/** Why the scheduler finds no node for a pod that asks for too much. */
export function tooLarge(nodes: number, ready: number): string {
  const taints = nodes === ready ? '' : `${nodes - ready} node(s) had untolerated taint(s), `
  return `0/${nodes} nodes are available: ${taints}${ready} Insufficient cpu, ${ready} Insufficient memory. preemption: 0/${nodes} nodes are available: ${nodes} No preemption victims found for incoming pod.`
}

interface Waiting<Reason> {
  readonly reason: Reason
  readonly message: string
}

/** What a container waits for whose image does not exist. */
export function pullBackOff(image: string): Waiting<'ImagePullBackOff'> {
  const message = `Back-off pulling image "${image}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`
  return { reason: 'ImagePullBackOff', message }
}

/** What a container waits for that crashes again and again. */
export function crashBackOff(container: string): Waiting<'CrashLoopBackOff'> {
  const message = `back-off 5m0s restarting failed container=${container}`
  return { reason: 'CrashLoopBackOff', message }
}

/** A pod that runs well; a few have been restarted. */
function runningState({ random, stamper }: AppStamp, createdAtMs: number): PodState {
  const at = stamper.place()
  const startedAtMs = createdAtMs + random.integer(4, 20) * second
  if (!random.chance(0.06)) return running(at, startedAtMs, startedAtMs + 8 * second, true)
  const ranForMs = Math.floor(random.next() * (stamper.plan.nowMs - startedAtMs) * 0.9)
  const finishedAtMs = startedAtMs + ranForMs
  return {
    kind: 'running',
    at,
    ready: true,
    restarts: 1,
    startedAtMs: finishedAtMs + second,
    sinceMs: finishedAtMs + 9 * second,
    lastExit: { reason: 'OOMKilled', exitCode: 137, startedAtMs, finishedAtMs },
  } as const
}

const running = (at: Placement, startedAtMs: number, sinceMs: number, ready: boolean) =>
  ({ kind: 'running', at, startedAtMs, sinceMs, ready, restarts: 0 }) as const

function countsOf(states: readonly PodState[]): PodCounts {
  return { active: states.length, ready: states.filter(isReady).length, terminating: 0 }
}

function shapeOf(
  stamper: Stamper,
  controller: Unstructured,
  labels?: Readonly<Record<string, string>>,
): PodShape {
  const template = templateOf(controller)
  const { namespace = '', name } = controller.metadata
  const priority = stamper.priorities.get(template.spec.priorityClassName ?? '') ?? 0
  const own = labels === undefined ? template : labelled(template, labels)
  return podShape(namespace, ownerReference(controller), own, priority, `${name}-`)
}

function* replicaItems(
  { random, stamper, app }: AppStamp,
  shape: PodShape,
  { createdAtMs, states }: Revision,
): Items {
  const { nowMs } = stamper.plan
  const backends: Backend[] = []
  const taken = new Set<string>()
  for (const state of states) {
    const name = freeName(random, shape.generateName, taken)
    const uid = firstUid(stamper.plan.seed, resources.pods, app.namespace, name)
    const bornAtMs = createdAtMs + random.integer(0, 3) * second
    const pod = withPodState(
      newPod(shape, { name, uid, createdAtMs: bornAtMs }),
      state,
      createdAtMs + 20 * second,
      shape,
    )
    yield { resource: resources.pods, object: pod }
    yield* troubleItems(pod, state, nowMs)
    if (hasAddress(state) && state.kind !== 'unscheduled')
      backends.push({ name, uid, at: state.at, ready: isReady(state), terminating: false })
  }
  return backends
}

function freeName(random: Random, prefix: string, taken: Set<string>): string {
  let name: string
  do name = prefix + random.suffix(5)
  while (taken.has(name))
  taken.add(name)
  return name
}

/** What the cluster still remembers of a pod's trouble; nothing of one that is well. */
function* troubleItems(
  pod: Unstructured,
  state: PodState,
  nowMs: number,
): Generator<PopulationItem> {
  const scheduler = { regarding: pod, component: 'default-scheduler' } as const
  if (state.kind === 'unscheduled') {
    const times = { firstAtMs: nowMs - 25 * minute, lastAtMs: nowMs - 20 * second, count: 12 }
    const told = {
      type: 'Warning',
      reason: 'FailedScheduling',
      message: state.message ?? '',
    } as const
    yield eventItem({ ...scheduler, ...told, ...times })
  }
  if (state.kind !== 'waiting') return
  const { at, sinceMs, reason, restarts } = state
  const { namespace = '', name } = pod.metadata
  const scheduledAtMs = sinceMs - 4 * second
  const message = `Successfully assigned ${namespace}/${name} to ${at.nodeName}`
  const once = { firstAtMs: scheduledAtMs, lastAtMs: scheduledAtMs, count: 1 }
  yield eventItem({ ...scheduler, type: 'Normal', reason: 'Scheduled', message, ...once })
  const since = { firstAtMs: sinceMs, lastAtMs: nowMs - 40 * second }
  const report = { ...kubeletReport(pod, at.nodeName), ...since }
  const { image } = mainContainer(pod)
  if (reason === 'ImagePullBackOff') {
    const failed = `Failed to pull image "${image}": not found`
    yield eventItem({ ...report, reason: 'Failed', message: failed, count: 6 })
    const again = `Back-off pulling image "${image}"`
    yield eventItem({ ...report, reason: 'BackOff', message: again, count: 130 })
  } else yield eventItem({ ...report, ...backOff(pod), count: restarts * 11 })
}

function* statefulSetItems(stamp: AppStamp, manifest: Manifest): Items {
  const { app, stamper, random, createdAtMs } = stamp
  const { nowMs, seed } = stamper.plan
  const hash = random.hex(10)
  const { object: statefulSet } = yield* emit(
    stamper.item(manifest, app.values, { createdAtMs }, (object) => {
      const { metadata, spec } = object
      const counts = { active: app.pods, ready: app.pods, terminating: 0 }
      const status = statefulSetStatus(1, counts, `${metadata.name}-${hash}`)
      const asked = { ...(spec as object), replicas: app.pods, ...claimTemplates(spec) }
      return { ...object, metadata: { ...metadata, generation: 1 }, spec: asked, status }
    }),
  )
  yield revisionItem(stamp, statefulSet, hash)
  const shape = shapeOf(stamper, statefulSet, { [revisionLabel]: hash })
  const backends: Backend[] = []
  for (let ordinal = 0; ordinal < app.pods; ordinal++) {
    const at = stamper.place()
    const name = `${statefulSet.metadata.name}-${ordinal}`
    const uid = firstUid(seed, resources.pods, app.namespace, name)
    yield* volumeItems(stamp, statefulSet, name, at)
    const bornAtMs = Math.max(createdAtMs, nowMs - random.integer(20, 900) * hour)
    const state = running(at, bornAtMs + 15 * second, bornAtMs + 35 * second, true)
    const identity = statefulPodIdentity(statefulSet, ordinal, uid, bornAtMs)
    const pod = withPodState(newPod(shape, identity), state, state.sinceMs, shape)
    yield { resource: resources.pods, object: pod }
    backends.push({ name, uid, at, ready: true, terminating: false })
  }
  return backends
}

/** The label that tells which revision of a StatefulSet or DaemonSet a pod has. */
export const revisionLabel = 'controller-revision-hash'

function* emit(item: PopulationItem): Generator<PopulationItem, PopulationItem> {
  yield item
  return item
}

interface ClaimTemplate {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly accessModes?: readonly string[]
    readonly storageClassName?: string
    readonly resources?: { readonly requests?: { readonly storage?: string } }
  }
}

function claimTemplates(spec: unknown): { readonly volumeClaimTemplates?: readonly object[] } {
  const { volumeClaimTemplates } = spec as {
    readonly volumeClaimTemplates?: readonly ClaimTemplate[]
  }
  if (volumeClaimTemplates === undefined) return {}
  const { apiVersion, kind } = resources.claims
  const filled = volumeClaimTemplates.map((one) => ({
    apiVersion,
    kind,
    metadata: one.metadata,
    spec: { volumeMode: 'Filesystem', ...one.spec },
    status: { phase: 'Pending' },
  }))
  return { volumeClaimTemplates: filled }
}

/** The claims of one pod of a StatefulSet, and the volumes bound to them. */
function* volumeItems(
  { app, stamper, createdAtMs }: AppStamp,
  statefulSet: Unstructured,
  pod: string,
  { nodeName }: Placement,
): Generator<PopulationItem> {
  const { scenario, seed } = stamper.plan
  const { volumeClaimTemplates = [] } = statefulSet['spec'] as {
    readonly volumeClaimTemplates?: readonly ClaimTemplate[]
  }
  for (const { metadata, spec } of volumeClaimTemplates) {
    const claim = `${metadata.name}-${pod}`
    const values = app.values.with({
      claim,
      claimUid: firstUid(seed, resources.claims, app.namespace, claim),
      zone: stamper.zones.get(nodeName) ?? '',
      accessModes: spec.accessModes ?? ['ReadWriteOnce'],
      storage: spec.resources?.requests?.storage ?? '1Gi',
      storageClass: spec.storageClassName ?? 'fast',
    })
    for (const manifest of scenario.volume) yield stamper.item(manifest, values, { createdAtMs })
  }
}

/** The stored revision of a StatefulSet or DaemonSet, which its pods name in a label. */
function revisionItem(
  { app, stamper, createdAtMs }: AppStamp,
  workload: Unstructured,
  hash: string,
): PopulationItem {
  const template = templateOf(workload)
  const name = `${workload.metadata.name}-${hash}`
  const metadata = {
    name,
    namespace: app.namespace,
    labels: { ...template.metadata.labels, [revisionLabel]: hash },
    ownerReferences: [ownerReference(workload)],
    managedFields: [managers.controller],
  }
  const data = { spec: { template: { ...template, $patch: 'replace' } } }
  const uid = firstUid(stamper.plan.seed, resources.controllerRevisions, app.namespace, name)
  const identity = { uid, createdAtMs }
  return identified(resources.controllerRevisions, { metadata, data, revision: 1 }, identity)
}

function* daemonSetItems(stamp: AppStamp, manifest: Manifest): Items {
  const { app, stamper, random, createdAtMs } = stamp
  const { nowMs, nodes, seed } = stamper.plan
  const hash = random.hex(10)
  const ready = nodes.filter((node) => node.ready).length
  const { object: daemonSet } = yield* emit(
    stamper.item(manifest, app.values, { createdAtMs }, (object) => {
      const { metadata } = object
      const annotations = {
        'deprecated.daemonset.template.generation': '1',
        ...metadata.annotations,
      }
      const status = daemonSetStatus(1, { active: nodes.length, ready, terminating: 0 })
      return { ...object, metadata: { ...metadata, generation: 1, annotations }, status }
    }),
  )
  yield revisionItem(stamp, daemonSet, hash)
  const shape = shapeOf(stamper, daemonSet, { [revisionLabel]: hash })
  const { hostNetwork = false } = shape.template.spec
  const backends: Backend[] = []
  const taken = new Set<string>()
  for (const node of nodes) {
    const name = freeName(random, shape.generateName, taken)
    const uid = firstUid(seed, resources.pods, app.namespace, name)
    const bornAtMs = Math.max(createdAtMs, nowMs - random.integer(24, 500) * hour)
    const at = stamper.placeOn(node, hostNetwork)
    // The kubelet of a silent node reports nothing more; the node controller has marked the pod as not ready.
    const sinceMs = node.ready ? bornAtMs + 9 * second : silentSinceMs(stamper) + 50 * second
    const state = running(at, bornAtMs + 4 * second, sinceMs, node.ready)
    const identity: PodIdentity = { name, uid, createdAtMs: bornAtMs, spec: boundTo(node) }
    const pod = withPodState(newPod(shape, identity), state, bornAtMs + 9 * second, shape)
    yield { resource: resources.pods, object: pod }
    backends.push({ name, uid, at, ready: node.ready, terminating: false })
  }
  return backends
}

/** Since when the broken node has been silent. */
export function silentSinceMs({ plan }: Stamper): number {
  return plan.nowMs - (plan.scenario.silentNodeMinutes ?? 0) * minute
}

function boundTo(node: NodePlan): Record<string, unknown> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node.name] }]
  const terms = { nodeSelectorTerms: [{ matchFields }] }
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }
}

interface Run {
  readonly startedAtMs: number
  /** One for a Job that succeeded, more for one that failed and tried again. */
  readonly pods: number
  readonly succeeded: boolean
}

function* cronJobItems(stamp: AppStamp, manifest: Manifest): Items {
  const { app, stamper, random, createdAtMs } = stamp
  const { seed } = stamper.plan
  let runs: readonly Run[] = []
  const { object: cronJob } = yield* emit(
    stamper.item(manifest, app.values, { createdAtMs }, (object) => {
      const { schedule = '' } = object['spec'] as { readonly schedule?: string }
      runs = lastRuns(app, schedule, stamper.plan.nowMs)
      const last = runs.at(-1)
      const good = runs.findLast(({ succeeded }) => succeeded)
      const status = {
        ...(last && { lastScheduleTime: timestamp(last.startedAtMs) }),
        ...(good && { lastSuccessfulTime: timestamp(good.startedAtMs + 50 * second) }),
      }
      return { ...object, metadata: { ...object.metadata, generation: 1 }, status }
    }),
  )
  for (const { startedAtMs, pods, succeeded } of runs) {
    const finishedAtMs = startedAtMs + pods * 50 * second
    const name = jobName(cronJob.metadata.name, startedAtMs)
    const uid = firstUid(seed, resources.jobs, app.namespace, name)
    const failed = succeeded ? 0 : pods
    const outcome = { kind: succeeded ? 'complete' : 'failed', finishedAtMs } as const
    const job = jobItem(cronJob, { name, uid, startedAtMs, failed, outcome })
    yield job
    const shape = shapeOf(stamper, job.object)
    for (let index = 0; index < pods; index++) {
      const podName = shape.generateName + random.suffix(5)
      const bornAtMs = startedAtMs + index * 50 * second
      const pod = newPod(shape, {
        name: podName,
        uid: firstUid(seed, resources.pods, app.namespace, podName),
        createdAtMs: bornAtMs,
      })
      const times = { startedAtMs: bornAtMs + 3 * second, finishedAtMs: bornAtMs + 40 * second }
      const exit = { ...exitOf(succeeded), ...times }
      const state = { kind: 'finished', at: stamper.place(), exit } as const
      const finished = withPodState(pod, state, times.finishedAtMs, shape)
      yield { resource: resources.pods, object: finished }
    }
  }
  return []
}

/** How the container of a Job ends. */
export function exitOf(succeeded: boolean): Pick<ContainerExit, 'reason' | 'exitCode'> {
  return succeeded ? { reason: 'Completed', exitCode: 0 } : { reason: 'Error', exitCode: 2 }
}

/** The last runs before now, oldest first; where a run failed, it is the last. */
function lastRuns({ broken, pods }: AppPlan, schedule: string, nowMs: number): readonly Run[] {
  const { periodMs, offsetMs } = cadenceOf(schedule)
  const lastAtMs = Math.floor((nowMs - 10 * minute - offsetMs) / periodMs) * periodMs + offsetMs
  const failed = broken !== undefined && pods > 1
  const good = failed ? pods - 2 : pods
  const runs: Run[] = Array.from({ length: good }, (_, index) => ({
    startedAtMs: lastAtMs - (good - index - (failed ? 0 : 1)) * periodMs,
    pods: 1,
    succeeded: true,
  }))
  return failed ? [...runs, { startedAtMs: lastAtMs, pods: 2, succeeded: false }] : runs
}

/** When a schedule runs, about: every so many minutes, every hour, or once a day. */
function cadenceOf(schedule: string): { readonly periodMs: number; readonly offsetMs: number } {
  const [atMinute = '', atHour = ''] = schedule.split(' ')
  const every = /^\*\/(\d+)$/.exec(atMinute)
  if (every !== null) return { periodMs: Number(every[1]) * minute, offsetMs: 0 }
  const minutes = (Number(atMinute) || 0) * minute
  if (atHour === '*') return { periodMs: hour, offsetMs: minutes }
  return { periodMs: day, offsetMs: (Number(atHour) || 0) * hour + minutes }
}

/** The name that the CronJob controller gives the Job of one scheduled time: it ends in that time, in minutes. */
export function jobName(cronJob: string, scheduledAtMs: number): string {
  return `${cronJob}-${Math.floor(scheduledAtMs / minute)}`
}

/** One Job of a CronJob. */
export function jobItem(
  cronJob: Unstructured,
  facts: {
    readonly name: string
    readonly uid: string
    readonly startedAtMs: number
    readonly failed: number
    readonly outcome: JobOutcome
  },
): PopulationItem {
  const { name, uid, startedAtMs, failed, outcome } = facts
  const { jobTemplate } = cronJob['spec'] as {
    readonly jobTemplate: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> }
      readonly spec: { readonly template: PodTemplate; readonly [field: string]: unknown }
    }
  }
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  const metadata = {
    name,
    namespace: cronJob.metadata.namespace ?? '',
    generation: 1,
    labels: { ...jobTemplate.metadata?.labels, ...labels },
    annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': timestamp(startedAtMs) },
    ownerReferences: [ownerReference(cronJob)],
    managedFields: [managers.controller],
  }
  const spec = {
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    completions: 1,
    manualSelector: false,
    parallelism: 1,
    podReplacementPolicy: 'TerminatingOrFailed',
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
    suspend: false,
    ...jobTemplate.spec,
    template: labelled(jobTemplate.spec.template, labels),
  }
  const status = jobStatus(startedAtMs, failed, outcome)
  const updatedAtMs = outcome.kind === 'active' ? startedAtMs : outcome.finishedAtMs
  return identified(
    resources.jobs,
    { metadata, spec, status },
    { uid, createdAtMs: startedAtMs, updatedAtMs },
  )
}
