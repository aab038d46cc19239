import { groupResourceOf, splitApiVersion } from '../../kubernetes/api-resource.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { compareVersions } from '../../kubernetes/version-priority.ts'
import { equalJson } from '../api/json.ts'
import type { CustomVersion } from '../api/resource-registry.ts'
import { inPasses, type Storage } from '../storage/storage.ts'
import { type CustomKind, customKinds } from './custom-kind.ts'
import { customOpenApi } from './custom-open-api.ts'
import { type DefinitionSpec, isEstablished, nextStatus, specOf, statusOf } from './definition.ts'

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
  const definitions = new Map<string, Unstructured>()
  for (const definition of storage.list(resource)) {
    definitions.set(definition.metadata.name, definition)
  }
  const controller = new CustomResources(storage, definitions)
  const sync = inPasses(() => controller.sync())
  storage.follow(({ groupResource }, { name }, definition) => {
    if (groupResource !== groupResourceOf(resource)) return
    if (definition === undefined) definitions.delete(name)
    else definitions.set(name, definition)
    sync()
  })
  sync()
}

const resource = resources.customResourceDefinitions

class CustomResources {
  readonly #storage: Storage
  readonly #definitions: ReadonlyMap<string, Unstructured>
  #served: ReadonlyMap<string, ServedDefinition> = new Map()

  constructor(storage: Storage, definitions: ReadonlyMap<string, Unstructured>) {
    this.#storage = storage
    this.#definitions = definitions
  }

  sync(): void {
    const current = [...this.#definitions.values()]
    this.#reportStatus(current)
    const before = this.#served
    this.#served = new Map(
      current
        .filter(isEstablished)
        .map((definition) => [definition.metadata.name, this.#serve(definition)]),
    )
    this.#deleteOrphans(before)
    this.#storage.registry.setCustom(this.#versions())
    for (const [name, old] of before) this.#follow(old, this.#served.get(name))
  }

  #reportStatus(current: readonly Unstructured[]): void {
    const groups = Map.groupBy(current, (definition) => specOf(definition).group)
    for (const definition of current) {
      const members = groups.get(specOf(definition).group) ?? []
      const others = members.filter((other) => other !== definition)
      const status = nextStatus(definition, others)
      if (equalJson(status, statusOf(definition))) continue
      this.#storage.update(resource, { ...definition, status })
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
    const versions = Map.groupBy(served, (kind) => kind.resource.apiVersion)
    return [...versions]
      .map(([apiVersion, kinds]): CustomVersion => ({
        ...splitApiVersion(apiVersion),
        resources: new Map(kinds.map((kind) => [kind.resource.resource, kind.resource])),
        discovered: kinds.flatMap(({ discovered }) => discovered),
        openapi: () => customOpenApi(captured, kinds),
      }))
      .toSorted((a, b) => (a.group === b.group ? compareVersions(a.version, b.version) : 0))
  }

  /** Rewrites the stored objects in the form of the changed kind, and wakes its watches so that they end. */
  #follow(old: ServedDefinition, next: ServedDefinition | undefined): void {
    const before = old.kinds[0]?.resource.stored
    if (before === undefined || old === next) return
    const held = (next ?? old).kinds
      .map((kind) => kind.resource)
      .find(({ apiVersion, stored }) => apiVersion === stored.apiVersion)
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

  #deleteOrphans(before: ReadonlyMap<string, ServedDefinition>): void {
    for (const [name, { kinds }] of before) {
      const stored = kinds[0]?.resource.stored
      if (!this.#definitions.has(name) && stored !== undefined) this.#storage.deleteAll(stored)
    }
  }
}
