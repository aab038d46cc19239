import { useMemo, useState } from 'react'
import { textOfCell } from './cells.tsx'
import { type Columns, isNarrowWindow, type TableColumn } from './columns.ts'
import { isUsageColumn } from '../usage/usage-column.tsx'
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

/** How short texts may be cut, so that all columns are in view. */
const shortest = { name: 170, link: 300, other: 110 } as const

/** The width of a column in pixels: `least` where the table has no room for all, and down to `short` if all have room then. */
export type ColumnWidth = Readonly<Record<keyof typeof needs | 'short', number>>

/** The columns of a grid, and how wide they are together at least, by CSS. The grid is a container. */
export function columnTracks(widths: readonly ColumnWidth[]): {
  readonly columns: string
  readonly total: string
} {
  const sum = (read: (width: ColumnWidth) => number): number =>
    Math.ceil(widths.reduce((total, width) => total + read(width), 0))
  const total = sum(({ least }) => least)
  const spare = sum(({ least, short }) => least - short)
  const over = `(${total}px - 100cqi)`
  // By as much as is missing, unless that is more than there is to spare.
  const cut = `clamp(0px, ${over}, max(0px, (${spare}px - ${over}) * 1000))`
  const columns = widths.map(({ usual, least, short }) =>
    least === short
      ? `minmax(${least}px, ${usual}px)`
      : `minmax(calc(${least}px - ${(least - short) / spare} * ${cut}), ${usual}px)`,
  )
  return { columns: `${columns.join(' ')} minmax(0, 1fr)`, total: `calc(${total}px - ${cut})` }
}

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
            short: Math.max(before?.short ?? 0, now.short),
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
          const same = width ?? bounded(column, 0)
          const own = width === undefined ? measured?.widths.get(column.id) : undefined
          return [column.id, own ?? { usual: same, least: same, short: same }]
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
  const need = ({ letterPx, paddingPx, headingPx }: (typeof needs)[keyof typeof needs]): number =>
    bounded(
      column,
      Math.max(
        column.title.length * letterPx + headingPx,
        letters * (letterPx + (column.id === 'name' ? boldPx : 0)) + paddingPx,
      ) + (at === 0 ? boxPx : 0),
    )
  const least = need(needs.least)
  return { usual: need(needs.usual), least, short: Math.min(least, shortestOf(column)) }
}

/** Numbers are not cut, and nothing is in a narrow window, where the table scrolls. */
function shortestOf({ id, isLink }: TableColumn): number {
  if (isNarrowWindow() || id === 'health' || isUsageColumn(id)) return Infinity
  return id === 'name' ? shortest.name : isLink ? shortest.link : shortest.other
}

function bounded({ id, isLink }: TableColumn, width: number): number {
  const isNarrow = isNarrowWindow()
  if (id === 'health') return 116
  // A narrow one has two lines.
  if (id === 'name') return Math.min(Math.max(width, 140), isNarrow ? 200 : 340)
  if (isLink) return Math.min(Math.max(width, 140), isNarrow ? 220 : 480)
  return Math.min(Math.max(width, 64), isNarrow ? 110 : 260)
}
