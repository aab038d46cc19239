import type { ReactNode } from 'react'
import type { TableRowFragment as TableRow } from '../gateway/documents.ts'
import { Age } from '../look/age.tsx'
import { Health } from '../look/health.tsx'
import { rolloutOf } from '../look/rollout.ts'
import { usePlace } from '../scope.ts'
import { isUsageColumn, UsageCell, usageCellText } from '../usage/usage-column.tsx'
import { words } from '../words.ts'
import type { TableColumn } from './columns.ts'
import { changesOf } from './live-rows.ts'
import styles from './grid.module.css'

/** How long a changed cell glows: as the animation `glow` in grid.module.css. */
const glowMs = 600

/** The cells of a row. Those that have just changed glow once. */
export function Cells({
  row,
  address,
  columns,
  isPicked,
}: {
  readonly row: TableRow
  /** The `nameId` of its object. */
  readonly address: string
  readonly columns: readonly TableColumn[]
  readonly isPicked: boolean
}) {
  const changes = changesOf(row)
  const isFresh = changes !== undefined && performance.now() - changes.at < glowMs
  return columns.map((column, at) => {
    const glows = isFresh && changes.columns.has(column.id)
    return (
      <div
        key={column.id}
        role="gridcell"
        className={styles['cell']}
        data-column={column.id}
        data-numeric={column.isNumeric || undefined}
        title={titleOf(row, column)}
      >
        {at === 0 ? (
          // The grid takes the click, and the keys of rows do the same.
          <input
            type="checkbox"
            className={styles['box']}
            aria-label={words.table.pick(row.name)}
            tabIndex={-1}
            checked={isPicked}
            readOnly
          />
        ) : null}
        {/* Another key starts the animation again. */}
        <span
          key={glows ? changes.at : 0}
          className={styles['content']}
          data-changed={glows || undefined}
        >
          {column.isLink ? (
            <CellLink address={address}>
              <CellContent row={row} column={column} />
            </CellLink>
          ) : (
            <CellContent row={row} column={column} />
          )}
        </span>
      </div>
    )
  })
}

/** For what a browser does with links. The grid takes a plain click, and the keys of its rows. */
function CellLink({
  address,
  children,
}: {
  readonly address: string
  readonly children: ReactNode
}) {
  const { hrefOf } = usePlace()
  return (
    <a href={hrefOf({ object: address })} tabIndex={-1} className={styles['link']}>
      {children}
    </a>
  )
}

function CellContent({
  row,
  column,
}: {
  readonly row: TableRow
  readonly column: TableColumn
}): ReactNode {
  if (column.id === 'name') return <NameCell row={row} />
  if (column.id === 'namespace') return <span className={styles['dim']}>{row.namespace}</span>
  if (column.id === 'cluster') return <span className={styles['dim']}>{row.clusterName}</span>
  if (column.id === 'health') {
    const rollout = rolloutOf(row)
    return <Health status={row.health?.status} word={rollout && words.rollout.short(rollout)} />
  }
  if (column.id === 'age') return <Age since={row.creationTimestamp} />
  if (isUsageColumn(column.id)) return <UsageCell id={row.id} column={column.id} />
  const cell = printed(row, column)
  if (cell === undefined) return null
  const { value, since } = cell
  const text = plainText(value)
  if (since === null) {
    return text === '' || /^<(?:none|unset|unknown)>$/u.test(text) ? (
      <span className={styles['dim']}>{text === '' ? '' : words.table.empty}</span>
    ) : (
      text
    )
  }
  // A date, or the duration of what has not ended; otherwise how long ago the value is from.
  if (text === '' || column.isInverse) return <Age since={since} />
  return (
    <>
      {text}{' '}
      <span className={styles['dim']}>
        (<Age since={since} /> {words.table.ago})
      </span>
    </>
  )
}

/** The name; and what `kubectl get` adds to it, such as ` (default)`. */
function NameCell({ row }: { readonly row: TableRow }) {
  const shown = plainText(row.printerColumns?.find(({ name }) => name === 'Name')?.value)
  const suffix = shown.startsWith(row.name) ? shown.slice(row.name.length) : ''
  return (
    <>
      {row.name}
      {suffix === '' ? null : <span className={styles['dim']}>{suffix}</span>}
    </>
  )
}

/** What `kubectl` prints of a row in a column. */
export function printed(
  { printerColumns }: TableRow,
  { id }: TableColumn,
): NonNullable<TableRow['printerColumns']>[number] | undefined {
  return printerColumns?.find(({ name }) => name === id)
}

/** A printed value as text; nothing for none. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What may be cut off, in whole. */
function titleOf(row: TableRow, column: TableColumn): string | undefined {
  if (column.id === 'name') return row.name
  if (column.id === 'namespace') return row.namespace ?? undefined
  if (column.id === 'cluster') return row.clusterName
  if (column.id === 'health') {
    const { reason = null, message = null } = row.health ?? {}
    const why = [reason, message].filter((part) => part !== null).join(': ')
    const rollout = rolloutOf(row)
    return (rollout === undefined ? why : `${words.rollout.of(rollout)}\n${why}`) || undefined
  }
  const cell = printed(row, column)
  return cell === undefined || cell.since !== null ? undefined : plainText(cell.value) || undefined
}

/** The text that a cell is about as wide as. */
export function textOfCell(row: TableRow, column: TableColumn): string {
  if (column.id === 'name') return row.name
  if (column.id === 'namespace') return row.namespace ?? ''
  if (column.id === 'cluster') return row.clusterName
  if (column.id === 'health') return row.health === null ? '' : words.health[row.health.status]
  if (isUsageColumn(column.id)) return usageCellText(column.id)
  const cell = printed(row, column)
  if (column.id === 'age' || cell === undefined) return '0m00s'
  const text = plainText(cell.value)
  if (cell.since === null) return text
  return text === '' || column.isInverse ? '0m00s' : `${text} (0m00s ago)`
}
