import type { ApiResource } from './api-resource.ts'

/** The API group of metrics-server: what pods and nodes use at present. */
const metricsGroup = 'metrics.k8s.io'

const metrics = { group: metricsGroup, version: 'v1beta1', verbs: ['get', 'list'] }

/** The measurements of pods and of nodes, by the resource that is measured. */
const measured: Readonly<Record<string, ApiResource>> = {
  pods: { ...metrics, kind: 'PodMetrics', resource: 'pods', namespaced: true },
  nodes: { ...metrics, kind: 'NodeMetrics', resource: 'nodes', namespaced: false },
}

/** All resources that measure other objects. A measurement has the name of its object. */
export const usageResources: readonly ApiResource[] = Object.values(measured)

/** The resource with the measurements of a resource's objects; `undefined` if nothing measures them. */
export function usageResourceOf({
  group,
  resource,
}: Pick<ApiResource, 'group' | 'resource'>): ApiResource | undefined {
  return group === '' && Object.hasOwn(measured, resource) ? measured[resource] : undefined
}
