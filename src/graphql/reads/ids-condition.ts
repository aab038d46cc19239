import {
  anyOf,
  type Condition,
  everything,
  hasKey,
  hasValue,
} from '../../query/condition/condition.ts'
import { FilterValueError } from '../../query/condition/argument-error.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { decodeObjectId, ObjectIdError, type ObjectIdentity } from '../model/object-id.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'

/**
 * The objects with these `id`s; all objects without the argument. An id of another kind or cluster matches none. Throws
 * `FilterValueError` for an invalid id.
 */
export function idsCondition(
  ids: readonly string[] | null | undefined,
  at: ClusterKind,
): Condition {
  if (ids === undefined || ids === null) return everything
  const { group, kind } = at.kind.resource
  const uids: string[] = []
  const keys: string[] = []
  for (const [position, id] of ids.entries()) {
    const identity = identityIn(`ids[${position}]`, id)
    if (identity.cluster !== at.cluster) continue
    if (identity.group !== group || identity.kind !== kind) continue
    if ('uid' in identity.object) uids.push(identity.object.uid)
    else keys.push(objectKey(identity.object))
  }
  return anyOf([hasValue('uid', uids), hasKey(keys)])
}

/** Decodes an `id`. Throws `FilterValueError`, which names the argument. */
export function identityIn(argument: string, id: string): ObjectIdentity {
  try {
    return decodeObjectId(id)
  } catch (error) {
    if (!(error instanceof ObjectIdError)) throw error
    throw new FilterValueError(argument, id, error.message, error.hint)
  }
}
