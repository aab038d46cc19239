/*
 * The types of what a client writes, and the bodies of patches. Preconditions go into the metadata of a body, where the API
 * server checks them together with the write.
 */

import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts'
import { present } from '../../lib/options.ts'
import type { Preconditions } from './write-options.ts'

/** A type with all members optional, at any depth, including list items. `undefined` counts as absent. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]?: DeepPartial<T[Member]> | undefined }
    : T

/** A JSON merge patch (RFC 7386): `null` removes a member; lists are replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Member in keyof T]?: MergePatch<T[Member]> | null }
    : T

/** A strategic merge patch: lists are merged by key if their schema says so. Not for custom resources. */
export type StrategicPatch<T> = T extends readonly (infer Item)[]
  ? readonly StrategicPatch<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]?: StrategicPatch<T[Member]> | null } & PatchDirectives
    : T

/** Directives in a strategic merge patch. */
export interface PatchDirectives {
  readonly $patch?: 'delete' | 'merge' | 'replace'
  readonly $retainKeys?: readonly string[]
}

/** One step of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'copy' | 'move'; readonly from: string; readonly path: string }

/** A patch in one of three formats. The fourth, apply, has its own method. */
export type ObjectPatch<T extends KubernetesObject = KubernetesObject> =
  | { readonly merge: MergePatch<T> }
  | { readonly strategic: StrategicPatch<T> }
  | { readonly json: readonly JsonPatchOperation[] }

/** An object to create. The resource gives `apiVersion` and `kind`; the server may generate the name. */
export type NewObject<T extends KubernetesObject = KubernetesObject> = Omit<
  T,
  'apiVersion' | 'kind' | 'metadata' | 'status'
> &
  Partial<Pick<T, 'apiVersion' | 'kind' | Extract<'status', keyof T>>> & {
    readonly metadata: Partial<ObjectMeta>
  }

/** The fields that a manager wants to own, for a server-side apply. */
export type AppliedObject<T extends KubernetesObject = KubernetesObject> = DeepPartial<
  Omit<T, 'apiVersion' | 'kind' | 'metadata'>
> &
  Partial<Pick<T, 'apiVersion' | 'kind'>> & {
    readonly metadata: Partial<ObjectMeta> & { readonly name: string }
  }

/**
 * The body of a patch and its media type. The body includes the preconditions, which the server checks with the write.
 */
export function patchBody(
  patch: ObjectPatch,
  preconditions: Preconditions = {},
): { readonly body: unknown; readonly contentType: string } {
  if ('json' in patch) {
    const steps = Object.entries(present(preconditions)).map(([name, value]) => ({
      op: 'add',
      path: `/metadata/${name}`,
      value,
    }))
    return { body: [...steps, ...patch.json], contentType: 'application/json-patch+json' }
  }
  const [format, content] =
    'merge' in patch ? ['merge', patch.merge] : ['strategic-merge', patch.strategic]
  return {
    body: required(content, preconditions),
    contentType: `application/${format}-patch+json`,
  }
}

/** Adds preconditions to the metadata of a body, where API servers look for them. */
export function required(body: object, { uid, resourceVersion }: Preconditions = {}): object {
  if (uid === undefined && resourceVersion === undefined) return body
  const { metadata } = body as { readonly metadata?: object | null }
  return { ...body, metadata: { ...metadata, ...present({ uid, resourceVersion }) } }
}
