import { type RowOf } from '@informerql/client'
import { useLiveCollection, useLivePage } from '@informerql/client/react'
import { type ReactNode, useState } from 'react'
import {
  NamespaceQuotasDocument,
  NamespaceWorkloadsDocument,
  type NamespaceWorkloadsSubscription,
  ProblemsDocument,
  RecentWarningsDocument,
} from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import { useGapSentences } from '../look/gaps.ts'
import { PlaceLink } from '../look/place-link.tsx'
import { WarningLine } from '../overview/warning-line.tsx'
import { ProblemLine } from '../problems/problem-line.tsx'
import { byUrgency } from '../problems/use-problems.ts'
import { words } from '../words.ts'
import { membersAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import { ObjectLink } from './object-link.tsx'
import { pageWords } from './page-words.ts'
import pods from './pods.module.css'
import { Section } from './section.tsx'
import styles from './summary.module.css'

/** What is in a namespace: what is wrong there, its workloads, what limits it, and its latest warnings. */
export function NamespaceParts({
  object,
  openEvents,
}: {
  readonly object: SeenObject
  readonly openEvents: () => void
}) {
  const { name, clusterName: cluster } = object
  const at: At = { cluster, namespaces: [name] }
  return (
    <>
      <Problems at={at} />
      <Workloads at={at} />
      <Quotas at={at} />
      <Warnings at={at} openEvents={openEvents} />
    </>
  )
}

interface At {
  readonly cluster: string
  readonly namespaces: string[]
}

const mostProblems = 50

function Problems({ at }: { readonly at: At }) {
  const { rows, status, error, incomplete } = useLiveCollection({
    client: useGateway().socket,
    query: ProblemsDocument,
    variables: { ...at, first: mostProblems },
    compare: byUrgency,
  })
  const say = pageWords.problems
  return (
    <Part title={say.title} count={rows.length} {...{ status, error, none: say.none }}>
      <Few rows={rows} most={5}>
        {(problem) => <ProblemLine key={problem.id} problem={problem} hasCluster={false} />}
      </Few>
      <Gaps of={incomplete} what={words.problems.what} />
    </Part>
  )
}

const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob', 'Job']

function Workloads({ at }: { readonly at: At }) {
  const {
    rows,
    totalCount = 0,
    status,
    error,
    incomplete,
  } = useLivePage({
    client: useGateway().socket,
    query: NamespaceWorkloadsDocument,
    variables: { ...at, kinds },
  })
  const say = pageWords.workloads
  const [namespace = ''] = at.namespaces
  return (
    <Part
      title={say.title}
      count={totalCount}
      aside={<PlaceLink to={{ kind: 'pods', namespace }}>{say.pods}</PlaceLink>}
      {...{ status, error, none: say.none }}
    >
      <Few rows={rows} most={10} className={pods['pods']}>
        {(workload) => <Workload key={workload.id} workload={workload} beside={namespace} />}
      </Few>
      {totalCount > rows.length ? (
        <p className={styles['dim']}>{say.first(rows.length, totalCount)}</p>
      ) : null}
      <Gaps of={incomplete} what={say.what} />
    </Part>
  )
}

function Workload({
  workload,
  beside,
}: {
  readonly workload: RowOf<NamespaceWorkloadsSubscription>
  readonly beside: string
}) {
  const { kind, creationTimestamp, health } = workload
  const { replicas = null, readyReplicas = null } = 'replicas' in workload ? workload : {}
  const isWell = health?.status === 'HEALTHY'
  return (
    <li>
      <span className={pods['pod']}>
        <span className={pods['workload']}>
          <span className={styles['dim']}>{kind}</span>
          <ObjectLink object={workload} beside={beside} />
        </span>
        <span className={pods['age']}>
          {replicas === null || kind === 'Job'
            ? null
            : `${pageWords.workloads.ready(readyReplicas ?? 0, replicas)} · `}
          <Age since={creationTimestamp} />
        </span>
      </span>
      {isWell || typeof health?.message !== 'string' ? null : (
        <p className={pods['trouble']} title={health.message}>
          {health.message}
        </p>
      )}
    </li>
  )
}

function Quotas({ at }: { readonly at: At }) {
  const { rows, status, error } = useLivePage({
    client: useGateway().socket,
    query: NamespaceQuotasDocument,
    variables: at,
  })
  const say = pageWords.quotas
  return (
    <Part title={say.title} count={rows.length} {...{ status, error, none: say.none }}>
      <ul className={styles['containers']}>
        {rows.map(({ id, nameId, name, json }) => {
          const used = new Map(membersAt(json, 'used'))
          return (
            <li key={id} className={styles['container']}>
              <PlaceLink to={{ object: nameId }}>{name}</PlaceLink>
              <dl className={styles['facts']}>
                {membersAt(json, 'hard').map(([resource, hard]) => (
                  <div key={resource} className={styles['fact']}>
                    <dt>{resource}</dt>
                    <dd>{say.used(used.get(resource), hard)}</dd>
                  </div>
                ))}
              </dl>
            </li>
          )
        })}
      </ul>
    </Part>
  )
}

function Warnings({ at, openEvents }: { readonly at: At; readonly openEvents: () => void }) {
  const {
    rows,
    totalCount = 0,
    status,
    error,
  } = useLivePage({ client: useGateway().socket, query: RecentWarningsDocument, variables: at })
  const say = pageWords.warnings
  return (
    <Part
      title={say.title}
      count={totalCount}
      aside={
        <button type="button" className={styles['link']} onClick={openEvents}>
          {say.all}
        </button>
      }
      {...{ status, error, none: say.none }}
    >
      <Few rows={rows} most={5}>
        {(warning) => <WarningLine key={warning.id} warning={warning} />}
      </Few>
    </Part>
  )
}

/** A live part: nothing while it loads, why where it cannot be shown, and in words that there is nothing. */
function Part({
  title,
  count,
  aside,
  status,
  error,
  none,
  children,
}: {
  readonly title: string
  readonly count: number
  readonly aside?: ReactNode
  readonly status: string
  readonly error: Error | undefined
  readonly none: string
  readonly children: ReactNode
}) {
  if (status === 'loading' && count === 0) return null
  const isRefused = status === 'failed' && count === 0
  return (
    <Section title={title} {...(count === 0 ? {} : { count })} aside={aside}>
      {isRefused ? (
        <p className={styles['dim']}>{pageWords.refused(title, error?.message ?? '')}</p>
      ) : (
        <>
          {count === 0 ? <p className={styles['dim']}>{none}</p> : null}
          {children}
        </>
      )}
    </Section>
  )
}

/** The first rows, and the others on demand. */
function Few<Row>({
  rows,
  most,
  className,
  children,
}: {
  readonly rows: readonly Row[]
  readonly most: number
  readonly className?: string | undefined
  readonly children: (row: Row) => ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen ? rows : rows.slice(0, most)
  if (rows.length === 0) return null
  return (
    <>
      <ul className={className}>{shown.map(children)}</ul>
      {rows.length > shown.length ? (
        <button type="button" className={styles['link']} onClick={() => setOpen(true)}>
          {pageWords.more(rows.length - shown.length)}
        </button>
      ) : null}
    </>
  )
}

/** What is missing, in sentences: kinds that the user may not list. */
function Gaps({
  of,
  what,
}: {
  readonly of: Parameters<typeof useGapSentences>[0]
  readonly what: string
}) {
  return useGapSentences(of, what).map((sentence) => (
    <p key={sentence} className={styles['dim']}>
      {sentence}
    </p>
  ))
}
