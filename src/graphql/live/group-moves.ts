import type { KindView } from '../prepare/kind-view.ts'
import type { FrameRing } from './frame-ring.ts'
import type { FrameWriter, Positions } from './frame-writer.ts'
import { type Resumption, resumptionBy } from './group-member.ts'
import type { HeldContent } from './group-forms.ts'
import { GroupPage } from './group-page.ts'
import { GroupRows } from './group-rows.ts'
import {
  additionOf,
  type LiveChangeText,
  removalNow,
  type SentChange,
  type SentObject,
} from './live-change.ts'

/** An object as a member of a group has been told of it; what was written of it is not always known. */
type HeldObject = Pick<SentObject, 'key' | 'uid'> & { readonly text?: string }

/** Where members come from. */
interface LeftGroup {
  readonly rows: HeldContent
  readonly ring: FrameRing
}

export interface GroupMovesOptions {
  readonly from: LeftGroup
  readonly to: {
    readonly rows: HeldContent
    readonly writer: FrameWriter
    /** The number of the next frame of its ring, and where its members are when they have read all before it. */
    readonly next: number
    readonly positions: Positions
    readonly isAhead: boolean
  }
  /** What is seen there of the followed kind. */
  readonly part: KindView
}

/** How members of one group come to be members of another, within one tick: found out once for all who stand at the same frame. */
export class GroupMoves {
  readonly #options: GroupMovesOptions
  readonly #known = new Map<number, Resumption>()

  constructor(options: GroupMovesOptions) {
    this.#options = options
  }

  /** From the frame with this number, which is the first that has not been read. */
  from(number: number): Resumption {
    let move = this.#known.get(number)
    if (move === undefined) this.#known.set(number, (move = this.#moveFrom(number)))
    return move
  }

  #moveFrom(number: number): Resumption {
    const { from, to, part } = this.#options
    const { rows, writer, next, positions, isAhead } = to
    const changes = movedChanges(from.rows, unreadOf(from.ring, number), rows, part)
    const { page } = rows
    // A token of before would lose what has been there all the time, and was not to be seen.
    const at = { reset: false, wasSynced: true, before: {}, positions, isAhead, page }
    const isNothing = changes.length === 0 && page === undefined
    const frames = isNothing ? [] : writer.frames(changes, at)
    return resumptionBy(frames, { rows: changes.length, next, positions })
  }
}

/** By the form of the subscription, which is the same for both groups. */
function movedChanges(
  from: HeldContent,
  unread: readonly SentChange[],
  to: HeldContent,
  part: KindView,
): readonly SentChange[] {
  if (from instanceof GroupPage && to instanceof GroupPage) return to.stepsFor(from, unread)
  if (from instanceof GroupRows && to instanceof GroupRows) {
    return movedRows(heldBy(from, unread), to, part)
  }
  throw new TypeError('a group of pages and one of lists have no members in common')
}

/**
 * What is to be told to who held what the members of a group did, so that it holds what those of another do, by what is seen
 * there: what it may no longer see is HIDDEN, and of what is removed nothing is told but its identity.
 */
function movedRows(
  held: ReadonlyMap<string, HeldObject>,
  to: GroupRows,
  part: KindView,
): readonly LiveChangeText[] {
  const now = to.told()
  const stays = new Set(now.map(({ objectId }) => objectId))
  const removals = Array.from(held).flatMap(([objectId, object]) =>
    stays.has(objectId) ? [] : [removalNow(part, object)],
  )
  const others = now.flatMap((object): LiveChangeText[] => {
    const before = held.get(object.objectId)
    if (before === undefined) return [additionOf(object)]
    return before.text === object.text ? [] : [{ ...additionOf(object), type: 'MODIFIED' }]
  })
  return [...removals, ...others]
}

/** What a member has not been given that is to be given the frame with this number next. */
function unreadOf(ring: FrameRing, next: number): readonly SentChange[] {
  const unread: SentChange[] = []
  for (let number = next; number < ring.next; number += 1) {
    unread.push(...(ring.get(number)?.changes ?? []))
  }
  return unread
}

/** What a member holds that has not been given these changes. */
function heldBy(rows: GroupRows, unread: readonly SentChange[]): ReadonlyMap<string, HeldObject> {
  const held = new Map<string, HeldObject>(rows.told().map((one) => [one.objectId, one]))
  for (const { type, objectId, key, uid } of rows.merged(unread)) {
    if (type === 'ADDED') held.delete(objectId)
    else held.set(objectId, { key, uid })
  }
  return held
}
