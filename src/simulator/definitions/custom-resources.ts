import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { compareVersions } from '../../kubernetes/version-priority.ts'
import { equalJson } from '../api/json.ts'
import type { CustomVersion } from '../api/resource-registry.ts'
import type { StoredResource } from '../api/served-resource.ts'
import { inPasses, type Storage } from '../storage/storage.ts'
import { readObject, type StoredObject } from '../storage/stored-object.ts'
import { type CustomKind, customKinds } from './custom-kind.ts'
import { customOpenApi } from './custom-open-api.ts'
import {
  definitionResource as definitions,
  type DefinitionSpec,
  isEstablished,
  nextStatus,
  specOf,
  statusOf,
} from './definition.ts'

/** A served definition. It is rebuilt when its spec changes. */
interface ServedDefinition {
  readonly spec: DefinitionSpec
  readonly kinds: readonly CustomKind[]
}

/**
 * Serves the CustomResourceDefinitions in the storage, now and after each change. Accepts a new definition at once,
 * ends the watches of a changed definition, and deletes the objects of a deleted one. Versions are converted by name
 * only (strategy None).
 */
export function serveCustomResources(storage: Storage): void {
  const served = storage.registry.find(definitions.group, definitions.version, definitions.resource)
  if (served === undefined) return
  const controller = new CustomResources(storage, served.stored)
  const sync = inPasses(() => controller.sync())
  storage.store(served.stored).subscribe(sync)
  sync()
}

class CustomResources {
  readonly #storage: Storage
  readonly #stored: StoredResource
  /** Parsed definitions, kept while they are stored. */
  readonly #read = new WeakMap<StoredObject, Unstructured>()
  #served: ReadonlyMap<string, ServedDefinition> = new Map()

  constructor(storage: Storage, stored: StoredResource) {
    this.#storage = storage
    this.#stored = stored
  }

  sync(): void {
    const current = this.#definitions()
    this.#reportStatus(current)
    const before = this.#served
    this.#served = new Map(
      current
        .filter(isEstablished)
        .map((definition) => [definition.metadata.name, this.#serve(definition)]),
    )
    this.#deleteOrphans(before, new Set(current.map(({ metadata }) => metadata.name)))
    this.#storage.registry.setCustom(this.#versions())
    for (const [name, old] of before) this.#follow(old, this.#served.get(name))
  }

  #definitions(): Unstructured[] {
    const held = [...this.#storage.store(this.#stored).values()]
    return held.map((one) => {
      let definition = this.#read.get(one)
      if (definition === undefined) {
        definition = readObject(one, this.#stored)
        this.#read.set(one, definition)
      }
      return definition
    })
  }

  #reportStatus(current: readonly Unstructured[]): void {
    const groups = Map.groupBy(current, (definition) => specOf(definition).group)
    for (const definition of current) {
      const members = groups.get(specOf(definition).group) ?? []
      const others = members.filter((other) => other !== definition)
      const status = nextStatus(definition, others)
      if (equalJson(status, statusOf(definition))) continue
      this.#storage.update(definitions, { ...definition, status })
      // The next status may depend on this write.
      return
    }
  }

  #serve(definition: Unstructured): ServedDefinition {
    const spec = specOf(definition)
    const known = this.#served.get(definition.metadata.name)
    if (known !== undefined && equalJson(known.spec, spec)) return known
    return { spec, kinds: customKinds(spec) }
  }

  /** The served versions of all definitions, by group and priority. */
  #versions(): CustomVersion[] {
    const { captured } = this.#storage.registry
    const served = [...this.#served.values()].flatMap(({ kinds }) =>
      kinds.filter(({ version }) => version.served),
    )
    const versions = Map.groupBy(served, ({ resource }) => resource.apiVersion)
    return [...versions]
      .map(([apiVersion, kinds]): CustomVersion => ({
        ...splitApiVersion(apiVersion),
        resources: new Map(kinds.map(({ resource }) => [resource.resource, resource])),
        discovered: kinds.flatMap(({ discovered }) => discovered),
        openapi: () => customOpenApi(captured, kinds),
      }))
      .toSorted((a, b) => (a.group === b.group ? compareVersions(a.version, b.version) : 0))
  }

  /** Rewrites the stored objects in the form of the changed kind, and wakes its watches so that they end. */
  #follow(old: ServedDefinition, next: ServedDefinition | undefined): void {
    const before = old.kinds[0]?.resource.stored
    if (before === undefined || old === next) return
    const resources = (next ?? old).kinds.map(({ resource }) => resource)
    const held = resources.find(({ apiVersion, stored }) => apiVersion === stored.apiVersion)
    if (held === undefined) return
    const { rules, stored } = held
    if (next !== undefined) {
      this.#storage.rewrite(before, stored, (object) => {
        const converted = stored.convert(object, stored.apiVersion)
        return rules?.settle(converted, []) ?? converted
      })
    }
    this.#storage.store(stored).wake()
  }

  #deleteOrphans(
    before: ReadonlyMap<string, ServedDefinition>,
    defined: ReadonlySet<string>,
  ): void {
    for (const [definition, { kinds }] of before) {
      const stored = kinds[0]?.resource.stored
      if (!defined.has(definition) && stored !== undefined) this.#storage.deleteAll(stored)
    }
  }
}
