import { useContext } from 'react'
import { TableFacetsDocument } from '../gateway/documents.ts'
import { errorsOf, useAnswer } from '../gateway/gateway.ts'
import type { Kind } from '../gateway/kinds.ts'
import controls from '../look/controls.module.css'
import { Failure, Notice } from '../look/notice.tsx'
import { type Scope, useScope } from '../scope.ts'
import { SaidCut, useGapSentences } from '../look/gaps.ts'
import { words } from '../words.ts'
import styles from './kind-table.module.css'
import { mostRows } from './grid.tsx'
import type { RowsSnapshot } from './live-rows.ts'
import type { ListArguments } from './use-live-rows.ts'

/** What a reader must know of the rows: limits, what is wrong with the filter, and how old they are. */
export function TableNotes({
  kind,
  rows,
  problems,
  allowed,
  whyNoUsage,
}: {
  readonly kind: Kind
  readonly rows: RowsSnapshot
  readonly problems: readonly (string | undefined)[]
  readonly allowed: readonly string[] | undefined
  readonly whyNoUsage: string | undefined
}) {
  const wrong = problems.filter((problem) => problem !== undefined)
  const gaps = useGapSentences(rows.incomplete, kind.title)
  const isCutSaid = useContext(SaidCut).size > 0
  const notes = [
    ...wrong.map((text) => ({ text, isWrong: true })),
    ...(allowed === undefined || allowed.length === 0 || rows.status === 'failed'
      ? []
      : [{ text: words.table.allowed(kind.title, allowed), isWrong: false }]),
    ...(whyNoUsage === undefined ? [] : [{ text: whyNoUsage, isWrong: false }]),
    ...(kind.state === 'UNCACHED' ? [{ text: words.table.notFollowed, isWrong: false }] : []),
    ...((rows.count ?? 0) > mostRows
      ? [{ text: words.table.tooMany(mostRows), isWrong: false }]
      : []),
    ...gaps.map((text) => ({ text, isWrong: false })),
    ...(rows.staleSince === null || rows.incomplete.length > 0 || isCutSaid
      ? []
      : [{ text: words.table.stale(new Date(rows.staleSince)), isWrong: true }]),
    // That the connection is lost is said by the frame, for the whole page.
    ...(rows.status === 'failed' ? [] : errorsOf(rows.error))
      .filter(({ extensions }) => extensions?.code !== undefined)
      .map(({ message }) => ({ text: words.table.trouble(message), isWrong: true })),
  ]
  return (
    <div className={styles['notes']} role="status">
      {notes.map(({ text, isWrong }) => (
        <p key={text} data-wrong={isWrong || undefined}>
          {text}
        </p>
      ))}
    </div>
  )
}

/** Why there are no rows, and what to do next. */
export function EmptyTable({
  kind,
  list,
  isFiltered,
  scope,
  clear,
}: {
  readonly kind: Kind
  readonly list: ListArguments
  readonly isFiltered: boolean
  readonly scope: Scope
  readonly clear: () => void
}) {
  const { setScope } = useScope()
  const { group = null, kind: name, cluster = null, clusters = null, namespaces = null } = list
  const { data } = useAnswer(
    TableFacetsDocument,
    { group, kind: name, cluster, clusters, namespaces, where: null, by: [], top: 1 },
    { enabled: isFiltered },
  )
  const all = data?.objectList?.totalCount
  const { namespaces: chosen } = scope
  return (
    <div className={styles['said']}>
      <Notice
        title={isFiltered ? words.table.noMatch(kind.title) : words.table.none(kind.title, chosen)}
      >
        {isFiltered ? (
          <p>
            {all === undefined ? '' : words.table.withoutFilter(all)}{' '}
            <button type="button" className={controls['button']} onClick={clear}>
              {words.table.clearFilter}
            </button>
          </p>
        ) : chosen === undefined || !kind.namespaced ? (
          <p>{words.table.appears}</p>
        ) : (
          <button
            type="button"
            className={controls['button']}
            onClick={() => {
              setScope({ ...scope, namespaces: [] })
            }}
          >
            {words.table.allNamespaces}
          </button>
        )}
      </Notice>
    </div>
  )
}

/** Why the gateway does not list the kind. */
export function FailedTable({
  error,
  kind,
  allowed,
}: {
  readonly error: Error | undefined
  readonly kind: Kind
  readonly allowed: readonly string[] | undefined
}) {
  return (
    <div className={styles['said']}>
      {allowed !== undefined && allowed.length > 0 ? (
        <Notice title={words.table.allowed(kind.title, allowed)} />
      ) : (
        <Failure errors={errorsOf(error)} title={words.table.failed(kind.title)} />
      )}
    </div>
  )
}
