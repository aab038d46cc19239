import { Link } from '@tanstack/react-router'
import { type Count, useCounts } from '../gateway/counts.ts'
import { type Kind, useKinds } from '../gateway/kinds.ts'
import { healthStatuses } from '../look/health.tsx'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { words } from '../words.ts'
import styles from './health-by-kind.module.css'
import { Section } from './section.tsx'

const said = words.overview

/** Kinds that are shown even while all of them are well. */
const usual: ReadonlySet<string> = new Set([
  'pods',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'services',
  'persistentvolumeclaims',
  'nodes',
])

/** How many objects of each kind are well, and how many are not, as a bar and in numbers. */
export function HealthByKind() {
  const { kinds, isPending } = useKinds()
  const { byType } = useCounts()
  const lines = kinds
    .flatMap((kind) => {
      const count = byType.get(kind.type)
      const isShown =
        count !== undefined &&
        (count.objects ?? 0) > 0 &&
        (usual.has(kind.path) || isTroubled(count))
      return isShown ? [{ kind, count }] : []
    })
    .toSorted(
      (a, b) =>
        (b.count.health.DEGRADED ?? 0) - (a.count.health.DEGRADED ?? 0) ||
        (b.count.objects ?? 0) - (a.count.objects ?? 0),
    )
  return (
    <Section title={said.health}>
      {isPending ? (
        <RowsSkeleton rows={8} />
      ) : (
        <ul>
          {lines.map(({ kind, count }) => (
            <KindLine key={kind.path} kind={kind} count={count} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function isTroubled({ health }: Count): boolean {
  return healthStatuses.some((status) => status !== 'HEALTHY' && (health[status] ?? 0) > 0)
}

function KindLine({
  kind: { path, title },
  count: { objects, health },
}: {
  readonly kind: Kind
  readonly count: Count
}) {
  const parts = healthStatuses.flatMap((status) => {
    const number = health[status] ?? 0
    return number === 0 ? [] : [{ status, number }]
  })
  const degraded = health.DEGRADED ?? 0
  const inWords = parts
    .map(({ status, number }) => `${number.toLocaleString()} ${words.health[status].toLowerCase()}`)
    .join(', ')
  return (
    <li>
      <Link
        to="/kinds/$resource"
        params={{ resource: path }}
        search={degraded > 0 ? { q: 'health:degraded' } : {}}
        className={styles['line']}
        title={inWords}
      >
        <span className={styles['kind']}>{title}</span>
        <span className={styles['bar']} aria-hidden="true">
          {parts.map(({ status, number }) => (
            <span
              key={status}
              data-status={status}
              style={{ flexGrow: number }}
              className={styles['part']}
            />
          ))}
        </span>
        <span className="visually-hidden">{inWords}</span>
        <span className={styles['degraded']} aria-hidden="true">
          {degraded > 0 ? degraded.toLocaleString() : null}
        </span>
        <span className={styles['total']}>{objects?.toLocaleString()}</span>
      </Link>
    </li>
  )
}
