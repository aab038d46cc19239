import type { KubernetesObject } from '../../kubernetes/object.ts'
import { type AppContext, type BackendPod, firstUid } from './app-context.ts'
import { appLabels, selectorLabels } from './app-labels.ts'
import { appTemplate } from './app-template.ts'
import { podEventItems } from './pod-events.ts'
import { managers } from './managed-fields.ts'
import { newPod, podShape, type PodShape, withPodState } from './pod.ts'
import type { PodTemplate } from './pod-spec.ts'
import { hasAddress, isReady, type PodState } from './pod-state.ts'
import {
  type ObjectParts,
  ownerReference,
  type PopulationItem,
  populationItem,
} from './population-object.ts'
import { resources } from './resources.ts'
import { day, hour, minute, second } from './timestamp.ts'
import {
  deploymentStatus,
  type PodCounts,
  type Progress,
  replicaSetStatus,
} from './workload-status.ts'

/** How many old ReplicaSets a Deployment keeps. */
export const revisionHistoryLimit = 2

interface Revision {
  readonly number: number
  readonly hash: string
  readonly image: string
  readonly createdAtMs: number
  readonly states: readonly PodState[]
}

/** A Deployment, its ReplicaSets and their pods; returns the pods that have an address. */
export function* deploymentItems(
  context: AppContext,
): Generator<PopulationItem, readonly BackendPod[]> {
  const { app, seed } = context
  const revisions = planRevisions(context)
  const desired = desiredOf(app.pods, app.fault)
  const deployment = deploymentItem(context, revisions, desired)
  yield deployment
  const backends: BackendPod[] = []
  for (const revision of revisions) {
    const name = `${app.name}-${revision.hash}`
    const uid = firstUid(seed, resources.replicaSets, app.namespace, name)
    const template = hashedTemplate(appTemplate(app, revision.image), revision.hash)
    const replicaSet = populationItem(resources.replicaSets, {
      ...replicaSetParts(deployment.object, template, revision.number, desired, {
        name,
        uid,
        createdAtMs: revision.createdAtMs,
      }),
      body: replicaSetBody(template, revision.states.length, 1, countsOf(revision.states)),
    })
    yield replicaSet
    if (revision.states.length === 0) continue
    const shape = podShape(app.namespace, ownerReference(replicaSet), template, `${name}-`)
    yield* podItems(context, shape, revision, backends)
  }
  return backends
}

/** The template of a ReplicaSet: the Deployment's, with the hash that tells revisions apart. */
export function hashedTemplate(template: PodTemplate, hash: string): PodTemplate {
  const labels = { ...template.metadata.labels, 'pod-template-hash': hash }
  return { ...template, metadata: { ...template.metadata, labels } }
}

/** All parts of a ReplicaSet but its body, derived from its Deployment. */
export function replicaSetParts(
  deployment: KubernetesObject,
  template: PodTemplate,
  revision: number,
  desired: number,
  identity: Pick<ObjectParts, 'name' | 'uid' | 'createdAtMs'>,
): Omit<ObjectParts, 'body'> {
  const owner = ownerReference({ resource: resources.deployments, object: deployment })
  return {
    ...identity,
    namespace: deployment.metadata.namespace ?? '',
    generation: 1,
    labels: template.metadata.labels,
    annotations: {
      'deployment.kubernetes.io/desired-replicas': String(desired),
      'deployment.kubernetes.io/max-replicas': String(desired + Math.ceil(desired / 4)),
      'deployment.kubernetes.io/revision': String(revision),
    },
    ownerReferences: [owner],
    manager: managers.controller,
  }
}

/** `spec` and `status` of a ReplicaSet. */
export function replicaSetBody(
  template: PodTemplate,
  replicas: number,
  generation: number,
  counts: PodCounts,
): Record<string, unknown> {
  const { labels } = template.metadata
  const matchLabels = Object.fromEntries(
    ['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'pod-template-hash'].map((key) => [
      key,
      labels[key] ?? '',
    ]),
  )
  return {
    spec: { replicas, selector: { matchLabels }, template },
    status: replicaSetStatus(generation, counts),
  }
}

function deploymentItem(
  context: AppContext,
  revisions: readonly Revision[],
  desired: number,
): PopulationItem {
  const { app, seed, createdAtMs } = context
  const current = revisions[0]
  const generation = (current?.number ?? 1) + 2
  const progress: Progress = {
    reason:
      app.fault === 'CrashLoopBackOff' || app.fault === 'ImagePullBackOff'
        ? 'ProgressDeadlineExceeded'
        : 'NewReplicaSetAvailable',
  }
  const progressedAtMs = (current?.createdAtMs ?? createdAtMs) + minute
  return populationItem(resources.deployments, {
    name: app.name,
    namespace: app.namespace,
    uid: firstUid(seed, resources.deployments, app.namespace, app.name),
    createdAtMs,
    updatedAtMs: progressedAtMs,
    generation,
    labels: appLabels(app),
    annotations: {
      'deployment.kubernetes.io/revision': String(current?.number ?? 1),
      'argocd.argoproj.io/tracking-id': `${app.namespace}:apps/Deployment:${app.namespace}/${app.name}`,
    },
    body: {
      spec: {
        progressDeadlineSeconds: 600,
        replicas: desired,
        revisionHistoryLimit,
        selector: { matchLabels: selectorLabels(app) },
        strategy: {
          rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
          type: 'RollingUpdate',
        },
        template: appTemplate(app),
      },
      status: deploymentStatus({
        generation,
        desired,
        counts: countsOf(revisions.flatMap(({ states }) => states)),
        updated: current?.states.length ?? 0,
        replicaSetName: `${app.name}-${current?.hash ?? ''}`,
        progress,
        atMs: progressedAtMs,
        previous: [],
      }),
    },
  })
}

function desiredOf(pods: number, fault: string | undefined): number {
  const stuck = fault === 'CrashLoopBackOff' || fault === 'ImagePullBackOff'
  return stuck ? Math.max(1, pods - 1) : pods
}

function countsOf(states: readonly PodState[]): PodCounts {
  return { active: states.length, ready: states.filter(isReady).length, terminating: 0 }
}

/** Newest first: the current revision, then one or two old ones. */
function planRevisions(context: AppContext): readonly Revision[] {
  const { app, random, nowMs, createdAtMs } = context
  const newest = random.integer(3, 40)
  const stuck = app.fault === 'CrashLoopBackOff' || app.fault === 'ImagePullBackOff'
  const old = random.integer(1, 2)
  let at = nowMs - (stuck ? random.integer(25, 55) * minute : random.integer(1, 14 * 24) * hour)
  const revisions: Revision[] = []
  for (let index = 0; index <= old; index++) {
    const pods = stuck
      ? index === 0
        ? Math.min(1, app.pods)
        : index === 1
          ? app.pods - 1
          : 0
      : index === 0
        ? app.pods
        : 0
    const revision = { number: newest - index, hash: random.suffix(9), createdAtMs: at }
    const states = Array.from({ length: pods }, (_, pod) =>
      stateOf(context, stuck && index > 0 ? undefined : pod, at),
    )
    revisions.push({ ...revision, image: index === 0 ? app.image : app.previousImage, states })
    at = Math.max(createdAtMs, at - random.integer(1, 20) * day)
  }
  return revisions
}

/** `pod` is the pod's number in a revision that may have a fault. */
function stateOf(context: AppContext, pod: number | undefined, createdAtMs: number): PodState {
  const { app, placer, nodes, nowMs } = context
  if (pod === 0 && app.fault === 'Unschedulable') {
    const ready = nodes.filter((node) => node.ready).length
    const untolerated = nodes.length - ready
    const taints = untolerated === 0 ? '' : `${untolerated} node(s) had untolerated taint(s), `
    return {
      kind: 'unscheduled',
      message: `0/${nodes.length} nodes are available: ${taints}${ready} Insufficient cpu, ${ready} Insufficient memory. preemption: 0/${nodes.length} nodes are available: ${nodes.length} No preemption victims found for incoming pod.`,
    }
  }
  const at = placer.place()
  if (pod === 0 && app.fault === 'ImagePullBackOff') {
    return {
      kind: 'waiting',
      at,
      sinceMs: createdAtMs + 4 * second,
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image "${app.image}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "${app.image}": failed to resolve reference "${app.image}": ${app.image}: not found`,
      restarts: 0,
    }
  }
  if (pod === 0 && app.fault === 'CrashLoopBackOff') {
    const finishedAtMs = nowMs - 2 * minute
    return {
      kind: 'waiting',
      at,
      sinceMs: createdAtMs + 9 * second,
      reason: 'CrashLoopBackOff',
      message: `back-off 5m0s restarting failed container=${app.name}`,
      restarts: 11,
      lastExit: { reason: 'Error', exitCode: 1, startedAtMs: finishedAtMs - 3000, finishedAtMs },
    }
  }
  return runningState(context, createdAtMs, at)
}

/** A pod that runs well; a few have been restarted. */
function runningState(
  { random, nowMs }: AppContext,
  createdAtMs: number,
  at: Extract<PodState, { kind: 'running' }>['at'],
): PodState {
  const startedAtMs = createdAtMs + random.integer(4, 20) * second
  if (!random.chance(0.06))
    return {
      kind: 'running',
      at,
      startedAtMs,
      sinceMs: startedAtMs + 8 * second,
      ready: true,
      restarts: 0,
    }
  const finishedAtMs = startedAtMs + Math.floor(random.next() * (nowMs - startedAtMs) * 0.9)
  return {
    kind: 'running',
    at,
    startedAtMs: finishedAtMs + second,
    sinceMs: finishedAtMs + 9 * second,
    ready: true,
    restarts: 1,
    lastExit: { reason: 'OOMKilled', exitCode: 137, startedAtMs, finishedAtMs },
  }
}

function* podItems(
  { app, seed, random, nowMs }: AppContext,
  shape: PodShape,
  { hash, createdAtMs, states }: Revision,
  backends: BackendPod[],
): Generator<PopulationItem> {
  const taken = new Set<string>()
  for (const state of states) {
    let name: string
    do name = `${app.name}-${hash}-${random.suffix(5)}`
    while (taken.has(name))
    taken.add(name)
    const uid = firstUid(seed, resources.pods, app.namespace, name)
    const bornAtMs = createdAtMs + random.integer(0, 3) * second
    const pod = newPod(shape, { name, uid, createdAtMs: bornAtMs })
    const atMs = createdAtMs + 20 * second
    const object = withPodState(shape, pod, state, atMs)
    yield { resource: resources.pods, object }
    yield* podEventItems(object, state, nowMs)
    if (hasAddress(state) && state.kind !== 'unscheduled')
      backends.push({ name, uid, at: state.at, ready: isReady(state), terminating: false })
  }
}
