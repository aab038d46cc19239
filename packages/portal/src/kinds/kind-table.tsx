import { type ReactNode, useDeferredValue, useMemo, useRef, useState } from 'react'
import { BulkChip } from '../bulk/bulk-bar.tsx'
import { useKeys } from '../frame/keys.ts'
import { TableMenu } from '../export/table-menu.tsx'
import { TableNamespacesDocument, type TableRowFragment as TableRow } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import type { Kind } from '../gateway/kinds.ts'
import { rightsMs } from '../gateway/viewer.ts'
import controls from '../look/controls.module.css'
import { clustersOf, hasSeveralClusters, nameIdOf, type Scope, type Target } from '../scope.ts'
import { words } from '../words.ts'
import { ColumnPicker } from './column-picker.tsx'
import { sortOf, sortText, useColumns, usualSort } from './columns.ts'
import { FacetStrip } from './facet-strip.tsx'
import { useColumnWidths } from './column-widths.ts'
import { FilterBar, withToken, withTokens } from './filter-bar.tsx'
import { readFilter, textOf, tokensOf } from './filter-text.ts'
import { Grid } from './grid.tsx'
import type { HeaderActions } from './header.tsx'
import { InspectorPane } from './inspector-pane.tsx'
import styles from './kind-table.module.css'
import { usePicked } from './picked.ts'
import { usePickedIds } from './picked-ids.ts'
import { SelectionBar } from './selection-bar.tsx'
import { EmptyTable, FailedTable, TableNotes } from './table-notes.tsx'
import type { TableView } from './table-view.ts'
import { type ListArguments, useLiveRows } from './use-live-rows.ts'

/** The objects of a kind as a live table, with its filter, its columns and the inspector. */
export function KindTable({
  kind,
  scope,
  view,
  change,
  visit,
  tools,
}: {
  readonly kind: Kind
  readonly scope: Scope
  readonly view: TableView
  /** Changes the view; `isStep`: the user can go back to the one before. */
  readonly change: (changed: TableView, isStep: boolean) => void
  /** Leaves for the page of an object. */
  readonly visit: (target: Target) => void
  /** What stands beside the table's own tools. */
  readonly tools?: ReactNode
}) {
  const field = useRef<HTMLInputElement>(null)
  const enterGrid = useRef<() => void>(undefined)
  const [draft, setDraft] = useState('')
  const [showsFacets, setShowsFacets] = useState(false)
  const [whyNoUsage, noteUsage] = useState<string>()
  const tokens = useMemo(() => tokensOf(withTokens('', view.q ?? '')), [view.q])
  const columns = useColumns(kind, scope, view.cols, change)
  const list = useList(kind, scope, view, useDeferredValue(draft), columns.isWide)
  const { live, rows, isChanging } = useLiveRows(list.shown, kind.state !== 'UNCACHED')
  const widths = useColumnWidths(columns, isChanging ? undefined : live, rows)
  const allowed = useAllowedNamespaces(kind, scope)
  const addressOf = (row: TableRow): string =>
    nameIdOf({ ...row, cluster: row.clusterName, apiVersion: kind.apiVersion, kind: kind.kind })
  const pickedIds = usePickedIds(view, change, (id) => {
    const row = rows.at(rows.indexOf(id))
    return row && addressOf(row)
  })
  const [opened, setOpened] = useState<{ readonly address: string; readonly id: string }>()
  const picked = usePicked(pickedIds, list.shown, kind.state !== 'UNCACHED')

  useKeys([{ keys: 'f', does: words.table.focusFilter, run: () => field.current?.focus() }])

  const actions = useMemo(
    (): HeaderActions => ({
      sort: sortOf(view.sort) ?? usualSort(kind),
      setSort(next) {
        change({ sort: next === undefined ? undefined : sortText(next) }, false)
      },
      hide: columns.toggle,
      resize: columns.resize,
      filterBy(index) {
        setDraft(`${index}:`)
        // The menu gives the focus back to its button when it closes.
        setTimeout(() => field.current?.focus())
      },
    }),
    [view.sort, kind, columns, change],
  )
  const setFilter = (q: string): void => {
    change({ q: q === '' ? undefined : q }, true)
  }
  const isFiltered = tokens.length > 0 || draft !== ''
  const isEmpty = rows.count === 0
  const hasFailed = rows.status === 'failed'
  return (
    <div className={styles['page']}>
      <header className={styles['top']}>
        <h1 className={styles['title']}>{kind.title}</h1>
        <output className={styles['count']} aria-label={words.table.count} aria-live="off">
          {rows.count === undefined || hasFailed ? '' : rows.count.toLocaleString()}
        </output>
        <div className={styles['tools']}>
          {tools}
          <BulkChip />
          <button
            type="button"
            className={controls['quiet']}
            aria-pressed={showsFacets}
            onClick={() => {
              setShowsFacets(!showsFacets)
            }}
          >
            {words.table.facets}
          </button>
          <ColumnPicker columns={columns} />
          <TableMenu
            kind={kind}
            scope={scope}
            source={{
              resource: kind.path,
              list: list.shown,
              columns: columns.all.filter((one) => one.tellsApart || columns.shown.includes(one)),
              picked: picked.ids,
            }}
            tokens={tokens}
            sort={view.sort}
            count={rows.count}
          />
        </div>
      </header>
      <div className={styles['filter']}>
        <FilterBar
          kind={kind}
          list={list.ofTokens}
          tokens={tokens}
          problems={list.problems}
          draft={draft}
          field={field}
          setDraft={setDraft}
          setTokens={(next) => {
            setFilter(textOf(next))
          }}
          enterTable={() => enterGrid.current?.()}
        />
      </div>
      {showsFacets ? (
        <FacetStrip
          kind={kind}
          list={list.ofTokens}
          tokens={tokens}
          toggle={(token) => {
            setFilter(withToken(view.q ?? '', token))
          }}
        />
      ) : null}
      <TableNotes
        problems={list.problems}
        rows={rows}
        allowed={allowed}
        kind={kind}
        whyNoUsage={whyNoUsage}
      />
      <div className={styles['split']} data-open={view.open !== undefined || undefined}>
        <div className={styles['table']} data-changing={isChanging || undefined}>
          {hasFailed ? (
            <FailedTable error={rows.error} kind={kind} allowed={allowed} />
          ) : isEmpty ? (
            <EmptyTable
              kind={kind}
              list={list.shown}
              isFiltered={isFiltered}
              scope={scope}
              clear={() => {
                setDraft('')
                setFilter('')
              }}
            />
          ) : (
            <Grid
              label={kind.title}
              kind={kind.kind}
              list={JSON.stringify(list.shown)}
              enter={enterGrid}
              live={live}
              rows={rows}
              columns={columns.shown}
              widths={widths}
              actions={actions}
              noteUsage={noteUsage}
              selection={{
                picked: picked.ids,
                pick: picked.pick,
                pickAll: picked.pickAll,
                addressOf,
                isInspecting: view.open !== undefined,
                isOpen: (row) => view.open === addressOf(row) || view.open === row.id,
                inspect(row) {
                  const next = row && { address: addressOf(row), id: row.id }
                  setOpened(next)
                  change({ open: next?.address }, false)
                },
                visit: (row) => visit({ object: addressOf(row), id: row.id }),
              }}
            />
          )}
        </div>
        {view.open === undefined ? null : (
          <InspectorPane
            object={view.open}
            id={opened?.address === view.open ? opened.id : undefined}
            view={view}
            change={change}
          />
        )}
      </div>
      <SelectionBar kind={kind} picked={picked} count={rows.count} />
    </div>
  )
}

/** What the table lists: by its tokens, and with what is typed as free text. */
function useList(
  kind: Kind,
  scope: Scope,
  { q = '', sort }: TableView,
  draft: string,
  wide: boolean,
): {
  readonly shown: ListArguments
  readonly ofTokens: ListArguments
  readonly problems: readonly (string | undefined)[]
} {
  // What may become the name of an index is not looked for yet.
  const isIndex = kind.indexes.some(({ name }) =>
    name.toLowerCase().startsWith(draft.toLowerCase()),
  )
  const isFree = !isIndex && tokensOf(draft).every(({ name }) => name === undefined)
  const free = isFree ? draft : ''
  return useMemo(() => {
    // Spans such as `age:<1h` count from when they are typed.
    const now = Date.now()
    const { where, problems } = readFilter(tokensOf(withTokens('', q)), kind.indexes, now)
    const typed = readFilter(tokensOf(withTokens('', `${q} ${free}`)), kind.indexes, now).where
    const order = sortOf(sort) ?? usualSort(kind)
    const isKnown = kind.indexes.some(({ name }) => name === order?.index)
    const ofTokens: ListArguments = {
      group: kind.group,
      kind: kind.kind,
      ...clustersOf(scope),
      namespaces: kind.namespaced && scope.namespaces !== undefined ? [...scope.namespaces] : null,
      where: where ?? null,
      orderBy: order !== undefined && isKnown ? [{ [order.index]: order.direction }] : null,
      columns: kind.columns !== null,
      wide,
    }
    return { shown: { ...ofTokens, where: typed ?? null }, ofTokens, problems }
  }, [kind, scope, q, sort, free, wide])
}

/** The only namespaces where the user may list the kind; `undefined`: all, or it is not known. Of several clusters, their gaps say it. */
function useAllowedNamespaces(kind: Kind, scope: Scope): readonly string[] | undefined {
  const isAsked = kind.namespaced && !hasSeveralClusters(scope)
  const { data, errors } = useAnswer(
    TableNamespacesDocument,
    { cluster: clustersOf(scope).cluster, type: kind.type },
    { enabled: isAsked, everyMs: rightsMs },
  )
  return !isAsked || errors.length > 0 ? undefined : (data?.viewer?.namespaces ?? undefined)
}
