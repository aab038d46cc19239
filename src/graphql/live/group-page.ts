import type { StoreView } from '../../informer/store/store-view.ts'
import { LiveSet } from '../../query/live-set.ts'
import { positionOf } from '../../query/page/list-order.ts'
import { listPage } from '../../query/page/page.ts'
import { idsBefore, isShown, sentSteps } from '../../query/page/page-steps.ts'
import { TopWindow, type WindowRow } from '../../query/page/top-window.ts'
import { objectIdOf } from '../model/object-id.ts'
import { PlanRun } from '../plan/plan-run.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { FollowedList, FollowedPage } from './followed-list.ts'
import type { FramePlan, PageState, RowText, SentChange, SentPageStep } from './frame-plan.ts'
import {
  type GroupContent,
  liveRead,
  RowDependencies,
  type RowTexts,
  rowTexts,
} from './group-content.ts'
import type { GroupRun } from './group-reading.ts'

/** A row of a page as the members hold it. */
interface PageRow extends RowText {
  readonly id: string
  readonly key: string
  readonly uid: string
  /** A row is sent again when its version differs. */
  readonly version: unknown
}

/** The least number of rows kept ready behind a page to replace those that leave it. A large page keeps its own size. */
const leastReady = 50
/** The memory of an object in the list, about. */
const memberBytes = 80

/** A live page: the first objects of a list in an order. */
export class GroupPage implements GroupContent {
  readonly dependencies: RowDependencies = new RowDependencies()
  readonly #plan: FramePlan
  readonly #list: FollowedList
  readonly #wanted: FollowedPage
  readonly #matching: LiveSet
  #front: TopWindow
  #sent: readonly PageRow[] = []

  constructor(plan: FramePlan, list: FollowedList, wanted: FollowedPage) {
    this.#plan = plan
    this.#list = list
    this.#wanted = wanted
    this.#front = this.#newFront()
    this.#matching = new LiveSet(list.condition)
  }

  get page(): PageState {
    return { totalCount: this.#matching.size }
  }

  get bytes(): number {
    const units = this.#sent.reduce((sum, { text, errors }) => sum + text.length + errors.length, 0)
    return this.#matching.size * memberBytes + units * 2 + this.dependencies.bytes
  }

  matching(part: KindView, run: GroupRun): readonly string[] {
    // Throws `UnknownIndexError` for an index of the order that has to be made first, as the condition does for its own.
    for (const { index } of this.#wanted.terms) part.view.index(index)
    return this.#matching.matching(liveRead(part, new PlanRun(run)))
  }

  changedMatches(part: KindView, run: GroupRun, keys?: readonly string[]): readonly string[] {
    // The rows kept ready may have been read before the group took their changes.
    if (keys !== undefined) return keys
    this.#front = this.#newFront()
    return this.#matching.changedMatches(liveRead(part, new PlanRun(run)))
  }

  keys(): readonly string[] {
    return this.#sent.map(({ key }) => key)
  }

  changes(keys: Iterable<string>, part: KindView, options: GroupRun): readonly SentPageStep[] {
    const texts = rowTexts(this.#plan, this.dependencies, part, options)
    const changed = new Set<string>()
    const asked = [...keys]
    // Also removes rows kept ready that no longer match: they may have been read before the group took their changes.
    for (const key of asked) this.#front.delete(key)
    const due = this.#matching.due(liveRead(part, texts.run), asked)
    for (const change of due) {
      const { key, uid } = change
      changed.add(key)
      if (change.type !== 'DELETED') this.#front.put(this.#rowOf(part.view, change.id, uid))
    }
    const now = this.#written(this.#present(part, texts.run), changed, part, texts)
    options.check()
    this.#matching.sent(due)
    const steps = stepsTo(now, this.#sent)
    this.#sent = now
    return steps
  }

  all(): readonly SentPageStep[] {
    return stepsTo(this.#sent, [])
  }

  merged(changes: readonly SentChange[]): readonly SentPageStep[] {
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

  /** The rows of the page that exist. Changes that still wait come later. */
  #present(part: KindView, run: PlanRun): readonly WindowRow[] {
    const { view } = part
    const isThere = ({ key, uid }: WindowRow): boolean => {
      const id = view.idOf(key)
      return id !== undefined && view.uidOf(id) === uid
    }
    while (true) {
      if (this.#front.isShort) this.#fill(part, run)
      const first = this.#front.first()
      if (first.every(isThere)) return first
      for (const row of first) if (!isThere(row)) this.#front.delete(row.key)
    }
  }

  #fill(part: KindView, run: PlanRun): void {
    const { view } = part
    const { capacity } = this.#front
    const { rows: ids, hasNextPage } = listPage({
      ...liveRead(part, run),
      condition: this.#list.condition,
      terms: this.#wanted.terms,
      identity: { list: this.#list.list },
      first: capacity,
      maxPageSize: capacity,
    })
    const rows = ids.map((id) => this.#rowOf(view, id, view.uidOf(id)))
    this.#front.fill(rows, !hasNextPage)
  }

  #written(
    rows: readonly WindowRow[],
    changed: ReadonlySet<string>,
    part: KindView,
    { write }: RowTexts,
  ): readonly PageRow[] {
    const { view } = part
    const sent = new Map(this.#sent.map((row) => [row.key, row]))
    const now = rows.map((row): PageRow => {
      const { key, uid } = row
      const before = sent.get(key)
      const known = before?.uid === uid ? before : undefined
      if (known !== undefined && !changed.has(key)) return known
      const at = view.idOf(key)
      if (at === undefined) throw new TypeError(`${key} is on the page and not in the store`)
      const { text, errors } = write(key, at)
      // A subscription that selects nothing of the object still reports each change.
      const version = this.#plan.row === undefined ? view.held(at) : text + errors
      return { id: known?.id ?? objectIdOf(part, row), key, uid, text, errors, version }
    })
    const staying = new Set(rows.map((row) => row.key))
    for (const row of this.#sent) if (!staying.has(row.key)) this.dependencies.forget(row.key)
    return now
  }
}

/** The version of a row that must be sent again. */
const notSent = Symbol('not sent')

function stepsTo(
  now: readonly PageRow[],
  before: readonly Pick<PageRow, 'id' | 'version'>[],
): readonly SentPageStep[] {
  return sentSteps(before, now).map(({ entry, ...step }) => ({
    ...step,
    object: entry?.text ?? 'null',
    errors: entry?.errors ?? '',
  }))
}
