import { Link } from '@tanstack/react-router'
import { useContext } from 'react'
import { SaidCut } from '../look/gaps.ts'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { ProblemList } from '../problems/problem-list.tsx'
import { NoProblems, ProblemGaps } from '../problems/problem-notes.tsx'
import styles from '../problems/problem-line.module.css'
import { isOfCluster, useProblems } from '../problems/use-problems.ts'
import { words } from '../words.ts'
import { Section } from './section.tsx'

/** More are on the page of problems. */
export const mostProblems = 15

/** The worst problems of the scope. That a cluster is cut off is said above the view. */
export function WorstProblems() {
  const problems = useProblems({}, mostProblems)
  const { rows: all, totalCount, status } = problems
  const cut = useContext(SaidCut)
  const rows = all.filter((problem) => !(isOfCluster(problem) && cut.has(problem.cluster)))
  return (
    <Section title={words.frame.problems} aside={totalCount === 0 ? null : totalCount}>
      <ProblemList problems={{ ...problems, rows }} />
      {totalCount === undefined || totalCount <= rows.length || status === 'loading' ? null : (
        <Link to="/problems" className={styles['more']}>
          {words.problems.all(totalCount)}
        </Link>
      )}
      {all.length > 0 || status === 'failed' ? null : totalCount !== 0 ? (
        <RowsSkeleton rows={5} />
      ) : (
        <NoProblems />
      )}
      <ProblemGaps problems={problems} />
    </Section>
  )
}
