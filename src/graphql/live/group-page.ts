import type { StoreView } from '../../informer/store/store-view.ts'
import { positionOf } from '../../query/page/list-order.ts'
import { type FrontRow, TopWindow } from '../../query/page/top-window.ts'
import { listPage } from '../../query/page/page.ts'
import { idsBefore, isShown, sentSteps } from '../../query/page/page-steps.ts'
import { type MarkedRow, markOf, rowsText } from '../../query/page/row-marks.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { FollowedList, FollowedPage } from '../operation/followed-list.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { PlanRun, type PlanRunOptions } from '../plan/plan-run.ts'
import type { FramePlan, PageStepParts } from './frame-plan.ts'
import type { GroupContent, PageState } from './group-content.ts'
import { GroupLiveSet } from './group-live-set.ts'
import type { GroupRun } from './group-run.ts'
import type { SentChange } from './live-change.ts'
import { RowDependencies } from './row-dependencies.ts'

/** A row of a page as the members of a group have been told of it. */
interface PageRow extends MarkedRow {
  readonly key: string
  readonly uid: string
  /** What was written of it; `null` where nothing is selected. */
  readonly text: string
  /** Two with the same are told as the same. */
  readonly version: unknown
}

/** So many rows stand ready behind a page, for those that leave it; of a large page as many as it has. */
const leastReady = 50
/** What it takes to know that an object is in the list, about. */
const memberBytes = 80

/** The first objects of a list in an order, as the members of a group have been told of them. */
export class GroupPage implements GroupContent {
  readonly dependencies: RowDependencies = new RowDependencies()
  readonly #plan: FramePlan
  readonly #list: FollowedList
  readonly #wanted: FollowedPage
  #front: TopWindow
  readonly #held: GroupLiveSet
  #told: readonly PageRow[] = []
  #rowsText = rowsText([])

  constructor(plan: FramePlan, list: FollowedList, wanted: FollowedPage) {
    this.#plan = plan
    this.#list = list
    this.#wanted = wanted
    this.#front = this.#newFront()
    this.#held = new GroupLiveSet(list.condition)
  }

  get page(): PageState {
    return { totalCount: this.#held.size, rows: this.#rowsText }
  }

  get bytes(): number {
    const units = this.#told.reduce((sum, { text }) => sum + text.length, 0)
    return this.#held.size * memberBytes + units * 2 + this.dependencies.bytes
  }

  matching(part: KindView, run: PlanRun): readonly string[] {
    return this.#held.matching(part, run)
  }

  turned(part: KindView, run: PlanRun, keys?: readonly string[]): readonly string[] {
    // Which rows stand ready may have been read before it was heard that they match.
    if (keys !== undefined) return keys
    this.#front = this.#newFront()
    return this.#held.turned(part, run)
  }

  keys(): readonly string[] {
    return this.#told.map(({ key }) => key)
  }

  changes(keys: Iterable<string>, part: KindView, options: GroupRun): readonly PageStepParts[] {
    const changed = new Set<string>()
    const asked = [...keys]
    // Also those that stand ready, as they were read before they were heard of, and match no more: nobody was told of them.
    for (const key of asked) this.#front.delete(key)
    for (const change of this.#held.changes(asked, part, new PlanRun(options))) {
      const { key, uid } = change
      changed.add(key)
      if (change.type !== 'DELETED') this.#front.put(this.#rowOf(part.view, change.id, uid))
    }
    const now = this.#written(this.#present(part, options), changed, part, options)
    options.check()
    return this.#tell(now)
  }

  all(): readonly PageStepParts[] {
    return stepsTo(this.#told, [])
  }

  merged(changes: readonly SentChange[]): readonly PageStepParts[] {
    return this.stepsFor(this, changes)
  }

  /** What leads to this page whoever holds another one, of the same list, but for these changes that it has not been told of. */
  stepsFor(held: GroupPage, unread: readonly SentChange[]): readonly PageStepParts[] {
    const steps = unread.filter((change) => 'step' in change)
    const shown = new Set(steps.filter(isShown).map(({ objectId }) => objectId))
    const versions = new Map(held.#told.map(({ id, version }) => [id, version]))
    return this.stepsFrom(
      idsBefore(held.ids(), steps),
      ({ id, version }) => shown.has(id) || versions.get(id) !== version,
    )
  }

  /** What leads from these rows to those that have been told, if these have changed meanwhile. */
  stepsFrom(
    ids: readonly string[],
    isChanged: (row: Pick<PageRow, 'id' | 'key' | 'version'>) => boolean,
  ): readonly PageStepParts[] {
    const now = new Map(this.#told.map((row) => [row.id, row]))
    const before = ids.map((id) => {
      const row = now.get(id)
      return { id, version: row === undefined || isChanged(row) ? notSent : row.version }
    })
    return stepsTo(this.#told, before)
  }

  /** The `id`s of the rows that have been told. */
  ids(): readonly string[] {
    return this.#told.map(({ id }) => id)
  }

  #newFront(): TopWindow {
    const { terms, size } = this.#wanted
    return new TopWindow(terms, size, Math.max(leastReady, size))
  }

  #rowOf(view: StoreView, id: number, uid: string): FrontRow {
    const position = positionOf(view, this.#wanted.terms, id)
    return { key: position.key, uid, position }
  }

  /** The rows of the page that are there. What has gone, or come, and was not heard of yet, will be. */
  #present(part: KindView, options: PlanRunOptions): readonly FrontRow[] {
    const { view } = part
    const isThere = ({ key, uid }: FrontRow): boolean => {
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
      related: this.#held.related,
    })
    const rows = ids.map((id) => this.#rowOf(view, id, view.uidOf(id)))
    this.#front.fill(rows, !hasNextPage)
  }

  #written(
    rows: readonly FrontRow[],
    changed: ReadonlySet<string>,
    part: KindView,
    options: PlanRunOptions,
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
    const told = new Map(this.#told.map((row) => [row.key, row]))
    const now = rows.map((row): PageRow => {
      const before = told.get(row.key)
      const known = before?.uid === row.uid ? before : undefined
      if (known !== undefined && !changed.has(row.key)) return known
      ;({ key } = row)
      const at = view.idOf(key)
      if (at === undefined) throw new TypeError(`${key} is on the page and not in the store`)
      this.dependencies.forget(key)
      run.budget.spend('rows', 1)
      const text = this.#plan.row?.(run, part, at)
      // Where nothing is selected of the object, all that is asked for is that it changed.
      const version = text ?? view.held(at)
      const id = known?.id ?? objectIdOf(part, row)
      return {
        id,
        mark: known?.mark ?? markOf(id),
        key,
        uid: row.uid,
        text: text ?? 'null',
        version,
      }
    })
    const staying = new Set(rows.map((row) => row.key))
    for (const row of this.#told) if (!staying.has(row.key)) this.dependencies.forget(row.key)
    return now
  }

  #tell(now: readonly PageRow[]): readonly PageStepParts[] {
    const steps = stepsTo(now, this.#told)
    this.#told = now
    if (steps.some(({ step }) => step !== 'UPDATE')) this.#rowsText = rowsText(now)
    return steps
  }
}

/** The version of a row that is to be sent, whatever was sent of it before. */
const notSent = Symbol('not sent')

function stepsTo(
  now: readonly PageRow[],
  before: readonly Pick<PageRow, 'id' | 'version'>[],
): readonly PageStepParts[] {
  return sentSteps(before, now).map(({ entry, ...step }) => ({
    ...step,
    object: entry?.text ?? 'null',
  }))
}
