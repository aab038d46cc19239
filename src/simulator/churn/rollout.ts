import type { Unstructured } from '../../kubernetes/object.ts'
import type { PodTemplate } from '../population/pod-spec.ts'
import { populationItem } from '../population/population-object.ts'
import { hashedTemplate, replicaSetBody, replicaSetParts } from '../population/replica-set.ts'
import { resources } from '../population/resources.ts'
import { maxSurge, maxUnavailable } from '../population/workload-status.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import { revisionAnnotation } from './cluster-index.ts'
import { activePods, type DeploymentRecord, type PodGroup } from './cluster-records.ts'
import { setReplicas } from './scaling.ts'
import { countPods, syncDeployment } from './status-sync.ts'

/** Releases a new version of an app: its image's tag goes up, then the pods are replaced. */
export function* release(context: ChurnContext, record: DeploymentRecord): Activity {
  const { namespace, name } = record
  context.cluster.change(resources.deployments, namespace, name, (object) =>
    withNextVersion(object, context.cluster.random.chance(0.2)),
  )
  yield* rollout(context, record)
}

/** Makes a ReplicaSet of the Deployment's present template and moves the pods over. */
export function* rollout(context: ChurnContext, record: DeploymentRecord): Activity {
  record.busy = true
  record.rollingOut = true
  try {
    yield
    yield* replaceRevision(context, record)
  } finally {
    record.busy = false
    record.rollingOut = false
  }
}

function* replaceRevision(context: ChurnContext, record: DeploymentRecord): Activity {
  const { cluster, lifecycle } = context
  const fresh = createRevision(context, record)
  yield
  const shape = lifecycle.shapeOf(fresh)
  for (;;) {
    const desired = desiredReplicas(
      cluster.require(resources.deployments, record.namespace, record.name),
    )
    const counts = countPods(record.revisions)
    const old = record.revisions.find((group) => group !== fresh && activePods(group).length > 0)
    const updated = activePods(fresh).length
    if (updated < desired && counts.active < desired + maxSurge(desired)) {
      setReplicas(context, record, fresh, updated + 1)
      if ((yield* lifecycle.bringUp(fresh, shape)) === undefined) return
    } else if (old !== undefined) {
      if (counts.ready <= desired - maxUnavailable(desired) && updated < desired) return
      const [pod] = activePods(old)
      if (pod === undefined) return
      setReplicas(context, record, old, activePods(old).length - 1)
      yield* lifecycle.takeDown(old, pod)
    } else break
    yield
  }
  record.rollingOut = false
  syncDeployment(cluster, record)
  pruneRevisions(context, record)
}

/** `spec.replicas` of a Deployment, 1 where it is not given. */
export function desiredReplicas(deployment: Unstructured): number {
  return (deployment['spec'] as { readonly replicas?: number }).replicas ?? 1
}

function createRevision({ cluster, events }: ChurnContext, record: DeploymentRecord): PodGroup {
  const { namespace, name } = record
  const current = record.revisions.at(-1)
  const revision = (current?.revision ?? 0) + 1
  const deployment = cluster.change(resources.deployments, namespace, name, (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, [revisionAnnotation]: String(revision) },
    },
  }))
  const { template } = deployment['spec'] as { readonly template: PodTemplate }
  const hash = cluster.random.suffix(9)
  const hashed = hashedTemplate(template, hash)
  const item = populationItem(resources.replicaSets, {
    ...replicaSetParts(deployment, hashed, revision, desiredReplicas(deployment), {
      name: `${name}-${hash}`,
      uid: cluster.random.uid(),
      createdAtMs: cluster.now(),
    }),
    body: replicaSetBody(hashed, 0, 1, { active: 0, ready: 0, terminating: 0 }),
  })
  cluster.create(item)
  const group = cluster.index.addGroup('ReplicaSet', item.object)
  events.record({
    regarding: deployment,
    type: 'Normal',
    reason: 'NewReplicaSetCreated',
    message: `Created new replica set "${group.name}"`,
    component: 'deployment-controller',
  })
  syncDeployment(cluster, record)
  return group
}

function pruneRevisions(
  { cluster }: ChurnContext,
  { namespace, name, revisions }: DeploymentRecord,
): void {
  const deployment = cluster.get(resources.deployments, namespace, name)
  const { revisionHistoryLimit = 10 } = (deployment?.['spec'] ?? {}) as {
    readonly revisionHistoryLimit?: number
  }
  const old = revisions.slice(0, -1).filter((group) => group.pods.size === 0)
  for (const group of old.slice(0, Math.max(0, old.length - revisionHistoryLimit))) {
    cluster.remove(resources.replicaSets, namespace, group.name)
    cluster.index.removeGroup(group)
  }
}

/** Whether a Deployment's image has a version that can go up. */
export function isVersioned(deployment: Unstructured): boolean {
  const { template } = deployment['spec'] as { readonly template: PodTemplate }
  return versionPattern.test(template.spec.containers[0]?.image ?? '')
}

const versionPattern = /:(\d+)\.(\d+)\.(\d+)$/

function withNextVersion(deployment: Unstructured, minor: boolean): Unstructured {
  const { metadata } = deployment
  const spec = deployment['spec'] as { readonly template: PodTemplate }
  const image = spec.template.spec.containers[0]?.image ?? ''
  const [, major, middle, patch] = versionPattern.exec(image) ?? []
  const version = minor
    ? `${major}.${Number(middle) + 1}.0`
    : `${major}.${middle}.${Number(patch) + 1}`
  const labels = { ...metadata.labels, 'app.kubernetes.io/version': version }
  const { template } = spec
  const bumped = (list: PodTemplate['spec']['containers']): PodTemplate['spec']['containers'] =>
    list.map((container) =>
      container.image === image
        ? { ...container, image: image.replace(versionPattern, `:${version}`) }
        : container,
    )
  const { initContainers } = template.spec
  return {
    ...deployment,
    metadata: { ...metadata, labels, generation: (metadata.generation ?? 1) + 1 },
    spec: {
      ...spec,
      template: {
        metadata: {
          ...template.metadata,
          labels: { ...template.metadata.labels, 'app.kubernetes.io/version': version },
        },
        spec: {
          ...template.spec,
          ...(initContainers === undefined ? {} : { initContainers: bumped(initContainers) }),
          containers: bumped(template.spec.containers),
        },
      },
    },
  }
}
