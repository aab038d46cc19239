/*
 * Which groups, versions and resources there are: the captured ones, those of CustomResourceDefinitions, and those of
 * metrics-server behind this one. Discovery and OpenAPI documents are written from it.
 */

import { createHash } from 'node:crypto'
import { apiVersionOf, groupVersionPath } from '../../kubernetes/api-resource.ts'
import type {
  AggregatedGroup,
  ApiGroup,
  CapturedApi,
  DiscoveredResource,
  OpenApiDocument,
  Schema,
} from './captured-api.ts'
import { type ServedResource, servedResources } from './served-resource.ts'

/** A group and version that custom resources or another API server add to the API. */
export interface CustomVersion {
  readonly group: string
  readonly version: string
  /** By their plurals. */
  readonly resources: ReadonlyMap<string, ServedResource>
  /** The entries of its APIResourceList. */
  readonly discovered: readonly DiscoveredResource[]
  readonly openapi: () => OpenApiDocument
}

function byVersion(versions: readonly CustomVersion[]): ReadonlyMap<string, CustomVersion> {
  return new Map(versions.map((one) => [apiVersionOf(one), one]))
}

/** The resources of the simulated server: the captured resources, and those of CustomResourceDefinitions. */
export class ResourceRegistry {
  readonly captured: CapturedApi
  readonly #builtIn = new Map<string, ServedResource>()
  readonly #aggregated: readonly CustomVersion[]
  #custom: ReadonlyMap<string, CustomVersion>

  /** `aggregated`: the versions of other API servers behind this one. */
  constructor(captured: CapturedApi, aggregated: readonly CustomVersion[] = []) {
    this.captured = captured
    this.#aggregated = aggregated
    this.#custom = byVersion(aggregated)
    this.#addAll('', 'v1', 'api/v1', 'v1')
    for (const { name, versions, preferredVersion } of captured.apis.groups) {
      for (const { groupVersion, version } of versions) {
        this.#addAll(name, version, `apis/${groupVersion}`, preferredVersion.version)
      }
    }
  }

  #addAll(group: string, version: string, path: string, preferred: string): void {
    const { resources = [] } = this.captured.resources[path] ?? {}
    for (const served of servedResources(resources, group, version, preferred)) {
      this.#builtIn.set(`${served.apiVersion}/${served.resource}`, served)
    }
  }

  /** The custom and the aggregated versions, by `group/version`. */
  get custom(): ReadonlyMap<string, CustomVersion> {
    return this.#custom
  }

  /** Whether another API server behind this one serves a version. */
  isAggregated(group: string, version: string): boolean {
    return this.#aggregated.some((one) => one.group === group && one.version === version)
  }

  setCustom(versions: readonly CustomVersion[]): void {
    this.#custom = byVersion([...versions, ...this.#aggregated])
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    const apiVersion = apiVersionOf({ group, version })
    return (
      this.#builtIn.get(`${apiVersion}/${resource}`) ??
      this.#custom.get(apiVersion)?.resources.get(resource)
    )
  }

  builtIn(): readonly ServedResource[] {
    return [...this.#builtIn.values()]
  }

  hasVersion(group: string, version: string): boolean {
    const path = groupVersionPath({ group, version }).slice(1)
    return (
      this.captured.resources[path] !== undefined ||
      this.#custom.has(apiVersionOf({ group, version }))
    )
  }

  /** The groups in the order of `/apis`: custom groups last. */
  groups(): readonly ApiGroup[] {
    const custom = Map.groupBy(this.#custom.values(), ({ group }) => group)
    const added = [...custom].flatMap(([name, own]): ApiGroup[] => {
      const versions = own.map(({ group, version }) => ({
        groupVersion: apiVersionOf({ group, version }),
        version,
      }))
      const [preferredVersion] = versions
      return preferredVersion === undefined ? [] : [{ name, versions, preferredVersion }]
    })
    return [...this.captured.apis.groups, ...added]
  }
}

/** `/api/v1`, `/apis/GROUP/VERSION`; `path` has no leading slash. `undefined` for an unknown version. */
export function resourceList(registry: ResourceRegistry, path: string): object | undefined {
  const captured = registry.captured.resources[path]
  if (captured !== undefined) return captured
  const groupVersion = path.slice('apis/'.length)
  const custom = registry.custom.get(groupVersion)
  if (custom === undefined) return undefined
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: custom.discovered }
}

/** Aggregated discovery, version 2, of `/api` or `/apis`. */
export function aggregatedDiscovery(registry: ResourceRegistry, root: 'api' | 'apis'): object {
  const captured = registry.captured.aggregated[root]
  if (root === 'api' || registry.custom.size === 0) return captured
  const known = new Set(captured.items.map(({ metadata }) => metadata.name))
  const added = registry
    .groups()
    .filter(({ name }) => !known.has(name))
    .map(({ name, versions }): AggregatedGroup => ({
      metadata: { name },
      versions: versions.map(({ version, groupVersion }) => ({
        version,
        resources: aggregatedResources(registry.custom.get(groupVersion)),
        freshness: 'Current',
      })),
    }))
  return { ...captured, items: [...captured.items, ...added] }
}

/** The entries of an APIResourceList, in the form of aggregated discovery. */
function aggregatedResources(of: CustomVersion | undefined): object[] {
  if (of === undefined) return []
  const { discovered } = of
  const responseKind = ({ group, version, kind }: DiscoveredResource): object => ({
    group: group ?? of.group,
    version: version ?? of.version,
    kind,
  })
  return discovered
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => {
      const { name, namespaced, singularName, verbs, shortNames, categories } = resource
      const subresources = discovered
        .filter((part) => part.name.startsWith(`${name}/`))
        .map((part) => ({
          subresource: part.name.slice(name.length + 1),
          responseKind: responseKind(part),
          verbs: part.verbs,
        }))
      return {
        resource: name,
        responseKind: responseKind(resource),
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singularName,
        verbs,
        ...(shortNames === undefined ? {} : { shortNames }),
        ...(categories === undefined ? {} : { categories }),
        ...(subresources.length === 0 ? {} : { subresources }),
      }
    })
}

export function hashOf(text: string): string {
  return createHash('sha512').update(text).digest('hex').toUpperCase()
}

/** The texts of documents. All servers of a process share those of captured ones; custom ones change with their kinds. */
const texts = new WeakMap<object, { readonly text: string; readonly hash: string }>()

/** `/openapi/v3/PATH`; `undefined` for an unknown path. */
export function openApiText(
  { captured, custom }: ResourceRegistry,
  path: string,
): { readonly text: string; readonly hash: string } | undefined {
  const version = custom.get(path.replace(/^apis\//, ''))
  const key = captured.openapi[path] ?? version
  let known = key && texts.get(key)
  if (key !== undefined && known === undefined) {
    const text = JSON.stringify(captured.openapi[path] ?? version?.openapi())
    texts.set(key, (known = { text, hash: hashOf(text) }))
  }
  return known
}

/** `/openapi/v3`: the paths of all documents. */
export function openApiIndex(registry: ResourceRegistry): object {
  const custom = [...registry.custom.keys()].map((key) => `apis/${key}`)
  const paths = [...Object.keys(registry.captured.openapi), ...custom].map((path) => {
    const hash = openApiText(registry, path)?.hash ?? ''
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]
  })
  return { paths: Object.fromEntries(paths) }
}

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
