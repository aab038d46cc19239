import type { Unstructured } from '../../kubernetes/object.ts'
import { type AppContext, type BackendPod, firstUid } from './app-context.ts'
import { appLabels, selectorLabels } from './app-labels.ts'
import { appTemplate } from './app-template.ts'
import { eventItem } from './event.ts'
import { newPod, podShape, type PodShape, withPodState } from './pod.ts'
import { podEventItems } from './pod-events.ts'
import { hasAddress, isReady, type PodState } from './pod-state.ts'
import { ownerReference, type PopulationItem, populationItem } from './population-object.ts'
import { hashedTemplate, replicaSetBody, replicaSetParts } from './replica-set.ts'
import { resources } from './resources.ts'
import { desiredOf, isStuck, planRevisions, type Revision } from './revision.ts'
import { minute, second } from './duration.ts'
import { deploymentStatus, type PodCounts, type Progress } from './workload-status.ts'

/** How many old ReplicaSets a Deployment keeps. */
const revisionHistoryLimit = 2

/** A Deployment, its ReplicaSets and their pods; returns the pods that have an address. */
export function* deploymentItems(
  context: AppContext,
): Generator<PopulationItem, readonly BackendPod[]> {
  const { app, seed } = context
  const revisions = planRevisions(context)
  const desired = desiredOf(app)
  const deployment = deploymentItem(context, revisions, desired)
  yield deployment
  yield* rolloutEventItems(context, deployment.object, revisions)
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

function deploymentItem(
  context: AppContext,
  revisions: readonly Revision[],
  desired: number,
): PopulationItem {
  const { app, seed, createdAtMs } = context
  const current = revisions[0]
  const generation = (current?.number ?? 1) + 2
  const progress: Progress = {
    reason: isStuck(app) ? 'ProgressDeadlineExceeded' : 'NewReplicaSetAvailable',
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

function countsOf(states: readonly PodState[]): PodCounts {
  return { active: states.length, ready: states.filter(isReady).length, terminating: 0 }
}

/** A rollout that is still going on is remembered; the Events of older ones are gone. */
function* rolloutEventItems(
  { app }: AppContext,
  deployment: Unstructured,
  revisions: readonly Revision[],
): Generator<PopulationItem> {
  const [current] = revisions
  if (current === undefined || !isStuck(app)) return
  yield eventItem({
    regarding: deployment,
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: `Scaled up replica set ${app.name}-${current.hash} from 0 to 1`,
    component: 'deployment-controller',
    firstAtMs: current.createdAtMs,
    lastAtMs: current.createdAtMs,
    count: 1,
  })
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
