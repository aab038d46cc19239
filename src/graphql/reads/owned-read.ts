import type { Kind } from '../model/kind.ts'
import { ClientError } from '../operation/client-error.ts'
import type { CachedParts, KindView } from '../operation/kind-view.ts'
import { kindsServedBy } from './named-kinds.ts'
import type { ServedSchema } from '../operation/served-schema.ts'

export interface OwnedKindsOptions {
  readonly served: ServedSchema
  readonly parts: CachedParts
  readonly cluster: string
  readonly owner: Kind
  /** Of the owner; what it owns is in the same one. Absent for cluster-scoped owners, which own objects anywhere. */
  readonly namespace: string | undefined
  /** The kinds that were asked for. */
  readonly named: readonly Kind[]
}

/** Where the objects that an object owns are looked for. */
export interface OwnedKinds {
  readonly parts: readonly KindView[]
  /** Why others could not be looked into. */
  readonly failures: readonly ClientError[]
  /** The type names of the kinds that might hold some and were not looked into: not loaded, or not allowed. Sorted. */
  readonly notLookedAt: () => readonly string[]
}

/** The kinds of which objects of a kind may own some, by what the SDL says, and which a cluster serves. */
export function relatedOwnedKinds(
  { clusters, relations }: ServedSchema,
  owner: Kind,
  cluster: string,
): readonly Kind[] {
  const cache = clusters.get(cluster)
  return relations.ownedKinds(owner).filter(({ resource }) => cache?.serves(resource) === true)
}

/**
 * The kinds that an object's own are looked for in: those that the SDL relates to its kind and those that are named,
 * which are loaded for it, and those that are cached anyway. All of them would be the whole cluster.
 */
export function ownedKindsOf(options: OwnedKindsOptions): OwnedKinds {
  const { served, parts: kinds, cluster, owner, named, namespace = '' } = options
  const reading = { within: () => (namespace === '' ? undefined : [namespace]) }
  const wanted = new Set([...relatedOwnedKinds(served, owner, cluster), ...named])
  const parts: KindView[] = []
  const failures: ClientError[] = []
  for (const kind of wanted) {
    try {
      parts.push(kinds.part({ cluster, kind }, reading))
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures.push(error)
    }
  }
  for (const resource of served.clusters.get(cluster)?.resources() ?? []) {
    const kind = served.kindOf(resource.group, resource.kind)
    if (kind === undefined || wanted.has(kind) || !canBeOwned(kind)) continue
    const part = kinds.cachedPart({ cluster, kind }, reading)
    if (part !== undefined) parts.push(part)
  }
  let notLookedAt: readonly string[] | undefined
  const others = (): readonly string[] => {
    const lookedAt = new Set([...wanted, ...parts.map(({ kind }) => kind)])
    return kindsServedBy(served, cluster)
      .filter((kind) => !lookedAt.has(kind) && canBeOwned(kind))
      .filter(({ resource }) => namespace === '' || resource.namespaced)
      .map(({ typeName }) => typeName)
      .toSorted()
  }
  return { parts, failures, notLookedAt: () => (notLookedAt ??= others()) }
}

/** Events have no owners; every other kind may. */
function canBeOwned({ resource }: Kind): boolean {
  return resource.kind !== 'Event'
}
