import { useCounts } from '../gateway/counts.ts'
import { useViewer } from '../gateway/viewer.ts'
import { useViewTitle } from '../frame/view-title.ts'
import { Failure } from '../look/notice.tsx'
import { problemVariables, useProblemCounts } from '../problems/use-problems.ts'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import { Capacity } from './capacity.tsx'
import { Clusters } from './clusters.tsx'
import { HealthByKind } from './health-by-kind.tsx'
import { LatestChanges } from './latest-changes.tsx'
import { ViewMenu } from '../frame/view-menu.tsx'
import { ProblemsDocument } from '../gateway/documents.ts'
import { PageHead } from '../look/page-head.tsx'
import styles from './overview.module.css'
import { Warnings } from './warnings.tsx'
import { mostProblems, WorstProblems } from './worst-problems.tsx'

const said = words.overview

/** The clusters, the worst problems of the scope, how full it is, the health of each kind, and the latest warnings. */
export function Overview() {
  useViewTitle(said.title)
  const { all, errors } = useCounts()
  const { scope } = useScope()
  const { limitedTo } = useViewer()
  const isPartly = useProblemCounts()?.isPartly ?? false
  return (
    <div className={styles['overview']}>
      <PageHead title={said.title}>
        <ViewMenu
          document={ProblemsDocument}
          variables={problemVariables(scope, {}, mostProblems)}
        />
      </PageHead>
      {limitedTo !== undefined && limitedTo.length > 0 ? (
        <p className={styles['limited']} title={limitedTo.join(', ')}>
          {said.yours(limitedTo)}
        </p>
      ) : isPartly ? (
        <p className={styles['limited']}>{said.partly}</p>
      ) : null}
      {all === undefined && errors.length > 0 ? <Failure errors={errors} /> : null}
      <div className={styles['columns']}>
        <div className={styles['now']}>
          <WorstProblems />
          <LatestChanges />
          <Warnings />
        </div>
        <div className={styles['beside']}>
          <Clusters />
          <Capacity />
          <HealthByKind />
        </div>
      </div>
    </div>
  )
}
