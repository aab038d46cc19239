import type { StoreView } from '../../../informer/store/store-view.ts'
import { LiveSet } from '../../../query/live-set.ts'
import { listPage } from '../../../query/page/page.ts'
import { positionOf } from '../../../query/page/list-order.ts'
import { idsBefore, isShown, sentSteps } from '../../../query/page/page-steps.ts'
import { TopWindow, type WindowRow } from '../../../query/page/top-window.ts'
import { objectIdOf } from '../../model/object-id.ts'
import { PlanRun } from '../../plan/plan-run.ts'
import type { FollowedPage } from '../followed-list.ts'
import type { PageState, RowText, SentChange, SentPageStep } from '../frame-plan.ts'
import {
  type GroupContent,
  type ListReads,
  liveRead,
  type RowTexts,
  rowTexts,
} from './group-content.ts'
import type { GroupList, ListRead, RowKeys } from './group-list.ts'

/** A row of a page as the members hold it. */
interface PageRow extends RowText {
  readonly list: GroupList
  /** The key in the window. */
  readonly place: string
  readonly id: string
  readonly key: string
  readonly uid: string
  /** A row is sent again when its version differs. */
  readonly version: unknown
}

/** A row of the window. Its position has a key that is unique among the lists. */
interface ListRow extends WindowRow {
  readonly list: GroupList
  /** The key of the object. */
  readonly objectKey: string
}

/** The least number of rows kept ready behind a page to replace those that leave it. A large page keeps its own size. */
const leastReady = 50
/** The memory of an object in the list, about. */
const memberBytes = 80

/** A live page: the first objects of the lists of a group together, in an order. */
export class GroupPage implements GroupContent {
  readonly bytesPerObject: number = memberBytes
  readonly #wanted: FollowedPage
  /** The lists in the order in which they break ties, with their matching objects. */
  #lists = new Map<GroupList, { readonly matching: LiveSet; readonly tie: string }>()
  readonly #isPlural: boolean
  #front: TopWindow<ListRow>
  #sent: readonly PageRow[] = []

  /** `isPlural`: there may be several lists. */
  constructor(lists: readonly GroupList[], wanted: FollowedPage, isPlural: boolean) {
    this.#wanted = wanted
    this.#isPlural = isPlural
    this.#front = this.#newFront()
    this.follow(lists)
  }

  follow(lists: readonly GroupList[]): void {
    const before = this.#lists
    this.#lists = new Map(
      lists.map((list, at) => {
        const tie = this.#isPlural ? String.fromCharCode(firstTie + at) : ''
        const matching = before.get(list)?.matching ?? new LiveSet(list.list.condition)
        return [list, { matching, tie }]
      }),
    )
    this.#front = this.#newFront()
    this.#sent = this.#sent.map((row) => ({
      ...row,
      place: (this.#lists.get(row.list)?.tie ?? '') + row.key,
    }))
  }

  get page(): PageState {
    let totalCount = 0
    for (const { matching } of this.#lists.values()) totalCount += matching.size
    return { totalCount }
  }

  get bytes(): number {
    const units = this.#sent.reduce((sum, { text, errors }) => sum + text.length + errors.length, 0)
    let bytes = this.page.totalCount * memberBytes + units * 2
    for (const list of this.#lists.keys()) bytes += list.dependencies.bytes
    return bytes
  }

  #of(list: GroupList): { readonly matching: LiveSet; readonly tie: string } {
    const found = this.#lists.get(list)
    if (found === undefined) throw new TypeError('the list is not of this page')
    return found
  }

  matching(list: GroupList, { part, run }: ListRead): readonly string[] {
    // Fails early if an `orderBy` index is not built: the caller builds it and retries.
    for (const { index } of this.#wanted.terms) part.view.index(index)
    return this.#of(list).matching.matching(liveRead(part, new PlanRun(run)))
  }

  changedMatches(
    list: GroupList,
    { part, run }: ListRead,
    keys?: readonly string[],
  ): readonly string[] {
    // The rows kept ready may have been read before the group took their changes.
    if (keys !== undefined) return keys
    this.#front = this.#newFront()
    return this.#of(list).matching.changedMatches(liveRead(part, new PlanRun(run)))
  }

  keys(list: GroupList): readonly string[] {
    return this.#sent.flatMap((row) => (row.list === list ? [row.key] : []))
  }

  matched(list: GroupList): Iterable<string> {
    return this.#of(list).matching.keys()
  }

  changes(rows: readonly RowKeys[], reads: ListReads): readonly SentPageStep[] {
    const changed = new Map<GroupList, Set<string>>()
    const due = rows.map(({ list, keys }) => {
      const { matching, tie } = this.#of(list)
      const { part, run } = reads.of(list)
      // Also removes rows kept ready that no longer match: they may have been read before the group took their changes.
      for (const key of keys) this.#front.delete(tie + key)
      const ofList = matching.due(liveRead(part, new PlanRun(run)), keys)
      const changedKeys = new Set<string>()
      changed.set(list, changedKeys)
      for (const { key, uid, ...change } of ofList) {
        changedKeys.add(key)
        if (change.type !== 'DELETED') this.#front.put(this.#rowOf(list, part.view, change.id, uid))
      }
      return { matching, ofList }
    })
    const now = this.#written(this.#present(reads), changed, reads)
    reads.check()
    for (const { matching, ofList } of due) matching.sent(ofList)
    const steps = stepsTo(now, this.#sent)
    this.#sent = now
    return steps
  }

  drop(lists: readonly GroupList[]): readonly SentPageStep[] {
    for (const list of lists) this.#lists.delete(list)
    this.#front = this.#newFront()
    // The next steps lead to the page without them.
    return []
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

  #newFront(): TopWindow<ListRow> {
    const { terms, size } = this.#wanted
    return new TopWindow(terms, size, Math.max(leastReady, size))
  }

  #rowOf(list: GroupList, view: StoreView, id: number, uid: string): ListRow {
    const { values, key: objectKey } = positionOf(view, this.#wanted.terms, id)
    const key = this.#of(list).tie + objectKey
    return { list, key, objectKey, uid, position: { values, key } }
  }

  /** The rows of the page that exist. Changes that still wait come later. */
  #present(reads: ListReads): readonly ListRow[] {
    const isThere = ({ list, objectKey, uid }: ListRow): boolean => {
      if (!list.isFollowing) return true
      const { view } = reads.of(list).part
      const id = view.idOf(objectKey)
      return id !== undefined && view.uidOf(id) === uid
    }
    while (true) {
      if (this.#front.isShort) this.#fill(reads)
      const first = this.#front.first()
      if (first.every(isThere)) return first
      for (const row of first) if (!isThere(row)) this.#front.delete(row.key)
    }
  }

  /** Reads the first rows of all lists. */
  #fill(reads: ListReads): void {
    const { capacity } = this.#front
    // The rows of a list that cannot be read stay.
    const held = this.#front.first().filter(({ list }) => !list.isFollowing)
    const parts = Array.from(this.#lists).flatMap(([list, { tie }]) => {
      if (!list.isFollowing) return []
      const { part, run } = reads.of(list)
      const { condition } = list.list
      return [{ ...liveRead(part, new PlanRun(run)), list, name: tie, condition }]
    })
    const [{ budget } = { budget: undefined }] = parts
    if (budget === undefined) {
      this.#front.fill(held, true)
      return
    }
    const page = { first: capacity, maxPageSize: capacity, identity: { list: 'page' } }
    const { terms } = this.#wanted
    const found = listPage({ parts, terms, budget, ...page })
    for (const [at, id] of found.rows.entries()) {
      const { list, view } = found.partAt(at)
      held.push(this.#rowOf(list, view, id, view.uidOf(id)))
    }
    this.#front.fill(held, !found.hasNextPage)
  }

  #written(
    rows: readonly ListRow[],
    changed: ReadonlyMap<GroupList, ReadonlySet<string>>,
    reads: ListReads,
  ): readonly PageRow[] {
    const sent = new Map(this.#sent.map((row) => [row.place, row]))
    const texts = new Map<GroupList, RowTexts>()
    const now = rows.map((row): PageRow => {
      const { list, key: place, objectKey: key, uid } = row
      const before = sent.get(place)
      const known = before?.uid === uid ? before : undefined
      if (known !== undefined && changed.get(list)?.has(key) !== true) return known
      const read = reads.of(list)
      const { view } = read.part
      const at = view.idOf(key)
      if (at === undefined) throw new TypeError(`${key} is on the page and not in the store`)
      let textsOf = texts.get(list)
      if (textsOf === undefined) texts.set(list, (textsOf = rowTexts(list, read)))
      const { text, errors } = textsOf.write(key, at)
      // A subscription that selects nothing of the object still reports each change.
      const version = list.plan.row === undefined ? view.held(at) : text + errors
      const id = known?.id ?? objectIdOf(read.part, { key, uid })
      return { list, place, id, key, uid, text, errors, version }
    })
    const staying = new Set(rows.map((row) => row.key))
    for (const { list, place, key } of this.#sent) {
      if (!staying.has(place)) list.dependencies.forget(key)
    }
    return now
  }
}

/** Ties are broken by the list first. One character stands for it, which sorts as itself: after the slash of keys. */
const firstTie = 0x100

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
