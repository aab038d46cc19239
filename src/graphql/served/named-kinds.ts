import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ServedSchema } from './served-schema.ts'

/** The kinds with these type names. Throws `ClientError` for an unknown name. */
export function namedKinds(
  { kinds }: ServedSchema,
  names: readonly string[] | null | undefined,
): readonly Kind[] {
  return (names ?? []).map((name) => {
    const known = kinds.get(name)
    if (known !== undefined) return known
    throw new ClientError('BAD_USER_INPUT', `types: there is no type ${JSON.stringify(name)}`, {
      argument: 'types',
      value: name,
      hint: 'use the names of types, such as "Pod"; gatewayClusters and the schema have them',
    })
  })
}

/** The kinds that a cluster serves. */
export function kindsServedBy({ kinds, clusters }: ServedSchema, cluster: string): readonly Kind[] {
  const cache = clusters.get(cluster)
  return [...kinds.values()].filter(({ resource }) => cache?.serves(resource) === true)
}

/** The common kinds that a cluster serves and the gateway caches. */
export function commonKindsOf({ commonKinds, clusters }: ServedSchema, cluster: string): Kind[] {
  const cache = clusters.get(cluster)
  return [...commonKinds].filter(
    ({ resource, uncached }) => !uncached && cache?.serves(resource) === true,
  )
}

/**
 * The kinds that `problems` looks at by default in a cluster: those that the gateway caches and the cluster serves, or may
 * serve where it cannot be reached.
 */
export function problemKindsOf({ problemKinds, clusters }: ServedSchema, cluster: string): Kind[] {
  const cache = clusters.get(cluster)
  const isUnknown = cache?.connection.state === 'unreachable'
  return [...problemKinds].filter(
    ({ resource, uncached }) => !uncached && (isUnknown || cache?.serves(resource) === true),
  )
}

/** The kinds of a cluster that a request reads without naming them: the common ones, and those in memory. */
export function unnamedKinds(served: ServedSchema, cluster: string): ReadonlySet<Kind> {
  const kinds = new Set(commonKindsOf(served, cluster))
  for (const { group, kind: name } of served.clusters.get(cluster)?.resources() ?? []) {
    const kind = served.kindOf(group, name)
    if (kind !== undefined) kinds.add(kind)
  }
  return kinds
}

/** The known kinds that an argument names, to be prepared. The field itself reports unknown names. */
export function knownKinds({ kinds }: ServedSchema, names: unknown): readonly Kind[] {
  if (!Array.isArray(names)) return []
  return names.flatMap((name: unknown) => kinds.get(String(name)) ?? [])
}
