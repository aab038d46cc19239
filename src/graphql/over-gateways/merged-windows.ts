/*
 * Live pages and problems over several gateways: of each part, the first rows in the order are known, and the first of all
 * these are the page. A row tells its place in the order (`position`), as the cursors of a query do.
 */

import type { GraphQLFormattedError } from 'graphql'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { type PlacedCursor, placeInCursor } from '../../query/page/cursor.ts'
import { isShown, sentSteps } from '../../query/page/page-steps.ts'
import { problemOrder } from '../../query/problems/problem-page.ts'
import { problemCounts } from '../reads/over-kinds/problems-read.ts'
import type { PageStep, ProblemCount } from '../schema/gateway-types.ts'
import {
  ChangeItems,
  type ContentPart,
  errorsByRow,
  type FollowedField,
  frameOf,
  type HeldFrame,
  type MergedFrame,
  MergedParts,
  type RawChange,
  type RemovalReason,
  type WaitingChange,
} from './merged-content.ts'
import { type ComparePlaces, descendingIn, inOrder } from './row-order.ts'

interface WindowRow {
  readonly id: string
  readonly position: PlacedCursor
  readonly positionText: string
  readonly items: readonly unknown[]
  readonly errors: readonly GraphQLFormattedError[]
  /** A row is sent again when its version differs. */
  readonly version: string
}

interface PartWindow {
  rows: readonly WindowRow[]
  totalCount: number
  counts: readonly ProblemCount[]
  lookedAt: readonly string[]
  notLookedAt: readonly string[]
}

/** The approximate memory of a row besides its texts, and of a character of what it shows: a text, and the parsed value. */
const rowBytes = 300
const shownBytes = 6

const noWindow = {
  rows: [],
  totalCount: 0,
  counts: [],
  lookedAt: [],
  notLookedAt: [],
} as const satisfies PartWindow

/** The first rows of each part: any of them may be among the first ones of all. */
abstract class MergedWindow extends MergedParts<PartWindow> {
  protected readonly items: ChangeItems
  protected abstract readonly compare: ComparePlaces
  #sent: readonly WindowRow[] = []
  #told = ''

  constructor(of: FollowedField) {
    super(of)
    this.items = new ChangeItems(of)
  }

  override get bytes(): number {
    const rows = [...this.parts.values()].flatMap((window) => window.rows)
    return rows.reduce((sum, { version }) => sum + rowBytes + shownBytes * version.length, 0)
  }

  override restart(): void {
    this.parts.clear()
    this.#sent = []
    this.#told = ''
  }

  protected windowOf(part: ContentPart, { reset }: HeldFrame): PartWindow {
    const window = getOrInsert(this.parts, part, () => ({ ...noWindow }))
    if (reset) window.rows = []
    return window
  }

  protected rowOf(
    id: string,
    position: string | null,
    items: readonly unknown[],
    errors: readonly GraphQLFormattedError[],
  ): WindowRow {
    const version = `${this.items.shown(items)}${errors.map(({ message }) => message).join()}`
    const place = position === null ? { part: '', key: id, values: [] } : placeInCursor(position)
    return { id, position: place, positionText: position ?? '', items, errors, version }
  }

  next(force: boolean): MergedFrame | undefined {
    const windows = this.shown
    const sent = new Set(this.#sent.map(({ id }) => id))
    const rows = [...this.parts]
      .flatMap(([part, window]) => {
        if (part.isHidden) return []
        return part.isLost ? window.rows.filter(({ id }) => sent.has(id)) : window.rows
      })
      .toSorted((a, b) => this.compare(a.position, b.position))
      .slice(0, this.of.pageSize)
    const changes = this.changes(this.#sent, rows)
    const lists = (of: (window: PartWindow) => readonly string[]): readonly string[] =>
      [...new Set(windows.flatMap(of))].toSorted()
    const notLookedAt = lists((one) => one.notLookedAt)
    const further = {
      totalCount: windows.reduce((sum, { totalCount }) => sum + totalCount, 0),
      counts: problemCounts(windows.flatMap(({ counts }) => counts)),
      lookedAt: lists((one) => one.lookedAt),
      notLookedAt,
      complete: notLookedAt.length === 0,
    }
    const told = JSON.stringify(further)
    if (changes.length === 0 && told === this.#told && !force) return undefined
    this.#sent = rows
    this.#told = told
    return frameOf(this.items.keys, changes, further)
  }

  /** What leads from some rows to others. */
  protected abstract changes(
    before: readonly WindowRow[],
    now: readonly WindowRow[],
  ): readonly WaitingChange[]
}

interface RawStep {
  readonly id: string
  readonly step: PageStep
  readonly index: number
  readonly from: number | null
  readonly position: string | null
}

/** The rows of a live page. */
export class MergedPage extends MergedWindow {
  readonly selects: string = [
    this.alias('changes', 'changes { step index from id: objectId position }'),
    this.alias('totalCount'),
  ].join(' ')
  protected readonly compare: ComparePlaces

  /** `reversed`: as of {@link descendingIn}. */
  constructor(of: FollowedField, reversed?: string) {
    super(of)
    this.compare = inOrder(descendingIn(of.field.args['orderBy'], reversed))
  }

  take(part: ContentPart, frame: HeldFrame): void {
    const { value, errors } = frame
    const window = this.windowOf(part, frame)
    const rows = [...window.rows]
    const byRow = errorsByRow(errors, this.items)
    for (const [at, raw] of ((this.ours(value, 'changes') ?? []) as readonly RawStep[]).entries()) {
      const { step, index, from, id, position } = raw
      if (step === 'REMOVE') rows.splice(index, 1)
      else if (step === 'MOVE') rows.splice(index, 0, ...rows.splice(from ?? index, 1))
      else {
        const row = this.rowOf(id, position, this.items.at(value, at), byRow.get(at) ?? [])
        rows.splice(index, step === 'INSERT' ? 0 : 1, row)
      }
    }
    window.rows = rows
    window.totalCount = (this.ours(value, 'totalCount') ?? 0) as number
  }

  protected changes(
    before: readonly WindowRow[],
    now: readonly WindowRow[],
  ): readonly WaitingChange[] {
    return sentSteps(before, now).map(({ entry, ...step }) => ({
      items: this.items.with(entry?.items ?? [], {
        ...step,
        position: isShown(step) ? (entry?.positionText ?? null) : null,
      }),
      errors: entry?.errors ?? [],
    }))
  }
}

/** The first problems of all clusters. */
export class MergedProblems extends MergedWindow {
  readonly selects: string = [
    this.alias('changes', 'changes { type removal id: objectId position }'),
    this.alias('totalCount'),
    this.alias('counts', 'counts { cluster severity type kind count }'),
    this.alias('lookedAt'),
    this.alias('notLookedAt'),
  ].join(' ')
  protected readonly compare: ComparePlaces = inOrder(
    problemOrder(this.of.field.args['orderBy'] as Parameters<typeof problemOrder>[0]).map(
      ({ descending }) => descending,
    ),
  )
  /** Why problems are gone that are not sent yet. */
  readonly #removals = new Map<string, RemovalReason>()
  readonly #isServed: (cluster: string) => boolean

  constructor(of: FollowedField, isServed: (cluster: string) => boolean) {
    super(of)
    this.#isServed = isServed
  }

  take(part: ContentPart, frame: HeldFrame): void {
    const { value, errors } = frame
    const window = this.windowOf(part, frame)
    const rows = new Map(window.rows.map((row) => [row.id, row]))
    const byRow = errorsByRow(errors, this.items)
    const changes = (this.ours(value, 'changes') ?? []) as readonly (RawChange & RawStep)[]
    for (const [at, { id, type, removal, position }] of changes.entries()) {
      if (type === 'REMOVED') {
        rows.delete(id)
        if (removal !== null) this.#removals.set(id, removal)
        continue
      }
      const row = this.rowOf(id, position, this.items.at(value, at), byRow.get(at) ?? [])
      rows.set(id, row)
    }
    window.rows = [...rows.values()]
    window.totalCount = (this.ours(value, 'totalCount') ?? 0) as number
    window.counts = (this.ours(value, 'counts') ?? []) as readonly ProblemCount[]
    window.lookedAt = (this.ours(value, 'lookedAt') ?? []) as readonly string[]
    window.notLookedAt = (this.ours(value, 'notLookedAt') ?? []) as readonly string[]
  }

  protected changes(
    before: readonly WindowRow[],
    now: readonly WindowRow[],
  ): readonly WaitingChange[] {
    const sent = new Map(before.map((row) => [row.id, row]))
    const staying = new Set(now.map(({ id }) => id))
    const gone = before.filter(({ id }) => !staying.has(id))
    const change = (type: string, row: WindowRow, removal: string | null): WaitingChange => ({
      items: this.items.with(row.items, {
        type,
        removal,
        objectId: row.id,
        position: row.positionText,
      }),
      errors: row.errors,
    })
    const known = new Set(this.shown.flatMap(({ rows }) => rows.map(({ id }) => id)))
    const removalOf = ({ id, position }: WindowRow): RemovalReason => {
      const [cluster = ''] = position.key.split(' ')
      if (!this.#isServed(cluster)) return 'CLUSTER_REMOVED'
      const told = this.#removals.get(id)
      // A cluster that goes to another gateway is not removed.
      if (told !== undefined && told !== 'CLUSTER_REMOVED') return told
      return known.has(id) ? 'UNMATCHED' : 'DELETED'
    }
    const removed = gone.map((row) => change('REMOVED', row, removalOf(row)))
    this.#removals.clear()
    return [
      ...removed,
      ...now.flatMap((row) => {
        const was = sent.get(row.id)
        if (was === undefined) return [change('ADDED', row, null)]
        const isSame = was.version === row.version && was.positionText === row.positionText
        return isSame ? [] : [change('MODIFIED', row, null)]
      }),
    ]
  }
}
