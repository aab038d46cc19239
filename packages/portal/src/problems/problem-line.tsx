import type {
  ChangeRowFragment as ChangeRow,
  ProblemRowFragment as ProblemRow,
} from '../gateway/documents.ts'
import { Age } from '../look/age.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { ChangeLine, FieldChanges } from '../timeline/change-line.tsx'
import { words } from '../words.ts'
import styles from './problem-line.module.css'

const said = words.problems
const mostFields = 2
const shapes = { CRITICAL: '▲', WARNING: '△' } as const

/** A problem: what has it, why as a sentence, with the reason's own word for searching, and since when. */
export function ProblemLine({
  problem,
  hasCluster,
  before = [],
  isOver = false,
}: {
  readonly problem: ProblemRow
  /** What changed before it, what explains it first. */
  readonly before?: readonly ChangeRow[] | undefined
  /** Whether the name of the cluster does not go without saying. */
  readonly hasCluster: boolean
  /** Whether the problem is over, and its line still stands. */
  readonly isOver?: boolean
}) {
  const { cluster, kind, severity, reason, message, since, object, objects, lastEvent } = problem
  const { count, ready, wanted, change } = problem
  const { id, nameId, namespace, name } = object
  const members = objects ?? []
  const [first] = members
  return (
    <li className={styles['problem']} data-severity={severity} data-over={isOver || undefined}>
      <span className={styles['shape']} title={said.severities[severity]}>
        <span aria-hidden="true">{shapes[severity]}</span>
        <span className="visually-hidden">{said.severities[severity]}</span>
      </span>
      <div className={styles['content']}>
        <div className={styles['line']}>
          <PlaceLink
            to={{ object: nameId, id }}
            className={styles['name']}
            title={`${namespace === null ? '' : `${namespace}/`}${name}`}
          >
            {namespace === null ? null : <span className={styles['namespace']}>{namespace}/</span>}
            {name}
          </PlaceLink>
          <span className={styles['kind']}>{kind}</span>
          {hasCluster ? <span className={styles['kind']}>{cluster}</span> : null}
          <span className={styles['age']}>
            <Age since={since} />
          </span>
        </div>
        <div className={styles['line']}>
          <code className={styles['reason']}>{reason}</code>
          {ready === null || wanted === null ? null : (
            <span className={styles['ready']}>{said.ready(ready, wanted)}</span>
          )}
          {first === undefined || (count === 1 && first.id === id) ? null : (
            <PlaceLink
              to={{ object: first.nameId }}
              className={styles['member']}
              title={[
                ...members.map((member) => member.name),
                ...(count > members.length ? [said.others(count - members.length)] : []),
              ].join('\n')}
            >
              {count === 1 ? first.name : said.members(count, first.kind ?? '')}
            </PlaceLink>
          )}
        </div>
        {message === null ? null : (
          <p className={styles['sentence']} title={message}>
            {message}
          </p>
        )}
        {before.length === 0 ? null : (
          <div className={styles['before']}>
            <span className={styles['ready']}>{words.timeline.before}</span>
            <ol>
              {before.map((one) => (
                <ChangeLine key={one.id} change={one} fields={mostFields} />
              ))}
            </ol>
          </div>
        )}
        {change === null || tells(before, change) ? null : <RevisionFields change={change} />}
        {lastEvent === null ? null : (
          <p className={styles['event']} title={lastEvent.message ?? undefined}>
            {lastEvent.reason} {words.overview.times(lastEvent.count)},{' '}
            <Age since={lastEvent.lastSeen} /> {words.table.ago}
            {lastEvent.message === null || lastEvent.message === message
              ? null
              : `: ${lastEvent.message}`}
          </p>
        )}
      </div>
    </li>
  )
}

/** Whether changes tell what the last revision has changed. A restart, or what was created, does not. */
function tells(
  before: readonly ChangeRow[],
  { changes }: NonNullable<ProblemRow['change']>,
): boolean {
  const paths = new Set(before.flatMap(({ fields }) => fields.map(({ path }) => path)))
  return changes.some(({ path }) => paths.has(`/spec/template${path}`))
}

/** What the last revision of a workload has changed. */
function RevisionFields({ change }: { readonly change: NonNullable<ProblemRow['change']> }) {
  const { from, to, changes } = change
  return changes.length === 0 ? null : (
    <div className={styles['before']}>
      <span className={styles['ready']}>{said.revision(from, to)}</span>
      <FieldChanges fields={changes} count={changes.length} most={mostFields} />
    </div>
  )
}
