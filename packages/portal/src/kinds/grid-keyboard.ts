import { type KeyboardEvent, type MouseEvent, type RefObject, useState } from 'react'
import { type KeyBinding, runKey, useKeys } from '../frame/keys.ts'
import { useKept } from '../kept-view.ts'
import { words } from '../words.ts'
import type { TableRowFragment as TableRow } from '../gateway/documents.ts'
import type { RowsSnapshot } from './live-rows.ts'

/** The height of a row, in pixels: `--row` in tokens.css. */
export const rowHeight = 32

/** The rows that the user has chosen, and the one where the keyboard is. */
export interface Selection {
  readonly picked: ReadonlySet<string>
  readonly pick: (ids: ReadonlySet<string>) => void
  /** Selects all rows, also those that are not here. */
  readonly pickAll: () => void
  /** The `nameId` of the object of a row. */
  readonly addressOf: (row: TableRow) => string
  /** Whether an object is in the inspector. */
  readonly isInspecting: boolean
  readonly isOpen: (row: TableRow) => boolean
  /** Shows an object in the inspector; none without `row`. */
  readonly inspect: (row: TableRow | undefined) => void
  /** Leaves the table for the page of an object. */
  readonly visit: (row: TableRow) => void
}

interface KeyboardPlace {
  readonly id: string
  readonly index: number
}

/** The keys and clicks of the grid. */
export function useKeyboard(
  rows: RowsSnapshot,
  count: number,
  { picked, pick, pickAll, isInspecting, isOpen, inspect, visit }: Selection,
  grid: RefObject<HTMLElement | null>,
  show: (index: number) => void,
): {
  /** The row of the keyboard; -1 before it is used. */
  readonly cursor: number
  /** Goes down or up by some rows, and has the focus go to the grid. */
  readonly step: (by: number) => void
  readonly pressed: (event: KeyboardEvent) => void
  readonly clicked: (event: MouseEvent) => void
  readonly doubleClicked: (event: MouseEvent) => void
} {
  const { read, keep } = useKept<KeyboardPlace>('row')
  const [at, setAt] = useState(read)
  const go = (place: KeyboardPlace): void => {
    keep(place)
    setAt(place)
  }
  // The keyboard stays with its object when rows move.
  const found = at === undefined ? -1 : rows.indexOf(at.id)
  const cursor = found >= 0 ? found : at === undefined ? -1 : Math.min(at.index, count - 1)

  const moveTo = (index: number, extend: boolean): void => {
    const next = Math.max(0, Math.min(index, count - 1))
    const row = rows.at(next)
    go({ id: row?.id ?? '', index: next })
    show(next)
    if (row === undefined) return
    if (extend) pick(new Set([...picked, ...between(rows, Math.max(cursor, 0), next)]))
    else if (isInspecting) inspect(row)
  }
  const toggle = (id: string): void => {
    const next = new Set(picked)
    if (!next.delete(id)) next.add(id)
    pick(next)
  }

  const step = (by: number): void => {
    grid.current?.focus()
    moveTo(cursor + by, false)
  }
  const leap = (sign: number): number => {
    const height = grid.current?.clientHeight ?? 0
    return cursor + sign * Math.max(1, Math.floor(height / rowHeight) - 2)
  }
  const withRow = (does: (row: TableRow) => void) => (): void => {
    const row = cursor < 0 ? undefined : rows.at(cursor)
    if (row !== undefined) does(row)
  }
  const say = words.table.keys
  /** Those that have letters work in the whole page. */
  const keys: readonly KeyBinding[] = [
    { keys: 'j', also: ['ArrowDown'], does: say.next, run: () => step(1) },
    { keys: 'k', also: ['ArrowUp'], does: say.previous, run: () => step(-1) },
    own('PageDown', say.pageDown, () => moveTo(leap(1), false)),
    own('PageUp', say.pageUp, () => moveTo(leap(-1), false)),
    own('Home', say.first, () => moveTo(0, false)),
    own('End', say.last, () => moveTo(count - 1, false)),
    own('Enter', say.visit, withRow(visit)),
    own(
      'Space',
      say.inspect,
      withRow((row) => inspect(isOpen(row) ? undefined : row)),
    ),
    own(
      'shift+Space',
      say.toggle,
      withRow(({ id }) => toggle(id)),
      ['mod+Space'],
    ),
    own('shift+ArrowDown', say.extendDown, () => moveTo(cursor + 1, true), ['J']),
    own('shift+ArrowUp', say.extendUp, () => moveTo(cursor - 1, true), ['K']),
    own('shift+PageDown', say.extendPageDown, () => moveTo(leap(1), true)),
    own('shift+PageUp', say.extendPageUp, () => moveTo(leap(-1), true)),
    own('shift+Home', say.extendFirst, () => moveTo(0, true)),
    own('shift+End', say.extendLast, () => moveTo(count - 1, true)),
    own('mod+a', say.all, pickAll),
    own('Escape', say.leave, () => {
      if (isInspecting) inspect(undefined)
      else if (picked.size > 0) pick(new Set())
    }),
  ]
  useKeys(keys)

  return {
    cursor,
    step,
    pressed(event) {
      if (event.target === event.currentTarget && !event.altKey) runKey(event, keys)
    },
    clicked(event) {
      const index = indexOfRow(event)
      const row = index === undefined ? undefined : rows.at(index)
      if (index === undefined || row === undefined) return
      const isBox = event.target instanceof HTMLInputElement
      const isLink = event.target instanceof Element && event.target.closest('a') !== null
      // The keys go on with the rows.
      if ((isBox || isLink) && event.currentTarget instanceof HTMLElement) {
        event.currentTarget.focus()
      }
      // The browser opens it in another tab.
      if (isLink && (event.ctrlKey || event.metaKey)) return
      if (isLink) event.preventDefault()
      go({ id: row.id, index })
      if (event.shiftKey) pick(new Set([...picked, ...between(rows, Math.max(cursor, 0), index)]))
      else if (isBox || event.ctrlKey || event.metaKey) toggle(row.id)
      else inspect(row)
    },
    doubleClicked(event) {
      if (event.target instanceof HTMLInputElement) return
      const index = indexOfRow(event)
      const row = index === undefined ? undefined : rows.at(index)
      if (row !== undefined) visit(row)
    },
  }
}

/** A key that works while the grid has the focus. */
function own(
  keys: string,
  does: string,
  run: () => void,
  also: readonly string[] = [],
): KeyBinding {
  return { keys, also, isOwn: true, does, run }
}

function indexOfRow({ target }: MouseEvent): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null
  return row === null ? undefined : Number(row.dataset['index'])
}

/** The ids of the rows from one index to another, as far as they are here. */
function between(rows: RowsSnapshot, from: number, to: number): readonly string[] {
  const [low, high] = from < to ? [from, to] : [to, from]
  const ids: string[] = []
  for (let index = low; index <= high; index++) {
    const row = rows.at(index)
    if (row !== undefined) ids.push(row.id)
  }
  return ids
}
