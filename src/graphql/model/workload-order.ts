import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { Kind } from './kind.ts'

/** What people look for first: applications, what runs, and how it is reached. In this order. */
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

/** What controllers make of other objects, under their names. In this order. */
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
 * The place of a kind among results: workloads come before their parts, a Deployment before its ReplicaSets and Pods. Kinds
 * that are neither share the place between. The same on every replica.
 */
export function workloadPlace({ resource }: Pick<Kind, 'resource'>): number {
  return places.get(groupResourceOf(resource)) ?? wholes.length
}
