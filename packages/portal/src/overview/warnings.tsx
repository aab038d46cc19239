import { useLivePage } from '@informerql/client/react'
import { Link } from '@tanstack/react-router'
import { RecentWarningsDocument, type RecentWarningsSubscription } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { clustersOf, useScope } from '../scope.ts'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { words } from '../words.ts'
import overview from './overview.module.css'
import { Section } from './section.tsx'
import { type Warning, WarningLine } from './warning-line.tsx'

const said = words.overview

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
