import { Link } from '@tanstack/react-router'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { ProblemLine } from '../problems/problem-line.tsx'
import { NoProblems, ProblemGaps } from '../problems/problem-notes.tsx'
import styles from '../problems/problem-line.module.css'
import { useProblems } from '../problems/use-problems.ts'
import { hasSeveralClusters, useScope } from '../scope.ts'
import { words } from '../words.ts'
import { Section } from './section.tsx'

/** More are on the page of problems. */
export const mostProblems = 15

/** The worst problems of the scope. */
export function WorstProblems() {
  const { scope } = useScope()
  const problems = useProblems({}, mostProblems)
  const { rows, totalCount, status } = problems
  return (
    <Section title={words.frame.problems} aside={totalCount === 0 ? null : totalCount}>
      <ul>
        {rows.map((problem) => (
          <ProblemLine
            key={problem.id}
            problem={problem}
            before={problems.before.get(problem.id)}
            hasCluster={hasSeveralClusters(scope)}
          />
        ))}
      </ul>
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
