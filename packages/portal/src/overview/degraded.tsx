import { Link } from '@tanstack/react-router'
import { useCounts } from '../gateway/counts.ts'
import { useStale } from '../gateway/line.ts'
import { Age } from '../look/age.tsx'
import controls from '../look/controls.module.css'
import { Health } from '../look/health.tsx'
import { Failure, Notice } from '../look/notice.tsx'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import { type DegradedOfKind, useDegradedNow } from './degraded-now.ts'
import styles from './degraded.module.css'
import { type Cause, type Problem, problemsOf } from './problems.ts'
import { RowsSkeleton, Section } from './section.tsx'

const said = words.overview

/** What is degraded in the scope now, each with its reason; live. */
export function Degraded() {
  const pages = useDegradedNow()
  const stale = pages.flatMap(({ page }) => page.staleSince ?? [])
  useStale(stale.toSorted()[0])
  const { errors } = useCounts()
  const problems = problemsOf(pages.flatMap(({ page }) => page.rows))
  const total = pages.reduce((sum, { page }) => sum + (page.totalCount ?? 0), 0)
  const isLoading = pages.length === 0 || pages.some(({ page }) => page.status === 'loading')
  return (
    <Section title={said.degraded} aside={total === 0 ? null : said.degradedCount(total)}>
      <ul>
        {problems.map((problem) => (
          <ProblemLine key={problem.id} problem={problem} />
        ))}
      </ul>
      <More pages={pages} />
      {problems.length > 0 || (pages.length === 0 && errors.length > 0) ? null : isLoading ? (
        <RowsSkeleton rows={5} />
      ) : (
        <Nothing />
      )}
      <Unseen pages={pages} />
    </Section>
  )
}

function ProblemLine({
  problem: { id, kind, namespace, name, status, causes },
}: {
  readonly problem: Problem
}) {
  return (
    <li className={styles['problem']}>
      <span className={styles['shape']}>
        <Health status={status} bare />
      </span>
      <div className={styles['content']}>
        <div className={styles['line']}>
          <Link
            to="/objects/$id"
            params={{ id }}
            className={styles['name']}
            title={`${namespace === null ? '' : `${namespace}/`}${name}`}
          >
            {namespace === null ? null : <span className={styles['namespace']}>{namespace}/</span>}
            {name}
          </Link>
          <span className={styles['kind']}>{kind}</span>
        </div>
        {causes.map((cause) => (
          <CauseLine key={cause.objects[0].id} cause={cause} isOwn={cause.objects[0].id === id} />
        ))}
      </div>
    </li>
  )
}

/** Why, as a sentence, with the reason's own word for searching; and of which objects, if not of the named one itself. */
function CauseLine({
  cause: { reason, message, objects },
  isOwn,
}: {
  readonly cause: Cause
  readonly isOwn: boolean
}) {
  const [first] = objects
  const sentence = message ?? (reason === null ? said.noMessage : undefined)
  return (
    <div className={styles['cause']}>
      <div className={styles['line']}>
        {reason === null ? null : (
          <code className={styles['reason']} data-status={first.health.status}>
            {reason}
          </code>
        )}
        {isOwn ? null : (
          <Link
            to="/objects/$id"
            params={{ id: first.id }}
            className={styles['member']}
            title={objects.map(({ name }) => name).join('\n')}
          >
            {objects.length === 1 ? first.name : said.members(objects.length, first.kind)}
          </Link>
        )}
        <span className={styles['age']}>
          <Age since={first.creationTimestamp} /> {said.old}
        </span>
      </div>
      {sentence === undefined ? null : (
        <p className={styles['sentence']} title={sentence}>
          {sentence}
        </p>
      )}
    </div>
  )
}

/** The way to what the first pages leave out. */
function More({ pages }: { readonly pages: readonly DegradedOfKind[] }) {
  return pages.map(({ kind, page: { rows, totalCount } }) =>
    totalCount === undefined || totalCount <= rows.length ? null : (
      <Link
        key={kind.path}
        to="/kinds/$resource"
        params={{ resource: kind.path }}
        search={{ q: 'health:degraded' }}
        className={styles['more']}
      >
        {said.more(totalCount - rows.length, kind.title)}
      </Link>
    ),
  )
}

/** Said where nothing is degraded: what was looked at. */
function Nothing() {
  const { scope, setScope } = useScope()
  const { cluster } = useCounts()
  const objects = cluster?.resources.reduce((sum, resource) => sum + (resource.objects ?? 0), 0)
  return (
    <Notice title={said.none}>
      {scope.namespaces === undefined ? (
        <p>{said.noneNext(objects ?? 0)}</p>
      ) : (
        <>
          <p>{said.noneIn(scope.namespaces)}</p>
          <button
            type="button"
            className={controls['button']}
            onClick={() => {
              setScope({ ...scope, namespaces: [] })
            }}
          >
            {said.showAll}
          </button>
        </>
      )}
    </Notice>
  )
}

/** What could not be looked at, said once: kinds that the user may not list, and other failures. */
function Unseen({ pages }: { readonly pages: readonly DegradedOfKind[] }) {
  const failed = pages.filter(({ page }) => page.status === 'failed')
  const forbidden = failed.filter(isForbidden)
  const others = failed.filter((one) => !isForbidden(one))
  return (
    <>
      {forbidden.length === 0 ? null : (
        <p className={styles['unseen']}>
          {said.forbidden(forbidden.map(({ kind }) => kind.title))}
        </p>
      )}
      {others.map(({ kind, page: { error } }) => (
        <Failure
          key={kind.path}
          title={kind.title}
          errors={[{ message: error?.message ?? '', extensions: { code: codeOf(error) ?? '' } }]}
        />
      ))}
    </>
  )
}

function isForbidden({ page }: DegradedOfKind): boolean {
  return codeOf(page.error) === 'FORBIDDEN'
}

function codeOf(error: Error | undefined): string | undefined {
  const [first] = (error?.cause ?? []) as readonly {
    readonly extensions?: { readonly code?: string }
  }[]
  return first?.extensions?.code
}
