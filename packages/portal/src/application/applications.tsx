import { useLivePage } from '@informerql/client/react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type ApplicationRowFragment, ApplicationsDocument } from '../gateway/documents.ts'
import { useViewTitle } from '../frame/view-title.ts'
import { useGateway } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import { useGapSentences } from '../look/gaps.ts'
import { Health, severityOf } from '../look/health.tsx'
import {
  applicationRoute,
  clustersOf,
  hasSeveralClusters,
  namedParams,
  type NamedParams,
  useScope,
} from '../scope.ts'
import { words } from '../words.ts'
import styles from './applications.module.css'
import { ViewMenu } from '../frame/view-menu.tsx'
import { PageHead } from '../look/page-head.tsx'

const text = words.application

interface Group {
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly workloads: readonly ApplicationRowFragment[]
}

/** The applications of the scope: workloads of one name, the broken ones first; live. */
export function Applications() {
  useViewTitle(words.frame.applications)
  const { socket } = useGateway()
  const { scope } = useScope()
  const of = (kind: string, group = 'apps') => ({
    ...clustersOf(scope),
    namespaces: scope.namespaces === undefined ? null : [...scope.namespaces],
    group,
    kind,
  })
  const deployments = of('Deployment')
  const pages = [
    useLivePage({ client: socket, query: ApplicationsDocument, variables: deployments }),
    useLivePage({ client: socket, query: ApplicationsDocument, variables: of('StatefulSet') }),
    useLivePage({ client: socket, query: ApplicationsDocument, variables: of('DaemonSet') }),
    useLivePage({ client: socket, query: ApplicationsDocument, variables: of('CronJob', 'batch') }),
  ]
  const rows = pages.flatMap((page): readonly ApplicationRowFragment[] => page.rows)
  const total = pages.reduce((sum, { totalCount = 0 }) => sum + totalCount, 0)
  const isLoading = pages.some(({ status }) => status === 'loading')
  const failures = new Set(
    pages.flatMap(({ error }) => (error === undefined ? [] : [error.message])),
  )
  const groups = groupsOf(rows)
  const gaps = useGapSentences(
    pages.flatMap(({ incomplete }) => incomplete),
    words.frame.applications,
  )
  return (
    <section className={styles['applications']} aria-busy={isLoading}>
      <PageHead title={words.frame.applications}>
        <ViewMenu document={ApplicationsDocument} variables={deployments} />
      </PageHead>
      {[...failures].map((message) => (
        <p key={message} role="alert">
          {message}
        </p>
      ))}
      <div role="status">
        {gaps.map((sentence) => (
          <p key={sentence} className={styles['dim']}>
            {sentence}
          </p>
        ))}
      </div>
      {!isLoading && groups.length === 0 && failures.size === 0 && <p>{text.none}</p>}
      {groups.length > 0 && (
        <table className={styles['table']}>
          <thead>
            <tr>
              <th scope="col">{text.name}</th>
              <th scope="col">{text.health}</th>
              <th scope="col">{text.workloads}</th>
              <th scope="col">{text.age}</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <ApplicationGroup
                key={group.key}
                group={group}
                hasCluster={hasSeveralClusters(scope)}
              />
            ))}
          </tbody>
        </table>
      )}
      {rows.length < total && <p>{text.more(rows.length, total)}</p>}
    </section>
  )
}

function ApplicationGroup({
  group: { name, namespace, workloads },
  hasCluster,
}: {
  readonly group: Group
  readonly hasCluster: boolean
}) {
  const [worst] = workloads
  if (worst === undefined) return null
  const { health, creationTimestamp } = worst
  return (
    <tr data-health={health?.status}>
      <th scope="row">
        <ApplicationLink to={worst}>{name}</ApplicationLink>{' '}
        <span className={styles['dim']}>
          {namespace}
          {hasCluster ? ` · ${worst.clusterName}` : null}
        </span>
      </th>
      <td>
        <Health status={health?.status} />{' '}
        <span className={styles['reason']} title={health?.message ?? undefined}>
          {health?.status === 'HEALTHY' ? '' : (health?.message ?? health?.reason)}
        </span>
      </td>
      <td>
        {workloads.map((workload, position) => (
          <span key={workload.id}>
            {position > 0 && ', '}
            <ApplicationLink to={workload}>
              {workload.kind}
              {workload.name === name ? '' : ` ${workload.name}`}
            </ApplicationLink>{' '}
            <span className={styles['dim']}>{readyOf(workload)}</span>
          </span>
        ))}
      </td>
      <td>
        <Age since={creationTimestamp} />
      </td>
    </tr>
  )
}

function ApplicationLink({
  to: { nameId },
  children,
}: {
  readonly to: ApplicationRowFragment
  readonly children: ReactNode
}) {
  return (
    <Link to={applicationRoute} params={{ ...namedParams(nameId) } as NamedParams}>
      {children}
    </Link>
  )
}

/** The labels that name the application of a workload, by the recommendation of Kubernetes and by common use. */
const nameLabels = ['app.kubernetes.io/instance', 'app.kubernetes.io/name', 'app', 'k8s-app']

function groupsOf(rows: readonly ApplicationRowFragment[]): readonly Group[] {
  const groups = new Map<
    string,
    { namespace: string; name: string; workloads: ApplicationRowFragment[] }
  >()
  for (const row of rows) {
    const label = nameLabels.find((one) => row.labels?.[one] !== undefined)
    const name = (label === undefined ? undefined : row.labels?.[label]) ?? row.name
    const namespace = row.namespace ?? ''
    const key = JSON.stringify([row.clusterName, namespace, name])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { namespace, name, workloads: [row] })
    else group.workloads.push(row)
  }
  return Array.from(groups, ([key, { workloads, ...group }]) => ({
    key,
    ...group,
    workloads: workloads.toSorted(
      (a, b) => severityOf(a.health?.status) - severityOf(b.health?.status),
    ),
  })).toSorted(
    (a, b) =>
      severityOf(a.workloads[0]?.health?.status) - severityOf(b.workloads[0]?.health?.status) ||
      a.namespace.localeCompare(b.namespace) ||
      a.name.localeCompare(b.name),
  )
}

/** What kubectl shows of its readiness: `2/3`. */
function readyOf({ printerColumns }: ApplicationRowFragment): string {
  const column = printerColumns?.find(({ name }) => /^ready$/i.test(name))
  return column === undefined ? '' : String(column.value)
}
