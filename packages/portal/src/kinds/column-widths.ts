import { useMemo, useState } from 'react'
import { textOfCell } from './cells.tsx'
import { type Columns, isNarrowWindow, type TableColumn } from './columns.ts'
import type { RowsSnapshot } from './live-rows.ts'

const sampleRows = 60
const boxPx = 22
/** By how much a letter of a name is wider. */
const boldPx = 0.3
/** What a cell needs: usually, and where there is little room. A heading has an arrow as well, where there is room. */
const needs = {
  usual: { letterPx: 7.5, paddingPx: 28, headingPx: 58 },
  least: { letterPx: 7, paddingPx: 18, headingPx: 22 },
} as const

/** The width of a column in pixels: `least` where the table has no room for all. */
export type ColumnWidth = Readonly<Record<keyof typeof needs, number>>

interface Measured {
  readonly list: object
  readonly shown: string
  readonly widths: ReadonlyMap<string, ColumnWidth>
}

/**
 * The widths of the columns: the user's, or as wide as the first rows of each list need. Later rows do not move the
 * columns, and none gets narrower. `list` tells lists apart; absent: `rows` are of the list before.
 */
export function useColumnWidths(
  { shown, widths: given }: Columns,
  list: object | undefined,
  rows: RowsSnapshot,
): ReadonlyMap<string, ColumnWidth> {
  const [measured, setMeasured] = useState<Measured>()
  const ids = shown.map(({ id }) => id).join(',')
  const isMeasured = measured !== undefined && measured.list === list && measured.shown === ids
  if (list !== undefined && !isMeasured && rows.count !== undefined && rows.count > 0) {
    const widths = new Map(
      shown.map((column, at) => {
        const before = measured?.widths.get(column.id)
        const now = widthOf(column, at, rows)
        return [
          column.id,
          {
            usual: Math.max(before?.usual ?? 0, now.usual),
            least: Math.max(before?.least ?? 0, now.least),
          },
        ]
      }),
    )
    setMeasured({ list, shown: ids, widths })
  }
  return useMemo(
    () =>
      new Map(
        shown.map((column) => {
          const { [column.id]: width } = given
          if (width !== undefined) return [column.id, { usual: width, least: width }]
          const none = bounded(column, 0)
          return [column.id, measured?.widths.get(column.id) ?? { usual: none, least: none }]
        }),
      ),
    [shown, given, measured],
  )
}

function widthOf(column: TableColumn, at: number, rows: RowsSnapshot): ColumnWidth {
  const sample = Array.from({ length: sampleRows }, (_, index) => rows.at(index))
  const letters = Math.max(
    ...sample.map((row) => (row === undefined ? 0 : textOfCell(row, column).length)),
  )
  const need = ({ letterPx, paddingPx, headingPx }: (typeof needs)[keyof ColumnWidth]): number =>
    bounded(
      column,
      Math.max(
        column.title.length * letterPx + headingPx,
        letters * (letterPx + (column.id === 'name' ? boldPx : 0)) + paddingPx,
      ) + (at === 0 ? boxPx : 0),
    )
  return { usual: need(needs.usual), least: need(needs.least) }
}

function bounded({ id, isLink }: TableColumn, width: number): number {
  const isNarrow = isNarrowWindow()
  if (id === 'health') return 116
  // A narrow one has two lines.
  if (id === 'name') return Math.min(Math.max(width, 140), isNarrow ? 200 : 340)
  if (isLink) return Math.min(Math.max(width, 140), isNarrow ? 220 : 480)
  return Math.min(Math.max(width, 64), isNarrow ? 110 : 260)
}
