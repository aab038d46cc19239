import type { ObjectId } from '../../informer/store/store-view.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { hasKey } from '../../query/condition/condition.ts'
import { objectByKey, objectByUid } from '../../query/page/lookup.ts'
import type { ObjectIdentity } from '../model/object-id.ts'
import type { KindAt, KindPart } from '../operation/kind-part.ts'
import type { ServedSchema } from '../operation/served-schema.ts'
import type { ObjectRef } from '../schema/read-context.ts'
import { NotCoveredError } from './not-covered.ts'
import type { PlanRun } from './plan-run.ts'

/** An object that is there and may be seen. */
export interface FoundObject {
  readonly part: KindPart
  readonly id: ObjectId
}

/**
 * The kind of the object that an `id` or a reference means; `undefined` where it is not served. Throws {@link NotCoveredError}
 * for one that is read live.
 */
export function kindMeant(
  served: ServedSchema,
  { cluster, group, kind: name }: Pick<ObjectIdentity, 'cluster' | 'group' | 'kind'>,
): KindAt | undefined {
  const kind = served.kindOf(group, name)
  if (kind === undefined || !served.clusters.has(cluster)) return undefined
  if (kind.uncached) throw new NotCoveredError('a live read')
  return { cluster, kind }
}

/** The object with a key. */
export function foundByKey(run: PlanRun, at: KindAt, key: string): FoundObject | undefined {
  follow(run, at, key)
  const part = run.late(() => run.named(at, [key]))
  const id = part && objectByKey({ ...part, budget: run.budget }, key)
  return part === undefined || id === undefined ? undefined : { part, id }
}

/** The object with a UID; `key`: what it was called by whoever means it. */
export function foundByUid(
  run: PlanRun,
  at: KindAt,
  uid: string,
  key?: string,
): FoundObject | undefined {
  if (key !== undefined) follow(run, at, key)
  const part = run.late(() => run.named(at, key === undefined ? undefined : [key]))
  const id = part && objectByUid({ ...part, budget: run.budget }, uid)
  if (part === undefined || id === undefined) return undefined
  const found = part.view.keyOf(id)
  if (found !== key) follow(run, at, found)
  return { part, id }
}

function follow(run: PlanRun, { kind }: KindAt, key: string): void {
  run.followed?.({ reads: [kind], condition: hasKey([key]), isSaid: true })
}

/** The object with an `id`. */
export function identified(
  run: PlanRun,
  at: KindAt,
  { object }: ObjectIdentity,
): FoundObject | undefined {
  return 'uid' in object ? foundByUid(run, at, object.uid) : foundByKey(run, at, objectKey(object))
}

/** What a reference means is told from it and looked up in the time of so many tests. */
const testsPerReference = 25

/** The object that is meant; `undefined` where there is none, or where its kind is not served. */
export function referenced(run: PlanRun, ref: ObjectRef): FoundObject | undefined {
  const at = kindMeant(run.served, ref)
  if (at === undefined) return undefined
  run.budget.spend('tests', testsPerReference)
  const { namespace, name, uid } = ref
  const key = objectKey({ namespace: namespace ?? '', name })
  return uid === null ? foundByKey(run, at, key) : foundByUid(run, at, uid, key)
}
