import type { ProblemRowFragment as ProblemRow } from '../gateway/documents.ts'
import { Age } from '../look/age.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { words } from '../words.ts'
import styles from './problem-line.module.css'

const said = words.problems
const shapes = { CRITICAL: '▲', WARNING: '△' } as const

/** A problem: what has it, why as a sentence, with the reason's own word for searching, and since when. */
export function ProblemLine({
  problem,
  hasCluster,
}: {
  readonly problem: ProblemRow
  /** Whether the name of the cluster does not go without saying. */
  readonly hasCluster: boolean
}) {
  const { cluster, kind, severity, reason, message, since, object, objects, lastEvent } = problem
  const { count, ready, wanted, change } = problem
  const { id, namespace, name } = object
  const members = objects ?? []
  const [first] = members
  return (
    <li className={styles['problem']} data-severity={severity}>
      <span className={styles['shape']} title={said.severities[severity]}>
        <span aria-hidden="true">{shapes[severity]}</span>
        <span className="visually-hidden">{said.severities[severity]}</span>
      </span>
      <div className={styles['content']}>
        <div className={styles['line']}>
          <PlaceLink
            to={{ object: id }}
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
              to={{ object: first.id }}
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
        {change === null ? null : <RevisionFields change={change} />}
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

const shownFields = 2

/** What the last revision of a workload has changed: the field, and its value before and after. */
function RevisionFields({ change }: { readonly change: NonNullable<ProblemRow['change']> }) {
  const { from, to, changes } = change
  if (changes.length === 0) return null
  // What the containers do comes before labels and annotations.
  const byWeight = changes.toSorted((one, other) => (one.path < other.path ? 1 : -1))
  const sentences = byWeight.map(
    ({ path, before, after }) => `${fieldOf(path)} ${shown(before)} → ${shown(after)}`,
  )
  const others = changes.length - shownFields
  return (
    <p className={styles['event']} title={sentences.join('\n')}>
      {said.revision(from, to)} {sentences.slice(0, shownFields).join(', ')}
      {others > 0 ? `, ${said.others(others)}` : null}
    </p>
  )
}

/** The last steps of a path that say what it is: `containers/0/image` is `image`. */
function fieldOf(path: string): string {
  const steps = path.split('/').filter((step) => !/^\d*$/.test(step))
  return steps.slice(-1).join('') || path
}

function shown(value: unknown): string {
  if (value === null) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
