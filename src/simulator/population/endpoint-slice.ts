import type { Unstructured } from '../../kubernetes/object.ts'
import type { BackendPod } from './app-context.ts'
import { managers } from './managed-fields.ts'
import { ownerReference, type PopulationItem, populationItem } from './population-object.ts'
import { resources } from './resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

/** How many endpoints one slice takes: the controller's default. */
export const endpointsPerSlice = 100

/** One slice of a Service's endpoints. */
export function endpointSliceItem(
  service: Unstructured,
  backends: readonly BackendPod[],
  zones: ReadonlyMap<string, string>,
  identity: { readonly name: string; readonly uid: string; readonly createdAtMs: number },
): PopulationItem {
  const { namespace = '', name, labels } = service.metadata
  return populationItem(resources.endpointSlices, {
    ...identity,
    namespace,
    generateName: `${name}-`,
    generation: 1,
    labels: {
      ...labels,
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': name,
    },
    annotations: {
      'endpoints.kubernetes.io/last-change-trigger-time': timestamp(identity.createdAtMs),
    },
    ownerReferences: [ownerReference({ resource: resources.services, object: service })],
    manager: managers.controller,
    body: {
      addressType: 'IPv4',
      endpoints: backends.map((backend) => endpointOf(backend, namespace, zones)),
      ports: slicePorts(service),
    },
  })
}

/** One of a slice's `endpoints`. */
export function endpointOf(
  { name, uid, at, ready, terminating }: BackendPod,
  namespace: string,
  zones: ReadonlyMap<string, string>,
): object {
  return {
    addresses: [at.podIP],
    conditions: { ready: ready && !terminating, serving: ready, terminating },
    nodeName: at.nodeName,
    targetRef: { kind: 'Pod', name, namespace, uid },
    zone: zones.get(at.nodeName) ?? '',
  }
}

function slicePorts(service: Unstructured): readonly object[] {
  const { ports } = service['spec'] as { readonly ports: readonly ServicePort[] }
  return ports.map(({ name, targetPort, protocol }) => ({ name, port: targetPort, protocol }))
}

interface ServicePort {
  readonly name: string
  readonly targetPort: number
  readonly protocol: string
}
