import { apiVersionOf, groupVersionPath } from '../../kubernetes/api-resource.ts'
import type { ApiGroup, CapturedApi, DiscoveredResource, OpenApiDocument } from './captured-api.ts'
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
