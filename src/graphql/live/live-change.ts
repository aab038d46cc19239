import { removalCause } from '../../query/live-set.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { removals } from '../operation/removals.ts'
import type { ChangeParts, PageStepParts } from './frame-plan.ts'

/** An object as the members of a group have been told of it. */
export interface SentObject {
  readonly key: string
  readonly uid: string
  readonly objectId: string
  /** What was written of it; `null` where nothing is selected. */
  readonly text: string
}

/** One change that members are told of: what happened to one object. */
export interface LiveChangeText extends ChangeParts {
  readonly key: string
  readonly uid: string
}

/** What members are told of one row: a change of an object, or a step of a page. */
export type SentChange = LiveChangeText | PageStepParts

/** The addition of an object, as a snapshot tells it. */
export function additionOf({ key, uid, objectId, text }: SentObject): LiveChangeText {
  return {
    key,
    uid,
    type: 'ADDED',
    removal: null,
    objectId,
    object: text,
    finalStateKnown: true,
  }
}

/** The removal of an object that is no more, as far as is known. */
export function removalOf(
  { key, uid, objectId, text }: SentObject,
  removal: Exclude<ChangeParts['removal'], null>,
  finalStateKnown = true,
  previous?: ChangeParts['previous'],
): LiveChangeText {
  const object = removal === 'HIDDEN' ? 'null' : text
  return { key, uid, type: 'REMOVED', removal, objectId, object, finalStateKnown, previous }
}

/** The same of one that was held, by what there is and may be seen now; nothing is told but its identity. */
export function removalNow(
  part: KindView,
  { key, uid }: Pick<SentObject, 'key' | 'uid'>,
): LiveChangeText {
  const object = { key, uid, objectId: objectIdOf(part, { key, uid }), text: 'null' }
  return removalOf(object, removals[removalCause(part, object)])
}

/**
 * Changes that follow each other as fewer that lead to the same: the latest of each object wins, a removal survives, and an object
 * that was created anew under its key, so with another id, stays two.
 */
export function mergedChanges(changes: Iterable<LiveChangeText>): readonly LiveChangeText[] {
  const merged = new Map<string, LiveChangeText>()
  for (const change of changes) {
    const { objectId } = change
    const before = merged.get(objectId)
    // Behind all that went before it, as its namesake's removal is.
    merged.delete(objectId)
    const both = before === undefined ? change : followedBy(before, change)
    if (both === undefined) continue
    // What was before the first of them.
    merged.set(objectId, { ...both, previous: before?.previous ?? change.previous })
  }
  return [...merged.values()]
}

function followedBy(before: LiveChangeText, change: LiveChangeText): LiveChangeText | undefined {
  if (before.type === 'ADDED' && change.type === 'REMOVED') return undefined
  if (before.type === 'ADDED') return { ...change, type: 'ADDED' }
  if (before.type === 'REMOVED' && change.type === 'ADDED') return { ...change, type: 'MODIFIED' }
  return change
}
