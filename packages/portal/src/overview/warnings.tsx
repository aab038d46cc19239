import type { RowOf } from '@informerql/client'
import { useLivePage } from '@informerql/client/react'
import { Link } from '@tanstack/react-router'
import { RecentWarningsDocument, type RecentWarningsSubscription } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { Age } from '../look/age.tsx'
import { clustersOf, useScope } from '../scope.ts'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { words } from '../words.ts'
import styles from './warnings.module.css'
import overview from './overview.module.css'
import { Section } from './section.tsx'

const said = words.overview

type Warning = RowOf<RecentWarningsSubscription>

/** The latest events of type Warning, live. */
export function Warnings() {
  const { scope } = useScope()
  const { rows, totalCount, status, error } = useLivePage<
    RecentWarningsSubscription,
    object,
    Warning
  >({
    client: useGateway().socket,
    query: RecentWarningsDocument,
    variables: { ...clustersOf(scope), namespaces: scope.namespaces?.slice() ?? null },
  })
  return (
    <Section
      title={said.warnings}
      aside={
        totalCount === undefined || totalCount <= rows.length ? null : (
          <Link
            to="/kinds/$resource"
            params={{ resource: 'events' }}
            search={{ q: 'type:Warning' }}
          >
            {totalCount.toLocaleString()}
          </Link>
        )
      }
    >
      {rows.length > 0 ? (
        <ul>
          {rows.map((warning) => (
            <WarningLine key={warning.id} warning={warning} />
          ))}
        </ul>
      ) : status === 'loading' ? (
        <RowsSkeleton rows={4} />
      ) : status === 'failed' ? (
        <p className={overview['note']}>{error?.message}</p>
      ) : (
        <p className={overview['note']}>{said.noWarnings}</p>
      )}
    </Section>
  )
}

function WarningLine({
  warning: { reason, message, count, involved, lastTimestamp, eventTime, creationTimestamp },
}: {
  readonly warning: Warning
}) {
  return (
    <li className={styles['warning']}>
      <div className={styles['line']}>
        <code className={styles['reason']}>{reason}</code>
        {involved === null ? null : (
          <Link
            to="/objects/$id"
            params={{ id: involved.id }}
            className={styles['about']}
            title={`${involved.kind} ${involved.namespace ?? ''}/${involved.name}`}
          >
            <span className={styles['kind']}>{involved.kind}</span>{' '}
            {involved.namespace === null ? null : (
              <span className={styles['kind']}>{involved.namespace}/</span>
            )}
            {involved.name}
          </Link>
        )}
        <span className={styles['when']}>
          {count !== null && count > 1 ? `${said.times(count)} ` : null}
          <Age since={lastTimestamp ?? eventTime ?? creationTimestamp} />
        </span>
      </div>
      <p className={styles['message']} title={message ?? undefined}>
        {message}
      </p>
    </li>
  )
}
