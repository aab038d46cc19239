import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { type Path, valuesAt } from '../../query/index/path.ts'
import type { Kind } from '../model/kind.ts'
import { encodeObjectId } from '../model/object-id.ts'
import type { ObjectRef, Row, StoreReads } from './read-context.ts'

/** Finds a kind of the schema by API group and kind. */
export type KindOf = (group: string, kind: string) => Kind | undefined

/** The `id` of the object that is meant; that of its name where its UID is not known. */
export function idOfObjectRef({ cluster, group, kind, namespace, name, uid }: ObjectRef): string {
  const object = uid === null ? { namespace: namespace ?? '', name } : { uid }
  return encodeObjectId({ cluster, group, kind, object })
}

/** The references that stand at a path of an object; those without a kind or a name mean nothing. */
export function objectRefsAt(path: Path, row: Row, kindOf: KindOf): readonly ObjectRef[] {
  return valuesAt(path, row.object).flatMap((value) => objectRefOf(value, row, kindOf) ?? [])
}

/**
 * The chain of owners of an object, the nearest first: at each step the controller, or the first owner where none
 * controls. Ends where the next owner is not there or not served, and after 16 steps.
 */
export function ownerChainOf(
  row: Row,
  read: StoreReads,
  kindOf: KindOf,
): readonly ObjectRef[] | Promise<readonly ObjectRef[]> {
  const chain: ObjectRef[] = []
  const climb = (from: Row | null): readonly ObjectRef[] | Promise<readonly ObjectRef[]> => {
    let at = from
    while (at !== null && chain.length < maxChain) {
      const owners = at.object.metadata.ownerReferences ?? []
      const nearest = owners.find(({ controller }) => controller) ?? owners[0]
      const owner = objectRefOf(nearest, at, kindOf)
      if (owner === undefined || chain.some(({ uid }) => uid === owner.uid)) break
      chain.push(owner)
      const next = read.referenced(owner)
      if (next instanceof Promise) return next.then(climb)
      at = next
    }
    return chain
  }
  return climb(row)
}

const maxChain = 16

function objectRefOf(value: unknown, row: Row, kindOf: KindOf): ObjectRef | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const member = (name: string): string | undefined => {
    const text = (value as Readonly<Record<string, unknown>>)[name]
    return typeof text === 'string' && text !== '' ? text : undefined
  }
  const [kind, name] = [member('kind'), member('name')]
  if (kind === undefined || name === undefined) return undefined
  const apiVersion = member('apiVersion')
  const group =
    apiVersion === undefined
      ? (member('apiGroup') ?? member('group') ?? '')
      : splitApiVersion(apiVersion).group
  const served = kindOf(group, kind)
  const own = served?.resource.namespaced === false ? null : row.object.metadata.namespace
  const uid = member('uid')
  return {
    cluster: row.cluster,
    group,
    apiVersion: apiVersion ?? served?.apiVersion ?? null,
    kind,
    namespace: member('namespace') ?? own ?? null,
    name,
    // Kubelets report events about their node under its name as the UID.
    uid: uid === undefined || uid === name ? null : uid,
  }
}
