/*
 * The types of objects as the API has them, the keys under which stores keep objects, and copies that may be modified.
 */

import { isRawJson } from '../lib/json.ts'
import type { Int64, RawNumber } from './scalars.ts'

/** Any JSON value of the API. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object of the API. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** `metadata.ownerReferences[*]`. Owners are matched by `uid`, never by name. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** `metadata` as the API has it: times are RFC 3339 strings, absent fields are missing. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly generateName?: string
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
}

/**
 * The common members of all objects. Types of kinds extend it, including plain interfaces. Objects are deeply
 * read-only: siblings in a store share structure, so a change to one would change others. Use `mutableCopy` to modify
 * an object.
 */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** An object of unknown kind: it may have any further fields. */
export interface Unstructured extends KubernetesObject {
  readonly [field: string]: unknown
}

/** The part of an object of type `T` that a metadata-only informer holds. */
export type MetadataOf<T extends KubernetesObject = KubernetesObject> = Pick<
  T,
  'apiVersion' | 'kind' | 'metadata'
>

/** The annotation in which `kubectl apply` keeps a second copy of the object. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The key of an object in a store, as client-go's `MetaNamespaceKeyFunc` returns it: `namespace/name`, or `name`. */
export function objectKey(metadata: {
  readonly namespace?: string
  readonly name: string
}): string {
  const { namespace, name } = metadata
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

/** The two parts of an {@link objectKey}. The namespace is `''` for cluster-scoped objects. */
export function splitObjectKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/')
  return slash < 0
    ? { namespace: '', name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** An object's resource version; `''` if missing or not a string. */
export function resourceVersionOf({ metadata }: KubernetesObject): string {
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : ''
}

/** A type whose members can be assigned to, at any depth. */
export type Mutable<T> = T extends RawNumber
  ? T
  : T extends object
    ? { -readonly [Member in keyof T]: Mutable<T[Member]> }
    : T

/**
 * A deep copy of an object, to be modified: objects from informers are read-only and share structure. Unlike
 * `structuredClone`, keeps integers with more digits than a double holds.
 */
export function mutableCopy<T>(value: T): Mutable<T> {
  return copied(value) as Mutable<T>
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isRawJson(value)) return value
  if (Array.isArray(value)) return value.map(copied)
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    // Assigning a member of that name would set the prototype.
    if (name === '__proto__') {
      const how = { enumerable: true, configurable: true, writable: true }
      Object.defineProperty(copy, name, { value: copied(member), ...how })
    } else copy[name] = copied(member)
  }
  return copy
}

/** Converts an {@link Int64} with all its digits. */
export function int64ToBigInt(value: Int64): bigint {
  return BigInt(typeof value === 'number' ? value : value.rawJSON)
}

/** The nearest double to an {@link Int64}: exact up to 2^53. */
export function int64ToNumber(value: Int64): number {
  return typeof value === 'number' ? value : Number(value.rawJSON)
}
