import { Menu } from '@base-ui/react/menu'
import { memo, type PointerEvent, type ReactNode } from 'react'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { words } from '../words.ts'
import type { ColumnWidth } from './column-widths.ts'
import type { Sort, TableColumn } from './columns.ts'
import styles from './grid.module.css'

/** What a user can do with a column. */
export interface HeaderActions {
  readonly sort: Sort | undefined
  readonly setSort: (sort: Sort | undefined) => void
  readonly hide: (id: string) => void
  /** Absent `width`: the usual one. */
  readonly resize: (id: string, width: number | undefined) => void
  /** Begins a filter by an index. */
  readonly filterBy: (index: string) => void
}

const narrowest = 48
const wider = 32
const narrower = -32

/** The headings of a table. */
export const HeaderRow = memo(function HeaderRow({
  columns,
  widths,
  actions,
  picked,
  onPick,
}: {
  readonly columns: readonly TableColumn[]
  readonly widths: ReadonlyMap<string, ColumnWidth>
  readonly actions: HeaderActions
  readonly picked: 'none' | 'some' | 'all'
  /** Selects all rows, or none if some are selected. */
  readonly onPick: () => void
}) {
  return (
    <div role="rowgroup" className={styles['head']}>
      <div role="row" aria-rowindex={1} className={styles['headRow']}>
        {columns.map((column, at) => (
          <Header
            key={column.id}
            column={column}
            width={widths.get(column.id)?.usual ?? 0}
            actions={actions}
          >
            {at === 0 ? (
              <input
                type="checkbox"
                className={styles['box']}
                aria-label={picked === 'none' ? words.table.pickAll : words.table.pickNone}
                checked={picked === 'all'}
                ref={(box) => {
                  if (box !== null) box.indeterminate = picked === 'some'
                }}
                onChange={onPick}
              />
            ) : null}
          </Header>
        ))}
      </div>
    </div>
  )
})

/** The heading of a column: a click sorts, its menu does the rest, its edge makes it wider. */
function Header({
  column,
  width,
  actions,
  children,
}: {
  readonly column: TableColumn
  readonly width: number
  readonly actions: HeaderActions
  readonly children?: ReactNode
}) {
  const { id, title, hint, index, first } = column
  const { sort, setSort } = actions
  const direction = index !== undefined && sort?.index === index ? sort.direction : undefined
  const isAscending = (direction === 'ASC') !== column.isInverse
  return (
    <div
      role="columnheader"
      aria-label={title}
      title={hint}
      className={styles['header']}
      data-numeric={column.isNumeric || undefined}
      aria-sort={direction === undefined ? undefined : isAscending ? 'ascending' : 'descending'}
    >
      {children}
      {index === undefined ? (
        <span className={styles['title']}>{title}</span>
      ) : (
        // The menu does the same by keyboard.
        <button
          type="button"
          tabIndex={-1}
          className={styles['title']}
          onClick={() => {
            const other = first === 'ASC' ? 'DESC' : 'ASC'
            if (direction === other) setSort(undefined)
            else setSort({ index, direction: direction === undefined ? first : other })
          }}
        >
          <span className={styles['titleText']}>{title}</span>
          {direction === undefined ? null : (
            <span aria-hidden="true" className={styles['arrow']}>
              {isAscending ? '↑' : '↓'}
            </span>
          )}
        </button>
      )}
      <ColumnMenu column={column} width={width} actions={actions} />
      <Edge
        title={words.table.width(title)}
        resize={(next) => {
          actions.resize(id, next)
        }}
      />
    </div>
  )
}

function ColumnMenu({
  column: { id, title, index, isInverse, isLink },
  width,
  actions,
}: {
  readonly column: TableColumn
  readonly width: number
  readonly actions: HeaderActions
}) {
  const said = words.table.columnMenu
  const [up, down] = isInverse ? (['DESC', 'ASC'] as const) : (['ASC', 'DESC'] as const)
  return (
    <Menu.Root>
      <Menu.Trigger className={styles['menu']} aria-label={said.title(title)}>
        <Icon name="chevron" />
      </Menu.Trigger>
      <Menu.Portal className="informerql">
        <Menu.Positioner className={overlay['positioner']} align="end" sideOffset={4}>
          <Menu.Popup className={overlay['popup']}>
            {index === undefined ? null : (
              <>
                <Menu.Item
                  className={overlay['item']}
                  onClick={() => {
                    actions.setSort({ index, direction: up })
                  }}
                >
                  {said.ascending}
                </Menu.Item>
                <Menu.Item
                  className={overlay['item']}
                  onClick={() => {
                    actions.setSort({ index, direction: down })
                  }}
                >
                  {said.descending}
                </Menu.Item>
                <Menu.Item
                  className={overlay['item']}
                  onClick={() => {
                    actions.filterBy(index)
                  }}
                >
                  {said.filter(index)}
                </Menu.Item>
              </>
            )}
            {[wider, narrower].map((by) => (
              <Menu.Item
                key={by}
                className={overlay['item']}
                closeOnClick={false}
                onClick={() => {
                  actions.resize(id, Math.max(narrowest, width + by))
                }}
              >
                {by > 0 ? said.wider : said.narrower}
              </Menu.Item>
            ))}
            {isLink ? null : (
              <Menu.Item
                className={overlay['item']}
                onClick={() => {
                  actions.hide(id)
                }}
              >
                {said.hide}
              </Menu.Item>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

/** The edge of a column: it is dragged, or set back by a double click. */
function Edge({
  title,
  resize,
}: {
  readonly title: string
  readonly resize: (width: number | undefined) => void
}) {
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    event.preventDefault()
    const edge = event.currentTarget
    edge.setPointerCapture(event.pointerId)
    const start = event.clientX - (edge.parentElement?.offsetWidth ?? 0)
    const move = ({ clientX }: globalThis.PointerEvent): void => {
      resize(Math.max(narrowest, Math.round(clientX - start)))
    }
    edge.addEventListener('pointermove', move)
    edge.addEventListener(
      'lostpointercapture',
      () => edge.removeEventListener('pointermove', move),
      {
        once: true,
      },
    )
  }
  return (
    <div
      aria-hidden="true"
      title={title}
      className={styles['edge']}
      onPointerDown={drag}
      onDoubleClick={() => {
        resize(undefined)
      }}
    />
  )
}
