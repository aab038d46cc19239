import { Link } from '@tanstack/react-router'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { ProblemList } from '../problems/problem-list.tsx'
import { NoProblems, ProblemGaps } from '../problems/problem-notes.tsx'
import styles from '../problems/problem-line.module.css'
import { useProblems } from '../problems/use-problems.ts'
import { words } from '../words.ts'
import { Section } from './section.tsx'

/** More are on the page of problems. */
export const mostProblems = 15

/** The worst problems of the scope. */
export function WorstProblems() {
  const problems = useProblems({}, mostProblems)
  const { rows, totalCount, status } = problems
  return (
    <Section title={words.frame.problems} aside={totalCount === 0 ? null : totalCount}>
      <ProblemList problems={problems} />
      {totalCount === undefined || totalCount <= rows.length ? null : (
        <Link to="/problems" className={styles['more']}>
          {words.problems.all(totalCount)}
        </Link>
      )}
      {rows.length > 0 || status === 'failed' ? null : totalCount === undefined ? (
        <RowsSkeleton rows={5} />
      ) : (
        <NoProblems />
      )}
      <ProblemGaps problems={problems} />
    </Section>
  )
}
