import { useCounts } from '../gateway/counts.ts'
import { useViewer } from '../gateway/viewer.ts'
import { useViewTitle } from '../frame/view-title.ts'
import { Failure } from '../look/notice.tsx'
import { words } from '../words.ts'
import { Clusters } from './clusters.tsx'
import { Degraded } from './degraded.tsx'
import { HealthByKind } from './health-by-kind.tsx'
import { ShowQuery } from '../frame/show-query.tsx'
import { DegradedObjectsDocument } from '../gateway/documents.ts'
import styles from './overview.module.css'
import { Warnings } from './warnings.tsx'

const said = words.overview

/** The clusters, what is degraded in the scope now, the health of each kind, and the latest warnings. */
export function Overview() {
  useViewTitle(said.title)
  const { clusters, errors, again } = useCounts()
  const { limitedTo } = useViewer()
  return (
    <div className={styles['overview']}>
      <h1>{said.title}</h1>
      <p className={styles['limited']}>
        <ShowQuery document={DegradedObjectsDocument} variables={degradedPods} />
      </p>
      {limitedTo === undefined || limitedTo.length === 0 ? null : (
        <p className={styles['limited']} title={limitedTo.join(', ')}>
          {said.yours(limitedTo)}
        </p>
      )}
      {clusters === undefined && errors.length > 0 ? (
        <Failure errors={errors} again={again} />
      ) : null}
      <div className={styles['columns']}>
        <div className={styles['now']}>
          <Degraded />
          <Warnings />
        </div>
        <div className={styles['beside']}>
          <Clusters />
          <HealthByKind />
        </div>
      </div>
    </div>
  )
}

/** The variables of the live list of one kind, as GraphiQL shows it. */
const degradedPods = { kind: 'Pod', group: '', where: { health: { in: ['DEGRADED'] } } }
