import type { Unstructured } from '../../kubernetes/object.ts'
import {
  aggregatedKind,
  type CustomKind,
  customKinds,
  customResource,
  discoveredKind,
} from './custom-kind.ts'
import { customOpenApi } from './custom-open-api.ts'
import type { CustomVersion } from '../api/resource-registry.ts'
import type { Storage } from '../storage/storage.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

const definitions = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}

/**
 * Serves what the CustomResourceDefinitions in the storage define, from now on: accepts each new one at once, and deletes
 * the objects of one that goes. Objects are not checked against their schema, and versions are not converted.
 */
export function serveCustomResources(storage: Storage): void {
  const served = storage.registry.find(definitions.group, definitions.version, definitions.resource)
  if (served === undefined) return
  const sync = (): void => {
    const current = [...storage.list(definitions)]
    deleteOrphans(storage, current)
    const before = [...storage.registry.custom.values()]
    const versions = versionsOf(storage, current)
    storage.registry.setCustom(versions)
    endWatches(storage, before)
    const fresh = current.find((definition) => !isEstablished(definition))
    // The write calls this function again, for the next one.
    if (fresh !== undefined) storage.update(definitions, established(fresh))
  }
  storage.store(served.stored).subscribe(sync)
  sync()
}

function versionsOf(storage: Storage, current: readonly Unstructured[]): CustomVersion[] {
  const byVersion = Map.groupBy(
    current.flatMap(customKinds),
    ({ group, version }) => `${group}/${version}`,
  )
  return [...byVersion.values()].flatMap((kinds) => versionOf(storage, kinds))
}

function versionOf(storage: Storage, kinds: readonly CustomKind[]): CustomVersion[] {
  const [first] = kinds
  if (first === undefined) return []
  return [
    {
      group: first.group,
      version: first.version,
      resources: kinds.map(customResource),
      discovered: kinds.flatMap(discoveredKind),
      aggregated: kinds.map(aggregatedKind),
      openapi: customOpenApi(storage.registry.captured, kinds),
    },
  ]
}

/** The watches of a resource that is no longer served find that out when they are woken. */
function endWatches(storage: Storage, before: readonly CustomVersion[]): void {
  for (const { group, version, resource, stored } of before.flatMap((one) => one.resources)) {
    if (storage.registry.find(group, version, resource) === undefined) storage.store(stored).wake()
  }
}

function deleteOrphans(storage: Storage, current: readonly Unstructured[]): void {
  const defined = new Set(current.map(({ metadata }) => metadata.name))
  for (const { resources } of storage.registry.custom.values()) {
    for (const resource of resources) {
      if (defined.has(resource.stored.groupResource)) continue
      for (const { namespace, name } of Array.from(storage.store(resource.stored).values())) {
        storage.delete(resource, namespace, name)
      }
    }
  }
}

interface DefinitionStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null
}

function isEstablished(definition: Unstructured): boolean {
  const { conditions } = (definition['status'] ?? {}) as DefinitionStatus
  return (
    conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true
  )
}

function established(definition: Unstructured): Unstructured {
  const { names, versions } = definition['spec'] as {
    names: { kind: string }
    versions: { name: string; storage: boolean }[]
  }
  const lastTransitionTime = timestamp(Date.now())
  const condition = (type: string, reason: string, message: string): object => ({
    type,
    status: 'True',
    lastTransitionTime,
    reason,
    message,
  })
  const acceptedNames = {
    singular: names.kind.toLowerCase(),
    listKind: `${names.kind}List`,
    ...names,
  }
  return {
    ...definition,
    status: {
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      acceptedNames,
      storedVersions: versions.filter(({ storage }) => storage).map(({ name }) => name),
    },
  }
}
