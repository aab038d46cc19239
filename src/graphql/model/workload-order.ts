import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { Kind } from './kind.ts'

/** The kinds that people look for first, in this order: applications, what they run, and how they are reached. */
const wholes: readonly string[] = [
  'applications.argoproj.io',
  'applicationsets.argoproj.io',
  'applications.app.k8s.io',
  'helmreleases.helm.toolkit.fluxcd.io',
  'kustomizations.kustomize.toolkit.fluxcd.io',
  'helmcharts.helm.cattle.io',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'rollouts.argoproj.io',
  'services.serving.knative.dev',
  'cronjobs.batch',
  'jobs.batch',
  'services',
  'ingresses.networking.k8s.io',
  'httproutes.gateway.networking.k8s.io',
]

/** The kinds that controllers create from other objects, under the names of these, in this order. */
const parts: readonly string[] = [
  'replicasets.apps',
  'replicationcontrollers',
  'configurations.serving.knative.dev',
  'revisions.serving.knative.dev',
  'pods',
  'certificaterequests.cert-manager.io',
  'orders.acme.cert-manager.io',
  'challenges.acme.cert-manager.io',
  'controllerrevisions.apps',
  'endpointslices.discovery.k8s.io',
  'endpoints',
  'leases.coordination.k8s.io',
  'pods.metrics.k8s.io',
  'nodes.metrics.k8s.io',
  'events',
  'events.events.k8s.io',
]

const places: ReadonlyMap<string, number> = new Map([
  ...wholes.map((name, at) => [name, at] as const),
  ...parts.map((name, at) => [name, wholes.length + 1 + at] as const),
])

/**
 * The place of a kind among results: workloads come before their parts, a Deployment before its ReplicaSets and Pods. All
 * other kinds share the place between. The same on every replica.
 */
export function workloadPlace({ resource }: Pick<Kind, 'resource'>): number {
  return places.get(groupResourceOf(resource)) ?? wholes.length
}
