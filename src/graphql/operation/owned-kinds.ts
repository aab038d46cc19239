import type { Kind } from '../model/kind.ts'
import { ClientError } from './client-error.ts'
import type { CachedParts, KindPart } from './kind-part.ts'
import type { ServedSchema } from './served-schema.ts'

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
  readonly parts: readonly KindPart[]
  /** Why others could not be looked into. */
  readonly failures: readonly ClientError[]
}

/**
 * The kinds that an object's own are looked for in: those that the SDL relates to its kind and those that are named,
 * which are loaded for it, and those that are cached anyway. All of them would be the whole cluster.
 */
export function ownedKindsOf(options: OwnedKindsOptions): OwnedKinds {
  const { served, parts: kinds, cluster, owner, named, namespace = '' } = options
  const reading = { within: () => (namespace === '' ? undefined : [namespace]) }
  const cache = served.clusters.get(cluster)
  const related = served.relations
    .ownedKinds(owner)
    .filter(({ resource }) => cache?.serves(resource) === true)
  const wanted = new Set([...related, ...named])
  const parts: KindPart[] = []
  const failures: ClientError[] = []
  for (const kind of wanted) {
    try {
      parts.push(kinds.part({ cluster, kind }, reading))
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures.push(error)
    }
  }
  for (const resource of cache?.resources() ?? []) {
    const kind = served.kindOf(resource.group, resource.kind)
    if (kind === undefined || wanted.has(kind) || !canBeOwned(kind)) continue
    const part = kinds.cachedPart({ cluster, kind }, reading)
    if (part !== undefined) parts.push(part)
  }
  return { parts, failures }
}

/** Events have no owners; every other kind may. */
function canBeOwned({ resource }: Kind): boolean {
  return resource.kind !== 'Event'
}

/** The kinds of type names that were given. Throws `ClientError`. */
export function namedKinds(
  { kinds }: ServedSchema,
  names: readonly string[] | null | undefined,
): readonly Kind[] {
  return (names ?? []).map((name) => {
    const known = kinds.get(name)
    if (known !== undefined) return known
    throw new ClientError('BAD_USER_INPUT', `kinds: there is no type ${JSON.stringify(name)}`, {
      argument: 'kinds',
      value: name,
      hint: 'use the names of types, such as "Pod"; gatewayClusters and the schema have them',
    })
  })
}
