import { Link } from '@tanstack/react-router'
import { useContext } from 'react'
import { type Cluster, useCounts } from '../gateway/counts.ts'
import { SaidCut } from '../look/gaps.ts'
import { useScope } from '../scope.ts'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { type BySeverity, useProblemCounts } from '../problems/use-problems.ts'
import { words } from '../words.ts'
import styles from './clusters.module.css'
import { Section } from './section.tsx'

const said = words.overview

/** Every cluster of the gateway: whether it answers, what is wrong in it, its version, and how much of it is held. */
export function Clusters() {
  const { all: clusters, errors } = useCounts()
  const problems = useProblemCounts()?.byCluster
  return (
    <Section title={said.clusters} aside={clusters?.length}>
      {clusters === undefined ? (
        errors.length === 0 ? (
          <RowsSkeleton rows={2} />
        ) : null
      ) : (
        <ul>
          {clusters.map((cluster) => (
            <ClusterLine
              key={cluster.name}
              cluster={cluster}
              problems={problems?.get(cluster.name)}
              isOnly={clusters.length === 1}
            />
          ))}
        </ul>
      )}
    </Section>
  )
}

function ClusterLine({
  cluster: { name, state, version, resources },
  problems,
  isOnly,
}: {
  readonly cluster: Cluster
  /** Absent: none, or it is not in scope. */
  readonly problems: BySeverity | undefined
  readonly isOnly: boolean
}) {
  const { setScope } = useScope()
  const isCutSaid = useContext(SaidCut).has(name)
  const held = resources.filter(({ objects }) => objects !== null)
  const objects = held.reduce((sum, resource) => sum + (resource.objects ?? 0), 0)
  const late = resources.filter(({ lastError }) => lastError !== null)
  const title = (
    <>
      <span aria-hidden="true" className={styles['dot']} data-state={state} />
      <span className={styles['name']} title={name}>
        {name}
      </span>
    </>
  )
  return (
    <li className={styles['cluster']}>
      <div className={styles['line']}>
        {isOnly ? (
          <span className={styles['title']}>{title}</span>
        ) : (
          <button
            type="button"
            className={styles['title']}
            onClick={() => {
              setScope({ clusters: [name] })
            }}
          >
            {title}
          </button>
        )}
        <span className={styles['state']} data-state={state}>
          {said.clusterStates[state]}
        </span>
      </div>
      {isOnly || problems === undefined ? null : (
        <p className={styles['facts']}>
          <Link
            to="/problems"
            search={(search) => ({ ...search, cluster: name })}
            className={styles['problems']}
            data-critical={problems.CRITICAL > 0 || undefined}
          >
            {words.problems.badge(problems.CRITICAL, problems.WARNING)}
          </Link>
        </p>
      )}
      <p className={styles['facts']}>
        {version === null ? null : <span>{said.version(version)}</span>}
        {held.length === 0 ? null : <span>{said.objects(objects, held.length)}</span>}
      </p>
      {state === 'UNREACHABLE' || state === 'UNAUTHORIZED' ? (
        isCutSaid ? null : (
          <p className={styles['bad']}>
            {state === 'UNREACHABLE' ? said.unreachable(name) : said.unauthorized(name)}
          </p>
        )
      ) : late.length > 0 ? (
        <p
          className={styles['late']}
          title={late.map(({ type, lastError }) => `${type}: ${lastError}`).join('\n')}
        >
          {said.lag(late.length)}
        </p>
      ) : null}
    </li>
  )
}
