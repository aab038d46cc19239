import { type KeyboardEvent, type MouseEvent, useState } from 'react'
import { useKept } from '../kept-view.ts'
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
  show: (index: number) => void,
): {
  /** The row of the keyboard; -1 before it is used. */
  readonly cursor: number
  /** Goes down or up by some rows. */
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

  return {
    cursor,
    step(by) {
      moveTo(cursor + by, false)
    },
    pressed(event) {
      if (event.target !== event.currentTarget || event.altKey || event.metaKey) return
      const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / rowHeight) - 2)
      const row = cursor < 0 ? undefined : rows.at(cursor)
      const { key, shiftKey } = event
      if (event.ctrlKey && key === 'a') {
        pickAll()
        event.preventDefault()
        return
      }
      if (event.ctrlKey && key !== ' ') return
      const steps: Readonly<Record<string, number>> = {
        ArrowDown: cursor + 1,
        j: cursor + 1,
        J: cursor + 1,
        ArrowUp: cursor - 1,
        k: cursor - 1,
        K: cursor - 1,
        PageDown: cursor + page,
        PageUp: cursor - page,
        Home: 0,
        End: count - 1,
      }
      const step = steps[key]
      if (step !== undefined) moveTo(step, shiftKey)
      else if (key === 'Enter' && row !== undefined) visit(row)
      else if (key === ' ' && row !== undefined) {
        if (shiftKey || event.ctrlKey) toggle(row.id)
        else inspect(isOpen(row) ? undefined : row)
      } else if (key === 'Escape' && isInspecting) inspect(undefined)
      else if (key === 'Escape' && picked.size > 0) pick(new Set())
      else return
      event.preventDefault()
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
