import { createHash } from 'node:crypto'
import type { AggregatedGroup } from './captured-api.ts'
import type { ResourceRegistry } from './resource-registry.ts'

/** `/apis`. */
export function groupList(registry: ResourceRegistry): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: registry.groups() }
}

/** `/apis/GROUP`; `undefined` where there is no such group. */
export function groupDocument(registry: ResourceRegistry, name: string): object | undefined {
  const group = registry.groups().find((one) => one.name === name)
  return group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...group }
}

/** `/api/v1`, `/apis/GROUP/VERSION`; `path` has no slash in front. `undefined` where there is no such version. */
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
        resources: registry.custom.get(groupVersion)?.aggregated ?? [],
        freshness: 'Current',
      })),
    }))
  return { ...captured, items: [...captured.items, ...added] }
}

/** The hash of a document: its ETag. */
export function hashOf(text: string): string {
  return createHash('sha512').update(text).digest('hex').toUpperCase()
}
