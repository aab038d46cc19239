import type { DiscoveredResource, OpenApiDocument } from './captured-api.ts'
import type { CustomVersion } from './resource-registry.ts'
import type { Schema } from './schema.ts'
import { servedResources } from './served-resource.ts'

export const metricsGroup = 'metrics.k8s.io'
const version = 'v1beta1'

/** What metrics-server v0.8 serves. It has no watch. */
const discovered: readonly DiscoveredResource[] = [
  {
    name: 'nodes',
    singularName: '',
    namespaced: false,
    kind: 'NodeMetrics',
    verbs: ['get', 'list'],
  },
  { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
]

/** The API group of metrics-server, as discovery and OpenAPI list it. */
export function metricsVersion(): CustomVersion {
  const resources = servedResources(discovered, metricsGroup, version, version)
  return {
    group: metricsGroup,
    version,
    resources: new Map(resources.map((one) => [one.resource, one])),
    discovered,
    openapi: () => document,
  }
}

const text = (description: string): Schema => ({ type: 'string', description })
const usage: Schema = {
  type: 'object',
  description: 'The memory usage is the memory working set.',
  additionalProperties: {
    $ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity',
  },
}
const common = {
  apiVersion: text('APIVersion defines the versioned schema of this representation of an object.'),
  kind: text('Kind is a string value representing the REST resource this object represents.'),
  metadata: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
  timestamp: { ...text('The end of the interval of the usage.'), format: 'date-time' },
  window: text('The length of the interval: [Timestamp-Window, Timestamp].'),
}
const kindOf = (kind: string): object => ({
  'x-kubernetes-group-version-kind': [{ group: metricsGroup, version, kind }],
})

/** The schemas of k8s.io/metrics. */
const document: OpenApiDocument = {
  openapi: '3.0.0',
  info: { title: 'Kubernetes metrics-server', version: 'v0.8.1' },
  paths: {},
  components: {
    schemas: {
      'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: 'string' },
      'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': { type: 'object' },
      'io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics': {
        type: 'object',
        description: 'ContainerMetrics sets resource usage metrics of a container.',
        properties: {
          name: text('Container name corresponding to the one from pod.spec.containers.'),
          usage,
        },
      },
      'io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics': {
        type: 'object',
        description: 'NodeMetrics sets resource usage metrics of a node.',
        properties: { ...common, usage },
        ...kindOf('NodeMetrics'),
      },
      'io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics': {
        type: 'object',
        description: 'PodMetrics sets resource usage metrics of a pod.',
        properties: {
          ...common,
          containers: {
            type: 'array',
            description: 'Metrics for all containers are collected within the same time window.',
            items: {
              $ref: '#/components/schemas/io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics',
            },
          },
        },
        ...kindOf('PodMetrics'),
      },
    },
  },
}
