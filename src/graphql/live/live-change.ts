import type { GraphQLError } from 'graphql'
import { removalCause, type RemovalCause } from '../../query/live-set.ts'
import { objectIdOf } from '../model/object-id.ts'
import { clientResult, withoutTransportDetails } from '../errors/client-error.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { PlanRun } from '../plan/plan-run.ts'
import type { ChangeParts, PageStepParts } from './frame-plan.ts'

/** What was written of an object. */
export interface RowText {
  /** By the plan's `row`; `null` where nothing is selected. */
  readonly text: string
  /** The errors of its fields as JSON, with paths that begin with the key of `changes`; empty where there are none. */
  readonly errors: string
}

/** An object as the members of a group have been sent it. */
export interface SentObject extends RowText {
  readonly key: string
  readonly uid: string
  readonly objectId: string
}

/** What happened to one object, as members are sent it. */
export interface LiveChangeText extends ChangeParts {
  readonly key: string
  readonly uid: string
  readonly errors: string
}

/** A step of a page, as members are sent it. */
export interface PageStepText extends PageStepParts {
  readonly errors: string
}

/** What members are sent of one row: a change of an object, or a step of a page. */
export type SentChange = LiveChangeText | PageStepText

/** The errors of the row that a run has written last, as {@link RowText} has them. `unexpected` is told of those that are masked. */
export function rowErrors(run: PlanRun, unexpected: (error: GraphQLError) => void): string {
  const errors = run.errors.takeRow()
  if (errors.length === 0) return ''
  const result = clientResult({ data: null, errors }, unexpected)
  return JSON.stringify(result.errors.map(withoutTransportDetails))
}

/** The errors of two parts of one change. */
export function joinedErrors(one: string, other: string): string {
  if (one === '' || other === '') return one + other
  return `${one.slice(0, -1)},${other.slice(1)}`
}

/** The addition of an object, as a snapshot has it. */
export function additionOf({ key, uid, objectId, text, errors }: SentObject): LiveChangeText {
  return {
    key,
    uid,
    type: 'ADDED',
    removal: null,
    objectId,
    object: text,
    errors,
    finalStateKnown: true,
  }
}

const removals: Readonly<Record<RemovalCause, NonNullable<ChangeParts['removal']>>> = {
  gone: 'DELETED',
  unmatched: 'UNMATCHED',
  hidden: 'HIDDEN',
}

/** The removal of an object, with its last state. One that is hidden has none. */
export function removalOf(
  { key, uid, objectId, text, errors }: SentObject,
  cause: RemovalCause,
  finalStateKnown = true,
  previous?: ChangeParts['previous'],
): LiveChangeText {
  const last = cause === 'hidden' ? { object: 'null', errors: '' } : { object: text, errors }
  const removal = removals[cause]
  return { key, uid, type: 'REMOVED', removal, objectId, ...last, finalStateKnown, previous }
}

/** The removal of an object that a subscriber held, by what is there and visible now. It has nothing but its identity. */
export function removalNow(
  part: KindView,
  { key, uid }: Pick<SentObject, 'key' | 'uid'>,
): LiveChangeText {
  const objectId = objectIdOf(part, { key, uid })
  const object = { key, uid, objectId, text: 'null', errors: '' }
  return removalOf(object, removalCause(part, object))
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
