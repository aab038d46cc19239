/*
 * Representations of Apollo Federation (`_entities`). Each names a kind and an object, by `id` or by the fields of a key.
 * The plan first asks for the kinds (`entityPlaces`), and the field then finds the objects.
 */

import { objectKey } from '../../kubernetes/object.ts'
import { isRecord } from '../../lib/json.ts'
import { ClientError } from '../errors/client-error.ts'
import { decodeObjectId } from '../model/object-id.ts'
import { type ClusterKind, type FoundObject, clusterNamed } from '../prepare/kind-view.ts'
import { ofAnotherKind } from '../schema/protocol-fields.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { foundByKey, identified, isRefused, kindOfIdentity, refusalOf } from './object-read.ts'
import type { ReadRun } from './read-run.ts'

export interface Entity {
  readonly at: ClusterKind
  /**
   * The object, at the price of a look-up. By key, throws FORBIDDEN if the caller may not look it up, whether or not it
   * exists, as a relation does. An `id` has no name to review, so a hidden object is `undefined`, as in `object(id:)`.
   */
  find(run: ReadRun): FoundObject | undefined
}

/** The type of an entity of any kind, which other subgraphs extend as an interface object. */
const anyKind = 'KubernetesObject'

/**
 * Reads a representation: `__typename`, and the fields of one key. `id` wins, since it names one object forever. Returns
 * `undefined` for an `id` of a kind or cluster that is no longer served. Throws `ClientError` and `ObjectIdError`.
 */
export function entityOf(served: ServedSchema, representation: unknown): Entity | undefined {
  if (!isRecord(representation)) {
    throw badKey('is not an object with __typename and the fields of a key', representation)
  }
  const { __typename: typeName, id } = representation
  const kind = typeof typeName === 'string' ? served.kinds.get(typeName) : undefined
  if (kind === undefined && typeName !== anyKind) {
    throw badKey('names no type of this subgraph', typeName, 'compose the supergraph anew')
  }
  if (id !== undefined) {
    if (typeof id !== 'string') throw badKey('has an id that is not a string', id)
    const identity = decodeObjectId(id)
    const at = kindOfIdentity(served, identity)
    if (at === undefined) return undefined
    if (kind !== undefined && at.kind !== kind) throw ofAnotherKind(id, kind.typeName)
    return { at, find: (run) => identified(run, at, identity) }
  }
  const { clusterName, namespace, name } = representation
  if (kind === undefined || typeof clusterName !== 'string' || typeof name !== 'string') {
    throw badKey('has the fields of no key', Object.keys(representation))
  }
  const { namespaced } = kind.resource
  if (namespaced && (typeof namespace !== 'string' || namespace === '')) {
    throw badKey(`lacks the namespace, and ${kind.typeName} lives in namespaces`, namespace)
  }
  const at = { cluster: clusterNamed(served, clusterName), kind }
  const key = objectKey(namespaced ? { namespace: String(namespace), name } : { name })
  return {
    at,
    find(run) {
      const found = foundByKey(run, at, key)
      if (found === undefined && isRefused(run, at, key)) throw refusalOf(run, at)
      return found
    },
  }
}

function badKey(problem: string, value: unknown, hint?: string): ClientError {
  return new ClientError('BAD_USER_INPUT', `representations: one ${problem}`, {
    argument: 'representations',
    value,
    hint: hint ?? 'send __typename with id, or with clusterName, namespace and name',
  })
}

/** Bounds the errors here: making an error takes longer than finding an object. */
const maxWrong = 20

/**
 * The kinds of representations, each in its cluster. Skips wrong representations, and stops after some of them: the field
 * reports them.
 */
export function entityPlaces(
  served: ServedSchema,
  representations: readonly unknown[],
): readonly ClusterKind[] {
  const places: ClusterKind[] = []
  let wrong = 0
  for (const one of representations) {
    try {
      const at = entityOf(served, one)?.at
      if (at !== undefined) places.push(at)
    } catch {
      wrong += 1
      if (wrong >= maxWrong) break
    }
  }
  return places
}
