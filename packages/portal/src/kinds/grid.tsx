import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { useKept } from '../kept-view.ts'
import type { TableRowFragment as TableRow } from '../gateway/documents.ts'
import { useHold } from '../look/held-rows.ts'
import { isUsageColumn, UsageContext } from '../usage/usage-column.tsx'
import { useUsage } from '../usage/usage.ts'
import { words } from '../words.ts'
import { Cells } from './cells.tsx'
import { columnTracks, type ColumnWidth } from './column-widths.ts'
import type { TableColumn } from './columns.ts'
import { rowHeight, type Selection, useKeyboard } from './grid-keyboard.ts'
import { type HeaderActions, HeaderRow } from './header.tsx'
import type { LiveRows, RowsSnapshot } from './live-rows.ts'
import styles from './grid.module.css'
import { mostPicked } from './picked.ts'

const noWidth: ColumnWidth = { usual: 0, least: 0, short: 0 }

/** Firefox makes no element higher than some 17 million pixels, and Chromium none above 33. */
export const mostRows: number = Math.floor(16_000_000 / rowHeight)
const skeletonRows = 24

/** The table itself: a grid that draws the rows in view only. */
export function Grid({
  label,
  kind,
  list,
  enter,
  live,
  rows,
  columns,
  widths,
  actions,
  selection,
  noteUsage,
}: {
  readonly label: string
  /** `Pod`. */
  readonly kind: string
  /** What is listed, as text. */
  readonly list: string
  /** Is given the way into the rows. */
  readonly enter: RefObject<(() => void) | undefined>
  readonly live: LiveRows
  readonly rows: RowsSnapshot
  readonly columns: readonly TableColumn[]
  readonly widths: ReadonlyMap<string, ColumnWidth>
  readonly actions: HeaderActions
  readonly selection: Selection
  /** Told why the use of CPU and memory of the rows is not known. */
  readonly noteUsage: (why: string | undefined) => void
}) {
  const id = useId()
  const frame = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const count = Math.min(rows.count ?? skeletonRows, mostRows)
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollPaddingEnd: rowHeight,
  })
  const items = virtualizer.getVirtualItems()
  const first = Math.floor((virtualizer.scrollOffset ?? 0) / rowHeight)
  const last = Math.min(
    count - 1,
    first + Math.ceil((virtualizer.scrollRect?.height ?? 0) / rowHeight),
  )
  useEffect(() => {
    live.look(first, last)
  }, [live, first, last])
  useHold(frame, live.hold)
  const use = useUsage(kind, useIdsInView(rows, columns, first, last))
  useEffect(() => {
    noteUsage(use.why)
    return () => noteUsage(undefined)
  }, [noteUsage, use.why])
  useAnchor(scroller, rows, first)
  const pixels = columns.map((column) => widths.get(column.id) ?? noWidth)
  const tracks = columnTracks(pixels)
  const keyboard = useKeyboard(rows, count, selection, scroller, (index) => {
    virtualizer.scrollToIndex(index, { align: 'auto' })
  })
  const { cursor } = keyboard
  const keepTop = useKeptTop(scroller, list, live, rows, cursor >= 0)
  const { picked, pick, pickAll } = selection
  // The same function for the headings, which are drawn anew when something of theirs changes.
  const latest = useRef({ picked, pick, pickAll })
  latest.current = { picked, pick, pickAll }
  const onPick = useCallback(() => {
    const now = latest.current
    if (now.picked.size > 0) now.pick(new Set())
    else now.pickAll()
  }, [])
  useImperativeHandle(enter, () => () => keyboard.step(cursor < 0 ? 1 : 0))

  return (
    <div ref={frame} className={styles['frame']}>
      <div
        ref={scroller}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.count === undefined ? -1 : rows.count + 1}
        aria-colcount={columns.length}
        aria-multiselectable="true"
        aria-busy={rows.count === undefined}
        aria-activedescendant={
          items.some(({ index }) => index === cursor) ? `${id}-${cursor}` : undefined
        }
        tabIndex={0}
        className={styles['grid']}
        style={
          {
            '--columns': tracks.columns,
            '--total': tracks.total,
          } as CSSProperties
        }
        onScroll={keepTop}
        onKeyDown={keyboard.pressed}
        onClick={keyboard.clicked}
        onDoubleClick={keyboard.doubleClicked}
      >
        <HeaderRow
          columns={columns}
          widths={widths}
          actions={actions}
          picked={
            selection.picked.size === 0
              ? 'none'
              : selection.picked.size >= Math.min(count, mostPicked)
                ? 'all'
                : 'some'
          }
          onPick={onPick}
        />
        <UsageContext value={use.byId}>
          <div role="rowgroup" className={styles['body']} style={{ height: count * rowHeight }}>
            {items.map(({ index, start }) => {
              const row = rows.count === undefined ? undefined : rows.at(index)
              return row === undefined ? (
                <SkeletonRow
                  key={index}
                  id={`${id}-${index}`}
                  index={index}
                  start={start}
                  columns={columns}
                />
              ) : (
                <Row
                  key={row.id}
                  id={`${id}-${index}`}
                  row={row}
                  index={index}
                  start={start}
                  columns={columns}
                  isCursor={index === cursor}
                  address={selection.addressOf(row)}
                  isOpen={selection.isOpen(row)}
                  isPicked={selection.picked.has(row.id)}
                  isGone={rows.isGone(row.id)}
                />
              )
            })}
          </div>
        </UsageContext>
      </div>
      {virtualizer.isScrolling && rows.count !== undefined && count > 100 ? (
        <div className={styles['position']} aria-hidden="true">
          {words.table.position(first + 1, rows.count)}
        </div>
      ) : null}
      {rows.newAbove > 0 ? (
        <button
          type="button"
          className={styles['above']}
          onClick={() => {
            live.showAll()
          }}
        >
          {words.table.newAbove(rows.newAbove)}
        </button>
      ) : null}
    </div>
  )
}

interface RowProps {
  readonly id: string
  readonly row: TableRow
  readonly address: string
  readonly index: number
  readonly start: number
  readonly columns: readonly TableColumn[]
  readonly isCursor: boolean
  readonly isOpen: boolean
  readonly isPicked: boolean
  readonly isGone: boolean
}

const Row = memo(function Row({
  id,
  row,
  address,
  index,
  start,
  columns,
  isCursor,
  isOpen,
  isPicked,
  isGone,
}: RowProps) {
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={index + 2}
      aria-selected={isPicked || isOpen}
      className={styles['row']}
      data-index={index}
      data-cursor={isCursor || undefined}
      data-open={isOpen || undefined}
      data-picked={isPicked || undefined}
      data-gone={isGone || undefined}
      style={{ transform: `translateY(${start}px)` }}
    >
      <Cells row={row} address={address} columns={columns} isPicked={isPicked} />
    </div>
  )
})

function SkeletonRow({
  id,
  index,
  start,
  columns,
}: Pick<RowProps, 'id' | 'index' | 'start' | 'columns'>) {
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={index + 2}
      className={styles['row']}
      data-loading
      style={{ transform: `translateY(${start}px)` }}
    >
      {columns.map((column, at) => (
        <div key={column.id} role="gridcell" className={styles['cell']}>
          <span
            className={styles['bone']}
            style={{ width: `${40 + ((index * 7 + at * 13) % 45)}%` }}
          />
        </div>
      ))}
    </div>
  )
}

/** The use of rows that scroll by is not asked for. */
const settleMs = 250

/** The `id`s of the rows in view and a few around them, if a column shows what they use: the same array until there are others. */
function useIdsInView(
  rows: RowsSnapshot,
  columns: readonly TableColumn[],
  first: number,
  last: number,
): readonly string[] {
  const wanted = columns.some(({ id }) => isUsageColumn(id))
    ? Array.from(
        { length: Math.max(0, last - first + 1 + 2 * aroundRows) },
        (_, at) => rows.at(Math.max(0, first - aroundRows) + at)?.id,
      ).filter((id) => id !== undefined)
    : []
  const [asked, setAsked] = useState<readonly string[]>(wanted)
  const latest = useRef(wanted)
  latest.current = wanted
  const known = new Set(asked)
  const lacks = wanted.slice(0, last - first + 1 + aroundRows).some((id) => !known.has(id))
  useEffect(() => {
    if (!lacks) return undefined
    // Not put off by further changes: a busy list changes all the time.
    const timer = setTimeout(() => setAsked(latest.current.toSorted()), settleMs)
    return () => clearTimeout(timer)
  }, [lacks, asked])
  return asked
}

const aroundRows = 20

/**
 * Another list begins at its beginning; one that the user comes back to, where it was left. Returns what is to be called
 * when the user scrolls.
 */
function useKeptTop(
  scroller: RefObject<HTMLDivElement | null>,
  list: string,
  live: LiveRows,
  rows: RowsSnapshot,
  isUsed: boolean,
): () => void {
  const { read, keep } = useKept<number>(`top of ${list}`)
  const shown = useRef<LiveRows>(undefined)
  const wanted = useRef<number>(undefined)
  /** Where the page has scrolled to by itself, which is nothing to keep. */
  const own = useRef<number>(undefined)
  useLayoutEffect(() => {
    if (shown.current === live) return
    wanted.current = read() ?? 0
    // The page gives the focus to its heading otherwise.
    if (shown.current === undefined && (wanted.current > 0 || isUsed)) scroller.current?.focus()
    shown.current = live
  })
  useLayoutEffect(() => {
    // Without its rows the list has no height.
    if (wanted.current === undefined || rows.count === undefined) return
    if (rows !== live.getSnapshot()) return
    scroller.current?.scrollTo({ top: wanted.current })
    own.current = scroller.current?.scrollTop
    wanted.current = undefined
  }, [scroller, live, rows])
  return () => {
    const top = scroller.current?.scrollTop ?? 0
    if (wanted.current !== undefined || top === own.current) return
    own.current = undefined
    keep(top)
  }
}

/** Keeps the first row in view at its place when rows come or go above it. */
function useAnchor(
  scroller: RefObject<HTMLDivElement | null>,
  rows: RowsSnapshot,
  first: number,
): void {
  const anchor = useRef<{
    readonly rows: RowsSnapshot
    readonly id: string
    readonly index: number
  }>(undefined)
  useLayoutEffect(() => {
    const before = anchor.current
    const element = scroller.current
    if (before !== undefined && before.rows !== rows && before.index > 0 && element !== null) {
      const index = rows.indexOf(before.id)
      if (index >= 0 && index !== before.index && before.index === first) {
        element.scrollTop += (index - before.index) * rowHeight
        anchor.current = { rows, id: before.id, index }
        return
      }
    }
    const row = rows.at(first)
    anchor.current = row === undefined ? undefined : { rows, id: row.id, index: first }
  }, [scroller, rows, first])
}
