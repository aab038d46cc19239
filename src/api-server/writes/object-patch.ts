import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts'
import type { Preconditions } from './write-options.ts'

/** Any part of a type, at any depth; items of lists may be parts, too. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]?: DeepPartial<T[Member]> }
    : T

/** A JSON merge patch (RFC 7386): `null` removes a member, lists are replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Member in keyof T]?: MergePatch<T[Member]> | null }
    : T

/** A strategic merge patch: lists whose schema says so are merged by their key. Not for custom resources. */
export type StrategicPatch<T> = T extends readonly (infer Item)[]
  ? readonly StrategicPatch<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]?: StrategicPatch<T[Member]> | null } & PatchDirectives
    : T

/** What a strategic merge patch says beside its values. */
export interface PatchDirectives {
  readonly $patch?: 'delete' | 'merge' | 'replace'
  readonly $retainKeys?: readonly string[]
}

/** One step of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'copy' | 'move'; readonly from: string; readonly path: string }

/** A patch of one of the three kinds that API servers know besides apply. */
export type ObjectPatch<T extends KubernetesObject = KubernetesObject> =
  | { readonly merge: MergePatch<T> }
  | { readonly strategic: StrategicPatch<T> }
  | { readonly json: readonly JsonPatchOperation[] }

/** An object to be created: `apiVersion` and `kind` are the resource's, a name may be left to the server. */
export type NewObject<T extends KubernetesObject = KubernetesObject> = Omit<
  T,
  'apiVersion' | 'kind' | 'metadata' | 'status'
> &
  Partial<Pick<T, 'apiVersion' | 'kind' | Extract<'status', keyof T>>> & {
    readonly metadata: Partial<ObjectMeta>
  }

/** The fields that their manager wants to own, for a server-side apply. */
export type AppliedObject<T extends KubernetesObject = KubernetesObject> = DeepPartial<
  Omit<T, 'apiVersion' | 'kind' | 'metadata'>
> &
  Partial<Pick<T, 'apiVersion' | 'kind'>> & {
    readonly metadata: Partial<ObjectMeta> & { readonly name: string }
  }

/** The body of a patch and its media type. The preconditions are part of it: the server checks them with the write. */
export function patchBody(
  patch: ObjectPatch,
  preconditions: Preconditions = {},
): { readonly body: unknown; readonly contentType: string } {
  if ('json' in patch) {
    const steps = Object.entries(preconditions).flatMap(([name, value]) =>
      value === undefined ? [] : [{ op: 'add', path: `/metadata/${name}`, value }],
    )
    return { body: [...steps, ...patch.json], contentType: 'application/json-patch+json' }
  }
  return 'merge' in patch
    ? { body: required(patch.merge, preconditions), contentType: 'application/merge-patch+json' }
    : {
        body: required(patch.strategic, preconditions),
        contentType: 'application/strategic-merge-patch+json',
      }
}

/** The body with the preconditions in its metadata, where API servers look for them. */
export function required(body: object, { uid, resourceVersion }: Preconditions = {}): object {
  if (uid === undefined && resourceVersion === undefined) return body
  const { metadata } = body as { readonly metadata?: object | null }
  return {
    ...body,
    metadata: {
      ...metadata,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  }
}
