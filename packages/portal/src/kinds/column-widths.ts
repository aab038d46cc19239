import { useMemo, useState } from 'react'
import { textOfCell } from './cells.tsx'
import type { Columns, TableColumn } from './columns.ts'
import type { RowsSnapshot } from './live-rows.ts'

const letterPx = 7.5
const paddingPx = 28
const sampleRows = 60
/** The heading has room for its arrow and its menu. */
const headingLetters = 4

interface Measured {
  readonly list: object
  readonly shown: string
  readonly widths: ReadonlyMap<string, number>
}

/**
 * The widths of the columns in pixels: the user's, or as wide as the first rows of each list need. Later rows do not
 * move the columns, and none gets narrower. `list` tells lists apart; absent: `rows` are of the list before.
 */
export function useColumnWidths(
  { shown, widths: given }: Columns,
  list: object | undefined,
  rows: RowsSnapshot,
): ReadonlyMap<string, number> {
  const [measured, setMeasured] = useState<Measured>()
  const ids = shown.map(({ id }) => id).join(',')
  const isMeasured = measured !== undefined && measured.list === list && measured.shown === ids
  if (list !== undefined && !isMeasured && rows.count !== undefined && rows.count > 0) {
    const widths = new Map(
      shown.map((column) => [
        column.id,
        Math.max(measured?.widths.get(column.id) ?? 0, widthOf(column, rows)),
      ]),
    )
    setMeasured({ list, shown: ids, widths })
  }
  return useMemo(
    () =>
      new Map(
        shown.map((column) => [
          column.id,
          given[column.id] ?? measured?.widths.get(column.id) ?? bounded(column, 0),
        ]),
      ),
    [shown, given, measured],
  )
}

function widthOf(column: TableColumn, rows: RowsSnapshot): number {
  const sample = Array.from({ length: sampleRows }, (_, index) => rows.at(index))
  const letters = Math.max(
    column.title.length + headingLetters,
    ...sample.map((row) => (row === undefined ? 0 : textOfCell(row, column).length)),
  )
  const boxPx = column.id === 'name' ? 22 : 0
  return bounded(column, letters * letterPx + paddingPx + boxPx)
}

function bounded({ id }: TableColumn, width: number): number {
  const isNarrow = globalThis.innerWidth < 600
  if (id === 'health') return isNarrow ? 116 : 128
  if (id === 'name') return Math.min(Math.max(width, 140), isNarrow ? 160 : 340)
  return Math.min(Math.max(width, 64), isNarrow ? 110 : 260)
}
