import type { ApiGroup, CapturedApi, DiscoveredResource, OpenApiDocument } from './captured-api.ts'
import { type ServedResource, servedResources } from './served-resource.ts'

/** A group and version that custom resources add to the API. */
export interface CustomVersion {
  readonly group: string
  readonly version: string
  readonly resources: readonly ServedResource[]
  /** The entries of its APIResourceList. */
  readonly discovered: readonly DiscoveredResource[]
  readonly openapi: () => OpenApiDocument
}

/** The resources of the simulated server: the captured resources, and those of CustomResourceDefinitions. */
export class ResourceRegistry {
  readonly captured: CapturedApi
  readonly #resources = new Map<string, ServedResource>()
  #custom: ReadonlyMap<string, CustomVersion> = new Map()
  #customResources = new Map<string, ServedResource>()
  #generation = 0

  constructor(captured: CapturedApi) {
    this.captured = captured
    this.#addAll('', 'v1', 'api/v1', 'v1')
    for (const group of captured.apis.groups) {
      for (const { groupVersion, version } of group.versions) {
        this.#addAll(group.name, version, `apis/${groupVersion}`, group.preferredVersion.version)
      }
    }
  }

  #addAll(group: string, version: string, path: string, preferred: string): void {
    const list = this.captured.resources[path]
    if (list === undefined) return
    for (const resource of servedResources(list.resources, group, version, preferred)) {
      this.#resources.set(`${path}/${resource.resource}`, resource)
    }
  }

  /** Counts the changes of the custom resources. */
  get generation(): number {
    return this.#generation
  }

  /** The custom versions, by `group/version`. */
  get custom(): ReadonlyMap<string, CustomVersion> {
    return this.#custom
  }

  setCustom(versions: readonly CustomVersion[]): void {
    this.#custom = new Map(versions.map((one) => [`${one.group}/${one.version}`, one]))
    this.#customResources = new Map(
      versions.flatMap(({ group, version, resources }) =>
        resources.map((one) => [`apis/${group}/${version}/${one.resource}`, one]),
      ),
    )
    this.#generation += 1
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    const path = `${group === '' ? 'api' : `apis/${group}`}/${version}/${resource}`
    return this.#resources.get(path) ?? this.#customResources.get(path)
  }

  builtIn(): readonly ServedResource[] {
    return [...this.#resources.values()]
  }

  hasVersion(group: string, version: string): boolean {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
    return this.captured.resources[path] !== undefined || this.#custom.has(`${group}/${version}`)
  }

  /** The groups in the order of `/apis`: custom groups last. */
  groups(): readonly ApiGroup[] {
    const custom = new Map<string, { groupVersion: string; version: string }[]>()
    for (const [groupVersion, { group, version }] of this.#custom) {
      const versions = custom.get(group) ?? []
      versions.push({ groupVersion, version })
      custom.set(group, versions)
    }
    const added = [...custom].flatMap(([name, versions]): ApiGroup[] => {
      const [preferredVersion] = versions
      return preferredVersion === undefined ? [] : [{ name, versions, preferredVersion }]
    })
    return [...this.captured.apis.groups, ...added]
  }
}
