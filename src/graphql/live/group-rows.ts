import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { Condition } from '../../query/condition/condition.ts'
import type { LiveChange } from '../../query/live-set.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { FramePlan } from './frame-plan.ts'
import { type GroupContent, MatchingObjects, type SeenChanges } from './group-content.ts'
import type { GroupRun } from './group-reading.ts'
import {
  additionOf,
  joinedErrors,
  type LiveChangeText,
  mergedChanges,
  removalOf,
  rowErrors,
  type RowText,
  type SentChange,
  type SentObject,
} from './live-change.ts'
import { RowDependencies } from './row-dependencies.ts'

/** What a row takes besides its text, about: its entries in two maps, and the identity of its object. */
const rowBytes = 250

/** The objects of a list that the members of a group have been sent, with what was written of them. */
export class GroupRows implements GroupContent {
  readonly page = undefined
  readonly dependencies: RowDependencies = new RowDependencies()
  readonly #plan: FramePlan
  readonly #matching: MatchingObjects
  readonly #sent = new Map<string, SentObject>()
  /** UTF-16 units of the texts. */
  #units = 0

  constructor(plan: FramePlan, condition: Condition) {
    this.#plan = plan
    this.#matching = new MatchingObjects(condition)
  }

  get size(): number {
    return this.#sent.size
  }

  get bytes(): number {
    return this.#sent.size * rowBytes + this.#units * 2 + this.dependencies.bytes
  }

  matching(part: KindView, run: PlanRun): readonly string[] {
    return this.#matching.matching(part, run)
  }

  changedMatches(part: KindView, run: PlanRun, keys?: readonly string[]): readonly string[] {
    return this.#matching.changedMatches(part, run, keys)
  }

  keys(): readonly string[] {
    return [...this.#sent.keys()]
  }

  all(): readonly LiveChangeText[] {
    return Array.from(this.#sent.values(), additionOf)
  }

  merged(changes: readonly SentChange[]): readonly LiveChangeText[] {
    return mergedChanges(changes.filter((change) => 'type' in change))
  }

  /** The row with a key, as it was sent. */
  sentOf(key: string): SentObject | undefined {
    return this.#sent.get(key)
  }

  changes(
    keys: Iterable<string>,
    part: KindView,
    options: GroupRun,
    { isFinalStateKnown, previousOf }: SeenChanges,
  ): readonly LiveChangeText[] {
    let row = ''
    const run = new PlanRun({
      ...options,
      followed: (relation) => {
        options.followed?.(relation)
        this.dependencies.add(row, relation)
      },
    })
    const write = (key: string, id: number): RowText => {
      row = key
      this.dependencies.forget(row)
      run.budget.spend('rows', 1)
      const text = this.#plan.row?.(run, part, id) ?? 'null'
      return { text, errors: rowErrors(run, options.unexpected) }
    }
    const { view } = part
    const selected = this.#plan.previous
    const previousTexts = (held: HeldObject | undefined): readonly string[] | undefined =>
      held === undefined
        ? undefined
        : selected.map((writePrevious) => writePrevious(run, view, held))
    const changes: LiveChangeText[] = []
    const sent = new Map<string, SentObject | undefined>()
    const due: readonly LiveChange[] = this.#matching.due(keys, part, run)
    for (const change of due) {
      const { key, uid } = change
      const before = sent.has(key) ? sent.get(key) : this.#sent.get(key)
      if (change.type === 'DELETED') {
        sent.set(key, undefined)
        if (before === undefined) continue
        const id = change.cause === 'unmatched' ? view.idOf(key) : undefined
        const last = id === undefined ? before : write(key, id)
        this.dependencies.forget(key)
        const previous = id === undefined ? undefined : previousTexts(previousOf(uid))
        const errors = joinedErrors(last.errors, rowErrors(run, options.unexpected))
        const object = { ...before, text: last.text, errors }
        changes.push(removalOf(object, change.cause, isFinalStateKnown(uid), previous))
        continue
      }
      const now = write(key, change.id)
      const previous = previousTexts(previousOf(uid))
      const previousErrors = rowErrors(run, options.unexpected)
      const isSame = before?.uid === uid && before.text === now.text && before.errors === now.errors
      // Where nothing is selected of the object, the subscriber asks only that it changed.
      if (isSame && this.#plan.row !== undefined) {
        const held = previous && previousTexts(view.held(change.id))
        run.errors.takeRow()
        if (!previous?.some((was, at) => was !== held?.[at])) continue
      }
      const objectId = before?.uid === uid ? before.objectId : objectIdOf(part, change)
      const object = { key, uid, objectId, ...now }
      sent.set(key, object)
      const errors = joinedErrors(now.errors, previousErrors)
      changes.push({ ...additionOf(object), type: change.type, errors, previous })
    }
    options.check()
    this.#matching.sent(due)
    for (const [key, now] of sent) this.#keep(key, now)
    return changes
  }

  #keep(key: string, now: SentObject | undefined): void {
    const before = this.#sent.get(key)
    this.#units += unitsOf(now) - unitsOf(before)
    if (now === undefined) this.#sent.delete(key)
    else this.#sent.set(key, now)
  }
}

function unitsOf(object: SentObject | undefined): number {
  return object === undefined ? 0 : object.text.length + object.errors.length
}
