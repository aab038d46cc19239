import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ViewMenu } from '../frame/view-menu.tsx'
import { useViewTitle } from '../frame/view-title.ts'
import { ProblemsDocument } from '../gateway/documents.ts'
import { useKept } from '../kept-view.ts'
import controls from '../look/controls.module.css'
import { PageHead } from '../look/page-head.tsx'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import { ProblemList } from './problem-list.tsx'
import { NoProblems, ProblemGaps } from './problem-notes.tsx'
import styles from './problems.module.css'
import {
  type ProblemFilter,
  problemVariables,
  useProblemCounts,
  useProblems,
} from './use-problems.ts'

const said = words.problems
const perPage = 100
/** As many as the gateway has on a page. */
const most = 500
const severities = ['CRITICAL', 'WARNING'] as const
/** The kinds with the most problems have a button. */
const mostTypes = 8

/** What is wrong in the scope, of all kinds: the worst first, or the newest. */
export function Problems() {
  useViewTitle(words.frame.problems)
  const { scope } = useScope()
  const { severity, type, order } = useSearch({ from: '/problems' })
  const { read, keep } = useKept<number>('first')
  const [first, setFirst] = useState(() => read() ?? perPage)
  const problems = useProblems({ severity, type, order }, first)
  const { rows, totalCount, status } = problems
  const isFiltered = severity !== undefined || type !== undefined
  return (
    <section className={styles['problems']} aria-busy={status === 'loading'}>
      <PageHead
        title={words.frame.problems}
        beside={
          <output className={styles['count']} aria-label={said.count} aria-live="off">
            {totalCount?.toLocaleString()}
          </output>
        }
      >
        <ViewMenu
          document={ProblemsDocument}
          variables={problemVariables(scope, { severity, type, order }, first)}
        />
      </PageHead>
      <Filters filter={{ severity, type, order }} />
      <ProblemGaps problems={problems} />
      <ProblemList problems={problems} />
      {totalCount === undefined || (totalCount > 0 && rows.length === 0) ? (
        status === 'failed' ? null : (
          <RowsSkeleton rows={8} />
        )
      ) : totalCount > rows.length && first < most ? (
        <button
          type="button"
          className={controls['button']}
          onClick={() => {
            keep(first + perPage)
            setFirst(first + perPage)
          }}
        >
          {said.more(rows.length, totalCount)}
        </button>
      ) : rows.length > 0 ? null : isFiltered ? (
        <p className={styles['none']}>{said.noneOfFilter}</p>
      ) : (
        <NoProblems />
      )}
    </section>
  )
}

/** Severities and kinds with their numbers, and the order. Clusters and namespaces are the scope's. */
function Filters({ filter }: { readonly filter: ProblemFilter }) {
  const navigate = useNavigate({ from: '/problems' })
  const counts = useProblemCounts()
  const change = (changed: ProblemFilter): void => {
    void navigate({ search: (before) => ({ ...before, ...changed }) })
  }
  if (counts === undefined) return <div className={styles['filters']} aria-hidden="true" />
  const shown = counts.byType.slice(0, mostTypes)
  const { type: wanted } = filter
  const types =
    wanted === undefined || shown.some(({ type }) => type === wanted)
      ? shown
      : [...shown, { type: wanted, kind: wanted, count: 0 }]
  return (
    <div className={styles['filters']} role="group" aria-label={said.filters}>
      {severities.map((severity) => (
        <FilterButton
          key={severity}
          label={said.severities[severity]}
          count={counts.bySeverity[severity]}
          isOn={filter.severity === severity}
          toggle={() => {
            change({ severity: filter.severity === severity ? undefined : severity })
          }}
        />
      ))}
      {types.map(({ type, kind, count }) => (
        <FilterButton
          key={type}
          label={kind}
          count={count}
          isOn={filter.type === type}
          toggle={() => {
            change({ type: filter.type === type ? undefined : type })
          }}
        />
      ))}
      <button
        type="button"
        className={`${styles['filter']} ${styles['order']}`}
        aria-pressed={filter.order === 'newest'}
        title={said.newestTitle}
        onClick={() => {
          change({ order: filter.order === 'newest' ? undefined : 'newest' })
        }}
      >
        {said.newest}
      </button>
    </div>
  )
}

function FilterButton({
  label,
  count,
  isOn,
  toggle,
}: {
  readonly label: string
  readonly count: number
  readonly isOn: boolean
  readonly toggle: () => void
}) {
  return (
    <button type="button" className={styles['filter']} aria-pressed={isOn} onClick={toggle}>
      {label} <span className={styles['number']}>{count.toLocaleString()}</span>
    </button>
  )
}
