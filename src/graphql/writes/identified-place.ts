import { splitObjectKey } from '../../kubernetes/object.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import { type QueryOrigin, runQuery } from '../answer/planned-queries.ts'
import { ClientError } from '../errors/client-error.ts'
import { decodeObjectId } from '../model/object-id.ts'
import { identified, kindOfIdentity } from '../reads/object-read.ts'
import { ReadRun } from '../reads/read-run.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import type { WritePlace } from './write-errors.ts'

/** Where the object of an `id` is, as the caller may see it. Rejects with `ClientError` NOT_FOUND, and for no `id`. */
export async function placeOfId(
  id: string,
  served: ServedSchema,
  limits: OperationLimits,
  origin: QueryOrigin,
): Promise<WritePlace> {
  const identity = decodeObjectId(id)
  const at = kindOfIdentity(served, identity)
  if (at === undefined) throw gone(identity.cluster, identity.kind)
  const { object } = identity
  if (!('uid' in object)) return { ...at, ...object }
  const query = { served, limits, kinds: [at], origin, secrets: new Set<string>() }
  const found = await runQuery(query, (parts, direct) => {
    const budget = new WorkBudget(limits.work)
    const row = identified(new ReadRun({ served, limits, budget, parts, direct }), at, identity)
    return row && splitObjectKey(row.part.view.keyOf(row.id))
  })
  if (found === undefined) throw gone(at.cluster, at.kind.typeName)
  return { ...at, ...found, uid: object.uid }
}

function gone(cluster: string, type: string): ClientError {
  const message = `there is no ${type} with this id, or you may not get it`
  const hint = 'read it again: an object that was created again has another id'
  return new ClientError('NOT_FOUND', message, { argument: 'id', cluster, type, hint })
}
