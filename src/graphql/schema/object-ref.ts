/*
 * `ObjectRef`: a reference to an object of any kind, whether or not the object exists. References in objects take several
 * shapes (`apiVersion`, `apiGroup` or `group`; with or without namespace and UID). Here each becomes one shape, completed
 * by the place of the reference and by the kinds that are served.
 */

import { isBuiltInGroup, splitApiVersion } from '../../kubernetes/api-resource.ts'
import { isRecord } from '../../lib/json.ts'
import type { Kind } from '../model/kind.ts'
import { encodeObjectId, nameIdOf } from '../model/object-id.ts'

type ReferenceParts = Pick<
  ObjectRef,
  'cluster' | 'group' | 'apiVersion' | 'kind' | 'namespace' | 'name' | 'uid'
>

/** The value of the type `ObjectRef`. */
export class ObjectRef {
  readonly cluster: string
  readonly group: string
  /** `null` if only the group is known. */
  readonly apiVersion: string | null
  readonly kind: string
  /** `null` for cluster-scoped objects. */
  readonly namespace: string | null
  readonly name: string
  /** `null` if only the name is known. */
  readonly uid: string | null

  constructor({ cluster, group, apiVersion, kind, namespace, name, uid }: ReferenceParts) {
    this.cluster = cluster
    this.group = group
    this.apiVersion = apiVersion
    this.kind = kind
    this.namespace = namespace
    this.name = name
    this.uid = uid
  }

  /** The `id` of the object: by its UID, or by its name if the UID is not known. */
  get id(): string {
    const { cluster, group, kind, namespace, name, uid } = this
    const object = uid === null ? { namespace: namespace ?? '', name } : { uid }
    return encodeObjectId({ cluster, group, kind, object })
  }

  /** The id by name of the object. */
  get nameId(): string {
    return nameIdOf(this)
  }

  /** The object, as a writer of rows finds it. */
  get object(): this {
    return this
  }
}

/** Finds a kind of the schema by API group and kind. */
export type KindOf = (group: string, kind: string) => Kind | undefined

/** The place of a reference, which completes it: the cluster, and the namespace if the reference has none. */
export interface ReferenceOrigin {
  readonly cluster: string
  readonly namespace: string | undefined
}

/** The first of some values as a reference. Its kind comes from another object. `null` if either is missing. */
export function objectRefOfKind(
  [named]: readonly unknown[],
  kind: unknown,
  origin: ReferenceOrigin,
  kindOf: KindOf,
): ObjectRef | null {
  if (!isRecord(named) || !isRecord(kind)) return null
  const [found] = objectRefsOf([{ ...kind, ...named }], origin, kindOf)
  return found ?? null
}

/** The references that values hold. Values without a kind or a name are left out. */
export function objectRefsOf(
  values: readonly unknown[],
  origin: ReferenceOrigin,
  kindOf: KindOf,
): readonly ObjectRef[] {
  return values.flatMap((value) => objectRefOf(value, origin, kindOf) ?? [])
}

/** The topmost owner of a chain before the first custom resource in it. */
export function topmostBuiltIn(chain: readonly ObjectRef[]): ObjectRef | null {
  const end = chain.findIndex(({ group }) => !isBuiltInGroup(group))
  return chain[(end < 0 ? chain.length : end) - 1] ?? null
}

function objectRefOf(
  value: unknown,
  origin: ReferenceOrigin,
  kindOf: KindOf,
): ObjectRef | undefined {
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
  const own = served?.resource.namespaced === false ? null : origin.namespace
  const uid = member('uid')
  return new ObjectRef({
    cluster: origin.cluster,
    group,
    apiVersion: apiVersion ?? served?.apiVersion ?? null,
    kind,
    namespace: member('namespace') ?? own ?? null,
    name,
    // Kubelets report events about their node under its name as the UID.
    uid: uid === undefined || uid === name ? null : uid,
  })
}
