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

/** An app that is being stamped. */
export interface AppStamp {
  readonly stamper: Stamper
  readonly app: AppPlan
  readonly random: Random
  /** When the app was deployed for the first time. */
  readonly createdAtMs: number
}

type Items = Generator<PopulationItem, readonly Backend[]>

/** The objects of an app's workload, by kind. Returns its pods with an address. */
export const workloadItems: Readonly<
  Record<string, (stamp: AppStamp, manifest: Manifest) => Items>
> = {
  Deployment: deploymentItems,
  StatefulSet: statefulSetItems,
  DaemonSet: daemonSetItems,
  CronJob: cronJobItems,
}

/** A revision of a Deployment, and so a ReplicaSet. */
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
  // A stuck rollout has one pod more than desired.
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
    // Only an unfinished rollout still has its Event.
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

/** The annotation with the revision of a Deployment and its ReplicaSets. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'

/** The label that identifies the revision of a Deployment's pods. */
export const hashLabel = 'pod-template-hash'

/** The ReplicaSet of a Deployment's template. */
export function replicaSetItem(
  deployment: Unstructured,
  template: PodTemplate,
  facts: {
    readonly name: string
    readonly uid: string
    readonly createdAtMs: number
    readonly hash: string
    readonly revision: number
    /** The replicas of the Deployment. */
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

/** Whether the last rollout of an app is stuck because its newest pod never becomes ready. */
function isStuck({ broken }: AppPlan): boolean {
  return broken !== undefined && broken.symptom !== 'FailedJob'
}

/** Plans the current revision, then one or two old ones. */
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

/** The state of a broken version's pod. */
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

/** The scheduler's message about a pod that requests too much. */
export function tooLarge(nodes: number, ready: number): string {
  const taints = nodes === ready ? '' : `${nodes - ready} node(s) had untolerated taint(s), `
  return `0/${nodes} nodes are available: ${taints}${ready} Insufficient cpu, ${ready} Insufficient memory. preemption: 0/${nodes} nodes are available: ${nodes} No preemption victims found for incoming pod.`
}

interface Waiting<Reason> {
  readonly reason: Reason
  readonly message: string
}

/** The state of a container whose image does not exist. */
export function pullBackOff(image: string): Waiting<'ImagePullBackOff'> {
  const message = `Back-off pulling image "${image}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`
  return { reason: 'ImagePullBackOff', message }
}

/** The state of a container in a crash loop. */
export function crashBackOff(container: string): Waiting<'CrashLoopBackOff'> {
  const message = `back-off 5m0s restarting failed container=${container}`
  return { reason: 'CrashLoopBackOff', message }
}

/** The state of a healthy pod. A few have restarted. */
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
  { random, stamper }: AppStamp,
  shape: PodShape,
  { createdAtMs, states }: Revision,
): Items {
  const backends: Backend[] = []
  const taken = new Set<string>()
  for (const state of states) {
    const name = freeName(random, shape.generateName, taken)
    const identity = { name, createdAtMs: createdAtMs + random.integer(0, 3) * second }
    backends.push(...(yield* podItems(stamper, shape, identity, state, createdAtMs + 20 * second)))
  }
  return backends
}

/** One pod and the Events about its problems. Returns the pod if it has an address. */
function* podItems(
  { plan: { seed, nowMs } }: Stamper,
  shape: PodShape,
  identity: Omit<PodIdentity, 'uid'>,
  state: PodState,
  reportedAtMs: number,
): Items {
  const { name } = identity
  const uid = firstUid(seed, resources.pods, shape.namespace, name)
  const pod = withPodState(newPod(shape, { uid, ...identity }), state, reportedAtMs, shape)
  yield { resource: resources.pods, object: pod }
  yield* troubleItems(pod, state, nowMs)
  if (!hasAddress(state) || state.kind === 'unscheduled') return []
  return [{ name, uid, at: state.at, ready: isReady(state), terminating: false }]
}

function freeName(random: Random, prefix: string, taken: Set<string>): string {
  let name: string
  do name = prefix + random.suffix(5)
  while (taken.has(name))
  taken.add(name)
  return name
}

/** The Events about the problems of a pod. */
function* troubleItems(
  pod: Unstructured,
  state: PodState,
  nowMs: number,
): Generator<PopulationItem> {
  const scheduler = { regarding: pod, component: 'default-scheduler' } as const
  if (state.kind === 'unscheduled') {
    const times = { firstAtMs: nowMs - 25 * minute, lastAtMs: nowMs - 20 * second, count: 12 }
    const report = {
      type: 'Warning',
      reason: 'FailedScheduling',
      message: state.message ?? '',
    } as const
    yield eventItem({ ...scheduler, ...report, ...times })
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
  const { nowMs } = stamper.plan
  const hash = random.hex(10)
  const { object: statefulSet } = yield* emit(
    stamper.item(manifest, app.values, { createdAtMs }, (object) => {
      const { metadata, spec } = object
      const counts = { active: app.pods, ready: app.pods, terminating: 0 }
      const status = statefulSetStatus(1, counts, `${metadata.name}-${hash}`)
      return { ...object, spec: { ...(spec as object), replicas: app.pods }, status }
    }),
  )
  yield revisionItem(stamp, statefulSet, hash)
  const shape = shapeOf(stamper, statefulSet, { [revisionLabel]: hash })
  const backends: Backend[] = []
  for (let ordinal = 0; ordinal < app.pods; ordinal++) {
    const at = stamper.place()
    yield* volumeItems(stamp, statefulSet, `${statefulSet.metadata.name}-${ordinal}`, at)
    const podCreatedAtMs = Math.max(createdAtMs, nowMs - random.integer(20, 900) * hour)
    const state = running(at, podCreatedAtMs + 15 * second, podCreatedAtMs + 35 * second, true)
    const identity = { createdAtMs: podCreatedAtMs, ...statefulPodIdentity(statefulSet, ordinal) }
    backends.push(...(yield* podItems(stamper, shape, identity, state, state.sinceMs)))
  }
  return backends
}

/** The label that identifies the revision of a StatefulSet's or DaemonSet's pods. */
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

/** The claims of a StatefulSet's pod, and their volumes. */
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

/** The stored revision of a StatefulSet or DaemonSet. Pods name it in a label. */
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
  const { nowMs, nodes } = stamper.plan
  const hash = random.hex(10)
  const ready = nodes.filter((node) => node.ready).length
  const { object: daemonSet } = yield* emit(
    stamper.item(manifest, app.values, { createdAtMs }, (object) => ({
      ...object,
      status: daemonSetStatus(1, { active: nodes.length, ready, terminating: 0 }),
    })),
  )
  yield revisionItem(stamp, daemonSet, hash)
  const shape = shapeOf(stamper, daemonSet, { [revisionLabel]: hash })
  const { hostNetwork = false } = shape.template.spec
  const backends: Backend[] = []
  const taken = new Set<string>()
  for (const node of nodes) {
    const name = freeName(random, shape.generateName, taken)
    const podCreatedAtMs = Math.max(createdAtMs, nowMs - random.integer(24, 500) * hour)
    const at = stamper.placeOn(node, hostNetwork)
    // The node controller has marked the pod of a silent node as not ready.
    const sinceMs = node.ready ? podCreatedAtMs + 9 * second : silentSinceMs(stamper) + 50 * second
    const state = running(at, podCreatedAtMs + 4 * second, sinceMs, node.ready)
    const identity = { name, createdAtMs: podCreatedAtMs, spec: boundTo(node) }
    backends.push(
      ...(yield* podItems(stamper, shape, identity, state, podCreatedAtMs + 9 * second)),
    )
  }
  return backends
}

/** The time since which the broken node is silent. */
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
  /** One pod for a Job that succeeded, more for one that failed and retried. */
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
      return { ...object, status }
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
      const podCreatedAtMs = startedAtMs + index * 50 * second
      const identity = { name: shape.generateName + random.suffix(5), createdAtMs: podCreatedAtMs }
      const times = {
        startedAtMs: podCreatedAtMs + 3 * second,
        finishedAtMs: podCreatedAtMs + 40 * second,
      }
      const exit = { ...exitOf(succeeded), ...times }
      const state = { kind: 'finished', at: stamper.place(), exit } as const
      yield* podItems(stamper, shape, identity, state, times.finishedAtMs)
    }
  }
  return []
}

/** The exit of a Job's container. */
export function exitOf(succeeded: boolean): Pick<ContainerExit, 'reason' | 'exitCode'> {
  return succeeded ? { reason: 'Completed', exitCode: 0 } : { reason: 'Error', exitCode: 2 }
}

/** The last runs before now, oldest first. A failed run is the last. */
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

/** The approximate period of a schedule: some minutes, an hour, or a day. */
function cadenceOf(schedule: string): { readonly periodMs: number; readonly offsetMs: number } {
  const [atMinute = '', atHour = ''] = schedule.split(' ')
  const every = /^\*\/(\d+)$/.exec(atMinute)
  if (every !== null) return { periodMs: Number(every[1]) * minute, offsetMs: 0 }
  const minutes = (Number(atMinute) || 0) * minute
  if (atHour === '*') return { periodMs: hour, offsetMs: minutes }
  return { periodMs: day, offsetMs: (Number(atHour) || 0) * hour + minutes }
}

/** The name of a CronJob's Job: it ends in the scheduled time in minutes. */
export function jobName(cronJob: string, scheduledAtMs: number): string {
  return `${cronJob}-${Math.floor(scheduledAtMs / minute)}`
}

/** A Job of a CronJob. */
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
