import type { Unstructured } from '../../kubernetes/object.ts'
import { managers } from './managed-fields.ts'
import type { PodTemplate } from './pod-spec.ts'
import { type ObjectParts, ownerReference } from './population-object.ts'
import { resources } from './resources.ts'
import { maxSurge, type PodCounts, replicaSetStatus } from './workload-status.ts'

/** The template of a ReplicaSet: the Deployment's, with the hash that tells revisions apart. */
export function hashedTemplate(template: PodTemplate, hash: string): PodTemplate {
  const labels = { ...template.metadata.labels, 'pod-template-hash': hash }
  return { ...template, metadata: { ...template.metadata, labels } }
}

/** All parts of a ReplicaSet but its body, derived from its Deployment. */
export function replicaSetParts(
  deployment: Unstructured,
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
      'deployment.kubernetes.io/max-replicas': String(desired + maxSurge(desired)),
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
