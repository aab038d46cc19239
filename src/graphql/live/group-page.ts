import type { StoreView } from '../../informer/store/store-view.ts'
import { positionOf } from '../../query/page/list-order.ts'
import { TopWindow, type WindowRow } from '../../query/page/top-window.ts'
import { listPage } from '../../query/page/page.ts'
import { idsBefore, isShown, sentSteps } from '../../query/page/page-steps.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { FollowedList, FollowedPage } from './followed-list.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { PlanRun, type PlanRunOptions } from '../plan/plan-run.ts'
import type { FramePlan } from './frame-plan.ts'
import { type GroupContent, MatchingObjects, type PageState } from './group-content.ts'
import type { GroupRun } from './group-reading.ts'
import { type PageStepText, rowErrors, type RowText, type SentChange } from './live-change.ts'
import { RowDependencies } from './row-dependencies.ts'

/** A row of a page as the members of a group have been sent it. */
interface PageRow extends RowText {
  /** The `id` of the object. */
  readonly id: string
  readonly key: string
  readonly uid: string
  /** A row is sent again when it has another version. */
  readonly version: unknown
}

/** So many rows are kept ready behind a page, to replace those that leave it; of a large page as many as it has. */
const leastReady = 50
/** The memory of an object's membership in the list, about. */
const memberBytes = 80

/** The first objects of a list in an order, as the members of a group have been sent them. */
export class GroupPage implements GroupContent {
  readonly dependencies: RowDependencies = new RowDependencies()
  readonly #plan: FramePlan
  readonly #list: FollowedList
  readonly #wanted: FollowedPage
  #front: TopWindow
  readonly #matching: MatchingObjects
  #sent: readonly PageRow[] = []

  constructor(plan: FramePlan, list: FollowedList, wanted: FollowedPage) {
    this.#plan = plan
    this.#list = list
    this.#wanted = wanted
    this.#front = this.#newFront()
    this.#matching = new MatchingObjects(list.condition)
  }

  get page(): PageState {
    return { totalCount: this.#matching.size }
  }

  get size(): number {
    return this.#sent.length
  }

  get bytes(): number {
    const units = this.#sent.reduce((sum, { text, errors }) => sum + text.length + errors.length, 0)
    return this.#matching.size * memberBytes + units * 2 + this.dependencies.bytes
  }

  matching(part: KindView, run: PlanRun): readonly string[] {
    return this.#matching.matching(part, run)
  }

  changedMatches(part: KindView, run: PlanRun, keys?: readonly string[]): readonly string[] {
    // Rows that stand ready may have been read before their changes were heard.
    if (keys !== undefined) return keys
    this.#front = this.#newFront()
    return this.#matching.changedMatches(part, run)
  }

  keys(): readonly string[] {
    return this.#sent.map(({ key }) => key)
  }

  changes(keys: Iterable<string>, part: KindView, options: GroupRun): readonly PageStepText[] {
    const changed = new Set<string>()
    const asked = [...keys]
    // Also those that stand ready and match no more: they may have been read before their changes were heard.
    for (const key of asked) this.#front.delete(key)
    const due = this.#matching.due(asked, part, new PlanRun(options))
    for (const change of due) {
      const { key, uid } = change
      changed.add(key)
      if (change.type !== 'DELETED') this.#front.put(this.#rowOf(part.view, change.id, uid))
    }
    const now = this.#written(this.#present(part, options), changed, part, options)
    options.check()
    this.#matching.sent(due)
    const steps = stepsTo(now, this.#sent)
    this.#sent = now
    return steps
  }

  all(): readonly PageStepText[] {
    return stepsTo(this.#sent, [])
  }

  merged(changes: readonly SentChange[]): readonly PageStepText[] {
    const steps = changes.filter((change) => 'step' in change)
    const shown = new Set(steps.filter(isShown).map(({ objectId }) => objectId))
    const versions = new Map(this.#sent.map(({ id, version }) => [id, version]))
    const ids = this.#sent.map(({ id }) => id)
    const before = idsBefore(ids, steps).map((id) => ({
      id,
      version: shown.has(id) ? notSent : (versions.get(id) ?? notSent),
    }))
    return stepsTo(this.#sent, before)
  }

  #newFront(): TopWindow {
    const { terms, size } = this.#wanted
    return new TopWindow(terms, size, Math.max(leastReady, size))
  }

  #rowOf(view: StoreView, id: number, uid: string): WindowRow {
    const position = positionOf(view, this.#wanted.terms, id)
    return { key: position.key, uid, position }
  }

  /** The rows of the page that exist. Changes that are not heard of yet will be. */
  #present(part: KindView, options: PlanRunOptions): readonly WindowRow[] {
    const { view } = part
    const isThere = ({ key, uid }: WindowRow): boolean => {
      const id = view.idOf(key)
      return id !== undefined && view.uidOf(id) === uid
    }
    while (true) {
      if (this.#front.isShort) this.#fill(part, options)
      const first = this.#front.first()
      if (first.every(isThere)) return first
      for (const row of first) if (!isThere(row)) this.#front.delete(row.key)
    }
  }

  #fill({ view, scope }: KindView, { budget }: PlanRunOptions): void {
    const { capacity } = this.#front
    const { ids, hasNextPage } = listPage({
      view,
      scope,
      budget,
      condition: this.#list.condition,
      terms: this.#wanted.terms,
      identity: { list: this.#list.list },
      first: capacity,
      maxPageSize: capacity,
      related: this.#matching.related,
    })
    const rows = ids.map((id) => this.#rowOf(view, id, view.uidOf(id)))
    this.#front.fill(rows, !hasNextPage)
  }

  #written(
    rows: readonly WindowRow[],
    changed: ReadonlySet<string>,
    part: KindView,
    options: GroupRun,
  ): readonly PageRow[] {
    let key = ''
    const run = new PlanRun({
      ...options,
      followed: (relation) => {
        options.followed?.(relation)
        this.dependencies.add(key, relation)
      },
    })
    const { view } = part
    const sent = new Map(this.#sent.map((row) => [row.key, row]))
    const now = rows.map((row): PageRow => {
      const before = sent.get(row.key)
      const known = before?.uid === row.uid ? before : undefined
      if (known !== undefined && !changed.has(row.key)) return known
      ;({ key } = row)
      const at = view.idOf(key)
      if (at === undefined) throw new TypeError(`${key} is on the page and not in the store`)
      this.dependencies.forget(key)
      run.budget.spend('rows', 1)
      const text = this.#plan.row?.(run, part, at)
      const errors = rowErrors(run, options.unexpected)
      // Where nothing is selected of the object, the subscriber asks only that it changed.
      const version = text === undefined ? view.held(at) : text + errors
      const id = known?.id ?? objectIdOf(part, row)
      return { id, key, uid: row.uid, text: text ?? 'null', errors, version }
    })
    const staying = new Set(rows.map((row) => row.key))
    for (const row of this.#sent) if (!staying.has(row.key)) this.dependencies.forget(row.key)
    return now
  }
}

/** The version of a row that is to be sent, whatever was sent of it before. */
const notSent = Symbol('not sent')

function stepsTo(
  now: readonly PageRow[],
  before: readonly Pick<PageRow, 'id' | 'version'>[],
): readonly PageStepText[] {
  return sentSteps(before, now).map(({ entry, ...step }) => ({
    ...step,
    object: entry?.text ?? 'null',
    errors: entry?.errors ?? '',
  }))
}
