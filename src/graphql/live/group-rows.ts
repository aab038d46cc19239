import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { Condition } from '../../query/condition/condition.ts'
import type { LiveChange } from '../../query/live-set.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { removals } from '../operation/removals.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { FramePlan } from './frame-plan.ts'
import type { GroupContent, SeenChanges } from './group-content.ts'
import { GroupLiveSet } from './group-live-set.ts'
import type { GroupRun } from './group-run.ts'
import {
  additionOf,
  type LiveChangeText,
  mergedChanges,
  removalOf,
  type SentChange,
  type SentObject,
} from './live-change.ts'
import { RowDependencies } from './row-dependencies.ts'

/** What a row takes besides its text, about: its entries in two maps, and the identity of its object. */
const rowBytes = 250

/** The objects that the members of a group have been told of, with what was written of them. */
export class GroupRows implements GroupContent {
  readonly page = undefined
  readonly dependencies: RowDependencies = new RowDependencies()
  readonly #plan: FramePlan
  readonly #held: GroupLiveSet
  readonly #told = new Map<string, SentObject>()
  /** UTF-16 units of the texts. */
  #units = 0

  constructor(plan: FramePlan, condition: Condition) {
    this.#plan = plan
    this.#held = new GroupLiveSet(condition)
  }

  get size(): number {
    return this.#told.size
  }

  /** What the rows take, at the most. */
  get bytes(): number {
    return this.#told.size * rowBytes + this.#units * 2 + this.dependencies.bytes
  }

  /** The keys of what is to be told first. Throws `QueryTooCostlyError`. */
  matching(part: KindView, run: PlanRun): readonly string[] {
    return this.#held.matching(part, run)
  }

  /**
   * The keys of what has come to match, or matches no more, of all that there is, or of `keys`. Throws `QueryTooCostlyError` and
   * whatever reading throws.
   */
  turned(part: KindView, run: PlanRun, keys?: readonly string[]): readonly string[] {
    return this.#held.turned(part, run, keys)
  }

  /** All that has been told, as it is now: a copy. */
  told(): readonly SentObject[] {
    return [...this.#told.values()]
  }

  keys(): readonly string[] {
    return [...this.#told.keys()]
  }

  all(): readonly LiveChangeText[] {
    return this.told().map(additionOf)
  }

  merged(changes: readonly SentChange[]): readonly LiveChangeText[] {
    return mergedChanges(changes.filter((change) => 'type' in change))
  }

  toldOf(key: string): SentObject | undefined {
    return this.#told.get(key)
  }

  /**
   * What is to be told of keys that something happened to, or that are written from objects that something happened to. Nothing
   * where what is written is as it was. Throws `QueryTooCostlyError`, `NotCoveredError`, and whatever reading throws; then nothing
   * has been told.
   */
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
    const write = (change: LiveChange & { readonly id: number }): string => {
      row = change.key
      this.dependencies.forget(row)
      run.budget.spend('rows', 1)
      return this.#plan.row?.(run, part, change.id) ?? 'null'
    }
    const { view } = part
    const selected = this.#plan.previous
    const previousTexts = (held: HeldObject | undefined): readonly string[] | undefined =>
      held === undefined ? undefined : selected.map((field) => field.text(run, view, held))
    const changes: LiveChangeText[] = []
    // Nothing has been told before all of it is known.
    const told = new Map<string, SentObject | undefined>()
    for (const change of this.#held.changes(keys, part, run)) {
      const { key, uid } = change
      const before = told.has(key) ? told.get(key) : this.#told.get(key)
      if (change.type === 'DELETED') {
        told.set(key, undefined)
        if (before === undefined) continue
        const id = change.cause === 'unmatched' ? part.view.idOf(key) : undefined
        const text = id === undefined ? before.text : write({ type: 'MODIFIED', key, uid, id })
        this.dependencies.forget(key)
        const previous = id === undefined ? undefined : previousTexts(previousOf(uid))
        const [removal, isKnown] = [removals[change.cause], isFinalStateKnown(uid)]
        changes.push(removalOf({ ...before, text }, removal, isKnown, previous))
        continue
      }
      const text = write(change)
      // Where nothing is selected of the object, all that is asked for is that it changed.
      const isAsBefore = before?.uid === uid && before.text === text
      const previous = previousTexts(previousOf(uid))
      const isSelected = (): boolean => {
        const now = previous && previousTexts(view.held(change.id))
        return previous?.some((was, at) => was !== now?.[at]) === true
      }
      if (isAsBefore && this.#plan.row !== undefined && !isSelected()) continue
      const now = {
        key,
        uid,
        objectId: before?.uid === uid ? before.objectId : objectIdOf(part, change),
        text,
      }
      told.set(key, now)
      changes.push({ ...additionOf(now), type: change.type, previous })
    }
    options.check()
    for (const [key, now] of told) {
      if (now === undefined) this.#forget(key)
      else this.#tell(now)
    }
    return changes
  }

  #tell(now: SentObject): void {
    this.#units += now.text.length - (this.#told.get(now.key)?.text.length ?? 0)
    this.#told.set(now.key, now)
  }

  #forget(key: string): void {
    this.#units -= this.#told.get(key)?.text.length ?? 0
    this.#told.delete(key)
  }
}
