/*
 * Makes the objects of a plan, owners first. Each app is built on a workbench: its manifests, then what its controllers
 * would have made of them by now, revisions and pods, claims and volumes, runs of CronJobs. What is broken on purpose goes
 * through the steps of the churn instead, so that it fails as in a cluster. Then the churn's own controllers write the
 * status of all, and the objects of the app are yielded.
 */

import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { microTimestamp, timestamp } from '../../kubernetes/timestamp.ts'
import type { StatefulSet } from '../../kubernetes/wire/apps-v1.ts'
import type { CronJob } from '../../kubernetes/wire/batch-v1.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import {
  Cluster,
  type ClusterWriter,
  type Controller,
  revisionAnnotation,
} from '../churn/cluster.ts'
import {
  createReplicaSet,
  reconcile,
  revisionLabel,
  startJob,
  statefulPodIdentity,
} from '../churn/controllers.ts'
import { loseNode, type NodeRecord, Nodes, withHealth, withReady } from '../churn/nodes.ts'
import {
  day,
  hour,
  identified,
  minute,
  ownerReference,
  type PopulationItem,
  type PopulationResource,
  second,
  type Written,
} from '../churn/object.ts'
import {
  imageIdOf,
  type PodIdentity,
  type PodShape,
  templateOf,
  withPodState,
} from '../churn/pod.ts'
import { advancePods, createPod, podOf, shapeOf, turnCrashingPod } from '../churn/pods.ts'
import { createRandom, uidDigest } from '../churn/random.ts'
import { syncChanged } from '../churn/status.ts'
import type { ResourceName } from '../storage/storage.ts'
import {
  type AppPlan,
  type NodePlan,
  type Plan,
  planPopulation,
  type PopulationOptions,
} from './plan.ts'
import type { Manifest } from './scenario.ts'
import { ScenarioError, type Values } from './template.ts'

/**
 * Yields the objects of a scenario's cluster, owners before the objects that they own. Objects have UIDs, creation
 * timestamps, managed fields and status, but no resourceVersion. They share structure: do not change them. The same
 * options give the same objects. Memory grows with the number of nodes and the size of an app, not with the number of
 * pods. Throws `PopulationError` at once for impossible options, and `ScenarioError` for an invalid scenario.
 */
export function population(options: PopulationOptions = {}): Generator<PopulationItem, void> {
  return itemsOf(planPopulation(options))
}

const clusterAgeMs = 420 * day
const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

function* itemsOf(plan: Plan): Generator<PopulationItem, void> {
  const { scenario, values, nowMs, nodes, namespaces } = plan
  const createdAtMs = nowMs - clusterAgeMs
  const shared = new Workbench(undefined)
  const all = (manifests: readonly Manifest[], own: Values): PopulationItem[] =>
    manifests.map((manifest) => {
      const object = stamped(plan, manifest, own, createdAtMs)
      if (object.kind === 'PriorityClass') shared.create(manifest.resource, object)
      return { resource: manifest.resource, object }
    })
  yield* all(
    scenario.cluster.filter(({ namespaced }) => !namespaced),
    values,
  )
  for (const namespace of systemNamespaces)
    yield* all(scenario.systemNamespace, values.with({ namespace }))
  // Nodes report the images of the first apps.
  const named = namespaces.flatMap(({ apps }) =>
    apps.map((app) => String(app.values.get('image', 'scenario.yaml'))),
  )
  const images = [...new Set(named)].slice(0, 24).map((image, index) => ({
    names: [imageIdOf(image), image],
    sizeBytes: 18_000_000 + ((index * 7_919_333) % 240_000_000),
  }))
  const known = new Nodes()
  for (const node of nodes) yield* nodeItems(plan, node, images, known)
  for (const { name, values: own } of namespaces)
    if (!systemNamespaces.includes(name)) yield* all(scenario.namespace, own)
  yield* all(
    scenario.cluster.filter(({ namespaced }) => namespaced),
    values.with({ namespace: 'default' }),
  )
  for (const { apps } of namespaces)
    for (const app of apps) yield* appItems(plan, app, known, shared)
}

/** A node with its Lease and CSINode, and an Event if it is silent. */
function* nodeItems(
  plan: Plan,
  node: NodePlan,
  images: readonly object[],
  known: Nodes,
): Generator<PopulationItem> {
  const { scenario, seed, nowMs } = plan
  const random = createRandom(`${seed}/node/${node.name}`)
  const createdAtMs = nowMs - random.integer(20, 90) * day
  const heardAtMs = node.ready ? nowMs - (node.index % 10) * second : silentSinceMs(plan)
  const values = node.values.with({ heardAt: microTimestamp(heardAtMs) })
  const healthy = (object: Written): Written => {
    const reporting = withHealth(object, true, heardAtMs, createdAtMs + minute)
    return { ...reporting, status: { ...(reporting.status as object), images } }
  }
  const lostAtMs = heardAtMs + 40 * second
  const bench = new Workbench(undefined)
  const cluster = new Cluster(bench, random, () => lostAtMs, { nodes: known })
  for (const manifest of scenario.node) {
    const { resource } = manifest
    const isNode = resource.kind === 'Node'
    const object = stamped(plan, manifest, values, createdAtMs, isNode ? healthy : undefined)
    bench.create(resource, object)
    if (!isNode || node.ready) continue
    const lost = loseNode(bench, object, [], lostAtMs)
    const message = `Node ${node.name} status is now: NodeNotReady`
    cluster.record(lost, 'node-controller', 'NodeNotReady', message)
  }
  yield* bench.items(nowMs)
}

/** The objects of an app: its manifests, and what the controllers make of them. */
function* appItems(
  plan: Plan,
  app: AppPlan,
  nodes: Nodes,
  shared: Workbench,
): Generator<PopulationItem> {
  const { seed, nowMs } = plan
  const random = createRandom(`${seed}/app/${app.namespace}/${app.name}`)
  const createdAtMs = nowMs - random.integer(60, 400) * day
  const values = app.values.with({ createdAt: timestamp(createdAtMs), pods: app.pods })
  const bench = new Workbench(shared)
  let clockMs = createdAtMs
  const cluster = new Cluster(bench, random, () => clockMs, { nodes })
  const stamp: AppStamp = {
    cluster,
    plan,
    app: { ...app, values },
    createdAtMs,
    setClock: (atMs) => (clockMs = atMs),
    create: (manifest, change, own = values) =>
      bench.create(manifest.resource, stamped(plan, manifest, own, createdAtMs, change)),
  }
  for (const manifest of app.manifests) {
    const workload = workloads[manifest.resource.kind]
    if (workload === undefined) stamp.create(manifest)
    else workload(stamp, manifest)
  }
  syncChanged(cluster)
  yield* bench.items(nowMs)
}

type Follower = Parameters<ClusterWriter['follow']>[0]

/** Holds the objects of one app while the churn's controllers run over them, before they are yielded. */
class Workbench implements ClusterWriter {
  readonly #items = new Map<string, PopulationItem>()
  readonly #shared: ReadonlyMap<string, PopulationItem>
  #follower: Follower = () => undefined

  /** `shared` are objects of the cluster that controllers read. */
  constructor(shared: Workbench | undefined) {
    this.#shared = shared === undefined ? new Map() : shared.#items
  }

  /** The objects in the order of their creation. Events live for an hour. */
  *items(nowMs: number): Generator<PopulationItem> {
    for (const item of this.#items.values()) {
      const { lastTimestamp = '' } = item.object as { readonly lastTimestamp?: string }
      const isOld = item.object.kind === 'Event' && Date.parse(lastTimestamp) < nowMs - hour
      if (!isOld) yield item
    }
  }

  create(resource: ResourceName, object: Unstructured): Unstructured {
    const { namespace = '', name } = object.metadata
    const { apiVersion, kind } = object
    const known = getOrInsert(knownResources, resource, () => ({
      ...resource,
      apiVersion,
      kind,
      groupResource: groupResourceOf(resource),
    }))
    this.#items.set(`${known.groupResource}/${namespace}/${name}`, { resource: known, object })
    this.#follower(known, { namespace, name }, object)
    return object
  }

  update(resource: ResourceName, object: Unstructured): Unstructured {
    return this.create(resource, object)
  }

  delete(resource: ResourceName, namespace: string, name: string): void {
    this.#items.delete(keyOf(resource, namespace, name))
    this.#follower({ groupResource: groupResourceOf(resource) }, { namespace, name }, undefined)
  }

  get(resource: ResourceName, namespace: string, name: string): Unstructured | undefined {
    const key = keyOf(resource, namespace, name)
    return (this.#items.get(key) ?? this.#shared.get(key))?.object
  }

  /** Nothing: the controllers list once, before there are objects. */
  list(): Iterable<Unstructured> {
    return []
  }

  follow(follower: Follower): void {
    this.#follower = follower
  }
}

const keyOf = (resource: ResourceName, namespace: string, name: string): string =>
  `${groupResourceOf(resource)}/${namespace}/${name}`

/** Thousands of objects share a resource. */
const knownResources = new WeakMap<
  ResourceName,
  PopulationResource & { readonly groupResource: string }
>()

/** An app that is being stamped, and the controllers that run over it. */
interface AppStamp {
  readonly cluster: Cluster
  readonly plan: Plan
  readonly app: AppPlan
  /** When the app was deployed for the first time. */
  readonly createdAtMs: number
  readonly setClock: (atMs: number) => void
  readonly create: (
    manifest: Manifest,
    change?: (object: Written) => Written,
    values?: Values,
  ) => Unstructured
}

const workloads: Readonly<Record<string, (stamp: AppStamp, manifest: Manifest) => void>> = {
  Deployment: stampDeployment,
  StatefulSet: stampStatefulSet,
  DaemonSet: stampDaemonSet,
  CronJob: stampCronJob,
}

/** A Deployment with its current revision and one or two old ones. A broken version is stuck in its rollout. */
function stampDeployment(stamp: AppStamp, manifest: Manifest): void {
  const { app, cluster, createdAtMs, plan, setClock } = stamp
  const { random, nodes } = cluster
  const isStuck = app.broken !== undefined
  // A stuck rollout has one pod more than desired.
  const replicas = isStuck ? Math.max(1, app.pods - 1) : app.pods
  const newest = random.integer(3, 40)
  const deployment = stamp.create(manifest, ({ metadata, ...object }) => ({
    ...object,
    metadata: {
      ...metadata,
      generation: newest + 2,
      annotations: { [revisionAnnotation]: String(newest), ...metadata.annotations },
    },
    spec: { ...(object['spec'] as object), replicas },
  }))
  const before = written(manifest, app.values.with(app.previous))
  const agoMs = isStuck ? random.integer(25, 55) * minute : random.integer(1, 14 * 24) * hour
  const rolledOutAtMs = plan.nowMs - agoMs
  const pods = isStuck ? [1, app.pods - 1] : [app.pods]
  const old = random.integer(1, 2)
  for (let index = 0, atMs = rolledOutAtMs; index <= old; index++) {
    setClock(atMs)
    const count = pods[index] ?? 0
    const template = templateOf(index === 0 ? deployment : before)
    const revision = createReplicaSet(cluster, deployment, template, newest - index, count)
    if (isStuck && index === 0) stampBrokenPod(stamp, revision)
    else if (count > 0) {
      const shape = shapeOf(cluster, cluster.require(resources.replicaSets, revision))
      for (let number = 0; number < count; number++) {
        const podCreatedAtMs = atMs + random.integer(0, 3) * second
        stampPod(stamp, shape, nodes.place(random), { createdAtMs: podCreatedAtMs })
      }
    }
    atMs = Math.max(createdAtMs, atMs - random.integer(1, 20) * day)
  }
  setClock(rolledOutAtMs + minute)
  if (!isStuck) return
  syncChanged(cluster)
  // Past the deadline of the rollout.
  setClock(rolledOutAtMs + 12 * minute)
  for (const revision of cluster.ofKind('ReplicaSet')) cluster.changed.add(revision)
}

/** Lets the first pod of a broken version fail, from its creation until now. */
function stampBrokenPod({ app, cluster, plan, setClock }: AppStamp, revision: Controller): void {
  let atMs = cluster.now()
  createPod(cluster, revision)
  const [pod] = revision.pods
  if (pod === undefined || app.broken === undefined) return
  const { symptom } = app.broken
  if (symptom !== 'Unschedulable') cluster.badImages.set(pod.image, symptom)
  while (advancePods(cluster, revision)) setClock((atMs += 3 * second))
  if (symptom !== 'CrashLoopBackOff') return
  const turnMs = (plan.nowMs - atMs) / (crashes * 2)
  // Each restart takes two turns: the container starts, and ends.
  for (let turn = 1; turn < crashes * 2; turn++) {
    setClock(atMs + turn * turnMs)
    turnCrashingPod(cluster, pod)
  }
}

/** How often the container of a crash loop has ended. */
const crashes = 12

/** A ready pod on a node. A few have been killed once. */
function stampPod(
  { cluster, plan }: AppStamp,
  shape: PodShape,
  node: NodeRecord | undefined,
  identity: Partial<PodIdentity> & { readonly createdAtMs: number },
): Unstructured {
  const { random, nodes } = cluster
  if (node === undefined) throw new RangeError('no node has room for another pod')
  const pod = podOf(cluster, shape, identity)
  const at = nodes.placement(node, shape.template.spec.hostNetwork)
  const startedAtMs = identity.createdAtMs + random.integer(4, 20) * second
  const readyAtMs = startedAtMs + 8 * second
  const wasKilled = random.chance(0.06)
  const finishedAtMs = startedAtMs + Math.floor(random.next() * (plan.nowMs - readyAtMs) * 0.9)
  const killed = {
    startedAtMs: finishedAtMs + second,
    sinceMs: finishedAtMs + 9 * second,
    restarts: 1,
    lastExit: { reason: 'OOMKilled', exitCode: 137, startedAtMs, finishedAtMs },
  }
  const times = wasKilled ? killed : { startedAtMs, sinceMs: readyAtMs, restarts: 0 }
  const state = { kind: 'running', at, ready: true, ...times } as const
  return cluster.create(resources.pods, withPodState(pod, state, readyAtMs, shape))
}

function stampStatefulSet(stamp: AppStamp, manifest: Manifest): void {
  const { app, cluster, createdAtMs, plan } = stamp
  const { random, nodes } = cluster
  const hash = random.hex(10)
  const statefulSet = stamp.create(manifest, (object) => ({
    ...object,
    spec: { ...(object['spec'] as object), replicas: app.pods },
    status: { replicas: 0, updateRevision: `${object.metadata.name}-${hash}` },
  }))
  stampRevision(stamp, statefulSet, hash)
  const shape = shapeOf(cluster, statefulSet, { [revisionLabel]: hash })
  for (let ordinal = 0; ordinal < app.pods; ordinal++) {
    const node = nodes.place(random)
    const identity = statefulPodIdentity(statefulSet, ordinal)
    stampVolumes(stamp, statefulSet, identity.name, node?.zone ?? '')
    const podCreatedAtMs = Math.max(createdAtMs, plan.nowMs - random.integer(20, 900) * hour)
    stampPod(stamp, shape, node, { createdAtMs: podCreatedAtMs, ...identity })
  }
}

/** The claims of a StatefulSet's pod, and their volumes. */
function stampVolumes(
  { app, plan, create }: AppStamp,
  statefulSet: Unstructured,
  pod: string,
  zone: string,
): void {
  const { spec } = statefulSet as StatefulSet & Unstructured
  for (const { metadata, spec: wanted } of spec?.volumeClaimTemplates ?? []) {
    const claim = `${metadata?.name ?? ''}-${pod}`
    const values = app.values.with({
      claim,
      claimUid: firstUid(plan.seed, resources.persistentVolumeClaims, app.namespace, claim),
      zone,
      accessModes: wanted?.accessModes ?? ['ReadWriteOnce'],
      storage: wanted?.resources?.requests?.['storage'] ?? '1Gi',
      storageClass: wanted?.storageClassName ?? 'fast',
    })
    for (const manifest of plan.scenario.volume) create(manifest, undefined, values)
  }
}

/** The stored revision of a StatefulSet or DaemonSet. Pods name it in a label. */
function stampRevision(
  { cluster, createdAtMs }: AppStamp,
  workload: Unstructured,
  hash: string,
): void {
  const template = templateOf(workload)
  const { name, namespace = '' } = workload.metadata
  const metadata = {
    name: `${name}-${hash}`,
    namespace,
    labels: { ...template.metadata?.labels, [revisionLabel]: hash },
    ownerReferences: [ownerReference(workload)],
  }
  const data = { spec: { template: { ...template, $patch: 'replace' } } }
  const identity = { uid: cluster.random.uid(), createdAtMs }
  const resource = resources.controllerRevisions
  cluster.create(resource, identified(resource, { metadata, data, revision: 1 }, identity))
}

function stampDaemonSet(stamp: AppStamp, manifest: Manifest): void {
  const { cluster, createdAtMs, plan } = stamp
  const { random, nodes } = cluster
  const hash = random.hex(10)
  const daemonSet = stamp.create(manifest)
  stampRevision(stamp, daemonSet, hash)
  const shape = shapeOf(cluster, daemonSet, { [revisionLabel]: hash })
  for (const node of nodes) {
    const podCreatedAtMs = Math.max(createdAtMs, plan.nowMs - random.integer(24, 500) * hour)
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node.name] }]
    const terms = { nodeSelectorTerms: [{ matchFields }] }
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: terms }
    const identity = { createdAtMs: podCreatedAtMs, spec: { affinity: { nodeAffinity } } }
    const pod = stampPod(stamp, shape, node, identity)
    if (node.ready) continue
    const noticedAtMs = silentSinceMs(plan) + 50 * second
    cluster.update(resources.pods, withReady(pod, false, noticedAtMs))
  }
}

/** The time since which the broken node is silent. */
function silentSinceMs({ nowMs, scenario }: Plan): number {
  return nowMs - (scenario.silentNodeMinutes ?? 0) * minute
}

/** A CronJob with its last runs, oldest first. The new version of a broken app has failed in the last one. */
function stampCronJob(stamp: AppStamp, manifest: Manifest): void {
  const { app, cluster, plan, setClock } = stamp
  const { broken, previous, values, pods } = app
  const cronJob = stamp.create(manifest, (object) => ({ ...object, status: {} })) as CronJob &
    Unstructured
  const [record] = cluster.ofKind('CronJob')
  if (record === undefined) return
  const before = broken ? written(manifest, values.with(previous)) : cronJob
  const { periodMs, offsetMs } = cadenceOf(cronJob.spec.schedule)
  const dueMs = plan.nowMs - 10 * minute - offsetMs
  const lastAtMs = Math.floor(dueMs / periodMs) * periodMs + offsetMs
  // A failed run takes two pods.
  const fails = broken !== undefined && pods > 1
  const runs = fails ? pods - 1 : pods
  for (let run = 1; run <= runs; run++) {
    let atMs = lastAtMs - (runs - run) * periodMs
    setClock(atMs)
    const isBad = fails && run === runs
    const job = startJob(cluster, record, isBad ? cronJob : (before as typeof cronJob))
    const { image = '' } = cronJob.spec.jobTemplate.spec?.template.spec?.containers[0] ?? {}
    if (isBad) cluster.badImages.set(image, 'FailedJob')
    while (reconcile(cluster, job)) setClock((atMs += 5 * second))
  }
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

/** The object of a manifest, completed as an API server would. `change` adds the parts that no manifest has. */
function stamped(
  { seed, scenario, applications }: Plan,
  manifest: Manifest,
  values: Values,
  createdAtMs: number,
  change: (object: Written) => Written = (object) => object,
): Unstructured {
  const { resource, place } = manifest
  const object = change(written(manifest, values))
  const { name, namespace = '', ownerReferences, managedFields = [deployer] } = object.metadata
  if (typeof name !== 'string') throw new ScenarioError(place, `a ${resource.kind} without a name`)
  const uidOf = (owner: OwnerReference): string => {
    const kind = scenario.kindOf(owner.apiVersion, owner.kind)
    if (kind === undefined) throw new ScenarioError(place, `its owner is an unknown ${owner.kind}`)
    return firstUid(seed, kind.resource, kind.namespaced ? namespace : '', owner.name)
  }
  const owners = ownerReferences?.map((owner) => ({ ...owner, uid: uidOf(owner) }))
  const owned = owners === undefined ? {} : { ownerReferences: owners }
  const tracked = `${resource.group}/${resource.kind}:${namespace}/${name}`
  const application = applications.get(tracked)
  const tracking = { 'argocd.argoproj.io/tracking-id': `${application}:${tracked}` }
  const metadata = {
    ...object.metadata,
    ...owned,
    ...(application && { annotations: { ...object.metadata.annotations, ...tracking } }),
    managedFields,
  }
  const uid = firstUid(seed, resource, namespace, name)
  return identified(resource, { ...object, metadata }, { uid, createdAtMs })
}

const deployer = { manager: 'argocd-controller', operation: 'Apply' } as const

/** The UID of a manifest's object. It follows from the seed and the object's name. */
function firstUid(
  seed: string,
  { group, resource }: ResourceName,
  namespace: string,
  name: string,
): string {
  return uidDigest(`${seed}/${group}/${resource}/${namespace}/${name}`)
}

/** A manifest with its values, before it has an identity. Makes the `data` of a Secret. */
function written({ fill, namespaced, resource: { kind } }: Manifest, values: Values): Written {
  const { stringData, ...object } = fill(values) as Written
  const { metadata } = object
  const isPlaced = !namespaced || metadata.namespace !== undefined
  const placed = isPlaced
    ? object
    : { ...object, metadata: { ...metadata, namespace: String(values.get('namespace', kind)) } }
  if (stringData === undefined) return placed
  const texts = Object.entries(stringData as Readonly<Record<string, unknown>>)
  const data = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')])
  return { ...placed, data: { ...(object['data'] as object), ...Object.fromEntries(data) } }
}
