import type { HeldObject } from '../../../informer/codec/object-codec.ts'
import { LiveSet, removalCause, type RemovalCause } from '../../../query/live-set.ts'
import { objectIdOf } from '../../model/object-id.ts'
import { PlanRun } from '../../plan/plan-run.ts'
import type { KindView } from '../../prepare/kind-view.ts'
import type { RowText, SentChange, SentListChange } from '../frame-plan.ts'
import {
  type GroupContent,
  type ListReads,
  liveRead,
  rowErrors,
  rowTexts,
} from './group-content.ts'
import { type GroupList, type ListRead, nothingSeen, type RowKeys } from './group-list.ts'

interface SentObject extends RowText {
  readonly uid: string
  readonly objectId: string
}

/** The memory of a row besides its text, about: entries in two maps, and the identity of its object. */
const rowBytes = 280

/** The rows of the lists of a group: all objects that were sent to the members, with their texts. */
export class GroupRows implements GroupContent {
  readonly page = undefined
  readonly bytesPerObject: number = rowBytes
  readonly #of = new Map<GroupList, ListRows>()

  /** The rows of one list. */
  of(list: GroupList): ListRows {
    let rows = this.#of.get(list)
    if (rows === undefined) this.#of.set(list, (rows = new ListRows(list)))
    return rows
  }

  get size(): number {
    let size = 0
    for (const rows of this.#of.values()) size += rows.size
    return size
  }

  get bytes(): number {
    let bytes = 0
    for (const rows of this.#of.values()) bytes += rows.bytes
    return bytes
  }

  matching(list: GroupList, read: ListRead): readonly string[] {
    return this.of(list).matching(read)
  }

  changedMatches(list: GroupList, read: ListRead, keys?: readonly string[]): readonly string[] {
    return this.of(list).changedMatches(read, keys)
  }

  keys(list: GroupList): readonly string[] {
    return this.of(list).keys()
  }

  matched(list: GroupList): readonly string[] {
    return this.keys(list)
  }

  all(): readonly SentListChange[] {
    return Array.from(this.#of.values(), (rows) => rows.all()).flat()
  }

  follow(): void {}

  drop(lists: readonly GroupList[]): readonly SentListChange[] {
    const dropped = lists.flatMap((list) => this.of(list).all())
    for (const list of lists) this.#of.delete(list)
    return dropped.map((row) => ({ ...row, type: 'REMOVED', removal: 'CLUSTER_REMOVED' }))
  }

  merged(changes: readonly SentChange[]): readonly SentListChange[] {
    return mergedChanges(changes.filter((change) => 'type' in change))
  }

  changes(rows: readonly RowKeys[], reads: ListReads): readonly SentListChange[] {
    const written = rows.map((of) => this.of(of.list).changes(of, reads.of(of.list)))
    reads.check()
    for (const { keep } of written) keep()
    const [only] = written
    return written.length === 1 && only ? only.changes : written.flatMap(({ changes }) => changes)
  }
}

/** The rows of one list. */
export class ListRows {
  readonly #list: GroupList
  readonly #matching: LiveSet
  readonly #sent = new Map<string, SentObject>()
  /** The length of all texts in UTF-16 units. */
  #units = 0

  constructor(list: GroupList) {
    this.#list = list
    this.#matching = new LiveSet(list.list.condition)
  }

  get size(): number {
    return this.#sent.size
  }

  get bytes(): number {
    return this.#sent.size * rowBytes + this.#units * 2 + this.#list.dependencies.bytes
  }

  matching({ part, run }: ListRead): readonly string[] {
    return this.#matching.matching(liveRead(part, new PlanRun(run)))
  }

  changedMatches({ part, run }: ListRead, keys?: readonly string[]): readonly string[] {
    return this.#matching.changedMatches(liveRead(part, new PlanRun(run)), keys)
  }

  keys(): readonly string[] {
    return [...this.#sent.keys()]
  }

  all(): readonly SentListChange[] {
    return Array.from(this.#sent.values(), additionOf)
  }

  sentOf(key: string): SentObject | undefined {
    return this.#sent.get(key)
  }

  /** The changes to send for rows. They count as sent once `keep` is called. */
  changes(
    { keys, seen: { isFinalStateKnown, previousOf } = nothingSeen }: RowKeys,
    read: ListRead,
  ): { readonly changes: readonly SentListChange[]; readonly keep: () => void } {
    const { plan, dependencies } = this.#list
    const { part, run: options } = read
    const { run, write } = rowTexts(this.#list, read)
    const { view } = part
    const previousTexts = (held: HeldObject | undefined): readonly string[] | undefined =>
      held && plan.previous.map((writePrevious) => writePrevious(run, view, held))
    const changes: SentListChange[] = []
    const sent = new Map<string, SentObject | undefined>()
    const due = this.#matching.due(liveRead(part, run), keys)
    for (const change of due) {
      const { key, uid } = change
      const before = sent.has(key) ? sent.get(key) : this.#sent.get(key)
      if (change.type === 'DELETED') {
        sent.set(key, undefined)
        if (before === undefined) continue
        const id = change.cause === 'unmatched' ? view.idOf(key) : undefined
        const last = id === undefined ? before : write(key, id)
        dependencies.forget(key)
        const previous = id === undefined ? undefined : previousTexts(previousOf(uid))
        const errors = joinedErrors(last.errors, rowErrors(run, options.unexpected))
        const { objectId } = before
        const object = { uid, objectId, text: last.text, errors }
        changes.push(removalOf(object, change.cause, isFinalStateKnown(uid), previous))
        continue
      }
      const now = write(key, change.id)
      const previous = previousTexts(previousOf(uid))
      const previousErrors = rowErrors(run, options.unexpected)
      const isSame = before?.uid === uid && before.text === now.text && before.errors === now.errors
      // A subscription that selects nothing of the object still reports each change.
      if (isSame && plan.row !== undefined) {
        const held = previous && previousTexts(view.held(change.id))
        run.errors.takeRow()
        if (!previous?.some((was, at) => was !== held?.[at])) continue
      }
      const objectId = before?.uid === uid ? before.objectId : objectIdOf(part, change)
      const object = { uid, objectId, ...now }
      sent.set(key, object)
      const errors = joinedErrors(now.errors, previousErrors)
      changes.push({ ...additionOf(object), type: change.type, errors, previous })
    }
    const keep = (): void => {
      this.#matching.sent(due)
      for (const [key, now] of sent) this.#keep(key, now)
    }
    return { changes, keep }
  }

  #keep(key: string, now: SentObject | undefined): void {
    this.#units += unitsOf(now) - unitsOf(this.#sent.get(key))
    if (now === undefined) this.#sent.delete(key)
    else this.#sent.set(key, now)
  }
}

function unitsOf(object: SentObject | undefined): number {
  return object === undefined ? 0 : object.text.length + object.errors.length
}

/** The errors of two parts of one change. */
function joinedErrors(one: string, other: string): string {
  if (one === '' || other === '') return one + other
  return `${one.slice(0, -1)},${other.slice(1)}`
}

/** The addition of an object, as in a snapshot. */
export function additionOf({ objectId, text, errors }: SentObject): SentListChange {
  const added = { type: 'ADDED', removal: null, finalStateKnown: true } as const
  return { ...added, objectId, object: text, errors }
}

const removals: Readonly<Record<RemovalCause, NonNullable<SentListChange['removal']>>> = {
  gone: 'DELETED',
  unmatched: 'UNMATCHED',
  hidden: 'HIDDEN',
}

/** The removal of an object, with its last state unless it is hidden. */
function removalOf(
  { objectId, text, errors }: SentObject,
  cause: RemovalCause,
  finalStateKnown = true,
  previous?: SentListChange['previous'],
): SentListChange {
  const last = cause === 'hidden' ? { object: 'null', errors: '' } : { object: text, errors }
  const removal = removals[cause]
  return { type: 'REMOVED', removal, objectId, ...last, finalStateKnown, previous }
}

/** The removal of an object that a subscriber held, as the stores show it now: its identity only. */
export function removalNow(
  part: KindView,
  object: { readonly key: string; readonly uid: string },
): SentListChange {
  const sent = { uid: object.uid, objectId: objectIdOf(part, object), text: 'null', errors: '' }
  return removalOf(sent, removalCause(part, object))
}

/**
 * Successive changes as fewer changes that lead to the same rows. Of each object the latest change stays, or its
 * removal. An object that was recreated under its key has another id, so its former removal stays, too.
 */
export function mergedChanges(changes: Iterable<SentListChange>): readonly SentListChange[] {
  const merged = new Map<string, SentListChange>()
  for (const change of changes) {
    const { objectId } = change
    const before = merged.get(objectId)
    // Moves the object to the end, after the removal of its namesake.
    merged.delete(objectId)
    const both = before === undefined ? change : joinedChange(before, change)
    if (both === undefined) continue
    // The state before the first of the changes.
    merged.set(objectId, { ...both, previous: before?.previous ?? change.previous })
  }
  return [...merged.values()]
}

function joinedChange(before: SentListChange, change: SentListChange): SentListChange | undefined {
  if (before.type === 'ADDED' && change.type === 'REMOVED') return undefined
  if (before.type === 'ADDED') return { ...change, type: 'ADDED' }
  if (before.type === 'REMOVED' && change.type === 'ADDED') return { ...change, type: 'MODIFIED' }
  return change
}
