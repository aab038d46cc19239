/*
 * The rows that the members of a group hold. Each list has a LiveSet of its matching objects. Without a window, all of
 * them are rows: each change of an object is decided and written by itself (`ListRows`). With a window, only the first
 * objects in an order are rows, the page: changes move objects through a TopWindow, and the frame has the steps from the
 * previous page to the next one (`PageWindow`).
 */

import type { GraphQLError } from 'graphql'
import type { HeldObject } from '../../../informer/codec/object-codec.ts'
import { type LiveRead, LiveSet, removalCause, type RemovalCause } from '../../../query/live-set.ts'
import { encodePlace } from '../../../query/page/cursor.ts'
import { positionOf } from '../../../query/page/list-order.ts'
import { listPage } from '../../../query/page/page.ts'
import { idsBefore, isShown, sentSteps } from '../../../query/page/page-steps.ts'
import { TopWindow, type WindowRow } from '../../../query/page/top-window.ts'
import { clientResult, withoutTransportDetails } from '../../errors/client-error.ts'
import { objectIdOf } from '../../model/object-id.ts'
import { nullBelow, PlanRun } from '../../plan/plan-run.ts'
import { withContents } from '../../reads/namespace-health.ts'
import type { KindView } from '../../prepare/kind-view.ts'
import type { FollowedPage } from '../followed-list.ts'
import type { PageState, RowText, SentChange, SentListChange, SentPageStep } from '../frame-plan.ts'
import {
  type GroupContent,
  type GroupList,
  type ListRead,
  type ListReads,
  type RowKeys,
} from './group-list.ts'

interface SentObject extends RowText {
  readonly uid: string
  readonly objectId: string
}

/** The approximate memory of a row besides its text: entries in two maps, and the identity of its object. */
const rowBytes = 280
/** The approximate memory of a matching object that is no row of the page. */
const memberBytes = 80

export class GroupRows implements GroupContent {
  readonly isWhole: boolean = false
  readonly bytesPerObject: number
  readonly #lists = new Map<GroupList, ListRows>()
  readonly #window: PageWindow | undefined

  /** `page`: only the first objects are rows. */
  constructor(page: FollowedPage | undefined) {
    this.bytesPerObject = page === undefined ? rowBytes : memberBytes
    this.#window = page && new PageWindow(page)
  }

  get isList(): boolean {
    return this.#window === undefined
  }

  of(list: GroupList): ListRows {
    const rows = this.#lists.get(list)
    if (rows === undefined) throw new TypeError('the list is not of this group')
    return rows
  }

  follow(lists: readonly GroupList[]): void {
    const before = new Map(this.#lists)
    this.#lists.clear()
    for (const list of lists) this.#lists.set(list, before.get(list) ?? new ListRows(list))
    // Keeps lists that have left until `drop` removes them.
    for (const [list, rows] of before) if (!this.#lists.has(list)) this.#lists.set(list, rows)
    this.#window?.follow(this.#lists.keys())
  }

  get page(): PageState | undefined {
    if (this.#window === undefined) return undefined
    let totalCount = 0
    for (const { matching } of this.#lists.values()) totalCount += matching.size
    return { totalCount }
  }

  get bytes(): number {
    let bytes = this.#window === undefined ? 0 : this.#window.bytes
    for (const rows of this.#lists.values()) bytes += rows.bytes
    return bytes
  }

  matching(list: GroupList, { part, run }: ListRead): readonly string[] {
    this.#window?.requireIndexes(part)
    return this.of(list).matching.matching(liveRead(part, new PlanRun(run)))
  }

  changedMatches(
    list: GroupList,
    { part, run }: ListRead,
    keys?: readonly string[],
  ): readonly string[] {
    if (this.#window !== undefined) {
      // The window may have read its spare rows before the group took their changes.
      if (keys !== undefined) return keys
      this.#window.clear()
    }
    return this.of(list).matching.changedMatches(liveRead(part, new PlanRun(run)), keys)
  }

  keys(list: GroupList): readonly string[] {
    return this.#window?.keys(list) ?? this.#lists.get(list)?.keys() ?? []
  }

  matched(list: GroupList): Iterable<string> {
    return this.of(list).matching.keys()
  }

  changes(rows: readonly RowKeys[], reads: ListReads): readonly SentChange[] {
    if (this.#window !== undefined) {
      const ofLists = rows.map((one) => ({ ...one, matching: this.of(one.list).matching }))
      return this.#window.changes(ofLists, reads)
    }
    const written = rows.map((of) => this.of(of.list).changes(of, reads.of(of.list)))
    reads.check()
    for (const { keep } of written) keep()
    const [only] = written
    return written.length === 1 && only ? only.changes : written.flatMap(({ changes }) => changes)
  }

  drop(lists: readonly GroupList[]): readonly SentChange[] {
    const dropped = this.isList ? lists.flatMap((list) => this.of(list).all()) : []
    for (const list of lists) this.#lists.delete(list)
    // The next steps lead to the page without these lists.
    this.#window?.follow(this.#lists.keys())
    return dropped.map((row) => ({ ...row, type: 'REMOVED', removal: 'CLUSTER_REMOVED' }))
  }

  all(): readonly SentChange[] {
    if (this.#window !== undefined) return this.#window.all()
    return Array.from(this.#lists.values(), (rows) => rows.all()).flat()
  }

  merged(changes: readonly SentChange[]): readonly SentChange[] {
    if (this.#window !== undefined) return this.#window.merged(changes)
    return mergedChanges(changes.filter((change) => 'type' in change))
  }
}

/** The matching objects of one list, and the objects that were sent. */
export class ListRows {
  readonly matching: LiveSet
  readonly #list: GroupList
  readonly #sent = new Map<string, SentObject>()
  /** The length of all texts in UTF-16 units. */
  #units = 0

  constructor(list: GroupList) {
    this.#list = list
    this.matching = new LiveSet(list.list.condition)
  }

  get size(): number {
    return this.#sent.size
  }

  get bytes(): number {
    const others = Math.max(0, this.matching.size - this.#sent.size)
    const rows = this.#sent.size * rowBytes + others * memberBytes
    return rows + this.#units * 2 + this.#list.dependencies.bytes
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

  /**
   * The changes to send for rows that may have changed. `LiveSet.due` decides which of these objects match now. Their rows
   * are written, and sent if the text is another one than the members have. An object that only stopped matching is sent
   * as it is now, and one that is gone or hidden as it was sent last. Nothing counts as sent until `keep` is called, so a
   * run that lacks something can be repeated.
   *
   * For example, with `where: { phase: { eq: "Pending" } }` a pod that turns Running is REMOVED, UNMATCHED, and its text says
   * Running. A pod that is created again under its name is REMOVED, DELETED with its last text, and then ADDED.
   */
  changes(
    { keys, unseen, previous: heldBefore }: RowKeys,
    read: ListRead,
  ): { readonly changes: readonly SentListChange[]; readonly keep: () => void } {
    const { plan, dependencies } = this.#list
    const { part, run: options } = read
    const { run, write } = rowTexts(this.#list, read)
    const { view } = part
    const previousTexts = (held: HeldObject | undefined): readonly string[] | undefined =>
      held && plan.previous.map((writePrevious) => writePrevious(run, view, held))
    const changes: SentListChange[] = []
    // By key: `due` may name a key twice, for an object that is gone and for the one that has its name now.
    const sent = new Map<string, SentObject | undefined>()
    const due = this.matching.due(liveRead(part, run), keys)
    for (const change of due) {
      const { key, uid } = change
      const before = sent.has(key) ? sent.get(key) : this.#sent.get(key)
      if (change.type === 'DELETED') {
        sent.set(key, undefined)
        if (before === undefined) continue
        const id = change.cause === 'unmatched' ? view.idOf(key) : undefined
        const last = id === undefined ? before : write(key, id)
        dependencies.forget(key)
        const previous = id === undefined ? undefined : previousTexts(heldBefore?.get(uid))
        const errors = joinedErrors(last.errors, rowErrors(run, options.unexpected))
        const { objectId } = before
        const object = { uid, objectId, text: last.text, errors }
        changes.push(removalOf(object, change.cause, unseen?.has(uid) !== true, previous))
        continue
      }
      const now = write(key, change.id)
      const previous = previousTexts(heldBefore?.get(uid))
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
      this.matching.sent(due)
      for (const [key, now] of sent) {
        this.#units += unitsOf(now) - unitsOf(this.#sent.get(key))
        if (now === undefined) this.#sent.delete(key)
        else this.#sent.set(key, now)
      }
    }
    return { changes, keep }
  }
}

/** A row of a page, as the members hold it. */
interface PageRow extends RowText {
  readonly list: GroupList
  /** The key in the window. */
  readonly place: string
  readonly id: string
  readonly key: string
  readonly uid: string
  /** Its place in the order; `null` unless the plan tells it. */
  readonly position: string | null
  /** A row is sent again when its version differs. */
  readonly version: unknown
}

/** A row of the window. Its position has a key that is unique among the lists. */
interface ListRow extends WindowRow {
  readonly list: GroupList
  readonly objectKey: string
}

/** The least number of spare rows behind a page, which replace rows that leave it. A large page has as many as its size. */
const leastReady = 50

class PageWindow {
  readonly #wanted: FollowedPage
  /** The lists, in the order in which they break ties. */
  readonly #ties = new Map<GroupList, string>()
  #front: TopWindow<ListRow>
  #sent: readonly PageRow[] = []

  constructor(wanted: FollowedPage) {
    this.#wanted = wanted
    this.#front = this.#newFront()
  }

  follow(lists: Iterable<GroupList>): void {
    this.#ties.clear()
    for (const [at, list] of [...lists].entries()) {
      this.#ties.set(list, String.fromCharCode(firstTie + at))
    }
    this.#sent = this.#sent.map((row) => ({ ...row, place: this.#placeOf(row.list, row.key) }))
    this.clear()
  }

  clear(): void {
    this.#front = this.#newFront()
  }

  #newFront(): TopWindow<ListRow> {
    const { terms, size } = this.#wanted
    return new TopWindow(terms, size, Math.max(leastReady, size))
  }

  get bytes(): number {
    return this.#sent.reduce((sum, { text, errors }) => sum + text.length + errors.length, 0) * 2
  }

  /** Fails early if an `orderBy` index is not built: the caller builds it and retries. */
  requireIndexes({ view }: KindView): void {
    for (const { index } of this.#wanted.terms) view.index(index)
  }

  keys(list: GroupList): readonly string[] {
    return this.#sent.flatMap((row) => (row.list === list ? [row.key] : []))
  }

  /** The steps after changes of these objects. `matching`: the matching objects of each list. */
  changes(
    rows: readonly (RowKeys & { readonly matching: LiveSet })[],
    reads: ListReads,
  ): readonly SentPageStep[] {
    const changed = new Map<GroupList, Set<string>>()
    const due = rows.map(({ list, keys, matching }) => {
      const { part, run } = reads.of(list)
      // Also removes spare rows that no longer match: the window may have read them before the group took their changes.
      for (const key of keys) this.#front.delete(this.#placeOf(list, key))
      const read = liveRead(part, new PlanRun(run))
      const ofList = matching.due(read, keys)
      const changedKeys = new Set<string>()
      changed.set(list, changedKeys)
      for (const { key, uid, ...change } of ofList) {
        changedKeys.add(key)
        if (change.type !== 'DELETED') this.#front.put(this.#rowOf(list, read, change.id, uid))
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

  #placeOf(list: GroupList, key: string): string {
    return (this.#ties.get(list) ?? '') + key
  }

  #rowOf(list: GroupList, { view }: Pick<LiveRead, 'view'>, id: number, uid: string): ListRow {
    const { values, key: objectKey } = positionOf(view, this.#wanted.terms, id)
    const key = this.#placeOf(list, objectKey)
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

  #fill(reads: ListReads): void {
    const { capacity } = this.#front
    // The rows of a list that cannot be read stay.
    const held = this.#front.first().filter(({ list }) => !list.isFollowing)
    const parts = Array.from(this.#ties).flatMap(([list, name]) => {
      if (!list.isFollowing) return []
      const { part, run } = reads.of(list)
      const { condition } = list.list
      return [{ ...part, ...liveRead(part, new PlanRun(run)), list, name, condition }]
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
      const part = found.partAt(at)
      held.push(this.#rowOf(part.list, part, id, part.view.uidOf(id)))
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
      const position = list.plan.tellsPositions ? positionText(row) : null
      const version =
        list.plan.row === undefined ? view.held(at) : `${text}${errors}${position ?? ''}`
      const id = known?.id ?? objectIdOf(read.part, { key, uid })
      return { list, place, id, key, uid, position, text, errors, version }
    })
    const staying = new Set(rows.map((row) => row.key))
    for (const { list, place, key } of this.#sent) {
      if (!staying.has(place)) list.dependencies.forget(key)
    }
    return now
  }
}

/** The list breaks ties first. One character stands for it. It sorts after the slash in keys. */
const firstTie = 0x100

const notSent = Symbol('not sent')

function stepsTo(
  now: readonly PageRow[],
  before: readonly Pick<PageRow, 'id' | 'version'>[],
): readonly SentPageStep[] {
  return sentSteps(before, now).map(({ entry, ...step }) => ({
    ...step,
    object: entry?.text ?? 'null',
    position: entry?.position ?? null,
    errors: entry?.errors ?? '',
  }))
}

/** The place of a row among those of all clusters: ties are broken by cluster, type, namespace and name. */
function positionText({ list: { at }, objectKey: key, position: { values } }: ListRow): string {
  return encodePlace({ part: `${at.cluster}\0${at.kind.typeName}`, key, values })
}

function unitsOf(object: SentObject | undefined): number {
  return object === undefined ? 0 : object.text.length + object.errors.length
}

function joinedErrors(one: string, other: string): string {
  if (one === '' || other === '') return one + other
  return `${one.slice(0, -1)},${other.slice(1)}`
}

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
 * Merges successive changes into fewer changes that lead to the same rows. Keeps the latest change of each object. A
 * recreated object has another id than its predecessor, whose removal stays, too.
 */
export function mergedChanges(changes: Iterable<SentListChange>): readonly SentListChange[] {
  const merged = new Map<string, SentListChange>()
  for (const change of changes) {
    const { objectId } = change
    const before = merged.get(objectId)
    // Moves the object to the end, after the removal of its namesake.
    merged.delete(objectId)
    let { type } = change
    if (before?.type === 'ADDED') {
      if (type === 'REMOVED') continue
      type = 'ADDED'
    } else if (before?.type === 'REMOVED' && type === 'ADDED') type = 'MODIFIED'
    // The state before the first of the changes.
    merged.set(objectId, { ...change, type, previous: before?.previous ?? change.previous })
  }
  return [...merged.values()]
}

function liveRead(part: KindView, run: PlanRun): LiveRead {
  const { view, scope, cluster } = withContents(run, part)
  return { view, scope, budget: run.budget, related: run.related(cluster) }
}

interface RowTexts {
  readonly run: PlanRun
  /** The text of a row. `id` is the object's number in the store. */
  readonly write: (key: string, id: number) => RowText
}

/** Writes rows of a list, and records the objects that each row is written from. */
function rowTexts(
  { plan: { row }, dependencies }: Pick<GroupList, 'plan' | 'dependencies'>,
  { part, run: options }: ListRead,
): RowTexts {
  let current = ''
  const run = new PlanRun({
    ...options,
    followed: (relation) => {
      options.followed?.(relation)
      dependencies.add(current, relation)
    },
  })
  const write = (key: string, id: number): RowText => {
    current = key
    dependencies.forget(key)
    run.budget.spend('rows', 1)
    let text = 'null'
    try {
      if (row !== undefined) text = row(run, part, id)
    } catch (error) {
      // A non-null field of the row has failed. The object itself may be null.
      if (error !== nullBelow) throw error
    }
    return { text, errors: rowErrors(run, options.unexpected) }
  }
  return { run, write }
}

/** The errors of the row that was written last, as {@link RowText} holds them. `unexpected` receives masked errors. */
export function rowErrors(run: PlanRun, unexpected: (error: GraphQLError) => void): string {
  const errors = run.errors.takeRow()
  if (errors.length === 0) return ''
  const result = clientResult({ data: null, errors }, unexpected)
  return JSON.stringify(result.errors.map(withoutTransportDetails))
}
