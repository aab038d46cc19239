import { useLivePage } from '@informerql/client/react'
import type { ReactNode } from 'react'
import { useViewTitle } from '../frame/view-title.ts'
import {
  DeliveriesDocument,
  type DeliveryRowFragment as DeliveryRow,
  HelmSecretsDocument,
} from '../gateway/documents.ts'
import { errorsOf, useGateway } from '../gateway/gateway.ts'
import { type Kind, useKinds } from '../gateway/kinds.ts'
import { Age } from '../look/age.tsx'
import { useGapSentences } from '../look/gaps.ts'
import { Health } from '../look/health.tsx'
import { Failure } from '../look/notice.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { clustersOf, hasSeveralClusters, type Scope, useScope } from '../scope.ts'
import { words } from '../words.ts'
import { type Delivered, deliveredOf, deliveryKinds, helmReleasesOf } from './delivered.ts'
import styles from './delivery.module.css'

const say = words.delivery

/** What Argo CD, Flux and Helm deliver into the scope: state, revision, source and last synchronisation; live. */
export function Delivery() {
  useViewTitle(say.title)
  const { byPath, isPending } = useKinds()
  const kinds = Object.entries(deliveryKinds).flatMap(([name, { path }]) => {
    const kind = byPath.get(path)
    return kind === undefined ? [] : [{ name: name as keyof typeof deliveryKinds, kind }]
  })
  const hasSecrets = byPath.has('secrets')
  return (
    <section className={styles['delivery']} aria-busy={isPending}>
      <h1>{say.title}</h1>
      {kinds.map(({ name, kind }) => (
        <Deliveries key={name} title={say.sections[name]} kind={kind} />
      ))}
      {hasSecrets ? <HelmReleases /> : null}
      {isPending ? null : <p className={styles['none']}>{say.none}</p>}
    </section>
  )
}

const inPlaces = (
  scope: Scope,
): ReturnType<typeof clustersOf> & { readonly namespaces: string[] | null } => ({
  ...clustersOf(scope),
  namespaces: scope.namespaces === undefined ? null : [...scope.namespaces],
})

/** The objects of a kind that deliver others. */
function Deliveries({ title, kind }: { readonly title: string; readonly kind: Kind }) {
  const { scope } = useScope()
  const page = useLivePage({
    client: useGateway().socket,
    query: DeliveriesDocument,
    variables: { ...inPlaces(scope), group: kind.group, kind: kind.kind },
  })
  const { totalCount = 0 } = page
  const rows: readonly DeliveryRow[] = page.rows
  return (
    <Part
      title={title}
      page={page}
      what={kind.title}
      note={totalCount > rows.length ? say.more(rows.length, totalCount) : undefined}
    >
      {rows.map((row) => (
        <Row
          key={row.id}
          nameId={row.nameId}
          name={row.name}
          place={[row.namespace, hasSeveralClusters(scope) ? row.clusterName : null]}
          health={row.health}
          delivered={deliveredOf(row.apiVersion, row.kind, jsonOf(row))}
        />
      ))}
    </Part>
  )
}

/** The parts of an object in its own form. */
function jsonOf(row: DeliveryRow): unknown {
  const { spec, sync, phase, finishedAt, resources, conditions, history } = row
  const { lastAppliedRevision, lastAttemptedRevision } = row
  const operationState = { phase, finishedAt }
  const flux = { conditions, history, lastAppliedRevision, lastAttemptedRevision }
  return { spec, status: { sync, operationState, resources, ...flux } }
}

/** The releases of Helm, by the metadata of their Secrets. */
function HelmReleases() {
  const { scope } = useScope()
  const page = useLivePage({
    client: useGateway().socket,
    query: HelmSecretsDocument,
    variables: { ...inPlaces(scope), where: { labels: [{ key: 'owner', eq: 'helm' }] } },
  })
  const { rows, totalCount = 0 } = page
  return (
    <Part
      title={say.sections.helm}
      page={page}
      what={say.sections.helm}
      note={totalCount > rows.length ? say.moreSecrets(rows.length, totalCount) : undefined}
    >
      {helmReleasesOf(rows).map(({ key, name, namespace, cluster, revisions }) => {
        const [newest] = revisions
        return newest === undefined ? null : (
          <Row
            key={key}
            nameId={newest.nameId}
            name={name}
            place={[namespace, hasSeveralClusters(scope) ? cluster : null]}
            health={null}
            delivered={{
              state: newest.status,
              isBad: newest.status === 'failed',
              revision: String(newest.number),
              source: say.revisions(revisions.length),
              lastSync: newest.at,
              drifted: undefined,
            }}
          />
        )
      })}
    </Part>
  )
}

function Part({
  title,
  what,
  page: { rows, status, error, incomplete },
  note,
  children,
}: {
  readonly title: string
  readonly what: string
  readonly page: {
    readonly rows: readonly unknown[]
    readonly status: string
    readonly error: Error | undefined
    readonly incomplete: Parameters<typeof useGapSentences>[0]
  }
  readonly note: string | undefined
  readonly children: ReactNode
}) {
  const gaps = useGapSentences(incomplete, what)
  if (status === 'live' && rows.length === 0 && incomplete.length === 0) return null
  return (
    <section className={styles['part']}>
      <h2>{title}</h2>
      {status === 'failed' && error !== undefined ? (
        <Failure title={say.failed} errors={errorsOf(error)} />
      ) : null}
      {gaps.map((sentence) => (
        <p key={sentence} className={styles['dim']}>
          {sentence}
        </p>
      ))}
      {status === 'loading' && rows.length === 0 ? <RowsSkeleton /> : null}
      {rows.length === 0 ? null : (
        <table className={styles['table']}>
          <thead>
            <tr>
              {Object.entries(say.columns).map(([name, text]) => (
                <th key={name} scope="col">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      )}
      {note === undefined ? null : <p className={styles['dim']}>{note}</p>}
    </section>
  )
}

function Row({
  nameId,
  name,
  place,
  health,
  delivered,
}: {
  readonly nameId: string
  readonly name: string
  readonly place: readonly (string | null)[]
  readonly health: DeliveryRow['health']
  readonly delivered: Delivered | undefined
}) {
  const {
    state,
    isBad = false,
    revision,
    source,
    lastSync,
    drifted = 0,
    missing = 0,
  } = delivered ?? {}
  const why = health?.status === 'HEALTHY' ? null : (health?.message ?? health?.reason ?? null)
  return (
    <tr>
      <th scope="row">
        <PlaceLink to={{ object: nameId }}>{name}</PlaceLink>{' '}
        <span className={styles['dim']}>{place.filter((one) => one !== null).join(' · ')}</span>
      </th>
      <td data-bad={isBad || undefined}>
        {state}
        {drifted > 0 ? (
          <span className={styles['dim']}> · {say.drifted(drifted, missing)}</span>
        ) : null}
      </td>
      <td title={why ?? undefined}>
        <Health status={health?.status} /> <span className={styles['dim']}>{why}</span>
      </td>
      <td title={revision}>
        <code>{shortRevision(revision)}</code>
      </td>
      <td title={source}>{source}</td>
      <td>
        <Age since={lastSync} />
      </td>
    </tr>
  )
}

/** A revision of Git in the seven digits that people know; others as they are. */
function shortRevision(revision: string | undefined): string | undefined {
  return revision?.replace(/\b([0-9a-f]{7})[0-9a-f]{33,57}\b/u, '$1')
}
